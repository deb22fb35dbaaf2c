//! Ways in which work could get lost, each met by somebody once: every test here fails if one of them opens again.

use crate::home::TestHome;
use crate::task::TestTask;
use orange_core::task::Field;
use orange_engine::Code;
use orange_engine::verbs::change::Edit;
use std::fs;
use std::path::PathBuf;

fn started(home: &TestHome) -> (TestTask, PathBuf) {
    let task = home.create("login");
    home.bring_to(&task, "planning");
    let slot = home.slot_of(&task);
    (task, slot)
}

fn cancel(home: &TestHome, task: &TestTask) {
    home.cancel(task).ok();
}

/// Every file of every rescue, with its content.
fn rescued(home: &TestHome, path: &str) -> Vec<String> {
    let refs = home.git(
        &home.shop(),
        &["for-each-ref", "--format=%(refname)", "refs/orange/rescue"],
    );
    let has = |reference: &&str| {
        let list = home.git(&home.shop(), &["ls-tree", "-r", "--name-only", reference]);
        list.lines().any(|name| name == path)
    };
    refs.lines()
        .filter(has)
        .map(|reference| home.git(&home.shop(), &["show", &format!("{reference}:{path}")]))
        .collect()
}

#[test]
fn what_only_the_branch_ignores_is_saved() {
    let home = TestHome::new();
    let (task, slot) = started(&home);
    home.commit(&slot, ".gitignore", "notes/\n");
    fs::create_dir(slot.join("notes")).unwrap();
    fs::write(slot.join("notes/findings.txt"), "precious").unwrap();
    cancel(&home, &task);
    assert_eq!(rescued(&home, "notes/findings.txt"), ["precious"]);
    assert!(!slot.join("notes").exists());
}

#[test]
fn a_worktree_of_the_users_is_not_forgotten_with_the_pools() {
    let home = TestHome::new();
    let disk = home.root().join("disk");
    fs::create_dir(&disk).unwrap();
    let own = disk.join("own");
    home.git(
        &home.shop(),
        &["worktree", "add", "-q", "--detach", own.to_str().unwrap()],
    );
    let unmounted = home.root().join("unmounted");
    fs::rename(&disk, &unmounted).unwrap();
    home.collect_slots();
    assert_eq!(home.problems(), [""; 0]);
    fs::rename(&unmounted, &disk).unwrap();
    home.git(&own, &["status"]);
}

#[test]
fn commits_of_a_slot_that_was_deleted_are_found_again() {
    for repair in [true, false] {
        let home = TestHome::new();
        let (task, slot) = started(&home);
        home.git(&slot, &["checkout", "-q", "--detach"]);
        let head = home.commit(&slot, "detached.txt", "on no branch");
        fs::remove_dir_all(&slot).unwrap();
        if repair {
            assert_eq!(home.repair(), [""; 0]);
        }
        cancel(&home, &task);
        let all = home.git(&home.shop(), &["rev-list", "--all"]);
        assert!(all.lines().any(|commit| commit == head), "repair: {repair}");
    }
}

#[test]
fn the_target_is_nobodys_branch() {
    let home = TestHome::new();
    let (task, slot) = started(&home);
    home.edit(&task, Edit::Branch(Some("main".to_owned())))
        .fails(Code::Conflict)
        .says("main is the branch the work goes to");
    // Nor is a branch renamed under the feet of whoever has it checked out.
    home.git(&slot, &["checkout", "-q", "--detach"]);
    home.git(&home.shop(), &["checkout", "-q", "login"]);
    home.edit(&task, Edit::Branch(Some("sign-in".to_owned())))
        .fails(Code::Conflict)
        .says("is checked out at");
    let own = home.git(&home.shop(), &["symbolic-ref", "--short", "HEAD"]);
    assert_eq!(own.trim(), "login");
}

#[test]
fn a_slot_stays_its_tasks_when_a_retry_fails() {
    let home = TestHome::new();
    let config = home.folder().join("config.yaml");
    fs::write(&config, "workspace:\n  setup: exit 7\n").unwrap();
    let task = home.create("login");
    home.move_to(&task, "planning")
        .fails(Code::Failed)
        .says("exit code 7");
    let slot = home.slot_of(&task);
    fs::write(slot.join("work.txt"), "work").unwrap();
    home.git(&slot, &["checkout", "-q", "--detach"]);
    home.git(&home.shop(), &["checkout", "-q", "login"]);
    home.retry_hooks(&task).fails(Code::Failed);
    assert_eq!(home.show(&task)["workspace"], "shop--1");
    assert_eq!(fs::read_to_string(slot.join("work.txt")).unwrap(), "work");
    fs::write(&config, "").unwrap();
    home.retry_hooks(&task).ok();
    assert_eq!(fs::read_to_string(slot.join("work.txt")).unwrap(), "work");
}

#[test]
fn locks_that_a_killed_git_left_are_no_obstacle() {
    let home = TestHome::new();
    let (task, slot) = started(&home);
    fs::write(slot.join("work.txt"), "work").unwrap();
    let folder = home.git(&slot, &["rev-parse", "--absolute-git-dir"]);
    for name in ["index.lock", "HEAD.lock"] {
        fs::write(PathBuf::from(folder.trim()).join(name), "").unwrap();
    }
    cancel(&home, &task);
    assert_eq!(rescued(&home, "work.txt"), ["work"]);
}

#[test]
fn what_an_editor_wrote_over_the_link_counts_like_any_edit() {
    let home = TestHome::new();
    let (task, slot) = started(&home);
    let link = slot.join("TASK.md");
    let text = fs::read_to_string(&link).unwrap();
    let edited = text.replace("summary: Do login", "summary: Add a better form");
    let edited = edited.replace("status: planning", "status: done");
    fs::remove_file(&link).unwrap();
    fs::write(&link, edited).unwrap();
    home.set(&task, Field::Priority, "high").ok();
    let shown = home.show(&task);
    assert_eq!(shown["summary"], "Add a better form");
    assert_eq!(shown["status"], "planning");
    assert!(link.is_symlink());
}

#[test]
fn a_task_file_of_the_repositorys_own_is_not_the_tasks_text() {
    let home = TestHome::new();
    let (task, slot) = started(&home);
    task.append("## Notes\n\nmine\n");
    // Excluded for the link's sake, so that adding it takes force.
    fs::write(home.shop().join("TASK.md"), "of the repository\n").unwrap();
    home.git(&home.shop(), &["add", "--force", "TASK.md"]);
    home.git(&home.shop(), &["commit", "-q", "-m", "a file of that name"]);
    fs::remove_file(slot.join("TASK.md")).unwrap();
    home.git(&slot, &["merge", "-q", "main"]);
    home.set(&task, Field::Priority, "high")
        .ok()
        .says("the link to the task is called ORANGE_TASK.md");
    assert!(task.text().contains("mine"), "{}", task.text());
    let own = fs::read_to_string(slot.join("TASK.md")).unwrap();
    assert_eq!(own, "of the repository\n");
    assert!(slot.join("ORANGE_TASK.md").is_symlink());
    assert_eq!(home.git(&slot, &["status", "--porcelain"]), "");
}

#[test]
fn excludes_that_are_no_text_stay_as_they_are() {
    let home = TestHome::new();
    let file = home.shop().join(".git/info/exclude");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, b"caf\xe9\n*.tmp").unwrap();
    started(&home);
    let text = fs::read(&file).unwrap();
    assert!(text.starts_with(b"caf\xe9\n*.tmp\n# orange:"), "{text:?}");
}

#[test]
fn a_task_that_needs_a_slot_at_once_is_not_made_without_one() {
    let home = TestHome::new();
    home.pool_size(1);
    started(&home);
    home.git(&home.shop(), &["branch", "theirs"]);
    home.try_create("theirs", |new| {
        new.status = Some("agent-review".parse().unwrap());
    })
    .fails(Code::ConditionUnmet)
    .says("no slot of shop is free");
    assert_eq!(home.list().len(), 1);
}

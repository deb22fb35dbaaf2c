//! The four ways to merge: what history they leave, whose name and words stand in it, and what settings choose.

use crate::merges::{LINES, Merges, by, plain};
use orange_engine::Code;
use std::fs;
use std::path::Path;

fn commit_as(home: &Merges, folder: &Path, who: &str, date: &str, message: &[u8]) {
    let name = format!("user.name={who}");
    let email = format!("user.email={}@example.com", who.to_lowercase());
    fs::write(home.root().join("message"), message).unwrap();
    let file = home.root().join("message");
    let mut git = home.foreign("git");
    for variable in ["AUTHOR", "COMMITTER"] {
        git.env_remove(format!("GIT_{variable}_NAME"));
        git.env_remove(format!("GIT_{variable}_EMAIL"));
    }
    git.current_dir(folder).env("GIT_AUTHOR_DATE", date);
    git.args(["-c", &name, "-c", &email, "commit", "-q", "-a"]);
    git.args(["--cleanup=verbatim", "-F", file.to_str().unwrap()]);
    assert!(git.status().unwrap().success());
}

/// Two commits by two people; main has moved since.
fn two_authors(home: &Merges) -> [Vec<u8>; 2] {
    let messages = [
        "Grüße: höflich\n\nErste Zeile\n\n\n  eingerückt   \n\nSigned-off-by: Ann <ann@example.com>\n"
            .as_bytes()
            .to_vec(),
        b"second\n\nCo-authored-by: Cat <cat@example.com>\n".to_vec(),
    ];
    home.branch_by("work", |folder| {
        fs::write(folder.join("lines"), LINES.replace("one", "ONE")).unwrap();
        commit_as(
            home,
            folder,
            "Ann",
            "2001-02-03T04:05:06+0530",
            &messages[0],
        );
        fs::write(
            folder.join("lines"),
            LINES.replace("one", "ONE").replace("nine", "NINE"),
        )
        .unwrap();
        commit_as(
            home,
            folder,
            "Bob",
            "2002-02-03T04:05:06-0700",
            &messages[1],
        );
    });
    home.commit(&home.shop(), "other", "main moved");
    messages
}

#[test]
fn squash_is_one_commit_with_all_names() {
    let home = Merges::new();
    two_authors(&home);
    let task = home.reviewed("work");
    task.append("## Handoff\n\nDONE: both ends\nREMAINING: the middle\n");
    assert_eq!(home.merge(&task, &plain()).value().commits, 2);
    let shop = home.shop();
    assert_eq!(
        home.line(&shop, "main"),
        ["Do work (TASK-001)", "change other"]
    );
    assert_eq!(
        home.git(&shop, &["log", "-1", "--format=%an <%ae>|%cn|%P", "main"]),
        format!("Ann <ann@example.com>|Tester|{}", home.at(&shop, "main^"))
    );
    assert_eq!(
        home.git(&shop, &["log", "-1", "--format=%B", "main"]),
        "Do work (TASK-001)\n\nDONE: both ends\nREMAINING: the middle\n\nTask: shop:TASK-001\n\
         Co-authored-by: Bob <bob@example.com>\nCo-authored-by: Cat <cat@example.com>"
    );
    let merged = LINES.replace("one", "ONE").replace("nine", "NINE");
    assert_eq!(fs::read_to_string(shop.join("lines")).unwrap(), merged);
    assert_eq!(home.git(&shop, &["status", "--porcelain"]), "");
    assert!(home.is_done(&task));
    // The branch stays, and so does what it was.
    home.at(&shop, "refs/heads/work");
    let event = task.last("task.merged");
    assert_eq!(event["commit"], home.at(&shop, "main"));
    assert_eq!(event["head"], home.at(&shop, "work"));
}

#[test]
fn rebase_keeps_every_commit_as_it_was_said() {
    let home = Merges::new();
    let messages = two_authors(&home);
    let task = home.reviewed("work");
    assert_eq!(home.merge(&task, &by("rebase")).value().commits, 2);
    let shop = home.shop();
    assert_eq!(
        home.git(&shop, &["log", "-2", "--format=%an %ae %ad %cn", "main"]),
        "Bob bob@example.com Sun Feb 3 04:05:06 2002 -0700 Tester\n\
         Ann ann@example.com Sat Feb 3 04:05:06 2001 +0530 Tester"
    );
    for (revision, message) in ["main~1", "main"].iter().zip(&messages) {
        let raw = home
            .foreign("git")
            .current_dir(&shop)
            .args(["cat-file", "commit", revision])
            .output()
            .unwrap();
        let at = raw
            .stdout
            .windows(2)
            .position(|two| two == b"\n\n")
            .unwrap();
        let found = &raw.stdout[at + 2..];
        assert_eq!(
            String::from_utf8_lossy(found),
            String::from_utf8_lossy(message)
        );
    }
    assert_eq!(home.git(&shop, &["rev-list", "--merges", "main"]), "");
    assert_eq!(
        home.git(&shop, &["diff", "main", "work", "--", "lines"]),
        ""
    );
    assert!(home.is_done(&task));
}

#[test]
fn merge_joins_both_lines() {
    let home = Merges::new();
    two_authors(&home);
    let task = home.reviewed("work");
    let before = home.at(&home.shop(), "main");
    assert_eq!(home.merge(&task, &by("merge")).value().commits, 2);
    let shop = home.shop();
    assert_eq!(
        home.git(&shop, &["log", "-1", "--format=%P|%s|%an", "main"]),
        format!(
            "{before} {}|Merge: Do work (TASK-001)|Tester",
            home.at(&shop, "work")
        )
    );
}

#[test]
fn ff_only_where_the_target_has_not_moved() {
    let home = Merges::new();
    let task = home.work("work", &[("new", "x")]);
    home.commit(&home.shop(), "other", "main moved");
    home.refuses(
        &task,
        &by("ff"),
        Code::ConditionUnmet,
        &["fast-forward", "squash"],
    );
    let next = home.work("next", &[("next", "x")]);
    home.merge(&next, &by("ff")).ok();
    let shop = home.shop();
    assert_eq!(home.at(&shop, "main"), home.at(&shop, "next"));
    assert_eq!(home.git(&shop, &["status", "--porcelain"]), "");
}

#[test]
fn what_was_empty_on_purpose_survives_a_rebase_and_what_is_in_does_not() {
    let home = Merges::new();
    home.branch_by("work", |folder| {
        home.commit(folder, "a", "a");
        home.git(folder, &["commit", "-q", "--allow-empty", "-m", "marker"]);
        home.commit(folder, "b", "b");
    });
    let task = home.reviewed("work");
    let shop = home.shop();
    home.git(&shop, &["cherry-pick", "work~2"]);
    home.commit(&shop, "other", "x");
    home.merge(&task, &by("rebase")).ok();
    assert_eq!(
        home.line(&shop, "main"),
        ["change b", "marker", "change other", "change a"]
    );
}

#[test]
fn a_branch_that_took_main_in_is_rebased_without_the_joints() {
    let home = Merges::new();
    let shop = home.shop();
    home.branch("work", &[("a", "a")]);
    home.commit(&shop, "other", "x");
    home.branch_by("work", |folder| {
        home.git(folder, &["merge", "-q", "--no-edit", "main"]);
        home.commit(folder, "b", "b");
    });
    let task = home.reviewed("work");
    home.merge(&task, &by("rebase")).ok();
    assert_eq!(
        home.line(&shop, "main"),
        ["change b", "work work", "change other"]
    );
    assert_eq!(home.git(&shop, &["rev-list", "--merges", "main"]), "");
}

/// A merge may hold changes that no commit of the branch has; a rebase would drop them silently.
#[test]
fn an_evil_merge_is_not_rebased() {
    let home = Merges::new();
    let shop = home.shop();
    home.branch("work", &[("a", "a")]);
    home.commit(&shop, "other", "x");
    home.branch_by("work", |folder| {
        home.git(folder, &["merge", "-q", "--no-commit", "main"]);
        fs::write(folder.join("smuggled"), "in the merge itself").unwrap();
        home.commit_all(folder, "joined");
    });
    let task = home.reviewed("work");
    home.refuses(&task, &by("rebase"), Code::ConditionUnmet, &["merge in it"]);
    home.merge(&task, &plain()).ok();
    assert!(shop.join("smuggled").exists());
}

/// Git shows such commits, and makes none itself.
#[test]
fn a_commit_whose_author_has_no_name() {
    for strategy in ["squash", "rebase"] {
        let home = Merges::new();
        let shop = home.shop();
        home.branch("work", &[("new", "x")]);
        let text = home.git(&shop, &["cat-file", "commit", "work"]);
        let lines = text.lines().map(|line| {
            if line.starts_with("author ") {
                "author  <> 1000000000 +0100"
            } else {
                line
            }
        });
        let raw = lines.collect::<Vec<_>>().join("\n") + "\n";
        let raw = home.write("raw", raw);
        let hash = ["hash-object", "-t", "commit", "-w", raw.to_str().unwrap()];
        let nameless = home.git(&shop, &hash);
        home.git(&shop, &["update-ref", "refs/heads/work", &nameless]);
        home.commit(&shop, "other", "x");
        let task = home.reviewed("work");
        home.merge(&task, &by(strategy)).ok();
        assert_eq!(home.git(&shop, &["log", "-1", "--format=%an"]), "unknown");
    }
}

/// From the base of the work, whatever its own branch says.
#[test]
fn a_repository_chooses_for_its_team() {
    let home = Merges::new();
    let shop = home.shop();
    home.config("merge:\n  strategy: ff\n");
    fs::create_dir_all(shop.join(".orange")).unwrap();
    home.commit(&shop, ".orange/config.yaml", "merge:\n  strategy: merge\n");
    home.branch_by("work", |folder| {
        home.commit(
            folder,
            ".orange/config.yaml",
            "merge:\n  strategy: rebase\n",
        );
    });
    home.branch("next", &[("b", "b")]);
    home.commit(&shop, "other", "x");
    let task = home.reviewed("work");
    home.merge(&task, &plain()).ok();
    let merges = ["rev-list", "--count", "--merges", "main"];
    assert_eq!(home.git(&shop, &merges), "1");
    let task = home.reviewed("next");
    home.merge(&task, &by("squash")).ok();
    assert_eq!(home.git(&shop, &merges), "1");
}

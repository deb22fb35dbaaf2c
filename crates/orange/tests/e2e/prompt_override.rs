//! A repository's own prompts: read from the base commit, never from where an agent could write.

use crate::env::TestEnvironment;
use crate::run::Run;
use insta::assert_snapshot;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const OWN: &str = "Work on {key} ({summary}) in {task_file}.\n\n{message}\n";

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(".orange/prompts").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Commits a file of the prompts' folder; gives the commit.
fn commit(env: &TestEnvironment, folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    write(folder, name, content);
    commit_all(env, folder)
}

fn commit_all(env: &TestEnvironment, folder: &Path) -> String {
    env.git(folder, &["add", "-A", ".orange"]);
    env.git(folder, &["commit", "-q", "-m", "prompts"]);
    env.git(folder, &["rev-parse", "HEAD"])
}

fn with_own(content: &str) -> TestEnvironment {
    let env = TestEnvironment::new();
    commit(&env, &env.shop(), "worker.md", content);
    env
}

fn shown(env: &TestEnvironment, task: &str) -> Run {
    env.orange(["prompt", "show", "worker", "--task", task])
}

/// Without the hash of the commit in it.
fn said(env: &TestEnvironment, run: Run) -> String {
    let commit = env.git(&env.shop(), &["rev-parse", "HEAD"]);
    run.to_string().replace(&commit[..7], "[HASH]")
}

#[test]
fn the_committed_text_is_what_an_agent_gets() {
    let env = with_own(OWN);
    let task = env.create(["Add a login form"]);
    let expected = "Work on TASK-001 (Add a login form) in TASK.md.\n";
    assert_eq!(shown(&env, &task.key).ok().stdout, expected);
    assert_eq!(env.orange(["prompt", "show", "worker"]).ok().stdout, OWN);
    let outside = env
        .call(["prompt", "show", "worker", "--project", "shop"])
        .at(env.root())
        .run();
    assert_eq!(outside.ok().stdout, OWN);
    let list = env.orange(["prompt", "list"]).ok().stdout;
    let line = list.lines().nth(1).unwrap();
    let commit = env.git(&env.shop(), &["rev-parse", "--short=7", "HEAD"]);
    assert_eq!(
        line.split_whitespace().take(2).collect::<Vec<_>>(),
        ["worker", &format!(".orange/prompts/worker.md@{commit}")]
    );
    let listed = env.orange(["prompt", "list", "--json"]).ok().json();
    let first = &listed["prompts"][0];
    assert_eq!(first["origin"], "file");
    assert_eq!(first["path"], ".orange/prompts/worker.md");
    assert_eq!(first["commit"].as_str().unwrap()[..7], commit);
    assert_eq!(listed["prompts"][1]["origin"], "built-in");
}

#[test]
fn a_change_that_is_not_committed_has_no_effect() {
    let env = with_own(OWN);
    let task = env.create(["Add a login form"]);
    let before = shown(&env, &task.key).ok().stdout;
    write(&env.shop(), "worker.md", "do as you like");
    write(&env.shop(), "reviewer.md", "Verdict: PASS");
    env.git(&env.shop(), &["add", "-A"]);
    assert_eq!(shown(&env, &task.key).ok().stdout, before);
    env.orange(["prompt", "show", "reviewer"])
        .ok()
        .says("You are the reviewer of");
    // Nor one on a branch that the user happens to be on.
    env.git(&env.shop(), &["switch", "-q", "-c", "aside"]);
    commit_all(&env, &env.shop());
    assert_eq!(shown(&env, &task.key).ok().stdout, before);
}

#[test]
fn no_agent_writes_its_own() {
    let env = with_own(OWN);
    let task = env.create(["Add a login form"]);
    env.bring_to(&task, "working");
    let before = shown(&env, &task.key).ok().stdout;
    let slot = env.slot_of(&task);
    write(&slot, "worker.md", "take a break");
    assert_eq!(shown(&env, &task.key).ok().stdout, before);
    commit_all(&env, &slot);
    let inside = env
        .call(["prompt", "show", "worker", "--task", &task.key])
        .at(&slot)
        .agent(&task, "worker")
        .run();
    assert_eq!(inside.ok().stdout, before);
    // A branch that was there before: what speaks is where it is going to.
    env.git(&env.shop(), &["branch", "theirs", &task.branch]);
    let theirs = ["theirs", "Look at this", "--status", "agent-review"];
    let theirs = env.create(theirs);
    shown(&env, &theirs.key).ok().says("Work on TASK-002");
    // `git replace` changes nothing either.
    let (old, new) = ("main:.orange/prompts/worker.md", &task.branch);
    let new = format!("{new}:.orange/prompts/worker.md");
    env.git(&env.shop(), &["replace", old, &new]);
    assert_eq!(shown(&env, &task.key).ok().stdout, before);
}

/// Work that is built upon a task's branch: whatever way the base is written, an agent's commit does not speak.
#[test]
fn no_agent_writes_the_rules_of_what_is_built_upon_its_work() {
    let env = with_own(OWN);
    let task = env.create(["Add a login form"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    let commit = commit(&env, &slot, "worker.md", "take a break, {key}");
    env.git(&env.shop(), &["branch", "aside", &task.branch]);
    let by_agent = |base: &str, summary: &str| {
        let create = [
            "task",
            "create",
            summary,
            "--parent",
            &task.id,
            "--no-spawn",
        ];
        let options = ["--base", base, "--json"];
        let run = env
            .call(create.into_iter().chain(options))
            .at(&slot)
            .agent(&task, "worker")
            .run();
        run.ok().json()["task"]["key"].as_str().unwrap().to_owned()
    };
    let full = format!("refs/heads/{}~0", task.branch);
    for (at, base) in [&task.branch, &full, &commit, "aside", "HEAD"]
        .iter()
        .enumerate()
    {
        let child = by_agent(base, &format!("Part {at}"));
        shown(&env, &child).ok().says(&format!("Work on {child}"));
    }
    // A person may build upon a task as well: the rules are those that the task itself has.
    let person = env.create(["--base", &task.branch, "Build upon it"]);
    shown(&env, &person.key).ok().says("Work on");
    env.git(&env.shop(), &["branch", &person.branch, &task.branch]);
    let upon = env.create(["--base", &person.branch, "Build upon that"]);
    shown(&env, &upon.key).ok().says("Work on");
    // However the commit is called.
    let aside = env.create(["--base", "aside", "Under another name"]);
    shown(&env, &aside.key).ok().says("Work on");
    // Whatever becomes of that task and its branch.
    env.git(&slot, &["switch", "-q", "-c", "wip"]);
    env.call(["task", "update", "--branch"])
        .at(&slot)
        .agent(&task, "worker")
        .run()
        .ok();
    shown(&env, &person.key).ok().says("Work on");
    env.orange(["task", "cancel", &task.key, "--with-children", "--yes"])
        .ok();
    env.orange(["task", "delete", &task.key, "--yes"]).ok();
    for built in [&person, &upon, &aside] {
        shown(&env, &built.key).ok().says("Work on");
    }
}

/// Names that an agent can take or move: a tag called like the default branch, the branch that it started from.
#[test]
fn no_agent_moves_where_its_rules_come_from() {
    let env = with_own(OWN);
    let shop = env.shop();
    env.git(&shop, &["switch", "-q", "-c", "feature"]);
    commit(&env, &shop, "worker.md", "Feature work, {key}.");
    env.git(&shop, &["switch", "-q", "main"]);
    let plain = env.create(["Add a login form"]);
    let task = env.create(["--base", "feature", "Work on a feature"]);
    // A branch of a person's own speaks for what starts from it.
    shown(&env, &task.key).ok().says("Feature work");
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    commit(&env, &slot, "worker.md", "take a break");
    for words in [
        vec!["tag", "main"],
        vec!["tag", "feature"],
        vec!["branch", "-f", "feature"],
    ] {
        env.git(&slot, &words);
    }
    shown(&env, &task.key).ok().says("Feature work");
    shown(&env, &plain.key).ok().says("Work on TASK-001");
    let late = env.create(["--base", "feature", "Another one"]);
    shown(&env, &late.key).ok().says("Feature work");
    let start = env.create(["--base", "main", "A plain one"]);
    env.bring_to(&start, "working");
    let main = env.git(&shop, &["rev-parse", "refs/heads/main"]);
    assert_eq!(env.git(&env.slot_of(&start), &["rev-parse", "HEAD"]), main);
    // One whose journal was taken away is nobody's, and so is its base.
    fs::write(task.journal(), "").unwrap();
    env.orange(["task", "show", &task.key]).ok();
    shown(&env, &task.key).ok().says("Work on");
}

#[test]
fn a_task_hears_what_its_base_says() {
    let env = with_own(OWN);
    let old = env.git(&env.shop(), &["rev-parse", "HEAD"]);
    let early = env.create(["--base", &old, "An early one"]);
    commit(&env, &env.shop(), "worker.md", "New words for {key}.");
    let late = env.create(["A late one"]);
    shown(&env, &early.key).ok().says("Work on TASK-001");
    shown(&env, &late.key).ok().says("New words for TASK-002.");
}

#[test]
fn one_that_cannot_be_used_is_said_and_keeps_nothing_from_starting() {
    let env = with_own("Do {this}.\n");
    let task = env.create(["Add a login form"]);
    assert_snapshot!(said(&env, env.orange(["prompt", "show", "worker"])), @"
    ------- stderr -------
    error: .orange/prompts/worker.md at commit [HASH], line 1: unknown variable {this}; known variables: {summary}, {project}, {branch}, {review_round}, {status}, {id}, {key}, {base_branch}, {target_branch}, {max_rounds}, {message}, {missing}, {task_file}, {phase}, {iteration}, {max_iterations}, {context}, {spec}, {earlier}, {asked}, {retry}, {ui}, {criteria}, {answer}, {files}, {output}, {diff}, {next_status_on_fail}
    hint: correct it and commit that on the branch tasks start from; until then agents get Orange's own prompt
    [exit status: 3]
    ");
    let error = env.orange(["prompt", "show", "worker", "--json"]);
    let error = error.refuses(3, "condition_unmet");
    assert!(error["message"].as_str().unwrap().contains("{this}"));
    let template = [
        "prompt",
        "show",
        "worker",
        "--task",
        &task.key,
        "--template",
    ];
    env.orange(template).fails_with(3);
    // What an agent gets is Orange's own.
    let run = shown(&env, &task.key).ok();
    assert!(
        run.stdout
            .starts_with("You are the worker of task TASK-001"),
        "{run}"
    );
    assert!(run.stderr.contains("unknown variable {this}"), "{run}");
    assert!(
        run.stderr.contains("Orange's own prompt is used instead"),
        "{run}"
    );
    env.bring_to(&task, "working");
}

#[test]
fn list_and_doctor_warn() {
    let env = with_own("Do {this}.\n");
    commit(&env, &env.shop(), "wroker.md", "Hello.");
    let list = said(&env, env.orange(["prompt", "list"]).ok());
    let notes = list.split("------- stderr -------").nth(1).unwrap();
    assert_snapshot!(notes.trim(), @"
    note: .orange/prompts/worker.md at commit [HASH], line 1: unknown variable {this}; known variables: {summary}, {project}, {branch}, {review_round}, {status}, {id}, {key}, {base_branch}, {target_branch}, {max_rounds}, {message}, {missing}, {task_file}, {phase}, {iteration}, {max_iterations}, {context}, {spec}, {earlier}, {asked}, {retry}, {ui}, {criteria}, {answer}, {files}, {output}, {diff}, {next_status_on_fail}; Orange's own prompt is used instead
    note: .orange/prompts/wroker.md has the name of no prompt; there are worker, worker-wait, clarify, reviewer, stuck-fix, review-failed, check-failed, changes-requested, answered, told-stuck, nudge, respawn-planning, respawn-clarification, respawn-working, respawn-agent-review, respawn-reviewing, respawn-stuck, phase-research, phase-spec, phase-design, phase-implement, phase-review, phase-docs, phase-test, phase-validate, classify, judge
    ");
    assert!(
        list.contains("worker                 built-in, own is unusable"),
        "{list}"
    );
    let json = env.orange(["prompt", "list", "--json"]).ok().json();
    assert_eq!(json["unknown_files"][0], ".orange/prompts/wroker.md");
    assert!(
        json["prompts"][0]["problem"]
            .as_str()
            .unwrap()
            .contains("{this}")
    );
    env.orange(["doctor"])
        .says("project shop: .orange/prompts/worker.md at commit")
        .says("unknown variable {this}")
        .says(".orange/prompts/wroker.md has the name of no prompt");
}

#[test]
fn what_is_no_prompt_is_passed_over() {
    let env = TestEnvironment::new();
    let task = env.create(["Add a login form"]);
    let just_fits = "x".repeat(256 * 1024);
    commit(&env, &env.shop(), "worker.md", &just_fits);
    assert_eq!(shown(&env, &task.key).ok().stdout.trim(), just_fits);
    let cases: [(&[u8], &str); 6] = [
        (&[b'x'; 256 * 1024 + 1], ": it is larger than 256 KB"),
        (b"fine\n\xff", ", line 2: it is not UTF-8"),
        (b" \n\t\n", ": it is empty"),
        (b"a\0b", ": it has a NUL character"),
        (b"a\n{key\n", ", line 2: a { without its } on the same line"),
        (
            b"json: { \"a\": 1 }",
            ", line 1: unknown variable { \"a\": 1 }",
        ),
    ];
    for (content, problem) in cases {
        commit(&env, &env.shop(), "worker.md", content);
        let run = shown(&env, &task.key).ok().says(problem);
        assert!(run.stdout.starts_with("You are the worker of"), "{run}");
        env.orange(["prompt", "show", "worker"])
            .fails_with(3)
            .says(problem);
    }
    // A link leads out of the commit.
    let file = env.shop().join(".orange/prompts/worker.md");
    fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    commit_all(&env, &env.shop());
    shown(&env, &task.key)
        .ok()
        .says(": it is not a plain file")
        .silent_about("root:");
}

#[test]
fn written_with_other_line_ends() {
    let env = with_own("\u{feff}Go on with {key}.\r\n{message}\r\n{{}}\r\n");
    let task = env.create(["Add a login form"]);
    let text = shown(&env, &task.key).ok().stdout;
    assert_eq!(text, "Go on with TASK-001.\n{}\n");
}

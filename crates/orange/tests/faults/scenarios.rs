//! What the kill tests kill: every command that changes a task, from every status it can start from.

use crate::env::{Env, PROJECT};
use orange_core::task::WorkflowName;
use orange_core::workflow::{Trigger, Who, Workflow};
use std::fs;

/// A prepared home and the command that is killed in it.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) base: Env,
    pub(crate) command: Vec<String>,
    /// Set for a caller that is an agent: `ORANGE_TASK_ID`, `ORANGE_ROLE`.
    pub(crate) agent: Option<(String, &'static str)>,
    /// The command takes more than one step, each of which may be the last (an adoption before an update).
    pub(crate) steps: bool,
    /// Makes a task: doing it again makes another.
    pub(crate) creates: bool,
    /// A worktree has work that is on no branch: [`WORK`] must be found afterwards.
    pub(crate) has_work: bool,
}

/// Files of a worktree that nobody committed, and what they say.
pub(crate) const WORK: &[(&str, &str)] = &[
    ("changed.txt", "changed\n"),
    ("untracked.txt", "untracked\n"),
    ("staged.txt", "staged\n"),
];

/// Who takes a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    Human,
    Agent,
    Reviewer,
}

const HUMAN: &[By] = &[By::Human];
const AGENT: &[By] = &[By::Human, By::Agent];
const REVIEWER: &[By] = &[By::Human, By::Reviewer];

const PLAN: &str = "\n## Plan\n\nAPPROACH: carefully\n";
const HANDOFF: &str = "\n## Handoff\n\nDONE: all of it\n";
const PASS: &str = "\n## Review\n\nVerdict: PASS\n";
const FAIL: &str = "\n## Review\n\nVerdict: FAIL\n\nnot yet\n";

const ACTIVE: &[&str] = &[
    "planning",
    "clarification",
    "working",
    "agent-review",
    "reviewing",
    "stuck",
    "delegated",
];

/// Rows that have nothing but a status in front of them: from, to, what to write first, who.
const ROWS: &[(&str, &str, &str, &[By])] = &[
    ("pending", "planning", "", HUMAN),
    ("pending without summary", "clarification", "", HUMAN),
    ("planning", "working", PLAN, AGENT),
    ("planning", "clarification", "", AGENT),
    ("clarification", "planning", "", AGENT),
    ("clarification", "working", PLAN, AGENT),
    ("working", "agent-review", HANDOFF, AGENT),
    ("working after a review", "agent-review", HANDOFF, AGENT),
    ("working", "clarification", "", AGENT),
    ("working", "stuck", "", AGENT),
    ("working with a child", "delegated", "", AGENT),
    ("agent-review", "reviewing", PASS, REVIEWER),
    ("agent-review", "working", FAIL, REVIEWER),
    ("agent-review at the last round", "stuck", FAIL, REVIEWER),
    ("reviewing", "working", "", HUMAN),
    ("reviewing", "done", "", HUMAN),
    ("stuck", "reviewing", "", AGENT),
    ("stuck", "working", "", HUMAN),
    ("delegated", "working", "", HUMAN),
];

/// A task in the wanted state, made by the commands a person would use.
pub(crate) fn task_in(env: &Env, state: &str) -> String {
    let (status, _) = state.split_once(' ').unwrap_or((state, ""));
    if state == "pending without summary" {
        return env.create(&["the-branch"]);
    }
    // Its branch is at main's head, so that it counts as merged.
    let key = env.create(&["the-branch", "Add a login form"]);
    env.append_to_body(&key, "\n## Notes\n\nfree text, ends without a newline");
    env.append_to_body(&key, "\n");
    let go = |status: &str| env.update(&key, &["--status", status]);
    let write = |text: &str| env.append_to_body(&key, text);
    if status == "pending" {
        return key;
    }
    go("planning");
    if status == "planning" {
        return key;
    }
    if status == "clarification" {
        go("clarification");
        return key;
    }
    write(PLAN);
    go("working");
    match state {
        "working" => return key,
        "stuck" => {
            go("stuck");
            return key;
        }
        "working with a child" | "delegated" => {
            env.create(&["the-child", "A part of it", "--parent", &key]);
            if state == "delegated" {
                go("delegated");
            }
            return key;
        }
        _ => {}
    }
    write(HANDOFF);
    go("agent-review");
    match state {
        "agent-review" => {}
        "reviewing" => {
            write(PASS);
            go("reviewing");
        }
        "working after a review" | "agent-review at the last round" => {
            write(FAIL);
            go("working");
            if status == "agent-review" {
                write(HANDOFF);
                go("agent-review");
            }
        }
        other => panic!("no way to {other}"),
    }
    key
}

fn id_of(env: &Env, key: &str) -> String {
    let folder = env.folder_of(key);
    folder.file_name().unwrap().to_string_lossy().into_owned()
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

impl Scenario {
    fn new(name: impl Into<String>, base: Env, command: &[&str]) -> Scenario {
        Scenario {
            name: name.into(),
            base,
            command: words(command),
            agent: None,
            steps: false,
            creates: false,
            has_work: false,
        }
    }

    fn steps(mut self) -> Scenario {
        self.steps = true;
        self
    }

    fn creates(mut self) -> Scenario {
        self.creates = true;
        self
    }
}

/// Something that makes a scenario from an empty home.
pub(crate) type Build = Box<dyn Fn(Env) -> Scenario + Sync>;

fn build(make: impl Fn(Env) -> Scenario + Sync + 'static) -> Build {
    Box::new(make)
}

/// A home whose repository has the branches that scenarios use.
pub(crate) fn empty_home() -> Env {
    let env = Env::new();
    for branch in ["the-branch", "the-child", "theirs"] {
        env.git(&["branch", branch]);
    }
    env.create(&["bystander", "Not to be touched"]);
    env
}

pub(crate) fn transitions() -> Vec<Build> {
    let mut all = Vec::new();
    for (from, to, text, who) in ROWS {
        for by in *who {
            all.push(build(move |env| row(env, from, to, text, *by, false)));
        }
    }
    for from in ACTIVE {
        all.push(build(move |env| {
            row(env, from, "done", "", By::Human, true)
        }));
    }
    for from in ACTIVE.iter().chain(&["pending"]) {
        all.push(build(move |env| cancelled(env, from)));
    }
    all
}

/// One with hooks, one that archives a section, and an end.
pub(crate) fn one_of_each_kind() -> Vec<Build> {
    vec![
        build(|env| row(env, "pending", "planning", "", By::Human, false)),
        build(|env| row(env, "agent-review", "working", FAIL, By::Reviewer, false)),
        build(|env| cancelled(env, "delegated")),
    ]
}

fn cancelled(env: Env, from: &str) -> Scenario {
    let key = task_in(&env, from);
    let command = ["task", "cancel", &key, "--yes", "--keep-children"];
    Scenario::new(format!("{from} → cancelled"), env, &command)
}

fn row(env: Env, from: &str, to: &str, text: &str, by: By, force: bool) -> Scenario {
    let key = task_in(&env, from);
    if !text.is_empty() {
        env.append_to_body(&key, text);
    }
    let mut command = vec!["task", "update", &key, "--status", to];
    if force {
        command.push("--force");
    }
    let role = match by {
        By::Human => None,
        By::Agent => Some("worker"),
        By::Reviewer => Some("reviewer"),
    };
    let agent = role.map(|role| (id_of(&env, &key), role));
    let mut scenario = Scenario::new(format!("{from} → {to} by {by:?}"), env, &command);
    scenario.agent = agent;
    scenario
}

/// Rows that a person or an agent can take and that no scenario covers; must be empty.
pub(crate) fn uncovered_rows() -> Vec<String> {
    let workflow = Workflow::named(WorkflowName::Interactive);
    let mut missing = Vec::new();
    for row in workflow.transitions {
        for info in workflow.statuses {
            if !workflow
                .rows_from(info.status, None)
                .any(|other| std::ptr::eq(other, row))
            {
                continue;
            }
            for entry in row.who {
                let by = match entry.who {
                    Who::Engine => continue,
                    Who::Human => By::Human,
                    Who::Agent => By::Agent,
                    Who::Reviewer => By::Reviewer,
                };
                let (from, to) = (info.status.as_str(), row.to.as_str());
                let special = to == "cancelled" || entry.when == Some(Trigger::FORCE);
                let listed = ROWS.iter().any(|(state, target, _, who)| {
                    state.split(' ').next() == Some(from) && *target == to && who.contains(&by)
                });
                let covered = if special {
                    from == "pending" || ACTIVE.contains(&from)
                } else {
                    listed
                };
                if !covered {
                    missing.push(format!("{from} → {to} by {by:?}"));
                }
            }
        }
    }
    missing
}

pub(crate) fn other_commands() -> Vec<Build> {
    let mut all = vec![
        build(|env| {
            let command = ["task", "create", "new-one", "A task", "--priority", "high"];
            Scenario::new("create", env, &command).creates()
        }),
        build(|env| {
            Scenario::new(
                "create without summary",
                env,
                &["task", "create", "new-one"],
            )
            .creates()
        }),
        build(|env| {
            let text = env.home().join("context.md");
            fs::write(&text, "## Plan\n\nnot a plan\n").unwrap();
            let source = text.to_str().unwrap();
            let command = ["task", "create", "new-one", "A task", "--context", source];
            Scenario::new("create with context", env, &command).creates()
        }),
        build(|env| {
            let key = task_in(&env, "working");
            let command = ["task", "create", "new-one", "A part", "--parent", &key];
            Scenario::new("create a child", env, &command).creates()
        }),
        build(|env| {
            let key = task_in(&env, "pending");
            let command = [
                "task",
                "update",
                &key,
                "--priority",
                "high",
                "--add-tag",
                "ui",
            ];
            Scenario::new("update fields", env, &command)
        }),
        build(|env| {
            let key = task_in(&env, "pending");
            let command = [
                "task",
                "update",
                &key,
                "--summary",
                "",
                "--status",
                "clarification",
            ];
            Scenario::new("update a field and the status", env, &command)
        }),
        build(|env| {
            let key = task_in(&env, "pending");
            let command = ["task", "update", &key, "--branch", "another"];
            Scenario::new("update the branch", env, &command)
        }),
        build(|env| {
            let key = task_in(&env, "pending");
            Scenario::new("delete", env, &["task", "delete", &key, "--yes"])
        }),
        build(|env| {
            let key = task_in(&env, "pending");
            env.ok(&["task", "delete", &key, "--yes"]);
            Scenario::new("restore", env, &["task", "restore", &key])
        }),
        build(|env| {
            let key = task_in(&env, "pending");
            env.ok(&["task", "delete", &key, "--yes"]);
            env.ok(&["task", "restore", &key]);
            Scenario::new("delete again", env, &["task", "delete", &key, "--yes"])
        }),
        build(|env| {
            let key = with_work(&env);
            let command = ["task", "cancel", &key, "--yes"];
            let mut scenario = Scenario::new("cancel with uncommitted work", env, &command);
            scenario.has_work = true;
            scenario
        }),
        build(|env| {
            let key = with_work(&env);
            env.ok(&["task", "cancel", &key, "--yes"]);
            let again = env.create(&["the-branch", "--from", &key, "--with-work"]);
            let command = ["task", "update", &again, "--status", "planning"];
            let mut scenario = Scenario::new("go on with earlier work", env, &command);
            scenario.has_work = true;
            scenario
        }),
        build(|env| {
            let key = task_in(&env, "working with a child");
            let command = ["task", "cancel", &key, "--yes", "--with-children"];
            Scenario::new("cancel with children", env, &command).steps()
        }),
        build(|env| {
            task_in(&env, "delegated");
            let child = "TASK-003";
            env.update(child, &["--status", "planning"]);
            let command = ["task", "update", child, "--status", "done", "--force"];
            Scenario::new("a child's end moves its parent on", env, &command)
        }),
    ];
    all.push(build(|env| {
        let (key, name) = rescued(&env);
        let command = ["task", "rescue", "restore", &key, &name];
        Scenario::new("restore a rescue", env, &command)
    }));
    for status in ["agent-review", "reviewing"] {
        all.push(build(move |env| {
            let command = [
                "task",
                "create",
                "theirs",
                "Look at this",
                "--status",
                status,
            ];
            Scenario::new(format!("create as {status}"), env, &command).creates()
        }));
    }
    all.extend(files_changed_by_others());
    all
}

/// A task with a commit of its own, and with [`WORK`] in its workspace.
pub(crate) fn with_work(env: &Env) -> String {
    let key = task_in(env, "working");
    let path = env.ok(&["task", "path", &key])["path"].clone();
    let slot = std::path::PathBuf::from(path.as_str().unwrap());
    fs::write(slot.join("changed.txt"), "as committed\n").unwrap();
    env.git_at(&slot, &["add", "changed.txt"]);
    env.git_at(&slot, &["commit", "--quiet", "--message=work"]);
    for (name, text) in WORK {
        fs::write(slot.join(name), text).unwrap();
    }
    env.git_at(&slot, &["add", "staged.txt"]);
    key
}

/// A task with changes in its workspace and a rescue of other ones.
pub(crate) fn rescued(env: &Env) -> (String, String) {
    let key = task_in(env, "working");
    let folder = env.folder_of(&key);
    let slot = env.home().join("workspaces/shop--1");
    let (id, name) = (
        folder.file_name().unwrap().to_str().unwrap(),
        "20260102T030405.000Z",
    );
    let message = format!("rescue\n\nOrange-Task: {id}\nOrange-Time: 2026-01-02T03:04:05Z\n");
    fs::write(slot.join("changed"), "then").unwrap();
    env.git_at(&slot, &["add", "changed"]);
    env.git_at(&slot, &["commit", "--quiet", "-m", &message]);
    env.git_at(
        &slot,
        &[
            "update-ref",
            &format!("refs/orange/rescue/{id}/{name}"),
            "HEAD",
        ],
    );
    env.git_at(&slot, &["reset", "--quiet", "--hard", "HEAD~1"]);
    fs::write(slot.join("changed"), "of now").unwrap();
    (key, name.to_owned())
}

/// Commands that find more in the task's folder than they left there.
fn files_changed_by_others() -> Vec<Build> {
    let edited = |old: &'static str, new: &'static str| {
        move |env: Env| {
            let key = task_in(&env, "working");
            let file = env.folder_of(&key).join("TASK.md");
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.contains(old), "{text}");
            fs::write(&file, text.replacen(old, new, 1)).unwrap();
            let command = ["task", "update", &key, "--add-tag", "ui"];
            Scenario::new(format!("update after {old} → {new}"), env, &command).steps()
        }
    };
    vec![
        build(edited("status: working", "status: done")),
        build(edited("priority: normal", "priority: high")),
        build(edited("status: working\n", "status: done\ntags: [mine]\n")),
        build(edited("status: working", "status: [broken")),
        build(|env| {
            adopted(&env);
            let command = ["task", "update", "old-task-1", "--priority", "high"];
            Scenario::new("adopt and update", env, &command).steps()
        }),
        build(|env| {
            let key = task_in(&env, "pending");
            overtaken(&env, &key);
            let command = ["task", "update", &key, "--add-tag", "ui"];
            Scenario::new(
                "merge a body that a dead command had swapped out",
                env,
                &command,
            )
            .steps()
        }),
        build(|env| {
            let key = task_in(&env, "pending");
            let file = env.folder_of(&key).join("TASK.md");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text + "\n## Context\n\nmore\n").unwrap();
            let command = ["task", "update", &key, "--add-tag", "ui"];
            Scenario::new("update after a changed Context", env, &command).steps()
        }),
    ]
}

/// A task as the program before this one left it.
fn adopted(env: &Env) {
    let folder = env.tasks().join("old-task-1");
    fs::create_dir_all(&folder).unwrap();
    let text = "---\nid: old-task-1\nproject: shop\nstatus: needs_human\nbranch: old\nsummary: Old\n\
                created_at: 2024-01-15T10:00:00Z\nmood: good # unknown\n---\n\n## Notes\n\nold\n";
    fs::write(folder.join("TASK.md"), text.replace("shop", PROJECT)).unwrap();
    let line =
        "{\"type\":\"task.created\",\"at\":\"2024-01-15T10:00:00Z\",\"by\":\"orchestrator\"}\n";
    fs::write(folder.join("history.jsonl"), line).unwrap();
}

/// Leaves what a command leaves that dies right after an editor wrote to the file it had swapped out.
fn overtaken(env: &Env, key: &str) {
    let folder = env.folder_of(key);
    let killed = env
        .command(&["task", "update", key, "--priority", "low"])
        .env("ORANGE_CRASH_AT", "replace.exchanged")
        .output()
        .unwrap();
    assert!(!killed.status.success());
    let swapped = crate::check::names(&folder, |name| name.starts_with(".TASK.md."));
    let [swapped] = swapped.as_slice() else {
        panic!("{swapped:?}");
    };
    let text = fs::read_to_string(folder.join(swapped)).unwrap();
    fs::write(
        folder.join(swapped),
        text + "\nwritten at the last moment\n",
    )
    .unwrap();
}

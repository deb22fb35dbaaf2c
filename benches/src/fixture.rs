//! Homes full of tasks, written file by file as Orange itself would have left them: a frontmatter that its
//! journal folds to, hooks seen to, and a lock file. No command finds anything to repair in them.

use crate::Result;
use crate::measure::run;
use crate::scratch::Scratch;
use orange_core::Timestamp;
use orange_core::history::payload::TaskCreated;
use orange_core::history::{Event, EventType};
use orange_core::id::{ID_ALPHABET, ID_LENGTH, Key};
use orange_core::machine::{self, Facts, Move, PoolSlots, Situation};
use orange_core::task::{Field, FieldMap, Status, Task, WorkflowName};
use orange_core::task_file::TaskFile;
use orange_core::workflow::{Actor, Workflow};
use orange_engine::store::Place;
use orange_engine::store::lock::{TaskLock, Witness};
use orange_engine::store::locks::Rank;
use orange_engine::tx::{context_mark, written_fields};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The project every task belongs to.
pub(crate) const PROJECT: &str = "bench";
/// When the first task was made; each further one is a minute younger.
const BEGINNING: i64 = 1_760_000_000;
/// Of ten tasks this one is in planning, and waits for nothing.
const PLANNING: usize = 7;

/// A home folder and the repository its project stands for.
pub(crate) struct Home {
    pub(crate) path: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) tasks: usize,
}

impl Home {
    pub(crate) fn create(root: &Path, tasks: usize) -> Result<Home> {
        Home::with_live(root, tasks, tasks)
    }

    /// All but the first so many tasks were cancelled long ago.
    pub(crate) fn with_live(root: &Path, tasks: usize, live: usize) -> Result<Home> {
        let home = Home {
            path: root.join("home"),
            repository: root.join("repository"),
            tasks,
        };
        fs::create_dir_all(home.path.join("in-flight"))?;
        fs::create_dir_all(&home.repository)?;
        make_repository(&home.repository)?;
        let projects = serde_json::json!([{
            "name": PROJECT, "path": home.repository, "default_branch": "main", "pool_size": 2,
        }]);
        fs::write(home.path.join("projects.json"), projects.to_string())?;
        for number in 1..=tasks {
            write_task(&home, number, number <= live)?;
        }
        Ok(home)
    }

    /// A command of Orange in this home, called from inside the repository as a person would.
    pub(crate) fn orange(&self, scratch: &Scratch, words: &[&str]) -> Command {
        let mut command = Command::new(&scratch.orange);
        command
            .args(words)
            .current_dir(&self.repository)
            .env("ORANGE_HOME", &self.path)
            .env("ORANGE_AGENTS_HARNESS", "none")
            .env("ORANGE_AGENTS_REVIEW_HARNESS", "none")
            .env("ORANGE_AGENTS_SPAWN_ON_CREATE", "false")
            .env_remove("ORANGE_TASK_ID")
            .env_remove("ORANGE_LOG_LEVEL");
        command
    }

    /// Fills the index, and once more after the tick within which files cannot be told apart.
    pub(crate) fn settle(&self, scratch: &Scratch) -> Result<()> {
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(50));
            run(&mut self.orange(scratch, &["task", "list"]))?;
        }
        Ok(())
    }

    pub(crate) fn tasks_folder(&self) -> PathBuf {
        self.path.join("tasks")
    }

    pub(crate) fn place(&self, number: usize) -> Place {
        let name = id(number);
        Place {
            project: PROJECT.to_owned(),
            path: self.tasks_folder().join(PROJECT).join(&name),
            name,
        }
    }

    /// The n-th task that is in planning; from the start again after the last.
    pub(crate) fn planning(&self, n: usize) -> usize {
        n % (self.tasks / 10).max(1) * 10 + PLANNING
    }
}

pub(crate) fn key(number: usize) -> String {
    Key::numbered(number as u32).to_string()
}

fn make_repository(folder: &Path) -> Result<()> {
    let git = |words: &[&str]| run(Command::new("git").arg("-C").arg(folder).args(words));
    git(&["init", "--quiet", "--initial-branch=main"])?;
    git(&[
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@example.invalid",
        "-c",
        "commit.gpgsign=false",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message=start",
    ])?;
    Ok(())
}

/// The same number has the same id in every home, and neighbours share no prefix.
fn id(number: usize) -> String {
    let mut state = number as u64;
    (0..ID_LENGTH)
        .map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ID_ALPHABET[((mixed ^ (mixed >> 31)) % ID_ALPHABET.len() as u64) as usize]
        })
        .collect()
}

fn write_task(home: &Home, number: usize, live: bool) -> Result<()> {
    let place = home.place(number);
    let body = body(number);
    let (task, events) = history_of(number, &body, live)?;
    let mut journal = String::new();
    for event in &events {
        journal.push_str(&event.to_line());
        journal.push('\n');
    }
    fs::create_dir_all(&place.path)?;
    fs::write(place.journal(), &journal)?;
    let file = TaskFile::create(&written_fields(&task), &body);
    fs::write(place.task_file(), file.text())?;
    TaskLock::acquire_telling(&place.path, Rank::Task, Duration::ZERO, |_| {})?.set_witness(
        Witness {
            revision: task.revision,
            journal_bytes: journal.len() as u64,
            front: orange_engine::store::mark_of(file.front()),
        },
    )?;
    Ok(())
}

/// The task and the events that made it: about five, more for one that was started.
fn history_of(number: usize, body: &str, live: bool) -> Result<(Task, Vec<Event>)> {
    let mut clock = BEGINNING + 60 * number as i64;
    let mut now = || {
        clock += 7;
        Timestamp::from_second(clock)
    };
    let workflow = Workflow::named(WorkflowName::Interactive);
    let bad = |refusal| format!("the fixture breaks a rule: {refusal:?}");
    let decision = machine::create(workflow, draft(number), Actor::Human, now()?).map_err(bad)?;
    let created = decision.event.with(TaskCreated {
        context: Some(&context_mark(body)),
        ..TaskCreated::default()
    });
    let mut events = vec![created];
    let mut task = machine::fold(&events, u64::MAX)?;
    let mut add = |task: &mut Task, event: Event| -> Result<()> {
        machine::apply(task, &event)?;
        events.push(event);
        Ok(())
    };
    let edits: &[(Field, Value)] = &[
        (
            Field::Priority,
            ["high", "normal", "normal", "low"][number % 4].into(),
        ),
        (Field::Weight, "medium".into()),
        (Field::Tags, vec!["api", "login", "v2"].into()),
        (Field::Effort, "high".into()),
    ];
    let moves: &[Status] = match number % 10 {
        _ if !live => &[Status::Cancelled],
        PLANNING | 8 => &[Status::Planning],
        9 => &[Status::Planning, Status::Clarification],
        _ => &[],
    };
    for (field, value) in edits.iter().skip(2 * moves.len()) {
        let change = FieldMap::from_iter([(field.name().to_owned(), value.clone())]);
        if let Some(event) = machine::update(&task, change, Actor::Human, now()?)? {
            add(&mut task, event)?;
        }
    }
    let facts = Facts {
        slots: PoolSlots {
            size: 2,
            holders: Vec::new(),
        },
        ..Facts::default()
    };
    for to in moves {
        let now = now()?;
        let situation = Situation {
            task: &task,
            body,
            facts: &facts,
            max_rounds: 3,
            now,
        };
        let decision =
            machine::decide(workflow, situation, Actor::Human, Move::to(*to)).map_err(bad)?;
        let transition = id(number * 8 + task.revision as usize).split_off(ID_LENGTH - 12);
        let mut event = decision.event;
        event.transition = Some(transition.clone());
        let hooks = event.hooks.clone();
        add(&mut task, event)?;
        for hook in &hooks {
            let mut skipped = Event::new(EventType::HookSkipped, now)
                .because("this version of orange starts no agents and touches no worktrees");
            skipped.hook = Some(hook.clone());
            skipped.transition = Some(transition.clone());
            add(&mut task, skipped)?;
        }
        if !hooks.is_empty() {
            let end = machine::finish_transition(&task, &transition, now);
            add(&mut task, end)?;
        }
    }
    Ok((task, events))
}

fn draft(number: usize) -> Task {
    const VERBS: &[&str] = &[
        "Add", "Repair", "Rework", "Document", "Test", "Speed up", "Remove",
    ];
    const THINGS: &[&str] = &[
        "the login form",
        "session tokens",
        "the export of reports",
        "retries of the mail queue",
        "the search index",
        "rate limits of the API",
    ];
    let summary = format!(
        "{} {} for tenant {number}",
        VERBS[number % VERBS.len()],
        THINGS[number % THINGS.len()]
    );
    let slug = summary.to_lowercase().replace(' ', "-");
    Task {
        id: id(number),
        key: Some(Key::numbered(number as u32)),
        project: PROJECT.into(),
        branch: format!("orange/{}-{slug}", key(number)),
        summary,
        base: Some("main".into()),
        created_by: Some("bench".into()),
        // Status changes are measured, not agents.
        harness: Some("none".into()),
        // One in ten waits for the task before it.
        blocked_by: if number % 10 == 3 {
            vec![key(number - 1)]
        } else {
            Vec::new()
        },
        requires_ui_testing: number.is_multiple_of(2),
        ..Task::default()
    }
}

fn body(number: usize) -> String {
    // One in five names another task, which is a link to it.
    let other = match number % 5 {
        0 => key(number - 1),
        _ => "the pull request of last spring".into(),
    };
    format!(
        "\n## Context\n\nTenant {number} reports that what worked last week now fails in about one of a hundred \
         requests. The logs show a timeout between the gateway and the service, always after a deployment, \
         never at night. Customers see an empty page and try again.\n\nThe change must not touch the public \
         interface, because two mobile applications depend on it. Compare with {other}, where the same part was \
         changed.\n\n## Plan\n\n1. Write a test that shows the failure: a stub that answers late, and a client \
         that gives up too early.\n2. Move the deadline from the client into the request, so that each hop knows \
         what is left of it.\n3. Log the remaining time at every hop, and count requests that ran out of it.\n4. \
         Document the setting in the operators' manual, with the value that production uses today.\n\n### \
         Risks\n\n- The stub may hide a second problem in the connection pool; keep the old test for one \
         release.\n- A client that sends no deadline gets the default, which has to stay as long as it is \
         now.\n"
    )
}

/// A call of git about a folder.
pub(crate) fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder);
    command
}

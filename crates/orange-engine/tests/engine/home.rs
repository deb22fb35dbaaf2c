//! A home for one test: a temporary folder with real repositories, and the engine's verbs as methods. A call is made as a
//! front end makes it: it claims the home, finishes what an earlier process left, carries out one verb. The tests of verbs call
//! the engine through here alone.
//!
//! ```ignore
//! let home = TestHome::new();
//! let (task, slot) = home.started("login");
//! home.commit(&slot, "form.html", "<form>");
//! home.move_to(&task, "done").fails(Code::ConditionUnmet);
//! assert_eq!(task.last("status.changed")["to"], "planning");
//! ```

mod looks;
mod moves;
mod repositories;

use moves::way_to;
pub(crate) use moves::{agent, to};

use crate::outcome::{Outcome, shown};
use crate::task::TestTask;
use orange_core::Timestamp;
use orange_core::allow_rule::{AllowRule, Scope};
use orange_core::task::{Field, Status, Task};
use orange_core::workflow::Intent;
use orange_engine::background::monitor::Monitor;
use orange_engine::background::queue;
use orange_engine::call::{Outside, Override};
use orange_engine::index::list::TaskFilter;
use orange_engine::maintenance::{self, doctor};
use orange_engine::person_environment::PersonEnvironment;
use orange_engine::runs::QuestionAnswer;
use orange_engine::tx::FailedHook;
use orange_engine::verbs::answer;
use orange_engine::verbs::cancel::{self, CancelChildren};
use orange_engine::verbs::change::{self, Change, Edit};
use orange_engine::verbs::create::{self, NewTask};
use orange_engine::verbs::delete;
use orange_engine::verbs::merge::{self, MergeWish};
use orange_engine::verbs::permissions;
use orange_engine::verbs::project::{self, AddProject, UpdateProject};
use orange_engine::verbs::restore;
use orange_engine::verbs::seen;
use orange_engine::verbs::start::{self, StartOutcome};
use orange_engine::views::Merged;
use orange_engine::views::results::OpenQuestion;
use orange_engine::views::{Comparison, DiffOf, PhasedDetail, diff, phased};
use orange_engine::views::{PermissionRow, permissions as permission_views};
use orange_engine::views::{detail, list, list_json, task, why, workspace_state, workspaces};
use orange_engine::{Call, Caller, Code, Error, Home, Result, Settings, find, recovery, sessions};
use serde_json::Value;
use std::cell::Cell;
use std::ffi::OsString;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

thread_local! {
    /// How far this test's clock is ahead of the machine's.
    static AHEAD: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

fn clock() -> Timestamp {
    Timestamp::now() + AHEAD.get()
}

/// A variable that only the person's own environment has.
pub(crate) const STARTER: &str = "STARTED_BY";

/// What every git gets here, whoever runs the tests.
fn variables() -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap();
    let fixed = [
        ("HOME", "/nonexistent"),
        ("LC_ALL", "C"),
        ("TZ", "UTC"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "Tester"),
        ("GIT_AUTHOR_EMAIL", "tester@example.com"),
        ("GIT_COMMITTER_NAME", "Tester"),
        ("GIT_COMMITTER_EMAIL", "tester@example.com"),
    ];
    let mut all: Vec<(OsString, OsString)> = vec![("PATH".into(), path)];
    all.extend(fixed.map(|(name, value)| (name.into(), value.into())));
    all
}

pub(crate) struct TestHome {
    root: TempDir,
}

impl TestHome {
    /// With the repository `shop`, registered.
    pub(crate) fn new() -> TestHome {
        let home = TestHome::unregistered();
        home.add_project(&home.shop()).ok();
        home
    }

    /// With the repository `shop`, which Orange has not heard of.
    pub(crate) fn unregistered() -> TestHome {
        let home = TestHome::empty();
        home.init_repository("shop");
        home
    }

    /// With nothing at all.
    pub(crate) fn empty() -> TestHome {
        static ENVIRONMENT: Once = Once::new();
        ENVIRONMENT.call_once(|| {
            let person: PersonEnvironment = variables().into_iter().collect();
            person.give_to_children();
        });
        AHEAD.set(Duration::ZERO);
        let root = tempfile::Builder::new()
            .prefix("engine-")
            .tempdir()
            .unwrap();
        TestHome { root }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// Where Orange keeps its state.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The repository of the project `shop`.
    pub(crate) fn shop(&self) -> PathBuf {
        self.root().join("shop")
    }

    /// From now on it is so much later.
    pub(crate) fn pass(&self, time: Duration) {
        AHEAD.set(AHEAD.get() + time);
    }

    // Calls of the engine.

    fn begin(&self, caller: Caller) -> Call {
        let setting = |key: &str, value: &str| Override {
            key: key.to_owned(),
            value: value.to_owned(),
            from: Outside::Environment,
        };
        let settings = Settings {
            caller,
            user: Some("tester".to_owned()),
            clock,
            // A test that needs an errand belongs to the program's own tests.
            orange: PathBuf::from("/nonexistent/orange"),
            search_path: std::env::var_os("PATH"),
            user_home: Some(self.root()),
            person: Some(
                variables()
                    .into_iter()
                    .chain([(STARTER.into(), "tester".into())])
                    .collect(),
            ),
            overrides: vec![
                setting("agents.harness", "none"),
                setting("agents.review_harness", "none"),
                setting("agents.spawn_on_create", "false"),
            ],
            ..Settings::at(self.folder())
        };
        // Opened anew for each call, as each command does: an open home does not look for edits of files twice in a moment.
        Call::on(Home::at(self.folder()), settings)
    }

    pub(crate) fn call<T: Debug>(
        &self,
        caller: Caller,
        verb: impl FnOnce(&Call) -> Result<T>,
    ) -> Outcome<T> {
        let call = self.begin(caller);
        let result = recovery::claim_home(&call).and_then(|()| {
            recovery::recover(&call);
            verb(&call)
        });
        Outcome {
            result,
            notices: call.take_notices().iter().map(shown).collect(),
        }
    }

    /// A call of a person.
    pub(crate) fn person<T: Debug>(&self, verb: impl FnOnce(&Call) -> Result<T>) -> Outcome<T> {
        self.call(Caller::Human, verb)
    }

    pub(crate) fn add_project(&self, repository: &Path) -> Outcome<String> {
        self.add_project_as(repository, None)
    }

    pub(crate) fn add_project_as(&self, repository: &Path, name: Option<&str>) -> Outcome<String> {
        let add = AddProject {
            path: repository.to_owned(),
            name: name.map(str::to_owned),
            pool_size: Some(2),
            ..AddProject::default()
        };
        self.person(|call| Ok(project::add_project(call, &add)?.project.name))
    }

    pub(crate) fn pool_size(&self, size: u32) {
        self.update_project(&UpdateProject {
            pool_size: Some(size),
            ..UpdateProject::default()
        });
    }

    pub(crate) fn set_default_branch(&self, branch: &str) {
        self.update_project(&UpdateProject {
            default_branch: Some(branch.to_owned()),
            ..UpdateProject::default()
        });
    }

    /// How the keys of new tasks of a project begin from now on.
    pub(crate) fn set_prefix(&self, project: &str, prefix: &str) -> Outcome<()> {
        let update = UpdateProject {
            prefix: Some(prefix.parse().unwrap()),
            ..UpdateProject::default()
        };
        self.person(|call| project::update_project(call, project, &update).map(drop))
    }

    fn update_project(&self, update: &UpdateProject) {
        self.person(|call| project::update_project(call, "shop", update))
            .ok();
    }

    /// The folder of the task that a person means who types this in a project, or in none.
    pub(crate) fn find(&self, text: &str, project: Option<&str>) -> Outcome<String> {
        self.person(|call| Ok(find::find(call, text, project)?.folder()))
    }

    pub(crate) fn delete(&self, task: &TestTask) -> Outcome<Task> {
        self.person(|call| delete::delete(call, task.place.clone()))
    }

    pub(crate) fn restore(&self, text: &str, project: Option<&str>) -> Outcome<Task> {
        self.person(|call| {
            let mut outcomes = restore::restore(call, &[text.to_owned()], project)?;
            outcomes.remove(0)
        })
    }

    /// A new task of `shop` on this branch.
    pub(crate) fn create(&self, branch: &str) -> TestTask {
        self.create_with(branch, |_| {})
    }

    /// The same, with more said of it.
    pub(crate) fn create_with(&self, branch: &str, say: impl FnOnce(&mut NewTask)) -> TestTask {
        self.try_create(branch, say).value()
    }

    pub(crate) fn try_create(
        &self,
        branch: &str,
        say: impl FnOnce(&mut NewTask),
    ) -> Outcome<TestTask> {
        let mut new = NewTask {
            project: "shop".to_owned(),
            branch: Some(branch.to_owned()),
            summary: format!("Do {branch}"),
            ..NewTask::default()
        };
        say(&mut new);
        self.person(|call| {
            let done = create::create(call, &new)?.done;
            Ok(TestTask {
                key: done.task.label(),
                id: done.task.id.clone(),
                branch: done.task.branch.clone(),
                folder: done.place.path.clone(),
                place: done.place,
            })
        })
    }

    pub(crate) fn change(&self, task: &TestTask, change: &Change) -> Outcome<Task> {
        self.change_as(Caller::Human, task, change)
    }

    pub(crate) fn change_as(
        &self,
        caller: Caller,
        task: &TestTask,
        change: &Change,
    ) -> Outcome<Task> {
        self.call(caller, |call| {
            let done = change::change(call, task.place.clone(), change)?.done;
            carried_out(&done.failed())?;
            Ok(done.task)
        })
    }

    pub(crate) fn edit(&self, task: &TestTask, edit: Edit) -> Outcome<Task> {
        let change = Change {
            edits: vec![edit],
            ..Change::default()
        };
        self.change(task, &change)
    }

    pub(crate) fn set(&self, task: &TestTask, field: Field, value: &str) -> Outcome<Task> {
        self.edit(task, Edit::Set(field, value.to_owned()))
    }

    pub(crate) fn move_to(&self, task: &TestTask, status: &str) -> Outcome<Task> {
        self.move_as(Caller::Human, task, status)
    }

    pub(crate) fn move_as(&self, caller: Caller, task: &TestTask, status: &str) -> Outcome<Task> {
        self.change_as(caller, task, &to(status))
    }

    /// What `orange task complete` does.
    pub(crate) fn complete(&self, task: &TestTask) -> Outcome<Task> {
        let change = Change {
            intent: Some(Intent::Submit),
            ..Change::default()
        };
        self.change(task, &change)
    }

    pub(crate) fn cancel(&self, task: &TestTask) -> Outcome<Task> {
        self.person(|call| {
            let cancelled = cancel::cancel(call, task.place.clone(), CancelChildren::Ask)?;
            carried_out(&cancelled.done.failed())?;
            Ok(cancelled.done.task)
        })
    }

    /// What `orange task spawn` does; None if the task waits now.
    pub(crate) fn spawn(&self, task: &TestTask) -> Outcome<Option<Status>> {
        self.person(|call| {
            Ok(match start::start(call, task.place.clone(), false)? {
                StartOutcome::Started(changed) => Some(changed.done.task.status),
                StartOutcome::Queued(..) => None,
            })
        })
    }

    /// A look at the queue, if somebody asked for one; how many tasks it started.
    pub(crate) fn look_at_queue(&self) -> usize {
        self.call(Caller::Engine, queue::serve_queue).value()
    }

    /// A look of the monitor, which needs nobody to ask; how many tasks it started.
    pub(crate) fn tick(&self) -> usize {
        self.call(Caller::Engine, |call| Monitor::default().tick(call))
            .value()
            .started
    }

    pub(crate) fn retry_hooks(&self, task: &TestTask) -> Outcome<Vec<String>> {
        self.person(|call| {
            let (done, tried) = change::retry_hooks(call, task.place.clone())?;
            carried_out(&done.failed())?;
            Ok(tried)
        })
    }

    pub(crate) fn merge(&self, task: &TestTask, wish: &MergeWish) -> Outcome<Merged> {
        self.merge_as(Caller::Human, task, wish)
    }

    pub(crate) fn merge_as(
        &self,
        caller: Caller,
        task: &TestTask,
        wish: &MergeWish,
    ) -> Outcome<Merged> {
        self.call(caller, |call| {
            let merged = merge::merge(call, task.place.clone(), wish)?;
            carried_out(&merged.done.failed())?;
            Ok(merged)
        })
    }

    /// Allows something for good, as an answer does.
    pub(crate) fn allow_as(
        &self,
        caller: Caller,
        task: &TestTask,
        scope: Scope,
        rule: &AllowRule,
    ) -> Outcome<PermissionRow> {
        self.call(caller, |call| {
            let added = permissions::add(call, task.place.clone(), scope, rule)?;
            Ok(added.permission)
        })
    }

    /// Answers what an agent asks, and waits until the agent has heard it.
    pub(crate) fn answer(&self, task: &TestTask, asked: &OpenQuestion, yes: bool) -> Outcome<()> {
        let answer = QuestionAnswer {
            allow: yes,
            message: String::new(),
            answers: Vec::new(),
            rule: None,
        };
        self.person(|call| {
            let task = task::view(call, task.place.clone())?.task;
            answer::answer(call, &task, asked, &answer, Duration::from_secs(60))
        })
    }

    /// Removes rules by their numbers.
    pub(crate) fn disallow_as(
        &self,
        caller: Caller,
        numbers: &[u32],
    ) -> Outcome<Vec<PermissionRow>> {
        self.call(caller, |call| permissions::remove(call, numbers))
    }

    pub(crate) fn permissions(
        &self,
        wanted: &permission_views::WantedPermissions,
    ) -> Vec<PermissionRow> {
        self.person(|call| permission_views::permissions(call, wanted))
            .value()
    }

    /// Removes what has been in the trash for too long. The files are as old as the clock says.
    pub(crate) fn expire_trash(&self, task: &TestTask) {
        let trashed = self.folder().join("trash").join(task.place.folder());
        let journal = fs::File::options()
            .append(true)
            .open(trashed.join("history.jsonl"));
        journal
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        self.person(|call| maintenance::gc::gc(call, true)).ok();
    }

    pub(crate) fn remove_project(&self, name: &str) -> Outcome<String> {
        self.person(|call| Ok(project::remove_project(call, name, true)?.name))
    }

    /// Where a task's work is done.
    #[track_caller]
    pub(crate) fn slot_of(&self, task: &TestTask) -> PathBuf {
        self.person(|call| {
            let task = task::view(call, task.place.clone())?.task;
            workspace_state::workspace_folder(call, &task)
        })
        .value()
    }

    // What several calls make.

    /// Takes a new task to this status by hand, writing the artifacts on the way.
    #[track_caller]
    pub(crate) fn bring_to(&self, task: &TestTask, status: &str) {
        self.take(task, way_to(status));
    }

    /// The same from where the task is.
    #[track_caller]
    pub(crate) fn bring_on(&self, task: &TestTask, status: &str) {
        let way = way_to(status);
        let now = self.show(task)["status"].as_str().unwrap().to_owned();
        let passed = way.iter().position(|step| *step == now).unwrap() + 1;
        self.take(task, &way[passed..]);
    }

    #[track_caller]
    fn take(&self, task: &TestTask, way: &[&str]) {
        for step in way {
            match *step {
                "working" => task.append("## Plan\n\nAPPROACH: straight ahead\n"),
                "agent-review" => task.append("## Handoff\n\nDONE: all of it\n"),
                "reviewing" => task.append("## Review\n\nVerdict: PASS\n"),
                _ => {}
            }
            self.move_to(task, step).ok();
        }
    }

    /// Creates a task on this branch and starts it. Gives its slot too.
    #[track_caller]
    pub(crate) fn started(&self, branch: &str) -> (TestTask, PathBuf) {
        let task = self.create(branch);
        let slot = self.start(&task);
        (task, slot)
    }

    /// Starts a task; gives its slot.
    #[track_caller]
    pub(crate) fn start(&self, task: &TestTask) -> PathBuf {
        self.move_to(task, "planning").ok();
        self.slot_of(task)
    }

    /// Makes a commit on a task's branch, in its worktree, and merges it into main by hand.
    pub(crate) fn work_and_merge(&self, task: &TestTask) {
        self.commit(&self.slot_of(task), &format!("{}.txt", task.key), "work");
        self.git(&self.shop(), &["merge", "-q", "--no-edit", &task.branch]);
    }

    /// Brings a new task to done, with work that is merged.
    #[track_caller]
    pub(crate) fn finish(&self, task: &TestTask) {
        self.bring_to(task, "reviewing");
        self.work_and_merge(task);
        self.move_to(task, "done").ok();
    }

    // Files and repositories.
}

/// A hook that failed is a failure of the call, as front ends have it, although the task has moved.
fn carried_out(failed: &[FailedHook]) -> Result<()> {
    match failed.first() {
        None => Ok(()),
        Some(FailedHook { name, failure }) => {
            let why = &failure.why;
            Err(Error::new(Code::Failed, format!("{name}: {why}")))
        }
    }
}

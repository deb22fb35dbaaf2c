//! Starting again from a task that is over: what a new task takes over from it, and its work if that is wanted.

pub mod work;

use crate::call::{self, Call};
use crate::error::{Code, Result, err};
use crate::find;
use crate::git::contained::Landed;
use crate::git::{self, short};
use crate::projects::Project;
use crate::store::Place;
use crate::verbs::create::NewTask;
use crate::verbs::resolve;
use crate::views::results::{BranchLanding, TaskOrigin};
use crate::views::task;
use crate::{access, execution, facts, trash};
use orange_core::history::History;
pub use orange_core::history::payload::EarlierWork;
use orange_core::id::read_stored;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::{Action, artifact, text};
use std::fmt::Write as _;

/// A task that is over, and that a new one may start again from.
#[derive(Debug, Clone)]
pub struct Earlier {
    pub task: Task,
    place: Place,
    body: String,
    history: History,
}

/// The task that a person wants to start again from. One that is deleted or not over is refused.
pub fn earlier(call: &Call, text: &str, project: Option<&str>) -> Result<Earlier> {
    access::people_only(call, "start a task again")?;
    let place = match find::find(call, text, project) {
        Err(error) if error.code == Code::NotFound => {
            return Err(match trash::find_in_trash(call, text, project) {
                Ok((_, task)) => err!(ConditionUnmet, "{} is deleted", task.label()).hint(text!(
                    "bring it back first: {}",
                    Action::restore(task.name())
                )),
                Err(_) => error,
            });
        }
        found => found?,
    };
    let view = task::view(call, place)?;
    let label = view.task.label();
    if let Some(damage) = view.damaged {
        return Err(err!(Damaged, "{label} is damaged: {damage}")
            .hint(text!("{} says what can be repaired", Action::check())));
    }
    if !view.task.status.is_terminal() {
        return Err(err!(
            ConditionUnmet,
            "{label} is {}; only a task that is done or cancelled can be started again",
            view.task.status
        )
        .hint(text!(
            "give it up first: {}; or let it go on: {}",
            Action::cancel(view.task.name(), false),
            Action::explain(view.task.name())
        )));
    }
    Ok(Earlier {
        task: view.task,
        place: view.place,
        body: view.body,
        history: view.history,
    })
}

/// Fills in what was not said of a new task from the earlier one, and links the two.
pub fn create_from(
    call: &Call,
    mut new: NewTask,
    earlier: &Earlier,
    with_work: bool,
) -> Result<NewTask> {
    let old = &earlier.task;
    let project = call::registered(call, &old.project)?;
    let landing = resolve::landing_of(call, old)?;
    let work = if with_work {
        work::work_of(call, &project, earlier, &landing)?
    } else {
        None
    };
    let same_words = new.summary.trim().is_empty() && new.context.is_none();
    // A design task that is not about a user interface keeps its visual tests: its words say so again.
    let is_settled = old.requires_ui_testing || !old.testing_requirements.visual;
    if same_words && new.ui_testing.is_none() && is_settled {
        new.ui_testing = Some(old.requires_ui_testing);
    }
    if new.summary.trim().is_empty() {
        new.summary.clone_from(&old.summary);
    }
    let note = note(earlier, &new, &landing, work.as_ref());
    let context = new.context.take().unwrap_or_else(|| earlier.context());
    new.context = Some(match context.trim() {
        "" => note,
        text => format!("{text}\n\n{note}"),
    });
    new.workflow = new.workflow.or(Some(old.workflow));
    new.target_branch = new.target_branch.or_else(|| old.target_branch.clone());
    new.harness = new.harness.or_else(|| old.harness.clone());
    new.review_harness = new.review_harness.or_else(|| old.review_harness.clone());
    new.permissions = new.permissions.or(old.permissions);
    new.model = new.model.or_else(|| old.model.clone());
    new.review_model = new.review_model.or_else(|| old.review_model.clone());
    new.effort = new.effort.or_else(|| old.effort.clone());
    new.review_effort = new.review_effort.or_else(|| old.review_effort.clone());
    new.priority = new.priority.or(Some(old.priority));
    new.queue = new.queue.or(Some(old.queue));
    new.category = new.category.or(Some(old.category));
    new.weight = new.weight.or(old.weight);
    if new.gates.is_empty() {
        new.gates = gates_of(old);
    }
    if new.spec.is_none() && new.workflow == Some(old.workflow) && old.has_plan() {
        let known = execution::spec::spec(call, &earlier.place, old)?;
        // One that an agent wrote is written anew, as everything else that agents did.
        let given = known.filter(|spec| spec.source.is_given());
        new.spec = given.map(|spec| spec.content);
    }
    new.initiative_id = new.initiative_id.or_else(|| old.initiative_id.clone());
    if new.tags.is_empty() {
        new.tags.clone_from(&old.tags);
    }
    if new.base.is_none() {
        new.base = own_base(&project, old)?;
    }
    take_over_links(call, &mut new, old)?;
    new.origin = Some(TaskOrigin {
        id: old.id.clone(),
        label: old.label(),
        status: old.status,
        work,
    });
    Ok(new)
}

/// What its person said of who decides about phases.
fn gates_of(old: &Task) -> Vec<(String, PhaseGateKind)> {
    let gates = old.gates.iter();
    let kept =
        gates.filter_map(|(phase, kind)| Some((phase.clone(), kind.as_str()?.parse().ok()?)));
    kept.collect()
}

/// Links that still mean something: a parent that is not over, blockers that are open, tasks that are there.
fn take_over_links(call: &Call, new: &mut NewTask, old: &Task) -> Result<()> {
    if let (None, Some(parent)) = (&new.parent, &old.parent)
        && is_open(call, &old.project, parent)?
    {
        new.parent = Some(parent.clone());
    }
    if new.blocked_by.is_empty() {
        for blocker in &old.blocked_by {
            if is_open(call, &old.project, blocker)? {
                new.blocked_by.push(blocker.clone());
            }
        }
    }
    for related in &old.related_to {
        if find::find_entry(call, related, Some(&old.project)).is_ok() {
            new.related_to.push(related.clone());
        }
    }
    new.related_to.push(old.id.clone());
    Ok(())
}

fn is_open(call: &Call, project: &str, reference: &str) -> Result<bool> {
    let status = facts::linked(call, project, reference)?.status;
    Ok(status.is_some_and(|status| !status.is_terminal()))
}

/// Whoever waits for a cancelled task waits in vain, also when it has a successor.
pub(crate) fn note_dependents(call: &Call, origin: &TaskOrigin, new: &Task) -> Result<()> {
    let named = read_stored(&new.project, &origin.label);
    let Some(named) = named.filter(|_| origin.status.is_given_up()) else {
        return Ok(());
    };
    let key = named.written_in(&named.project);
    for waiting in call.index()?.waiting_for(&named.project, named.number)? {
        if waiting.id != new.id && waiting.is_live() {
            let name = waiting.name();
            call.notice(text!(
                "{} still waits for {key}: {}",
                waiting.label(),
                Action::replace_blocker(name, &key, new.name().seen_from(Some(&waiting.project)))
            ));
        }
    }
    Ok(())
}

impl Earlier {
    /// What a person had said of it.
    pub fn context(&self) -> String {
        let section = artifact::section(&self.body, "Context");
        let text = section.and_then(|section| self.body.get(section.content));
        text.unwrap_or_default().trim().to_owned()
    }
}

/// The base that somebody chose, if it is still there.
fn own_base(project: &Project, old: &Task) -> Result<Option<String>> {
    let default = &project.default_branch;
    let Some(base) = old.base.as_ref() else {
        return Ok(None);
    };
    if base == default || *base == format!("origin/{default}") {
        return Ok(None);
    }
    let there = git::commit_of(&project.path, base)?;
    Ok(there.map(|_| base.clone()))
}

/// What the agent is told of the attempt before.
fn note(
    earlier: &Earlier,
    new: &NewTask,
    landing: &BranchLanding,
    work: Option<&EarlierWork>,
) -> String {
    let old = &earlier.task;
    let mut text = format!("### Earlier attempt: {} ({})\n\n", old.label(), old.status);
    if new.summary != old.summary && !old.summary.is_empty() {
        let _ = writeln!(text, "- Its summary was: {}", old.summary);
    }
    let (branch, target) = (&old.branch, &landing.target);
    let _ = match (&landing.landed, &landing.head) {
        (_, None) => writeln!(text, "- Its branch was `{branch}`, which is gone."),
        // Also a branch without commits of its own, which changed nothing.
        (Some(Landed::Head), Some(_)) => {
            writeln!(
                text,
                "- Its branch is `{branch}`; it has no commit that {target} does not have."
            )
        }
        (Some(Landed::Change(_)), Some(_)) => {
            writeln!(
                text,
                "- Its branch is `{branch}`; its change is in {target}."
            )
        }
        (Some(Landed::No { commits }), Some(head)) => writeln!(
            text,
            "- Its branch is `{branch}`, at {}, with {} that {target} does not have.",
            short(head),
            counted(*commits as usize, "commit")
        ),
        (None, Some(head)) => writeln!(text, "- Its branch is `{branch}`, at {}.", short(head)),
    };
    if let Some(work) = work {
        let _ = writeln!(
            text,
            "- You go on from there: your branch starts at {}.",
            short(&work.head)
        );
        if work.rescue.is_some() {
            text.push_str(
                "- What it had not committed is put back into your worktree, uncommitted.\n",
            );
        }
    }
    let file = earlier.place.task_file();
    let written = written(&earlier.body);
    let _ = match written.as_str() {
        "" => writeln!(text, "- Its TASK.md: {}", file.display()),
        written => writeln!(
            text,
            "- Read its {written} before you plan: {}",
            file.display()
        ),
    };
    text
}

/// `Plan, Handoff and Review`: which of them an earlier agent wrote.
fn written(body: &str) -> String {
    let sections = artifact::sections(body);
    let there = |name: &&str| {
        let archived = format!("{name} (round ");
        let is = |found: &str| found == *name || found.starts_with(&archived);
        sections.iter().any(|section| is(&section.name))
    };
    let names = ["Plan", "Handoff", "Review", "Notes"];
    let found: Vec<&str> = names.into_iter().filter(there).collect();
    match found.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

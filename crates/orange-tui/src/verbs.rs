//! The engine's verbs as the dashboard calls them, and what came of each in words.

mod phased;
mod rescue;

use crate::app::Undo;
use orange_core::allow_rule::Scope;
use orange_core::config::Permissions;
use orange_core::machine::destination;
use orange_core::task::{Queue, Task};
use orange_core::workflow::{Intent, Role};
use orange_core::{Text, text};
use orange_engine::runs::QuestionAnswer;
use orange_engine::sessions::permissions::is_mode_open;
use orange_engine::tmux::Attach;
use orange_engine::tx::Committed;
use orange_engine::verbs::answer::{self, Always};
use orange_engine::verbs::answer_clarification::answer_clarification;
use orange_engine::verbs::attach::attach;
use orange_engine::verbs::cancel::{CancelChildren, cancel};
use orange_engine::verbs::change::{self, Change, Changed};
use orange_engine::verbs::create::{NewTask, create};
use orange_engine::verbs::create_from;
use orange_engine::verbs::delete::delete;
use orange_engine::verbs::merge::{self, MergePlan, MergeWish};
use orange_engine::verbs::phased::run::Again;
use orange_engine::verbs::project::{UpdateProject, update_project};
use orange_engine::verbs::request_changes::request_changes;
use orange_engine::verbs::respawn::respawn;
use orange_engine::verbs::restore::restore;
use orange_engine::verbs::send::{Sent, send};
use orange_engine::verbs::start::{StartOutcome, start, start_in_turn};
use orange_engine::views::questions::questions_in_file;
use orange_engine::views::results::OpenQuestion;
use orange_engine::views::task;
use orange_engine::{Call, Error, Result, err};
use std::time::Duration;

/// How long an agent may take to hear an answer or a message.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What runs while a window is looked for.
pub(crate) const ATTACH: &str = "attach";

#[derive(Debug, Clone)]
pub enum Verb {
    Start,
    Respawn,
    /// Finds the window to go to.
    Attach,
    Allow(Box<OpenQuestion>),
    AllowAlways(Box<OpenQuestion>, Scope),
    Deny(Box<OpenQuestion>, String),
    Answer(Box<OpenQuestion>, String),
    /// With the questions that were shown.
    Clarify(String, String),
    RequestChanges(String),
    TakeBack(String),
    Approve(PhaseAtGate),
    Reject(PhaseAtGate, String),
    /// Ends the executor of a task.
    Pause,
    /// Has its execution go on.
    GoOn,
    /// A phase, and why.
    Skip(String, String),
    Rewind(String),
    /// The newest one of a phase.
    Transcript(String),
    Send(Role, String),
    PlanMerge,
    Merge(Box<MergeWish>),
    Cancel,
    Delete,
    Restore(String),
    CreateFrom(String),
    Create(Box<NewTask>),
    ListRescues,
    /// By its name.
    ShowRescue(String),
    RestoreRescue(String),
    /// One after the other.
    Each(Vec<(String, Verb)>),
    PlanMerges(Vec<String>),
    /// After a person said what agents of the project may do.
    WithMode(String, Permissions, Box<Verb>),
}

impl Verb {
    /// What runs, for the row of the task; drafts of texts go by it too.
    pub fn name(&self) -> &'static str {
        match self {
            Verb::Start => "start",
            Verb::Respawn => "start again",
            Verb::Attach => ATTACH,
            Verb::Allow(_) => "allow",
            Verb::AllowAlways(..) => "always allow",
            Verb::Deny(..) => "deny",
            Verb::Answer(..) | Verb::Clarify(..) => "answer",
            Verb::RequestChanges(_) => "changes",
            Verb::TakeBack(_) => "take back",
            Verb::Approve(_) => "approve",
            Verb::Reject(..) => "reject",
            Verb::Pause => "pause",
            Verb::GoOn => "go on",
            Verb::Skip(..) => "skip",
            Verb::Rewind(_) => "rewind",
            Verb::Transcript(_) => "transcript",
            Verb::Send(..) => "message",
            Verb::PlanMerge | Verb::PlanMerges(_) | Verb::Merge(_) => "merge",
            Verb::ListRescues | Verb::ShowRescue(_) | Verb::RestoreRescue(_) => "rescue",
            Verb::Each(verbs) => verbs.first().map_or("nothing", |(_, verb)| verb.name()),
            Verb::Cancel => "cancel",
            Verb::Delete => "delete",
            Verb::Restore(_) => "restore",
            Verb::CreateFrom(_) | Verb::Create(_) => "create",
            Verb::WithMode(_, _, verb) => verb.name(),
        }
    }
}

/// A phase that a person decides about, as they saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseAtGate {
    pub phase: String,
    pub attempt: u32,
}

/// A merge of one of several tasks: what it would be, or why it cannot be.
#[derive(Debug)]
pub struct Planned {
    pub folder: String,
    pub plan: std::result::Result<MergePlan, String>,
}

#[derive(Debug)]
pub enum VerbOutcome {
    Said {
        text: Text,
        undo: Option<Undo>,
    },
    Created {
        folder: String,
        text: Text,
    },
    /// How to get to a task's window.
    Attach(Box<Attach>),
    /// What a merge would be: a person decides.
    Plan(Box<MergePlan>),
    Plans(Vec<Planned>),
    /// Names and what they hold.
    Rescues(Vec<(String, String)>),
    Rescue {
        name: String,
        lines: Vec<String>,
    },
    /// To be read.
    Text {
        title: String,
        lines: Vec<String>,
    },
    /// What became of several, and with which of them it was done.
    Many {
        text: Text,
        done: Vec<String>,
        is_whole: bool,
    },
    /// Nobody has said yet what agents of this project may do.
    ChooseMode {
        project: String,
        verb: Box<Verb>,
    },
    Failed {
        text: Text,
        hint: Option<Text>,
    },
}

impl VerbOutcome {
    fn said(text: impl Into<Text>) -> VerbOutcome {
        VerbOutcome::Said {
            text: text.into(),
            undo: None,
        }
    }
}

/// Carries a verb out. It may take as long as it takes: nothing that draws waits for it.
pub fn run(call: &Call, folder: &str, verb: Verb) -> VerbOutcome {
    let outcome = try_run(call, folder, verb).unwrap_or_else(failed);
    let notices = call.take_notices();
    let with_notices = |text: Text| {
        let notices = notices.into_iter();
        notices.fold(text, |text, notice| text!("{}; {}", text, notice))
    };
    match outcome {
        VerbOutcome::Said { text, undo } => VerbOutcome::Said {
            text: with_notices(text),
            undo,
        },
        VerbOutcome::Created { folder, text } => VerbOutcome::Created {
            folder,
            text: with_notices(text),
        },
        VerbOutcome::Failed { text, hint } => VerbOutcome::Failed {
            text: with_notices(text),
            hint,
        },
        VerbOutcome::Many {
            text,
            done,
            is_whole,
        } => VerbOutcome::Many {
            text: with_notices(text),
            done,
            is_whole,
        },
        outcome => outcome,
    }
}

/// Does the same with several tasks. What cannot be done with one does not keep it from the next.
fn each(call: &Call, verbs: Vec<(String, Verb)>) -> VerbOutcome {
    let word = match verbs.first() {
        Some((_, Verb::Cancel)) => "cancelled",
        Some((_, Verb::Delete)) => "deleted",
        Some((_, Verb::Merge(_))) => "merged",
        Some((_, Verb::RequestChanges(_))) => "sent back",
        _ => "changed",
    };
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for (folder, verb) in verbs {
        match try_run(call, &folder, verb) {
            Ok(_) => done.push(folder),
            Err(error) => refused.push(error.message),
        }
    }
    let count = done.len();
    let text = match refused.len() {
        0 => format!("{count} {word}"),
        several => format!("{count} {word}, {several} refused: {}", refused.join("; ")),
    };
    VerbOutcome::Many {
        text: text.into(),
        done,
        is_whole: refused.is_empty(),
    }
}

pub fn failed(error: Error) -> VerbOutcome {
    VerbOutcome::Failed {
        text: error.message.into(),
        hint: error.hint,
    }
}

fn try_run(call: &Call, folder: &str, verb: Verb) -> Result<VerbOutcome> {
    let place = || call.store().place(folder);
    let asked = || Ok::<Task, Error>(task::view(call, place())?.task);
    Ok(match verb {
        Verb::Start | Verb::Respawn if is_mode_open_for(call, &asked()?)? => {
            VerbOutcome::ChooseMode {
                project: asked()?.project,
                verb: Box::new(verb),
            }
        }
        Verb::Start if asked()?.has_plan() => phased::run(call, place(), Again::Run)?,
        Verb::Start => match start(call, place(), false)? {
            StartOutcome::Started(changed) => moved(&changed),
            StartOutcome::Queued(task, why) => {
                VerbOutcome::said(format!("{}: queued, {why}", task.label()))
            }
        },
        Verb::Respawn => {
            let done = respawn(call, place(), None, None)?;
            let text = format!("{}: its agent is started again", done.task.label());
            VerbOutcome::said(with_failures(text, &done))
        }
        Verb::Attach => VerbOutcome::Attach(Box::new(attach(call, place(), None)?.1)),
        Verb::Allow(open) => answered(call, &asked()?, &open, &plain(true, String::new()))?,
        Verb::AllowAlways(open, scope) => {
            let always = Always {
                scope,
                matching: None,
            };
            let task = asked()?;
            let rule = answer::answer_always(call, &task, &open, &always, TIMEOUT)?;
            let (label, allows, number) = (task.label(), rule.allows, rule.number);
            VerbOutcome::said(format!(
                "{label}: allowed, and from now on without asking: {allows} (rule {number})"
            ))
        }
        Verb::Deny(open, words) => answered(call, &asked()?, &open, &plain(false, words))?,
        Verb::Answer(open, words) => {
            let answers = answers(&open, &words)?;
            let answer = QuestionAnswer {
                answers,
                ..plain(true, String::new())
            };
            answered(call, &asked()?, &open, &answer)?
        }
        Verb::Clarify(shown, words) => {
            let view = task::view(call, place())?;
            if questions_in_file(&view).unwrap_or_default() != shown {
                let label = view.task.label();
                return Err(err!(
                    Conflict,
                    "{label} asks something else by now; your answer was not sent, and is kept"
                ));
            }
            moved(&answer_clarification(call, &view, &words)?)
        }
        Verb::RequestChanges(words) => moved(&request_changes(call, place(), &words)?),
        Verb::Approve(gate) => phased::approve(call, place(), &gate)?,
        Verb::Reject(gate, words) => phased::reject(call, place(), &gate, &words)?,
        Verb::Pause => phased::pause(call, place())?,
        Verb::GoOn => phased::run(call, place(), Again::Resume)?,
        Verb::Skip(phase, why) => phased::skip(call, place(), &phase, &why)?,
        Verb::Rewind(phase) => phased::rewind(call, place(), &phase)?,
        Verb::Transcript(phase) => phased::transcript(call, place(), &phase)?,
        Verb::TakeBack(words) => take_back(call, folder, words)?,
        Verb::Send(role, words) => {
            let (task, sent) = send(call, place(), role, &words, false, TIMEOUT)?;
            let label = task.label();
            match sent {
                Sent::Delivered(how) => VerbOutcome::said(format!("{label}: delivered ({how})")),
                Sent::Queued(why) => {
                    VerbOutcome::said(format!("{label}: queued, {why}; it is told when it can be"))
                }
                Sent::Failed(why) => {
                    return Err(err!(
                        Failed,
                        "the message to {label} was not delivered: {why}"
                    ));
                }
            }
        }
        Verb::PlanMerge => {
            let plan = merge::merge_plan(call, place(), &MergeWish::default())?;
            VerbOutcome::Plan(Box::new(plan))
        }
        Verb::PlanMerges(folders) => {
            let plans = folders.into_iter().map(|folder| {
                let place = call.store().place(&folder);
                let plan = merge::merge_plan(call, place, &MergeWish::default());
                let plan = plan.map_err(|error| error.message);
                Planned { folder, plan }
            });
            VerbOutcome::Plans(plans.collect())
        }
        Verb::Each(verbs) => each(call, verbs),
        Verb::ListRescues => rescue::list(call, folder)?,
        Verb::ShowRescue(name) => rescue::show(call, folder, &name)?,
        Verb::RestoreRescue(name) => rescue::bring_back(call, folder, &name)?,
        Verb::Merge(wish) => {
            let merged = merge::merge(call, place(), &wish)?;
            let label = merged.done.task.label();
            let short = merged.commit.get(..7).unwrap_or(&merged.commit).to_owned();
            let how = match (merged.already, merged.pushed) {
                (true, _) => ", where it was already",
                (false, true) => ", pushed",
                (false, false) => "",
            };
            let target = merged.target;
            let text = format!("{label}: merged into {target} as {short}{how}; it is done");
            VerbOutcome::said(with_failures(text, &merged.done))
        }
        Verb::Cancel => {
            let cancelled = cancel(call, place(), CancelChildren::Ask)?;
            let task = &cancelled.done.task;
            VerbOutcome::Said {
                text: with_failures(format!("{}: cancelled", task.label()), &cancelled.done).into(),
                undo: Some(Undo::CreateFrom(task.name().seen_from(None).to_owned())),
            }
        }
        Verb::Delete => {
            let task = delete(call, place())?;
            VerbOutcome::Said {
                text: format!("{}: deleted", task.label()).into(),
                undo: Some(Undo::Restore(task.id)),
            }
        }
        Verb::Restore(name) => {
            let restored = restore(call, &[name], None)?.into_iter().next();
            let task = restored.ok_or_else(|| err!(NotFound, "there is nothing to restore"))??;
            VerbOutcome::said(format!("{}: restored", task.label()))
        }
        Verb::CreateFrom(name) => {
            let earlier = create_from::earlier(call, &name, None)?;
            let mut new = NewTask {
                project: earlier.task.project.clone(),
                ..NewTask::default()
            };
            new = create_from::create_from(call, new, &earlier, true)?;
            created(call, &new)?
        }
        Verb::Create(new) => {
            let harness = new.harness.as_deref();
            if new.starts && is_mode_open(call, &new.project, harness)? {
                return Ok(VerbOutcome::ChooseMode {
                    project: new.project.clone(),
                    verb: Box::new(Verb::Create(new)),
                });
            }
            created(call, &new)?
        }
        Verb::WithMode(project, mode, verb) => {
            let update = UpdateProject {
                permissions: Some(mode),
                ..UpdateProject::default()
            };
            update_project(call, &project, &update)?;
            return try_run(call, folder, *verb);
        }
    })
}

/// Whether nobody has said yet what the task's agents may do.
fn is_mode_open_for(call: &Call, task: &Task) -> Result<bool> {
    let harness = task.harness.as_deref();
    Ok(task.permissions.is_none() && is_mode_open(call, &task.project, harness)?)
}

/// A result, with what did not succeed beside it.
fn with_failures(text: String, done: &Committed) -> String {
    let failed = done.failed().into_iter();
    failed.fold(text, |text, hook| {
        format!("{text}, but {} failed: {}", hook.name, hook.failure.why)
    })
}

fn plain(allow: bool, message: String) -> QuestionAnswer {
    QuestionAnswer {
        allow,
        message,
        answers: Vec::new(),
        rule: None,
    }
}

fn answered(
    call: &Call,
    task: &Task,
    open: &OpenQuestion,
    answer: &QuestionAnswer,
) -> Result<VerbOutcome> {
    answer::answer(call, task, open, answer, TIMEOUT)?;
    let words = answer.words();
    Ok(VerbOutcome::said(format!("{}: {words}", task.label())))
}

/// One line for each question, if there are several.
fn answers(open: &OpenQuestion, words: &str) -> Result<Vec<String>> {
    let wanted = open.question.asked.len();
    let answers: Vec<String> = if wanted == 1 {
        vec![words.trim().to_owned()]
    } else {
        let lines = words.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if answers.len() == wanted {
        Ok(answers)
    } else {
        Err(err!(
            Usage,
            "it asks {wanted} questions: write a line for each (Alt-Enter begins a line)"
        ))
    }
}

fn take_back(call: &Call, folder: &str, words: String) -> Result<VerbOutcome> {
    let place = call.store().place(folder);
    let view = task::view(call, place.clone())?;
    let label = view.task.label();
    if destination(&view.task, Intent::TakeBack).is_none() {
        return Err(err!(IllegalTransition, "{label} cannot be taken back"));
    }
    let change = Change {
        intent: Some(Intent::TakeBack),
        message: Some(words),
        ..Change::default()
    };
    Ok(moved(&change::change(call, place, &change)?))
}

fn moved(changed: &Changed) -> VerbOutcome {
    let task = &changed.done.task;
    let (label, from, to) = (task.label(), changed.done.from, task.status);
    match (&changed.waits, changed.done.failed().first()) {
        (_, Some(_)) => VerbOutcome::said(with_failures(
            format!("{label}: {from} → {to}"),
            &changed.done,
        )),
        (Some(waits), None) => VerbOutcome::said(format!("{label}: waits for {waits}")),
        (None, None) if from == to => VerbOutcome::said(format!("{label}: {to}")),
        (None, None) => VerbOutcome::said(format!("{label}: {from} → {to}")),
    }
}

fn created(call: &Call, new: &NewTask) -> Result<VerbOutcome> {
    let created = create(call, new)?;
    let place = created.done.place.clone();
    let (folder, label) = (place.folder(), created.done.task.label());
    let task = &created.done.task;
    let begins = new.starts && !task.status.has_started() && task.queue != Queue::Backlog;
    let started = if begins {
        Some(start_in_turn(call, place))
    } else {
        None
    };
    let text = match started {
        None => format!("created {label}").into(),
        Some(Ok((StartOutcome::Started(changed), _))) if changed.done.failed().is_empty() => {
            format!("created {label}; its agent works").into()
        }
        Some(Ok((StartOutcome::Started(changed), _))) => {
            with_failures(format!("created {label}"), &changed.done).into()
        }
        Some(Ok((StartOutcome::Queued(_, why), _))) => {
            format!("created {label}; it is queued: {why}").into()
        }
        Some(Err(error)) => {
            text!(
                "{label} was created but not started: {} · {}",
                error.message,
                error.hint.unwrap_or_default()
            )
        }
    };
    Ok(VerbOutcome::Created { folder, text })
}

//! What a person does with a task's agents: start one again, look at its screen, go to its window, ask for changes.

use super::{Change, Changed, Engine};
use crate::effects::{heard, with_undelivered};
use crate::error::{Code, Error, Result};
use crate::sessions::{Begin, Begun};
use crate::store::Place;
use crate::tmux::{Attach, Scrollback, Tmux};
use crate::tx::{Committed, TaskTx};
use orange_core::exit::role_of;
use orange_core::history::{EventType, History};
use orange_core::machine::destination;
use orange_core::prompt::PromptName;
use orange_core::runs::{last_run, next_run_id};
use orange_core::task::Task;
use orange_core::workflow::{Intent, Prompt, Role};
use orange_core::{Action, Text, text};
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// What an agent's window shows, or showed last.
#[derive(Debug, Clone, Serialize)]
pub struct Screen {
    #[serde(serialize_with = "task_id")]
    pub task: Task,
    /// The id of the agent's run.
    #[serde(skip)]
    pub run: String,
    pub role: Role,
    /// The agent is; a window without it shows a shell.
    pub alive: bool,
    pub text: String,
    /// What has left the screen above, as far as the window keeps it.
    #[serde(skip)]
    pub scrollback: Scrollback,
    /// Set for a screen that was kept when its agent ended.
    pub kept: Option<PathBuf>,
}

fn task_id<S: Serializer>(task: &Task, to: S) -> std::result::Result<S::Ok, S::Error> {
    task.id.serialize(to)
}

impl Engine {
    /// Starts an agent again that is gone, with a prompt for the status the task is in.
    pub fn respawn(
        &self,
        place: Place,
        role: Option<Role>,
        message: Option<&str>,
    ) -> Result<Committed> {
        self.people_only("start agents")?;
        let mut tx = self.lock_task(place)?;
        let status = tx.task.status;
        let label = tx.task.label();
        let role = role.unwrap_or(role_of(status));
        let prompt = match role {
            Role::Reviewer if status.is_in_review() => Some(PromptName::Reviewer),
            Role::Reviewer | Role::Executor => None,
            Role::Worker => PromptName::for_hook(Prompt::Respawn, status),
        };
        let Some(prompt) = prompt else {
            let back = destination(&tx.task, Intent::TakeBack);
            let hint = match back {
                _ if !status.has_started() => text!("start it: {}", Action::spawn(&label, false)),
                Some(back) if tx.task.offers(Intent::TakeBack) => {
                    text!("take it back: {}", Action::move_to(&label, back))
                }
                Some(_) | None => text!("{} says what it waits for", Action::explain(&label)),
            };
            return Err(Error::new(
                Code::ConditionUnmet,
                format!("{label} is {status}: no {role} is expected there"),
            )
            .hint(hint));
        };
        if self.live_run(tx.history(), role).is_some() {
            return Err(
                Error::new(Code::Conflict, format!("the {role} of {label} is running")).hint(
                    text!(
                        "go to it: {}; or tell it something: {}",
                        Action::attach(&label),
                        Action::send(&label, None, None)
                    ),
                ),
            );
        }
        self.refuse_double(&tx.task, tx.history(), role)?;
        if let Some(why) = tx.retry_acquire()? {
            let label = tx.commit(Vec::new())?.task.label();
            return Err(Error::new(Code::ConditionUnmet, why).hint(text!(
                "no agent is started; when that is mended: {}",
                Action::retry_hooks(label)
            )));
        }
        self.ensure_workspace(&mut tx)?;
        let begin = Begin {
            role,
            prompt,
            run: next_run_id(tx.history(), &tx.task.id, role),
            message: with_undelivered(&tx, role, message.map(str::to_owned)),
        };
        match self.begin(&tx, &begin)? {
            Begun::Started(event) => {
                tx.given.spawned.push((*event).clone());
                let mut events = heard(&tx, role);
                events.push(*event);
                events.extend(tx.made_up_for(role));
                tx.note(events)?;
            }
            Begun::Running => {}
            Begun::Nobody(why) => {
                return Err(Error::new(Code::ConditionUnmet, why)
                    .hint(text!("{} chooses one", Action::set_harness(label))));
            }
        }
        tx.commit(Vec::new())
    }

    /// A slot for a task that has none, as a task has that began as `reviewing`.
    pub(crate) fn ensure_workspace(&self, tx: &mut TaskTx<'_>) -> Result<()> {
        if tx.task.workspace.is_some() && self.unprepared_slot(&tx.task)?.is_none() {
            return Ok(());
        }
        let mut event = crate::effects::acquired(tx);
        let failed = event.kind == EventType::HookFailed;
        let reason = event.reason.clone().unwrap_or_default();
        if event.revision.is_some() {
            // No hook of a transition, and journalled at once: the agent starts in it. A slot whose setup failed is
            // still the task's.
            event.kind = EventType::TaskUpdated;
            tx.note(vec![event])?;
        }
        match failed {
            true => Err(Error::new(Code::ConditionUnmet, reason)),
            false => Ok(()),
        }
    }

    /// What an agent's window shows; what it showed last if it is gone.
    pub fn peek(&self, place: Place, role: Option<Role>, lines: Option<u32>) -> Result<Screen> {
        let view = self.view(place)?;
        let role = role.unwrap_or_else(|| role_to_look_at(&view.task, &view.history));
        let label = view.task.label();
        let run = last_run(&view.history, role).ok_or_else(|| {
            Error::new(
                Code::NotFound,
                match view.task.status.has_started() {
                    false => format!("{label} has not been started, so it has no {role}"),
                    true => format!("{label} has had no {role}"),
                },
            )
            .hint(match view.task.status.has_started() {
                false => text!("start it: {}", Action::spawn(&label, false)),
                true => text!("{} tells which agents it had", Action::show(&label, false)),
            })
        })?;
        let alive = run.end.is_none() && self.run_folder(&run.id).is_alive();
        let pane = self.pane_of(&run.id);
        let seen = pane.and_then(|pane| {
            let shown = pane.map(|pane| Tmux::at(&pane.socket).capture_counted(&pane, lines));
            shown.transpose()
        });
        match seen {
            Ok(Some((text, scrollback))) => {
                return Ok(Screen {
                    run: run.id.clone(),
                    task: view.task,
                    role,
                    text,
                    scrollback,
                    alive,
                    kept: None,
                });
            }
            // An agent that runs is not gone because tmux cannot be asked.
            Err(error) if alive && error.code != Code::NotFound => return Err(error),
            // What was kept needs no tmux.
            Ok(None) | Err(_) => {}
        }
        let path = view
            .place
            .path
            .join(format!("screens/{role}-{}.txt", run.id));
        let text = std::fs::read_to_string(&path).map_err(|_| {
            Error::new(
                Code::NotFound,
                format!(
                    "the {role} of {} is gone, and no screen of it was kept",
                    view.task.label()
                ),
            )
            .hint(text!(
                "{} says what to do",
                Action::explain(view.task.label())
            ))
        })?;
        Ok(Screen {
            run: run.id.clone(),
            task: view.task,
            role,
            text: last_lines(&text, lines),
            scrollback: Scrollback::default(),
            alive,
            kept: Some(path),
        })
    }

    /// How to get to an agent's window.
    pub fn attach(&self, place: Place, role: Option<Role>) -> Result<(Task, Attach)> {
        let view = self.view(place)?;
        let label = view.task.label();
        let role = role.unwrap_or_else(|| role_to_look_at(&view.task, &view.history));
        self.usable_tmux()?;
        let mut windows = self.windows_of(&view.task)?;
        if windows.is_empty() {
            let adopted = self.adopted_session(&view.history, Role::Worker)?;
            windows.extend(adopted.unwrap_or_default());
        }
        let run = last_run(&view.history, role);
        let of_run = |id: &str| {
            windows
                .iter()
                .find(|info| info.run_id.as_deref() == Some(id))
        };
        let window = run.and_then(|run| of_run(&run.id)).or(windows.first());
        let Some(window) = window else {
            return Err(
                Error::new(Code::NotFound, format!("{label} has no tmux session")).hint(match view
                    .task
                    .status
                {
                    status if !status.has_started() => {
                        text!("start it: {}", Action::spawn(label, false))
                    }
                    status if status.is_active() => {
                        text!("start its agent again: {}", Action::respawn(label, false))
                    }
                    _ => text!(
                        "it is over; its screens are in {}",
                        view.place.path.join("screens").display().to_string()
                    ),
                }),
            );
        };
        let inside = self.inside.clone();
        let attach = Tmux::at(&window.pane.socket).attach(&window.pane, inside.as_ref())?;
        Ok((view.task, attach))
    }

    /// A person is not content: the words go into TASK.md and to the worker.
    pub fn request_changes(&self, place: Place, message: &str) -> Result<Changed> {
        self.people_only("ask for changes")?;
        if message.trim().is_empty() {
            return Err(
                Error::new(Code::Usage, "what should be changed?").hint(text!(
                    "say it: {}",
                    Action::request_changes("ID", "the button is too small".to_owned())
                )),
            );
        }
        let change = Change {
            intent: Some(Intent::RequestChanges),
            message: Some(message.trim().to_owned()),
            ..Change::default()
        };
        let history = self.history_at(&place.path)?;
        if self.runs_in_deleted_folder(&history, Role::Worker) {
            let label = self.store.survey(&place.folder()).task.label();
            return Err(Error::new(
                Code::ConditionUnmet,
                format!(
                    "the worker of {label} runs in a workspace that was deleted, so it cannot change anything"
                ),
            )
            .hint(text!(
                "{} checks the branch out again; quit the worker ({}), then ask again: {}",
                Action::repair(),
                Action::attach(&label),
                Action::request_changes(&label, message.trim().to_owned())
            )));
        }
        let changed = self.change(place.clone(), &change);
        changed.map_err(|error| self.with_the_text(error, &place, message.trim()))
    }

    /// A refused request for changes, with a command that still delivers the text.
    fn with_the_text(&self, error: Error, place: &Place, text: &str) -> Error {
        let refusals = [
            Code::IllegalTransition,
            Code::GateUnmet,
            Code::ConditionUnmet,
        ];
        if !refusals.contains(&error.code) {
            return error;
        }
        let Ok(history) = self.history_at(&place.path) else {
            return error;
        };
        let task = self.store.survey(&place.folder()).task;
        let (label, text) = (task.label(), text.to_owned());
        let way = match task.status {
            status if !status.has_started() => text!(
                "it has not been started; put your text into `## Context` of {}: {text}",
                place.task_file().display().to_string()
            ),
            status if status.is_terminal() => text!(
                "it is over; new work from it: {}",
                Action::create_from(label, false, text)
            ),
            _ if self.live_run(&history, Role::Worker).is_some() => text!(
                "its worker gets your text with {}",
                Action::send(label, None, text)
            ),
            _ if self.live_run(&history, Role::Reviewer).is_some() => text!(
                "its reviewer gets your text with {}",
                Action::send(label, Role::Reviewer, text)
            ),
            _ => text!(
                "a worker is started with your text by {}",
                Action::respawn_with(label, text)
            ),
        };
        // A review that has no verdict yet can also be given one.
        let other = error.hint.clone().filter(|_| error.code == Code::GateUnmet);
        let other = other.map_or_else(Text::default, |hint| text!("; or: {}", hint));
        error.hint(text!("{}{}", way, other))
    }
}

/// The agent that the status is about, if it has had one.
fn role_to_look_at(task: &Task, history: &History) -> Role {
    let role = role_of(task.status);
    last_run(history, role).map_or(Role::Worker, |_| role)
}

fn last_lines(text: &str, lines: Option<u32>) -> String {
    let Some(lines) = lines else {
        return text.to_owned();
    };
    let all: Vec<&str> = text.lines().collect();
    let skip = all.len().saturating_sub(lines as usize);
    let mut kept = all.get(skip..).unwrap_or_default().join("\n");
    kept.push('\n');
    kept
}

//! Runs of a task whose end nobody has seen to yet: judged by the exit rules, once each.

use crate::call::{self, Call};
use crate::effects::agents::{heard, with_undelivered};
use crate::effects::start_agent::{self, Begin, Begun};
use crate::effects::{messages, stop_agent};
use crate::error::Result;
use crate::runs::Ended;
use crate::sessions::adopted::{self, is_adopted_run, session_when_adopted};
use crate::tx::TaskTx;
use crate::{facts, home_record, seal_checks, sessions};
use orange_core::exit::{self, Consequence, is_expected, role_of};
use orange_core::history::payload::{AgentEnded, AttentionNote, StatusMoved};
use orange_core::history::{Event, EventType, History};
use orange_core::machine::{self, Facts};
use orange_core::prompt::PromptName;
use orange_core::review::ReviewerEnd;
use orange_core::runs::{Ending, Run, last_run, next_run_id, open_runs};
use orange_core::task::Field;
use orange_core::workflow::{Actor, Role, Workflow};
use orange_sys::crash_points::crash_point;
use serde_json::Value;

impl TaskTx<'_> {
    pub(crate) fn history(&self) -> &History {
        &self.snapshot.history
    }

    /// Judges every run that is gone, and starts the reviewer again that a review still needs.
    pub(super) fn judge_ended_runs(&mut self) -> Result<()> {
        self.adopt_runs()?;
        self.settle_adopted()?;
        for run in open_runs(self.history()) {
            let folder = sessions::run_folder(self.call, &run.id);
            if folder.is_alive() {
                messages::resend(self, &run)?;
                continue;
            }
            // It may have written since this process read the file.
            self.write_reconciled()?;
            let ended = folder.ended();
            messages::note_outcomes(self, &run)?;
            self.judge(&run, ended.as_ref())?;
            if run.role != Role::Reviewer {
                // There is room for another one.
                call::request_queue_run(self.call)?;
            }
            folder.remove()?;
        }
        if self.crashed_here() {
            self.give_up()?;
        }
        self.review_again()
    }

    /// Applies the exit rules to an adopted task whose session is gone. It is judged once, where it stood when it was adopted:
    /// the run is journalled as one that another program started.
    fn settle_adopted(&mut self) -> Result<()> {
        let Some(session) = session_when_adopted(self.history()).map(str::to_owned) else {
            return Ok(());
        };
        let role = role_of(self.task.status);
        // A process may have died between the start and the end that it journalled.
        let begun = open_runs(self.history())
            .into_iter()
            .find(|run| is_adopted_run(self.history(), &run.id));
        if begun.is_none() {
            let mut later = self.history().own().iter();
            let has_moved = later.any(|event| event.is_move());
            if has_moved
                || !is_expected(self.task.status, role)
                || last_run(self.history(), role).is_some()
            {
                return Ok(());
            }
            match adopted::adopted_session(self.call, self.history(), role) {
                Ok(None) => {}
                Ok(Some(_)) => return Ok(()),
                Err(error) => {
                    // A tmux that does not answer says nothing about the session.
                    tracing::warn!(%error, "whether the session of an adopted task is alive is not known");
                    return Ok(());
                }
            }
            let id = next_run_id(self.history(), &self.task.id, role);
            let event = adopted::adopted_start(self.call, &self.task, &id, role, &session);
            self.note(vec![event])?;
            crash_point("adopted.started");
        }
        let run = begun.or_else(|| last_run(self.history(), role));
        let Some(run) = run.filter(|run| run.end.is_none()) else {
            return Ok(());
        };
        let end = JudgedEnd {
            how: format!("its tmux session {session} is gone"),
            last_words: String::new(),
            by_signal: false,
            review: None,
        };
        self.follow(&run, &end)
    }

    /// An agent that was started by a process which did not live to journal it.
    fn adopt_runs(&mut self) -> Result<()> {
        for role in [Role::Worker, Role::Reviewer, Role::Executor] {
            let id = next_run_id(self.history(), &self.task.id, role);
            if let Some(event) = start_agent::begun(self, &id)? {
                let mut events = heard(self, role);
                events.push(event);
                self.note(events)?;
            }
        }
        Ok(())
    }

    /// Forgets a run of which everything is journalled, or which came to nothing.
    pub(crate) fn forget_run(&self, id: &str) -> Result<()> {
        let folder = sessions::run_folder(self.call, id);
        let open = open_runs(self.history()).iter().any(|run| run.id == id);
        if open || folder.is_alive() {
            Ok(())
        } else {
            folder.remove()
        }
    }

    fn judge(&mut self, run: &Run, ended: Option<&Ended>) -> Result<()> {
        let how = match ended {
            Some(ended) => ended.how.clone(),
            None => "killed, or the machine went down".to_owned(),
        };
        if ended.is_none() {
            // Nobody was left to end what the agent had started.
            crate::runs::end_tagged(&home_record::home_paths(self.call), &run.id);
        }
        if ended.is_some_and(|ended| ended.stopped) {
            stop_agent::keep_screen(self.call, &self.place, run);
            return self.note(vec![gone(self.call, EventType::AgentStopped, run, &how)]);
        }
        if run.role == Role::Executor {
            // What its end means for the task is told by its rows: `tx/execution.rs`.
            return self.note(vec![gone(self.call, EventType::AgentExited, run, &how)]);
        }
        let end = JudgedEnd {
            how,
            last_words: ended.map_or(String::new(), |ended| ended.last_words.clone()),
            by_signal: ended.is_none_or(Ended::was_by_signal)
                || !seal_checks::is_sealed_end(self.call, run, ended),
            review: ended.and_then(|ended| ended.review.clone()),
        };
        self.follow(run, &end)
    }

    /// What follows from an end. A worker that wrote its plan and its handoff before it ended has done both; so
    /// its end is journalled last, and whoever comes after a process that died in between goes on from there.
    fn follow(&mut self, run: &Run, end: &JudgedEnd) -> Result<()> {
        let how = end.how.as_str();
        // A run that was replaced by another one has no say any more.
        let current = last_run(self.history(), run.role).is_some_and(|last| last.id == run.id);
        let exited = end.noted(gone(self.call, EventType::AgentExited, run, how));
        match self.consequence(run, end)? {
            Consequence::Advance(decision) if current => {
                let mut event = decision
                    .event
                    .because(format!("its {} ended: {how}", run.role));
                let goes_on = run.role == Role::Worker;
                event = if goes_on {
                    facts::with_head(self.call, &self.task, event)
                } else {
                    self.with_verdict(event)
                };
                if !goes_on && is_adopted_run(self.history(), &run.id) {
                    // Nobody knows which commit that reviewer saw; the merge says so.
                    event = event.without_head();
                }
                // The hooks that follow would end a reviewer whose end nobody knows.
                let events = if goes_on {
                    vec![event]
                } else {
                    vec![exited, event]
                };
                self.write(events)?;
                crash_point("exit.advanced");
                // Whoever waits for the status need not wait for tmux; hooks may close the window.
                stop_agent::keep_screen(self.call, &self.place, run);
                self.finish_hooks()?;
                if goes_on {
                    self.follow(run, end)
                } else {
                    Ok(())
                }
            }
            Consequence::Wait { to, running } if current => {
                stop_agent::keep_screen(self.call, &self.place, run);
                let deferral = self.deferral(Actor::Engine, to, &running);
                self.note([exited].into_iter().chain(deferral).collect())
            }
            Consequence::Crash { missing } if current => {
                let reason = match end.last_words.as_str() {
                    "" => format!("{how}; {missing}"),
                    words => format!("{how}; {missing}; its screen said: {words}"),
                };
                self.crashed(run, end, &reason)
            }
            Consequence::Advance(_)
            | Consequence::Wait { .. }
            | Consequence::Crash { .. }
            | Consequence::Nothing => {
                stop_agent::keep_screen(self.call, &self.place, run);
                self.note(vec![exited])
            }
        }
    }

    fn consequence(&self, run: &Run, end: &JudgedEnd) -> Result<Consequence> {
        let left = ReviewerEnd {
            by_signal: end.by_signal,
            mark: end.review.as_deref(),
        };
        let facts = Facts {
            verifying: self.check_to_wait_for()?,
            review_problem: match run.role {
                Role::Reviewer => self.review_problem(Some(&run.id), Some(left)),
                Role::Worker | Role::Executor => None,
            },
            ..Facts::default()
        };
        let situation = self.situation(&facts)?;
        let workflow = Workflow::named(self.task.workflow);
        Ok(exit::after_exit(workflow, situation, run.role))
    }

    /// Counts a crash; too many in one status and the task is stuck.
    fn crashed(&mut self, run: &Run, end: &JudgedEnd, reason: &str) -> Result<()> {
        let count = self.task.crash_count.saturating_add(1);
        let mut event = end
            .noted(gone(self.call, EventType::AgentCrashed, run, reason))
            .with(AgentEnded {
                status: Some(self.task.status),
                crash_count: Some(count),
                ..AgentEnded::default()
            });
        event
            .fields
            .insert(Field::CrashCount.name().into(), Value::from(count));
        let mut event = machine::number(event, &self.task);
        if run.role == Role::Reviewer {
            event.archive.extend(machine::without_verdict(&self.body));
        }
        self.write(vec![event])?;
        crash_point("exit.counted");
        stop_agent::keep_screen(self.call, &self.place, run);
        self.give_up()
    }

    /// Has an agent crashed since the task came to its status?
    fn crashed_here(&self) -> bool {
        let newest_first = self.history().events.iter().rev();
        newest_first
            .take_while(|event| !event.is_move())
            .any(|event| event.kind == EventType::AgentCrashed)
    }

    /// The move that a crash too many asks for; taken by whoever comes next if this process dies before.
    fn give_up(&mut self) -> Result<()> {
        let workflow = Workflow::named(self.task.workflow);
        if self.task.crash_count < workflow.crash_limit {
            return Ok(());
        }
        let facts = Facts::default();
        let situation = self.situation(&facts)?;
        let decided = machine::decide(workflow, situation, Actor::Engine, exit::gives_up());
        let Ok(decision) = decided else {
            return Ok(());
        };
        let event = decision
            .by_exit_rule()
            .event
            .because(format!("its agent crashed {} times", self.task.crash_count))
            .with(StatusMoved {
                crashes: Some(self.task.crash_count),
                ..StatusMoved::default()
            });
        self.write(vec![event])?;
        self.finish_hooks()
    }

    /// A review whose reviewer crashed is taken up by another one, in the same round.
    fn review_again(&mut self) -> Result<()> {
        if !self.task.status.is_in_review() {
            return Ok(());
        }
        let Some(run) = last_run(self.history(), Role::Reviewer) else {
            return Ok(());
        };
        let crashed = run
            .end
            .as_ref()
            .is_some_and(|end| end.how == Ending::Crashed);
        if !crashed || self.is_spoken_for(&run) {
            return Ok(());
        }
        let begin = Begin {
            role: Role::Reviewer,
            prompt: PromptName::Reviewer,
            run: next_run_id(self.history(), &self.task.id, Role::Reviewer),
            message: with_undelivered(self, Role::Reviewer, None),
        };
        match start_agent::begin(self, &begin) {
            Ok(Begun::Started(event)) => {
                let mut events = heard(self, Role::Reviewer);
                events.push(*event);
                self.note(events)
            }
            Ok(Begun::Running | Begun::Nobody(_)) => Ok(()),
            Err(error) => {
                let note = AttentionNote {
                    role: Some(Role::Reviewer),
                    after: Some(&run.id),
                    ..AttentionNote::default()
                };
                let why = format!("the reviewer could not be started again: {error}");
                self.note(vec![messages::attention_event(self.call, note, why)])
            }
        }
    }

    /// Was it said that this crash has no sequel? Then a person has to act.
    fn is_spoken_for(&self, run: &Run) -> bool {
        let mut events = self.history().events.iter().rev();
        events.any(|event| AttentionNote::of(event).is_some_and(|note| note.after == Some(&run.id)))
    }

    /// Journals something that is not part of a transition.
    pub(crate) fn note(&mut self, events: Vec<Event>) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        self.mark()?;
        self.outcome(events)
    }
}

/// How a run ended, as far as that counts.
struct JudgedEnd {
    how: String,
    last_words: String,
    by_signal: bool,
    /// The mark of the Review section at the end of a reviewer.
    review: Option<String>,
}

impl JudgedEnd {
    fn noted(&self, event: Event) -> Event {
        event.with(AgentEnded {
            review: self.review.as_deref(),
            ..AgentEnded::default()
        })
    }
}

fn gone(call: &Call, kind: EventType, run: &Run, how: &str) -> Event {
    stop_agent::ending(call, kind, run).because(how)
}

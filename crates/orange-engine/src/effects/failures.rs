//! Agents that do not go on: a turn that failed, a usage limit, a start that never came to a prompt. The agent is told to
//! go on where that may help, once for each failure, and else a person is asked to look; all of it is journalled first.

use crate::call::Call;
use crate::effects::messages::{self, in_one_line, one_line};
use crate::error::Result;
use crate::runs::{Doing, Due, DueFor, RunFolder, Signal, SignalKind, State};
use crate::screen_tail::screen_tail;
use crate::tmux::Tmux;
use crate::tx::TaskTx;
use crate::{sessions, settings};
use orange_core::attention::raised;
use orange_core::config::AgentsConfig;
use orange_core::exit::is_expected;
use orange_core::history::payload::{AgentState, MessageNote};
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::naming::counted;
use orange_core::runs::Run;
use orange_core::task::Task;
use orange_core::{Action, TaskName, Text, Timestamp, text};
use std::collections::BTreeSet;
use std::time::Duration;

/// How often an agent is told to go on without a turn of its own that ended well in between.
const MOST_RETRIES: usize = 3;

/// Every delay is so many times the one before.
const LONGER: u32 = 4;

/// A limit is over a little later than it says. Claude would go on by itself most of a minute later, and leaves that when
/// it is told.
const AFTER_LIMIT: Duration = Duration::from_secs(2);

const LIMIT_OVER: &str = "The usage limit is over. Go on where you stopped.";

const FAILED: &str =
    "The model's service failed and your turn was cut short. Go on where you stopped.";

/// What is to be done about a turn that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FailurePlan {
    /// Tell it to go on at that time; `key` stands for this failure, or for this limit.
    GoOn {
        at: Timestamp,
        key: String,
        text: &'static str,
    },
    /// A person has to do something: the message.
    Person(Text),
}

/// Journals what an agent is doing, if that is news. Turns that begin and end as they should are none.
pub(crate) fn note_state(tx: &mut TaskTx<'_>, run: &Run, last: &Signal) -> Result<()> {
    let expected = is_expected(tx.task.status, run.role);
    let folder = sessions::run_folder(tx.call, &run.id);
    let doing = folder.doing(last).expected(expected);
    if doing.state == State::Starting || !is_news(tx.history(), run, &doing) {
        return Ok(());
    }
    let again = match plan(tx.call, &tx.task, &folder, run, last)? {
        Some(FailurePlan::GoOn { at, .. }) => Some(at),
        Some(FailurePlan::Person(_)) | None => None,
    };
    let told = AgentState {
        run: Some(&run.id),
        role: Some(run.role),
        state: Some(doing.state),
        since: Some(doing.since),
        until: doing.until,
        again,
    };
    let mut event = Event::of(Payload::AgentState(told), tx.call.now()).by("engine");
    let said = match last.question {
        Some(_) => in_one_line(&doing.text),
        None => one_line(&doing.text),
    };
    if !said.is_empty() && doing.state != State::Working {
        event = event.because(said);
    }
    tx.note(vec![event])
}

/// A turn failed: it is told to go on when the time has come, or a person is asked.
pub(crate) fn turn_failed(tx: &mut TaskTx<'_>, run: &Run, last: &Signal) -> Result<()> {
    let call = tx.call;
    let folder = sessions::run_folder(call, &run.id);
    match plan(call, &tx.task, &folder, run, last)? {
        None => Ok(()),
        // The same failure may be reported again; it is handled while that attention is open.
        Some(FailurePlan::Person(_)) if is_open(tx.history(), run, last) => Ok(()),
        Some(FailurePlan::Person(what)) => {
            folder.forget_due();
            messages::raise_attention(tx, run, &last.at.to_string(), what)
        }
        Some(FailurePlan::GoOn { key, .. }) if was_seen_to(tx.history(), run, &key) => {
            folder.forget_due();
            Ok(())
        }
        Some(FailurePlan::GoOn { at, .. }) if at > Timestamp::now() => folder.note_due(Due {
            at,
            reason: DueFor::GoOn,
        }),
        Some(FailurePlan::GoOn { key, text, .. }) => {
            let message = messages::message(call, text);
            // The journal says that it was told before anybody can tell it; whoever comes next finds that.
            let sent = messages::message_event(call, run, "engine", &message);
            let sent = sent.with(MessageNote {
                turn: Some(&key),
                ..MessageNote::default()
            });
            tx.note(vec![sent])?;
            folder.forget_due();
            messages::put_in_inbox(call, run, &message)
        }
    }
}

/// None for a signal that tells of no failure.
fn plan(
    call: &Call,
    task: &Task,
    folder: &RunFolder,
    run: &Run,
    last: &Signal,
) -> Result<Option<FailurePlan>> {
    if last.signal != SignalKind::TurnFailed {
        return Ok(None);
    }
    let settings = settings::config(call)?.agents.clone();
    let failures = in_a_row(&folder.signals());
    let plan = plan_for(&task.name(), last, failures, &settings);
    Ok(Some(match plan {
        FailurePlan::Person(what) => {
            FailurePlan::Person(text!("its {} {}", run.role.as_str(), what))
        }
        plan @ FailurePlan::GoOn { .. } => plan,
    }))
}

/// An agent that has not come to its first prompt shows a question that nobody expected, or hangs.
pub(crate) fn check_start(tx: &mut TaskTx<'_>, run: &Run) -> Result<()> {
    let folder = sessions::run_folder(tx.call, &run.id);
    let timeout = settings::config(tx.call)?.agents.start_timeout;
    let started = folder.started();
    let late = started.is_some_and(|started| started.at + timeout <= Timestamp::now());
    let turn = format!("start of {}", run.id);
    if !late || was_seen_to(tx.history(), run, &turn) {
        return Ok(());
    }
    folder.forget_due();
    let pane = sessions::pane_of(tx.call, &run.id)?;
    let screen = pane.and_then(|pane| Tmux::at(&pane.socket).capture(&pane, None).ok());
    let words = match screen_tail(&screen.unwrap_or_default()) {
        words if words.is_empty() => "its screen is empty".to_owned(),
        words => format!("read from its screen: {words}"),
    };
    let what = format!("its {} has not begun; {words}", run.role);
    messages::raise_attention(tx, run, &turn, what)
}

/// Is this another state than the one that was journalled last? An agent at work is news only after it was not: a turn
/// after the other is what agents do, and their ends are told once.
fn is_news(history: &History, run: &Run, doing: &Doing) -> bool {
    let about = |event: &&Event| {
        matches!(
            event.kind,
            EventType::AgentState | EventType::AttentionRaised
        ) && event.run() == Some(&run.id)
    };
    let mut newest_first = history.events.iter().rev().filter(about);
    let works = doing.state == State::Working;
    match newest_first.next() {
        None => !works,
        // Is this what a person was asked to look at already?
        Some(event) if event.kind == EventType::AttentionRaised => {
            event.turn() != Some(&doing.since.to_string())
        }
        Some(event) => {
            let before = AgentState::of(event).unwrap_or_default();
            let noise = works && matches!(before.state, Some(State::Idle | State::Finished));
            let same = before.state == Some(doing.state) && is_same_halt(&before, doing);
            !noise && !same
        }
    }
}

/// One limit is told of once, however often it is run into; every failure is one of its own.
fn is_same_halt(before: &AgentState<'_>, doing: &Doing) -> bool {
    match doing.state {
        State::Waiting => before.until == doing.until,
        State::Failed => before.since == Some(doing.since),
        _ => true,
    }
}

/// Is a person still asked to look at this failure? An agent that seemed to go on has answered it.
fn is_open(history: &History, run: &Run, last: &Signal) -> bool {
    raised(history).is_some_and(|event| {
        event.run() == Some(&run.id) && event.turn() == Some(&last.at.to_string())
    })
}

/// Was this failure, this limit, this start seen to? Whoever comes first journals it.
fn was_seen_to(history: &History, run: &Run, key: &str) -> bool {
    let mut newest_first = history.events.iter().rev();
    newest_first.any(|event| event.turn() == Some(key) && event.run() == Some(&run.id))
}

/// Failures since the last turn that ended well, this one included.
fn in_a_row(signals: &[Signal]) -> usize {
    let newest_first = signals.iter().rev();
    // One that was reported again has its own time again.
    let failures: BTreeSet<Timestamp> = newest_first
        .take_while(|signal| signal.signal != SignalKind::TurnDone)
        .filter(|signal| signal.signal == SignalKind::TurnFailed && !is_limit(signal))
        .map(|signal| signal.at)
        .collect();
    failures.len()
}

/// Ignores a limit that had expired when it was reported.
fn is_limit(signal: &Signal) -> bool {
    signal.until.is_some_and(|until| until > signal.at)
}

fn plan_for(
    task: &TaskName,
    last: &Signal,
    failures: usize,
    settings: &AgentsConfig,
) -> FailurePlan {
    let said = one_line(&last.text);
    let send = || Action::send(task.clone(), None, None);
    if let Some(advice) = advice(task, last.error.as_deref()) {
        return FailurePlan::Person(text!("cannot go on: {said}; {}", advice));
    }
    if let Some(until) = last.until.filter(|_| is_limit(last)) {
        if settings.go_on {
            return FailurePlan::GoOn {
                at: until + AFTER_LIMIT,
                key: until.to_string(),
                text: LIMIT_OVER,
            };
        }
        return FailurePlan::Person(text!(
            "has reached its usage limit, until {}; then tell it to go on: {}",
            until,
            send()
        ));
    }
    if !settings.go_on {
        return FailurePlan::Person(text!("failed: {said}; tell it to go on: {}", send()));
    }
    if failures > MOST_RETRIES {
        return FailurePlan::Person(text!(
            "failed {} in a row: {said}; tell it to go on when its model's service works again: {}",
            counted(failures, "time"),
            send()
        ));
    }
    let exponent = u32::try_from(failures.saturating_sub(1)).unwrap_or(0);
    FailurePlan::GoOn {
        at: last.at + settings.retry_delay * LONGER.pow(exponent),
        key: last.at.to_string(),
        text: FAILED,
    }
}

/// What a person can do about a failure that does not go away by itself; None for one that may.
fn advice(task: &TaskName, error: Option<&str>) -> Option<Text> {
    let send = Action::send(task.clone(), None, None);
    let attach = Action::attach(task.clone());
    Some(match error? {
        "authentication_failed"
        | "oauth_org_not_allowed"
        | "account_on_hold"
        | "verification_required"
        | "cloud_credential_error" => text!(
            "log in, in its window ({}) or in your own, then tell it to go on: {}",
            attach,
            send
        ),
        "billing_error" => text!(
            "see to the account's credit, then tell it to go on: {}",
            send
        ),
        "model_not_found" => text!(
            "choose another model in its window ({}), then tell it to go on: {}",
            attach,
            send
        ),
        "invalid_request" | "max_output_tokens" => text!(
            "it would fail again; look at its window ({}), or tell it something else",
            attach
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::effects::failures::*;

    fn failed(error: Option<&str>, until: Option<&str>) -> Signal {
        Signal {
            at: "2026-01-01T12:00:00Z".parse().unwrap(),
            text: "API Error: 529 Overloaded".into(),
            error: error.map(str::to_owned),
            until: until.map(|until| until.parse().unwrap()),
            ..Signal::now(SignalKind::TurnFailed)
        }
    }

    fn planned(signal: &Signal, failures: usize, go_on: bool) -> String {
        let settings = AgentsConfig {
            go_on,
            ..AgentsConfig::default()
        };
        match plan_for(
            &TaskName::referred_to("shop", "TASK-001"),
            signal,
            failures,
            &settings,
        ) {
            FailurePlan::GoOn { at, .. } => at.to_string(),
            FailurePlan::Person(what) => format!("{what:?}"),
        }
    }

    #[test]
    fn a_failure_that_is_reported_again_counts_once() {
        let signal = failed(Some("server_error"), None);
        let later = Signal {
            at: signal.at + Duration::from_secs(60),
            ..signal.clone()
        };
        let working = Signal::now(SignalKind::Working);
        let again = [signal.clone(), working.clone(), signal.clone()];
        assert_eq!(in_a_row(&again), 1);
        assert_eq!(in_a_row(&[signal, working, later]), 2);
    }

    #[test]
    fn a_failed_service_is_tried_three_times_later_and_later() {
        let signal = failed(Some("server_error"), None);
        let at = |failures| planned(&signal, failures, true);
        assert_eq!(at(1), "2026-01-01T12:01:00Z");
        assert_eq!(at(2), "2026-01-01T12:04:00Z");
        assert_eq!(at(3), "2026-01-01T12:16:00Z");
        let given_up = at(4);
        assert!(
            given_up.starts_with("failed 4 times in a row: API Error: 529 Overloaded; "),
            "{given_up}"
        );
    }

    #[test]
    fn a_limit_is_waited_for() {
        let signal = failed(Some("rate_limit"), Some("2026-01-01T14:05:00Z"));
        assert_eq!(planned(&signal, 0, true), "2026-01-01T14:05:02Z");
        let off = planned(&signal, 0, false);
        let wanted = "has reached its usage limit, until 2026-01-01T14:05:00Z; ";
        assert!(off.starts_with(wanted), "{off}");
        let over = failed(Some("rate_limit"), Some("2026-01-01T12:00:00Z"));
        assert_eq!(planned(&over, 1, true), "2026-01-01T12:01:00Z");
    }

    #[test]
    fn what_does_not_go_away_is_a_persons_business_at_once() {
        let signal = failed(Some("authentication_failed"), None);
        let said = planned(&signal, 1, true);
        assert!(said.contains("log in"), "{said}");
    }

    #[test]
    fn failures_count_since_the_last_turn_that_ended_well() {
        let done = Signal::now(SignalKind::TurnDone);
        let limit = failed(None, Some("2026-01-01T14:05:00Z"));
        let plain = failed(None, None);
        let later = Signal {
            at: plain.at + Duration::from_secs(60),
            ..plain.clone()
        };
        let working = Signal::now(SignalKind::Working);
        let all = [plain.clone(), done, plain, working, limit, later];
        assert_eq!(in_a_row(&all), 2);
    }
}

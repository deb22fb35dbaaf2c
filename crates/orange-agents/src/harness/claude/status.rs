//! Claude's own file about what it does, `sessions/<pid>.json`: it tells of what no hook does, that a person ended a turn
//! before it said anything, or that it went on after a usage limit. Undocumented, so it only adds to the signals.

use super::own_folder;
use crate::runs::{RunFolder, Signal, SignalKind, State, state_after};
use orange_core::Timestamp;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A hook that is on its way has arrived after so long.
const HOOKS_TAKE: Duration = Duration::from_secs(2);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(400);

pub(super) struct ClaudeStatus {
    folder: RunFolder,
    path: PathBuf,
    looked: Option<Instant>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeStatusFile {
    pid: u32,
    status: String,
    /// In milliseconds.
    status_updated_at: i64,
}

impl ClaudeStatus {
    /// `variables` come before those of this process.
    pub(super) fn new(
        folder: RunFolder,
        pid: u32,
        variables: &BTreeMap<String, String>,
    ) -> ClaudeStatus {
        let variable = |name: &str| {
            let own = variables.get(name).map(OsString::from);
            own.or_else(|| std::env::var_os(name))
        };
        ClaudeStatus {
            folder,
            path: own_folder(&variable).join(format!("sessions/{pid}.json")),
            looked: None,
        }
    }

    /// Adds the signal that claude did not give, if there is one.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        if self.looked.is_some_and(|then| now - then < PAUSE) {
            return;
        }
        self.looked = Some(now);
        let Some(status) = self.read() else {
            return;
        };
        let follows = |signals: &[Signal]| missing(signals, &status, Timestamp::now());
        if let Err(error) = self.folder.add_signal(follows) {
            tracing::warn!(%error, "what claude did is not noted");
        }
    }

    fn read(&self) -> Option<ClaudeStatusFile> {
        let status: ClaudeStatusFile =
            serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()?;
        let own = self.path.file_stem()?.to_str()? == status.pid.to_string();
        own.then_some(status)
    }
}

/// The signal that should have come with this status, and did not.
fn missing(signals: &[Signal], status: &ClaudeStatusFile, now: Timestamp) -> Option<Signal> {
    let last = signals.last()?;
    let since = Timestamp::from_millisecond(status.status_updated_at).ok()?;
    let settled = since.max(last.at) + HOOKS_TAKE <= now;
    match (state_after(last.signal), status.status.as_str()) {
        // A signal from before its end may come after that of the end: tools are reported in the background.
        (State::Working, "idle") if settled => {
            let mut before = signals.iter().rev();
            let ended = before.find(|signal| signal.signal != SignalKind::Working);
            Some(match ended {
                Some(done)
                    if done.signal == SignalKind::TurnDone && since + HOOKS_TAKE >= done.at =>
                {
                    Signal {
                        text: done.text.clone(),
                        ..Signal::now(SignalKind::TurnDone)
                    }
                }
                // It has been idle since the failure, or since its hook was over. With the failure's own time: it is the
                // same one, and is told of once.
                Some(failed)
                    if failed.signal == SignalKind::TurnFailed
                        && since <= failed.at + HOOKS_TAKE * 2 =>
                {
                    failed.clone()
                }
                Some(_) | None => Signal::now(SignalKind::Interrupted),
            })
        }
        // Its own menu about a usage limit, and a tool that was reported after the failure.
        (State::Working, "waiting") if settled => {
            let mut before = signals.iter().rev();
            let ended = before.find(|signal| signal.signal != SignalKind::Working)?;
            let is_failure = ended.signal == SignalKind::TurnFailed;
            (is_failure && since <= ended.at + HOOKS_TAKE * 2).then(|| ended.clone())
        }
        // Not at once: it is busy for a moment, too, when it opens its own menu about a usage limit.
        (State::Failed, "busy") if since > last.at && settled => {
            Some(Signal::now(SignalKind::Working))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn signals(given: &[(i64, SignalKind)]) -> Vec<Signal> {
        given
            .iter()
            .map(|(second, kind)| Signal {
                at: at(*second),
                ..Signal::now(*kind)
            })
            .collect()
    }

    fn found(
        given: &[(i64, SignalKind)],
        status: &str,
        since: i64,
        now: i64,
    ) -> Option<SignalKind> {
        let status = ClaudeStatusFile {
            pid: 1,
            status: status.into(),
            status_updated_at: since * 1000,
        };
        missing(&signals(given), &status, at(now)).map(|signal| signal.signal)
    }

    #[test]
    fn a_turn_that_ended_without_a_word_was_interrupted() {
        use SignalKind::{Interrupted, PromptTaken, TurnDone, Working};
        let taken = [(10, PromptTaken)];
        assert_eq!(found(&taken, "busy", 10, 60), None);
        assert_eq!(found(&taken, "idle", 20, 21), None);
        assert_eq!(found(&taken, "idle", 20, 22), Some(Interrupted));
        // The file may not know of the prompt yet.
        assert_eq!(found(&taken, "idle", 5, 11), None);
        let done = [(10, PromptTaken), (20, TurnDone)];
        assert_eq!(found(&done, "idle", 20, 60), None);
        let late = [(10, PromptTaken), (20, TurnDone), (21, Working)];
        assert_eq!(found(&late, "idle", 20, 60), Some(TurnDone));
    }

    /// A usage limit, say, which would be passed over otherwise.
    #[test]
    fn a_tool_that_is_reported_after_a_failure_does_not_hide_it() {
        use SignalKind::{TurnFailed, Working};
        let mut given = signals(&[(10, Working), (20, TurnFailed), (21, Working)]);
        given[1].until = Some(at(25));
        let status = ClaudeStatusFile {
            pid: 1,
            status: "idle".into(),
            status_updated_at: 20_000,
        };
        assert_eq!(missing(&given, &status, at(60)), Some(given[1].clone()));
        // It went on after the failure, and was interrupted.
        assert_eq!(
            found(&[(20, TurnFailed), (30, Working)], "idle", 40, 60),
            Some(SignalKind::Interrupted)
        );
    }

    /// After a usage limit it is idle, busy and waiting within a tenth of a second.
    #[test]
    fn a_menu_that_is_opened_after_a_failure_does_not_hide_it() {
        use SignalKind::TurnFailed;
        let failed = [(10, TurnFailed)];
        assert_eq!(found(&failed, "busy", 11, 12), None);
        assert_eq!(found(&failed, "waiting", 11, 60), None);
        // With a tool that is reported in between.
        let late = [(10, TurnFailed), (11, SignalKind::Working)];
        assert_eq!(found(&late, "waiting", 11, 60), Some(TurnFailed));
        // A menu that opens long after it went on is about something else.
        assert_eq!(found(&late, "waiting", 40, 60), None);
    }

    #[test]
    fn one_that_went_on_after_a_failure_works() {
        use SignalKind::{TurnFailed, Working};
        let failed = [(10, TurnFailed)];
        assert_eq!(found(&failed, "busy", 30, 32), Some(Working));
        assert_eq!(found(&failed, "busy", 9, 31), None);
        assert_eq!(found(&failed, "idle", 10, 31), None);
    }
}

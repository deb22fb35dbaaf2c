//! When a usage limit of claude ends, read from its transcript or from the words of its message.

use crate::runs::Signal;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};
use orange_core::Timestamp;
use orange_sys::file_end::file_end;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// So many bytes at the end of a transcript are searched for an error.
const TRANSCRIPT_END: u64 = 64 * 1024;

/// How long claude may take to write down an error, and how old one is that a hook tells of.
const WRITING: Duration = Duration::from_secs(2);
const RECENT: Duration = Duration::from_secs(15);

const MINUTE: Duration = Duration::from_secs(60);

/// With the end of a usage limit that only the message tells, in the time of this machine.
pub(super) fn with_limit(mut signal: Signal) -> Signal {
    if signal.error.as_deref() == Some("rate_limit") && signal.until.is_none() {
        let now = signal.at.to_zoned(TimeZone::system());
        signal.until = limit_in_words(&signal.text, &now);
    }
    signal
}

/// When a usage limit ends, as the transcript says. Claude writes that down a moment after it has told the hook.
pub(super) fn limit_in(transcript: &Path) -> Option<Timestamp> {
    let deadline = Instant::now() + WRITING;
    loop {
        let error = file_end(transcript, TRANSCRIPT_END)
            .and_then(|text| last_error(&text, Timestamp::now()));
        if error.is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        let resets = error?
            .pointer("/apiErrorParams/rate_limit_info/resetsAt")?
            .as_i64()?;
        return Timestamp::from_second(resets).ok();
    }
}

/// The newest error of the service, if it is one of just now.
fn last_error(text: &str, now: Timestamp) -> Option<Value> {
    let lines = text.lines().rev();
    let mut lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let error = lines.find(|line| line.get("isApiErrorMessage") == Some(&Value::Bool(true)))?;
    let at: Timestamp = error.get("timestamp")?.as_str()?.parse().ok()?;
    (at + RECENT >= now).then_some(error)
}

/// When a usage limit ends, as a message says it: `… resets 8:31pm (UTC)`, `… resets Nov 20, 3pm (Europe/Berlin)`. Claude
/// tells the time of the machine that it runs on, and that is `now`'s.
pub(super) fn limit_in_words(text: &str, now: &Zoned) -> Option<Timestamp> {
    let (_, rest) = text.split_once("resets ")?;
    let (when, zone) = rest.split_once('(').unwrap_or((rest, ""));
    let zone = if zone.starts_with("UTC)") {
        TimeZone::UTC
    } else {
        now.time_zone().clone()
    };
    let now = now.with_time_zone(zone.clone());
    let words: Vec<&str> = when
        .split([' ', ','])
        .filter(|word| !word.is_empty() && *word != "at")
        .collect();
    let (time, date, step) = match words.as_slice() {
        [time] => (time, now.date(), Span::new().days(1)),
        [month, day, time, ..] => {
            let day = format!("{} {month} {day}", now.year());
            let date = Date::strptime("%Y %b %d", day).ok()?;
            (time, date, Span::new().years(1))
        }
        _ => return None,
    };
    // `8:31pm`, `3am`
    let time = Time::strptime("%I:%M%p", time)
        .or_else(|_| Time::strptime("%I%p", time))
        .ok()?;
    let at = |date: Date| {
        Some(
            date.to_datetime(time)
                .to_zoned(zone.clone())
                .ok()?
                .timestamp(),
        )
    };
    // It tells no seconds; and a time that is over today is tomorrow's.
    match at(date)? {
        minute if minute <= now.timestamp() && minute + MINUTE > now.timestamp() => {
            Some(minute + MINUTE)
        }
        past if past <= now.timestamp() => at(date.checked_add(step).ok()?),
        until => Some(until),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_error_counts_if_it_is_of_just_now() {
        let line = |second: u32, until: u32| {
            json!({
                "isApiErrorMessage": true,
                "timestamp": format!("2026-11-15T14:00:{second:02}Z"),
                "until": until,
            })
        };
        let text = format!(
            "{}\n{}\n{{\"type\":\"mode\"}}\n{{\"cut",
            line(1, 1),
            line(2, 2)
        );
        let now: Timestamp = "2026-11-15T14:00:05Z".parse().unwrap();
        let found = last_error(&text, now).unwrap();
        assert_eq!(found["until"], 2);
        let later: Timestamp = "2026-11-15T14:01:00Z".parse().unwrap();
        assert_eq!(last_error(&text, later), None);
    }

    #[test]
    fn the_end_of_a_limit_is_read_from_its_words() {
        let now: Timestamp = "2026-11-15T14:00:00Z".parse().unwrap();
        let now = now.to_zoned(TimeZone::fixed(jiff::tz::offset(1)));
        let until = |words: &str| {
            let found = limit_in_words(&format!("You've hit your limit · resets {words}"), &now);
            found.map(|until| until.to_string()).unwrap_or_default()
        };
        assert_eq!(until("8:31pm (UTC)"), "2026-11-15T20:31:00Z");
        assert_eq!(until("8:31pm (Europe/Berlin)"), "2026-11-15T19:31:00Z");
        assert_eq!(until("2:59pm (Europe/Berlin)"), "2026-11-16T13:59:00Z");
        assert_eq!(until("3pm (Europe/Berlin)"), "2026-11-15T14:01:00Z");
        assert_eq!(until("12am (UTC)"), "2026-11-16T00:00:00Z");
        assert_eq!(until("Nov 20, 3pm (UTC)"), "2026-11-20T15:00:00Z");
        assert_eq!(until("Jan 2 at 9:30am (UTC)"), "2027-01-02T09:30:00Z");
        for nothing in ["soon", "25pm (UTC)", "Foo 2, 3pm", ""] {
            assert_eq!(until(nothing), "", "{nothing}");
        }
    }
}

//! Says how long ago something was, in one short word.

use crate::Timestamp;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;
const FORTNIGHT: u64 = 2 * WEEK;
const YEAR: u64 = 365 * DAY;

/// The time from `then` to `now`: `now`, `12s`, `4m`, `3h`, `2d`, `5w`, `1y`.
///
/// `then` may lie in the future, because a clock was set back or differs between machines:
/// `in 3m`.
pub fn relative(now: Timestamp, then: Timestamp) -> String {
    phrase(now, then, "")
}

/// Like [`relative`] within a sentence: `now`, `4m ago`, `in 3m`.
pub fn ago(now: Timestamp, then: Timestamp) -> String {
    phrase(now, then, " ago")
}

/// How long something has lasted: `0s`, `4m`.
pub fn lasting(now: Timestamp, since: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(since.as_second()).max(0);
    let (count, unit) = largest_unit(seconds.unsigned_abs());
    format!("{count}{unit}")
}

fn phrase(now: Timestamp, then: Timestamp, past_suffix: &str) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second());
    let (count, unit) = largest_unit(seconds.unsigned_abs());
    match seconds {
        0 => "now".to_owned(),
        ..0 => format!("in {count}{unit}"),
        _ => format!("{count}{unit}{past_suffix}"),
    }
}

/// Days are counted up to two weeks, because `13d` says more than `1w`.
fn largest_unit(seconds: u64) -> (u64, char) {
    let (unit, name) = match seconds {
        0..MINUTE => (1, 's'),
        MINUTE..HOUR => (MINUTE, 'm'),
        HOUR..DAY => (HOUR, 'h'),
        DAY..FORTNIGHT => (DAY, 'd'),
        FORTNIGHT..YEAR => (WEEK, 'w'),
        YEAR.. => (YEAR, 'y'),
    };
    (seconds / unit, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn each_unit_is_used_in_its_range() {
        let cases = [
            (0, "now"),
            (1, "1s"),
            (59, "59s"),
            (60, "1m"),
            (3_599, "59m"),
            (3_600, "1h"),
            (86_399, "23h"),
            (86_400, "1d"),
            (13 * 86_400, "13d"),
            (14 * 86_400, "2w"),
            (364 * 86_400, "52w"),
            (365 * 86_400, "1y"),
            (800 * 86_400, "2y"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(
                relative(at(1_000_000_000), at(1_000_000_000 - seconds)),
                expected
            );
        }
    }

    #[test]
    fn a_clock_gone_backwards_is_said_plainly() {
        assert_eq!(relative(at(1_000), at(1_185)), "in 3m");
        assert_eq!(ago(at(1_000), at(1_185)), "in 3m");
    }

    #[test]
    fn a_sentence_says_ago() {
        assert_eq!(ago(at(1_000), at(760)), "4m ago");
        assert_eq!(ago(at(1_000), at(1_000)), "now");
    }

    #[test]
    fn the_extremes_do_not_overflow() {
        assert!(relative(Timestamp::MAX, Timestamp::MIN).ends_with('y'));
        assert!(relative(Timestamp::MIN, Timestamp::MAX).starts_with("in "));
    }
}

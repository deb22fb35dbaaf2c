//! Times as the clock of this place shows them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time as the clock here shows it, in a form of `strftime`.
pub(crate) fn local(time: Timestamp, form: &str) -> String {
    time.to_zoned(TimeZone::system()).strftime(form).to_string()
}

/// With the day unless it is today: `14:05`, `Sun 22 Nov 09:00`.
pub(crate) fn time_of_day(time: Timestamp) -> String {
    let is_today = local(time, "%F") == local(Timestamp::now(), "%F");
    local(time, if is_today { "%H:%M" } else { "%a %d %b %H:%M" })
}

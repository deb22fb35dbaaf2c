//! The values of a script: times, sizes, signals, texts. An error says what the value must be.

use super::super::text::Text;
use super::{FloodKind, How};
use orange_core::yaml::Node;
use rustix::process::Signal;
use std::time::Duration;

/// What went wrong with a value, as the end of a sentence that begins with its name.
pub(super) type Value<T> = Result<T, String>;

const SIGNALS: &[(&str, Signal)] = &[
    ("ABRT", Signal::ABORT),
    ("ALRM", Signal::ALARM),
    ("BUS", Signal::BUS),
    ("FPE", Signal::FPE),
    ("HUP", Signal::HUP),
    ("ILL", Signal::ILL),
    ("INT", Signal::INT),
    ("KILL", Signal::KILL),
    ("PIPE", Signal::PIPE),
    ("QUIT", Signal::QUIT),
    ("SEGV", Signal::SEGV),
    ("TERM", Signal::TERM),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
];

pub(super) fn scalar(node: &Node) -> Option<&str> {
    match node {
        Node::Scalar { text, .. } => Some(text),
        Node::Sequence { .. } | Node::Mapping { .. } => None,
    }
}

pub(super) fn is_empty(node: &Node) -> bool {
    matches!(node, Node::Scalar { text, plain: true, .. } if matches!(text.as_str(), "" | "~" | "null"))
}

/// A text that may be empty, but must be written.
pub(super) fn text(node: &Node) -> Value<Text> {
    let source = (!is_empty(node)).then(|| scalar(node)).flatten();
    Text::parse(source.ok_or("must be a text")?)
}

/// A text or a list of them.
pub(super) fn texts(node: &Node) -> Value<Vec<Text>> {
    match node {
        Node::Sequence { items, .. } if !items.is_empty() => items.iter().map(text).collect(),
        Node::Scalar { .. } => Ok(vec![text(node)?]),
        Node::Sequence { .. } | Node::Mapping { .. } => {
            Err("must be a text or a list of texts".into())
        }
    }
}

/// A shell command: braces mean nothing in it.
pub(super) fn command(node: &Node) -> Value<String> {
    let command = (!is_empty(node)).then(|| scalar(node)).flatten();
    command
        .map(str::trim)
        .filter(|command| !command.is_empty() && !command.contains('\0'))
        .map(str::to_owned)
        .ok_or_else(|| "must be a command for the shell".to_owned())
}

pub(super) fn number(node: &Node) -> Value<u32> {
    let number = scalar(node).and_then(|text| text.parse().ok());
    number
        .filter(|number| *number > 0)
        .ok_or_else(|| "must be a whole number above 0".to_owned())
}

pub(super) fn exit_code(node: &Node) -> Value<i32> {
    let code = scalar(node).and_then(|text| text.parse::<u8>().ok());
    code.map(i32::from)
        .ok_or_else(|| "must be an exit code from 0 to 255".to_owned())
}

pub(super) fn yes(node: &Node) -> Value<bool> {
    match scalar(node) {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        _ => Err("must be true or false".into()),
    }
}

/// `5ms`, `2s`, `1m`, `1h`; a bare number is seconds.
pub(super) fn time(node: &Node) -> Value<Duration> {
    const UNITS: &[(&str, u64)] = &[
        ("ms", 1),
        ("", 1000),
        ("s", 1000),
        ("m", 60_000),
        ("h", 3_600_000),
    ];
    let time = measured(node, UNITS).map(Duration::from_millis);
    time.ok_or_else(|| "must be a time such as 5ms, 2s, 1m or 1h".to_owned())
}

/// `200KB`, `5MB`, `1GB`; a bare number is bytes.
pub(super) fn size(node: &Node) -> Value<u64> {
    const UNITS: &[(&str, u64)] = &[
        ("", 1),
        ("B", 1),
        ("KB", 1 << 10),
        ("MB", 1 << 20),
        ("GB", 1 << 30),
    ];
    measured(node, UNITS).ok_or_else(|| "must be a size such as 200KB, 5MB or 1GB".to_owned())
}

/// A number and its unit.
fn measured(node: &Node, units: &[(&str, u64)]) -> Option<u64> {
    let text = scalar(node)?;
    let digits = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    Some(u64::from(number.parse::<u32>().ok()?) * factor)
}

pub(super) fn signal(node: &Node) -> Value<Signal> {
    let word = scalar(node).unwrap_or_default();
    let name = word.strip_prefix("SIG").unwrap_or(word);
    let known = SIGNALS.iter().find(|(known, _)| *known == name);
    known.map(|(_, signal)| *signal).ok_or_else(|| {
        let names: Vec<&str> = SIGNALS.iter().map(|(name, _)| *name).collect();
        format!("must be a signal: {}", names.join(", "))
    })
}

/// Signals that can be ignored.
pub(super) fn signals(node: &Node) -> Value<Vec<Signal>> {
    let all = match node {
        Node::Sequence { items, .. } => items.iter().map(signal).collect(),
        Node::Scalar { .. } | Node::Mapping { .. } => signal(node).map(|signal| vec![signal]),
    };
    all.and_then(|all: Vec<Signal>| {
        if all.contains(&Signal::KILL) {
            Err("cannot name KILL: nobody can ignore it".into())
        } else {
            Ok(all)
        }
    })
}

pub(super) fn how(node: &Node) -> Value<How> {
    match scalar(node) {
        Some("append") => Ok(How::Append),
        Some("truncate") => Ok(How::Truncate),
        Some("rename") => Ok(How::Rename),
        _ => Err("must be append, truncate or rename".into()),
    }
}

/// A line's length; `none` for a line that never ends.
pub(super) fn line(node: &Node) -> Value<Option<usize>> {
    if scalar(node) == Some("none") {
        return Ok(None);
    }
    let length = number(node).ok().and_then(|n| usize::try_from(n).ok());
    length
        .map(Some)
        .ok_or_else(|| "must be a line's length above 0, or none for one endless line".to_owned())
}

pub(super) fn flood_kind(node: &Node) -> Value<FloodKind> {
    match scalar(node) {
        Some("text") => Ok(FloodKind::Text),
        Some("bytes") => Ok(FloodKind::Bytes),
        Some("escapes") => Ok(FloodKind::Escapes),
        _ => Err("must be text, bytes or escapes".into()),
    }
}

/// How often; `None` for ever.
pub(super) fn times(node: &Node) -> Value<Option<u32>> {
    if scalar(node) == Some("forever") {
        return Ok(None);
    }
    number(node)
        .map(Some)
        .map_err(|_| "must be a whole number above 0, or forever".to_owned())
}

pub(super) fn verdict(node: &Node) -> Value<&'static str> {
    match scalar(node) {
        Some("PASS") => Ok("PASS"),
        Some("FAIL") => Ok("FAIL"),
        _ => Err("must be PASS or FAIL".into()),
    }
}

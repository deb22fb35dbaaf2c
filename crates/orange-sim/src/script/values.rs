//! The values of a script: times, sizes, signals, texts. An error names the value and says what it must be.

use super::super::text::ScriptText;
use super::{How, ScriptStep, WaitCondition};
use orange_core::task::Status;
use rustix::process::Signal;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::num::NonZeroU32;
use std::time::Duration;

/// Declares values that are made of what serde reads.
macro_rules! values {
    ($($(#[$about:meta])* $name:ident($inner:ty) = |$from:ident: $source:ty| $read:expr;)+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) $inner);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let $from = <$source>::deserialize(from)?;
                $read.map($name).map_err(D::Error::custom)
            }
        }
    )+};
}

values! {
    /// A text, whatever else it could mean in YAML.
    Word(String) = |value: Value| match value {
        Value::String(text) => Ok(text),
        // Only what has one spelling was taken for a number.
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err("this must be a text"),
    };

    /// `5ms`, `2s`, `1m`, `1h`; a bare number is seconds.
    Time(Duration) = |text: Word| measured(&text.0, TIMES)
        .map(Duration::from_millis)
        .ok_or(text.is_no("time such as 5ms, 2s, 1m or 1h"));

    /// `200KB`, `5MB`, `1GB`; a bare number is bytes.
    ByteSize(u64) = |text: Word| measured(&text.0, SIZES).ok_or(text.is_no("size such as 200KB, 5MB or 1GB"));

    /// A shell command: braces mean nothing in it.
    ShellLine(String) = |text: Word| match text.0.trim() {
        command if command.is_empty() || command.contains('\0') => Err(text.is_no("command for the shell")),
        command => Ok(command.to_owned()),
    };

    ExitCode(u8) = |text: Word| text.0.parse().map_err(|_| text.is_no("exit code from 0 to 255"));

    #[derive(Default)]
    TokenCount(u64) = |text: Word| text.0.parse().map_err(|_| text.is_no("number of tokens"));

    /// In millionths.
    Dollars(u64) = |text: Word| match text.0.parse::<f64>() {
        Ok(amount) if (0.0..1e9).contains(&amount) => Ok((amount * 1e6).round() as u64),
        _ => Err(text.is_no("amount in dollars such as 0.02")),
    };

    Count(NonZeroU32) = |text: Word| text.0.parse().map_err(|_| text.is_no("whole number above 0"));

    /// How often; `None` for ever.
    Times(Option<NonZeroU32>) = |text: Word| match text.0.as_str() {
        "forever" => Ok(None),
        number => number.parse().map(Some).map_err(|_| text.is_no("whole number above 0, nor forever")),
    };

    /// The length of a line; `None` for a line that never ends.
    LineLength(Option<NonZeroU32>) = |text: Word| match text.0.as_str() {
        "none" => Ok(None),
        number => number.parse().map(Some).map_err(|_| text.is_no("line's length above 0, nor none")),
    };

    SignalName(Signal) = |name: Word| signal(&name);

    /// Signals that can be ignored.
    Ignored(Vec<Signal>) = |names: OneOrMany| names.read(|name| match signal(&name)? {
        Signal::KILL => Err("cannot ignore KILL: nobody can".to_owned()),
        signal => Ok(signal),
    });

    /// One of these texts is in the message; none named: any message.
    MessageTexts(Vec<ScriptText>) = |texts: OneOrMany| match texts {
        OneOrMany::One(Word(any)) if any == "true" => Ok(Vec::new()),
        texts => texts.read(|text| ScriptText::parse(&text.0)),
    };

    /// One of these. A condition that can never hold is a slip of the pen.
    Statuses(Vec<String>) = |names: OneOrMany| names.read(|name| match name.0.parse::<Status>() {
        Ok(_) => Ok(name.0),
        Err(error) => Err(error.to_string()),
    });

    OneCondition(WaitCondition) = |value: Value| match value.as_object().map(Map::len) {
        Some(1) => WaitCondition::deserialize(value).map_err(|error| error.to_string()),
        _ => Err(format!("it needs one condition: {CONDITIONS}")),
    };

    /// How an existing file is written.
    InPlace(How) = |how: How| match how {
        How::Truncate | How::Rename => Ok(how),
        How::Append => Err("`how` must be truncate or rename"),
    };

    /// Steps that are repeated: for ever nothing would be a busy loop.
    NotEmpty(Vec<ScriptStep>) = |steps: Vec<ScriptStep>| match steps.as_slice() {
        [] => Err("`steps` must not be empty"),
        _ => Ok(steps),
    };
}

impl Word {
    fn is_no(&self, wanted: &str) -> String {
        format!("{:?} is no {wanted}", self.0)
    }
}

const CONDITIONS: &str =
    "`{file: PATH}`, `{message: TEXT}`, `{message: true}`, `{status: NAME}` or `{command: LINE}`";

const TIMES: &[(&str, u64)] = &[
    ("ms", 1),
    ("", 1000),
    ("s", 1000),
    ("m", 60_000),
    ("h", 3_600_000),
];

const SIZES: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("KB", 1 << 10),
    ("MB", 1 << 20),
    ("GB", 1 << 30),
];

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

/// A number and its unit.
fn measured(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    Some(u64::from(number.parse::<u32>().ok()?) * factor)
}

fn signal(word: &Word) -> Result<Signal, String> {
    let name = word.0.strip_prefix("SIG").unwrap_or(&word.0);
    let known = SIGNALS.iter().find(|(known, _)| *known == name);
    known.map(|(_, signal)| *signal).ok_or_else(|| {
        let names: Vec<&str> = SIGNALS.iter().map(|(name, _)| *name).collect();
        word.is_no(&format!("signal; there are {}", names.join(", ")))
    })
}

/// One text, or a list of them.
#[derive(Deserialize)]
#[serde(untagged, expecting = "this must be a text or a list of texts")]
enum OneOrMany {
    One(Word),
    Many(Vec<Word>),
}

impl OneOrMany {
    fn read<T, E>(self, read: impl Fn(Word) -> Result<T, E>) -> Result<Vec<T>, E> {
        match self {
            OneOrMany::One(text) => Ok(vec![read(text)?]),
            OneOrMany::Many(texts) => texts.into_iter().map(read).collect(),
        }
    }
}

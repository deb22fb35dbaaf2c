//! Text for a person with typed actions, parameters and times, which each front end renders in its own way.

use crate::Timestamp;
use crate::action::Action;
use crate::parameter::Parameter;
use serde::{Serialize, Serializer};
use std::cell::RefCell;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TextPart {
    Words(String),
    Action(Action),
    Parameter {
        parameter: Parameter,
        /// What is to be given; None: the person knows it.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    Time(Timestamp),
}

/// Built with [`text!`](crate::text!). It has no `Display`: only a front end knows how it reads.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text(Vec<TextPart>);

/// Written like `format!`, but what is given beside the words stays what it is: actions, parameters, times, other
/// texts.
#[macro_export]
macro_rules! text {
    (@$all:ident $part:expr) => { $crate::text::Placeholder(&$all) };
    ($words:literal $(, $part:expr)* $(,)?) => {{
        let all = $crate::text::WordBuffer::default();
        all.write(format_args!($words $(, $crate::text!(@all $part))*));
        all.filled(vec![$(Into::<$crate::text::Text>::into($part)),*])
    }};
}

/// Words, and where among them the parts go.
#[doc(hidden)]
#[derive(Default)]
pub struct WordBuffer(RefCell<String>, RefCell<Vec<usize>>);

/// Stands for a part while the words are put together.
#[doc(hidden)]
pub struct Placeholder<'w>(pub &'w WordBuffer);

impl fmt::Display for Placeholder<'_> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WordBuffer(words, places) = self.0;
        places.borrow_mut().push(words.borrow().len());
        Ok(())
    }
}

impl fmt::Write for &WordBuffer {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        self.0.borrow_mut().push_str(words);
        Ok(())
    }
}

impl WordBuffer {
    pub fn write(&self, words: fmt::Arguments<'_>) {
        let _ = fmt::write(&mut &*self, words);
    }

    pub fn filled(self, parts: Vec<Text>) -> Text {
        let (words, places) = (self.0.into_inner(), self.1.into_inner());
        let (mut all, mut parts, mut from) = (Vec::new(), parts.into_iter(), 0);
        for to in places.into_iter().chain([words.len()]) {
            let words = words.get(from..to).unwrap_or_default();
            all.extend((!words.is_empty()).then(|| words.into()));
            all.extend(parts.next().unwrap_or_default().0);
            from = to;
        }
        Text(all)
    }
}

impl Text {
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.0.iter().filter_map(|part| match part {
            TextPart::Action(action) => Some(action),
            TextPart::Words(_) | TextPart::Parameter { .. } | TextPart::Time(_) => None,
        })
    }

    /// The parameters of the verb at hand, each with the value that is to be given.
    pub fn parameters(&self) -> impl Iterator<Item = &TextPart> {
        let is_one = |part: &&TextPart| matches!(part, TextPart::Parameter { .. });
        self.0.iter().filter(is_one)
    }

    /// As a front end shows it.
    pub fn spelled(&self, spell: impl Fn(&TextPart) -> String) -> String {
        self.0.iter().map(spell).collect()
    }

    /// The words, if it is nothing else.
    pub fn words(&self) -> Option<String> {
        let words = self.0.iter().map(|part| match part {
            TextPart::Words(words) => Some(words.as_str()),
            TextPart::Action(_) | TextPart::Parameter { .. } | TextPart::Time(_) => None,
        });
        words.collect()
    }
}

impl<T: Into<TextPart>> From<T> for Text {
    fn from(part: T) -> Text {
        Text(vec![part.into()])
    }
}

macro_rules! parts {
    ($($variant:ident($from:ty) $made:expr;)*) => {
        $(impl From<$from> for TextPart {
            fn from(given: $from) -> TextPart {
                TextPart::$variant($made(given))
            }
        })*
    };
}

parts! {
    Words(&str) str::to_owned;
    Words(&String) String::clone;
    Words(String) std::convert::identity;
    Action(Action) std::convert::identity;
    Time(Timestamp) std::convert::identity;
}

impl From<Parameter> for TextPart {
    fn from(parameter: Parameter) -> TextPart {
        TextPart::Parameter {
            parameter,
            value: None,
        }
    }
}

/// For logs.
impl fmt::Debug for Text {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            TextPart::Words(words) => to.write_str(words),
            TextPart::Action(action) => write!(to, "{action:?}"),
            TextPart::Parameter { parameter, value } => match value {
                Some(value) => write!(to, "{parameter:?}({value})"),
                None => write!(to, "{parameter:?}"),
            },
            TextPart::Time(time) => write!(to, "{time}"),
        })
    }
}

/// Words as one text; with anything else in it, a list of its parts.
impl Serialize for Text {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.words() {
            Some(words) => words.serialize(to),
            None => self.0.serialize(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskName;

    #[test]
    fn a_text_keeps_its_actions_and_times() {
        let (label, time) = ("TASK-001", Timestamp::UNIX_EPOCH);
        let spawn = || Action::spawn(TaskName::referred_to("shop", label), false);
        let start = text!("start it: {}", spawn());
        let work = Parameter::WithWork;
        let text = text!("{label}, from {}: {}; then go on {}", time, start, work);
        let shown = text.spelled(|part| match part {
            TextPart::Words(words) => words.clone(),
            TextPart::Action(_) => "[start]".to_owned(),
            TextPart::Parameter { parameter, .. } => parameter.label(),
            TextPart::Time(_) => "12:00".to_owned(),
        });
        assert_eq!(
            shown,
            "TASK-001, from 12:00: start it: [start]; then go on with work"
        );
        let parameters: Vec<&TextPart> = text.parameters().collect();
        assert_eq!(parameters, [&TextPart::from(work)]);
        let actions: Vec<&Action> = text.actions().collect();
        assert_eq!(actions, [&spawn()]);
        assert_eq!(text.words(), None);
    }

    #[test]
    fn no_letter_is_taken_for_a_place() {
        let odd = "a\u{10FFFF}b{}";
        let text = text!("{odd} {} {odd}", odd);
        assert_eq!(text.words(), Some(format!("{odd} {odd} {odd}")));
    }

    #[test]
    fn programs_get_words_as_one_text_and_the_rest_as_parts() {
        let json = |text: Text| serde_json::to_string(&text).unwrap();
        assert_eq!(
            json(text!("{} is over", "TASK-001")),
            r#""TASK-001 is over""#
        );
        assert_eq!(
            json(text!("run {}", Action::repair())),
            r#"["run ",{"action":"repair"}]"#
        );
        assert_eq!(
            json(text!("{}", Parameter::Strategy.given("squash"))),
            r#"[{"parameter":"strategy","value":"squash"}]"#
        );
    }
}

//! What came of a call on the engine: its value or its refusal, and what a person is told beside it.

use orange_core::Text;
use orange_engine::{Code, Error, Result};
use std::fmt::Debug;

#[derive(Debug)]
pub(crate) struct Outcome<T> {
    pub(crate) result: Result<T>,
    pub(crate) notices: Vec<String>,
}

impl<T: Debug> Outcome<T> {
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!(self.result.is_ok(), "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn fails(self, code: Code) -> Self {
        assert_eq!(self.error().code, code, "{self:?}");
        self
    }

    /// The text stands in the refusal or in what a person is told.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.words().contains(text), "no {text:?} in {self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn silent_about(self, text: &str) -> Self {
        assert!(!self.words().contains(text), "{text:?} in {self:?}");
        self
    }

    pub(crate) fn words(&self) -> String {
        let mut words = self.notices.join("\n");
        if let Err(error) = &self.result {
            words = format!(
                "{}\n{}\n{words}",
                error.message,
                error.hint.as_ref().map(shown).unwrap_or_default()
            );
        }
        words
    }

    #[track_caller]
    pub(crate) fn value(self) -> T {
        match self.result {
            Ok(value) => value,
            Err(error) => panic!("{error:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn error(&self) -> &Error {
        match &self.result {
            Ok(value) => panic!("it is not refused: {value:?}"),
            Err(error) => error,
        }
    }
}

/// A text with actions as the code has them.
pub(crate) fn shown(text: &Text) -> String {
    format!("{text:?}")
}

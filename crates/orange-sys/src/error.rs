//! What goes wrong, in words for a person: a code for programs, a message, and what to do about it.

use orange_core::Text;
use orange_core::choice;
use orange_core::workflow::Obstacle;
use std::error::Error as StdError;
use std::io;
use std::path::Path;

choice! {
    /// The kind of an error; front ends map it to an exit code or an HTTP status.
    pub enum Code ("error code") {
        Failed = "failed",
        Usage = "usage",
        Refused = "refused",
        /// A person was asked and said no.
        Declined = "declined",
        /// Everything was looked at, and not all is well.
        Problems = "problems",
        GateUnmet = "gate_unmet",
        ConditionUnmet = "condition_unmet",
        IllegalTransition = "illegal_transition",
        NotAllowed = "not_allowed",
        Conflict = "conflict",
        Damaged = "damaged",
        Busy = "busy",
        NotFound = "not_found",
        /// A program somebody named could not be started.
        NoCommand = "no_command",
        Ambiguous = "ambiguous",
        Storage = "storage",
        NewerVersion = "newer_version",
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub code: Code,
    pub message: String,
    pub hint: Option<Text>,
    /// The error behind it, for logs.
    pub source: Option<Box<dyn StdError + Send + Sync>>,
    /// What a person has to remove before it can succeed, where this error says it; [`Error::obstacle`] asks those behind it, too.
    pub obstacle: Option<Obstacle>,
}

/// An error of that kind with a message written like `format!`: `err!(Conflict, "{branch} is taken")`.
#[macro_export]
macro_rules! err {
    ($code:ident, $($message:tt)+) => {
        $crate::error::Error::new($crate::error::Code::$code, format!($($message)+))
    };
}
pub use crate::err;

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            hint: None,
            source: None,
            obstacle: None,
        }
    }

    #[must_use]
    pub fn with_obstacle(mut self, obstacle: Option<Obstacle>) -> Error {
        self.obstacle = obstacle;
        self
    }

    /// What was in the way, by this error or by one behind it.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let mut behind = self.source.as_deref().map(|error| error as &dyn StdError);
        let mut found = self.obstacle;
        while let (None, Some(error)) = (found, behind) {
            found = match error.downcast_ref::<Error>() {
                Some(error) => error.obstacle,
                None => {
                    let full = error.downcast_ref::<io::Error>().is_some_and(is_full);
                    full.then_some(Obstacle::DiskFull)
                }
            };
            behind = error.source();
        }
        found
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        self.source = Some(source.into());
        self
    }

    /// A file that could not be read or written: which one, why, and what usually helps.
    pub fn io(what: &str, path: &Path, error: &io::Error) -> Error {
        let message = format!("cannot {what} {}: {}", path.display(), plain(error));
        let obstacle = match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Some(Obstacle::NotWritable)
            }
            _ => is_full(error).then_some(Obstacle::DiskFull),
        };
        let failed = Error::new(Code::Storage, message)
            .because(copied(error))
            .with_obstacle(obstacle);
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                failed.hint("free some disk space and run the command again; nothing was lost")
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                failed.hint("the file system is read-only; reading commands still work")
            }
            io::ErrorKind::NotADirectory => {
                failed.hint("something in that path is a file; check ORANGE_HOME")
            }
            io::ErrorKind::PermissionDenied => {
                failed.hint("check who owns the folder, or set ORANGE_HOME to one of your own")
            }
            _ => failed,
        }
    }
}

/// `.doing("write", &path)?` says what failed and where: [`Error::io`].
pub trait IoContext<T> {
    fn doing(self, what: &str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn doing(self, what: &str, path: &Path) -> Result<T> {
        self.map_err(|error| Error::io(what, path, &error))
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// The same error once more, to be kept as a source.
pub fn copied(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// The system's words without the trailing "(os error 28)".
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text.get(..end).unwrap_or(&text).to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_way_is_found_behind_other_errors() {
        let full = io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error());
        let inner = Error::io("write", Path::new("/home/TASK.md"), &full);
        assert_eq!(inner.obstacle(), Some(Obstacle::DiskFull));
        let outer = err!(Failed, "no slot: {inner}").because(inner);
        assert_eq!(outer.obstacle(), Some(Obstacle::DiskFull));
        let locked = err!(Failed, "git fetch: locked").with_obstacle(Some(Obstacle::GitLock));
        let outer = err!(Failed, "no slot: {locked}").because(locked);
        assert_eq!(outer.obstacle(), Some(Obstacle::GitLock));
        assert_eq!(err!(Failed, "it is not there").obstacle(), None);
    }
}

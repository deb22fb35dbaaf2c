//! Where git may change something, and on whose behalf. Functions that only ask git something take a path; those that may
//! leave a lock behind, or wait for one, take a [`Site`].

use super::Git;
use std::fmt::{Debug, Formatter};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whose home keeps the notes of what is started, and who hears of a long wait. One process may work for several.
#[derive(Clone)]
pub struct Behalf {
    home: Option<Arc<Path>>,
    say: fn(&str),
}

/// A repository or a worktree of one. It reads as its path.
#[derive(Debug, Clone)]
pub struct Site {
    folder: PathBuf,
    behalf: Behalf,
}

impl Behalf {
    pub fn new(home: &Path, say: fn(&str)) -> Behalf {
        Behalf {
            home: Some(Arc::from(home)),
            say,
        }
    }

    /// Without a home no notes are kept: the lock of a git that is killed is only named then.
    pub fn nobody() -> Behalf {
        Behalf {
            home: None,
            say: |_| {},
        }
    }

    pub fn at(&self, folder: impl Into<PathBuf>) -> Site {
        Site {
            folder: folder.into(),
            behalf: self.clone(),
        }
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub(super) fn say(&self, text: &str) {
        (self.say)(text);
    }
}

impl Debug for Behalf {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Behalf").field(&self.home).finish()
    }
}

impl Site {
    /// As [`Git::at`].
    pub(super) fn git(&self) -> Git {
        Git::at(&self.folder).on_behalf(&self.behalf)
    }

    /// As [`Git::in_slot`].
    pub(super) fn git_in_slot(&self) -> Git {
        Git::in_slot(&self.folder).on_behalf(&self.behalf)
    }

    /// Another folder, on the same behalf.
    pub fn beside(&self, folder: impl Into<PathBuf>) -> Site {
        self.behalf.at(folder)
    }

    pub fn behalf(&self) -> &Behalf {
        &self.behalf
    }
}

impl Deref for Site {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.folder
    }
}

impl AsRef<Path> for Site {
    fn as_ref(&self) -> &Path {
        &self.folder
    }
}

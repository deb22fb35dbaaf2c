//! The paths under which a home is known: by its own record (`.home.json`), by the processes of its agents and by the tags
//! of their windows.

use crate::store::replace;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// In the home.
pub const RECORD: &str = ".home.json";

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomeRecord {
    /// Random. A copy has the same one.
    pub id: String,
    /// Where the home was when this was written, without links.
    pub path: PathBuf,
    /// Tells a folder that was renamed from one that was copied.
    pub inode: u64,
    /// Where it was before it was renamed: agents that were running then still name that path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<PathBuf>,
}

pub fn read(home: &Path) -> Option<HomeRecord> {
    serde_json::from_slice(&fs::read(home.join(RECORD)).ok()?).ok()
}

pub fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// The paths under which processes and tmux windows of a home may know it.
#[derive(Debug, Clone)]
pub struct HomePaths {
    home: PathBuf,
    real: Option<PathBuf>,
    pub former: Vec<PathBuf>,
}

impl HomePaths {
    pub fn of(home: &Path) -> HomePaths {
        let former = read(home).map(|record| record.former).unwrap_or_default();
        HomePaths {
            real: real(home),
            home: home.to_owned(),
            // Another home may be there by now.
            former: former.into_iter().filter(|path| !path.exists()).collect(),
        }
    }

    /// A home that is known by one path alone.
    pub fn at(home: &Path) -> HomePaths {
        HomePaths {
            home: home.to_owned(),
            real: None,
            former: Vec::new(),
        }
    }

    /// Whether a path, such as the value of ORANGE_HOME, names this home.
    pub fn include(&self, path: &[u8]) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        path == self.home
            || self.former.iter().any(|former| former == path)
            || (self.real.is_some() && real(path) == self.real)
    }

    /// What the tmux sessions of this home are tagged with: no path, which may contain anything.
    pub fn tag(&self) -> String {
        tag_of(self.real.as_deref().unwrap_or(&self.home))
    }

    /// Whether a tmux session with this tag is of this home. One without was made before there was a tag.
    pub fn has_tagged(&self, tag: Option<&str>) -> bool {
        let Some(tag) = tag else {
            return true;
        };
        tag == self.tag() || self.former.iter().any(|former| tag == tag_of(former))
    }
}

fn tag_of(path: &Path) -> String {
    format!("{:016x}", replace::short_hash(path.as_os_str().as_bytes()))
}

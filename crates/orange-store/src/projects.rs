//! projects.json: which repositories Orange knows. One small file, written whole, unknown keys kept.

use crate::locks::Lock;
use crate::{Store, replace};
use orange_core::config::Permissions;
use orange_core::id::{Prefix, valid_project_name};
use orange_core::suggest::meant;
use orange_core::{Action, text};
use orange_sys::error::{IoContext, Result, err};
use orange_sys::private::unless_gone;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Slots of a project of which projects.json says no number; a new one gets `workspace.pool_size`.
pub const DEFAULT_POOL_SIZE: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project {
    pub name: String,
    pub path: PathBuf,
    pub default_branch: String,
    #[serde(default = "default_pool_size")]
    pub pool_size: u32,
    /// How the keys of new tasks begin; earlier ones keep theirs.
    #[serde(default, skip_serializing_if = "Prefix::is_default")]
    pub prefix: Prefix,
    /// What its tasks' agents may do without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// The person was told what they may do while nobody had chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub permissions_stated: bool,
    /// What a newer or older program keeps here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

fn default_pool_size() -> u32 {
    DEFAULT_POOL_SIZE
}

/// Reads the registry; a missing file is an empty one.
pub fn read(store: &Store) -> Result<Vec<Project>> {
    let path = store.projects_file();
    let Some(text) = unless_gone(std::fs::read(&path)).doing("read", &path)? else {
        return Ok(Vec::new());
    };
    serde_json::from_slice(&text).map_err(|error| {
        err!(Damaged, "{} cannot be read: {}", path.display(), why(&error))
        .hint(text!(
            "correct the file by hand, or run {}, which sets it aside and registers again what it finds",
            Action::repair()
        )).because(error)
    })
}

/// In words for people who do not know the parser's.
fn why(error: &serde_json::Error) -> String {
    let line = error.line();
    let told = error.to_string();
    let told = told.split(" at line ").next().unwrap_or(&told);
    match error.classify() {
        Category::Data if told.ends_with("expected a sequence") => {
            "it must be a list of projects, between [ and ]".to_owned()
        }
        Category::Data => format!("line {line}: a project is not as it should be: {told}"),
        Category::Eof => format!("line {line}: it ends too early"),
        Category::Syntax | Category::Io => format!("line {line}: it is no JSON: {told}"),
    }
}

/// Changes the registry under its lock, so that two commands never lose each other's entry.
pub fn change<T>(store: &Store, edit: impl FnOnce(&mut Vec<Project>) -> Result<T>) -> Result<T> {
    store.ensure_home()?;
    let _lock = store.lock(Lock::Projects)?;
    let mut projects = read(store)?;
    let before = projects.clone();
    let result = edit(&mut projects)?;
    if projects != before {
        write(store, &projects)?;
    }
    Ok(result)
}

pub fn write(store: &Store, projects: &[Project]) -> Result<()> {
    let path = store.projects_file();
    let mut text = serde_json::to_string_pretty(projects)
        .map_err(|error| err!(Failed, "cannot write projects.json: {error}").because(error))?;
    text.push('\n');
    replace::write_atomic(&path, text.as_bytes()).doing("write", &path)
}

pub fn named<'p>(projects: &'p [Project], name: &str) -> Result<&'p Project> {
    projects
        .iter()
        .find(|project| project.name == name)
        .ok_or_else(|| {
            let known: Vec<&str> = projects
                .iter()
                .map(|project| project.name.as_str())
                .collect();
            let error = err!(NotFound, "there is no project {name:?}");
            if known.is_empty() {
                error.hint(text!(
                    "register one with {}",
                    Action::add_project(None, None)
                ))
            } else {
                let meant = meant(name, known.iter().copied());
                error.hint(format!("{meant}known projects: {}", known.join(", ")))
            }
        })
}

/// The project whose repository is this one.
pub fn at<'p>(projects: &'p [Project], repository: &Path) -> Option<&'p Project> {
    let real = repository.canonicalize();
    projects.iter().find(|project| {
        project.path == repository
            || real
                .as_ref()
                .is_ok_and(|real| project.path.canonicalize().is_ok_and(|path| path == *real))
    })
}

/// A name for a repository, from its folder: letters that cannot stand in a name become `-`.
pub fn name_for(repository: &Path) -> String {
    let folder = repository
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name: String = folder
        .trim_end_matches(".git")
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-') {
                letter
            } else {
                '-'
            }
        })
        .take(64)
        .collect();
    let name = name.trim_start_matches(['.', '-']).trim_end_matches('-');
    if valid_project_name(name) {
        name.to_owned()
    } else {
        "project".to_owned()
    }
}

pub fn check_name(name: &str) -> Result<()> {
    if valid_project_name(name) {
        return Ok(());
    }
    Err(err!(Usage, "{name:?} cannot be a project's name")
        .hint("use letters, digits, `.`, `_` and `-`; at most 64, not beginning with `.` or `-`"))
}

//! A registered project, with what its entry leaves unsaid.

use crate::projects::Project;
use orange_core::config::Permissions;
use orange_core::id::Prefix;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

#[derive(Debug, Clone, Serialize)]
pub struct ProjectView<'p> {
    pub name: &'p str,
    pub path: &'p Path,
    pub default_branch: &'p str,
    pub pool_size: u32,
    /// How the keys of new tasks begin.
    pub prefix: Prefix,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub permissions_stated: bool,
    /// What another program keeps there.
    #[serde(flatten)]
    pub other: &'p Map<String, Value>,
}

/// What became of a project.
#[derive(Debug, Serialize)]
pub struct ProjectResult<'p> {
    pub project: ProjectView<'p>,
    pub message: &'p str,
}

impl<'p> From<&'p Project> for ProjectView<'p> {
    fn from(project: &'p Project) -> Self {
        ProjectView {
            name: &project.name,
            path: &project.path,
            default_branch: &project.default_branch,
            pool_size: project.pool_size,
            prefix: project.prefix,
            permissions: project.permissions,
            permissions_stated: project.permissions_stated,
            other: &project.other,
        }
    }
}

//! The prompts of a project: their texts, where each comes from, and one filled in for a task.

use crate::call::{self, Call};
use crate::error::{Code, Result};
use crate::projects::Project;
use crate::prompt::{Prompts, built_in, source_in};
use crate::views::task::TaskView;
use crate::{rules, settings};
use orange_core::prompt::{self, PromptName};

/// The same for a person who wants to see it: no message, and what is missing as it is now.
pub fn prompt_preview(call: &Call, view: &TaskView, name: PromptName) -> Result<String> {
    let max_rounds = settings::max_rounds(call, &view.task)?;
    let missing = prompt::missing(&view.task, &view.body, max_rounds);
    let missing = missing.map_or_else(String::new, |missing| missing.for_agent());
    crate::prompt::prompt_for(call, &view.task, name, "", &missing)
}

/// Every prompt as new work of a project would get it; without one, those of Orange.
pub fn prompts(call: &Call, project: Option<&str>) -> Result<Prompts> {
    let project = project
        .map(|name| call::registered(call, name))
        .transpose()?;
    let commit = match &project {
        Some(project) => newest_rules(call, project)?,
        None => None,
    };
    let (Some(project), Some(commit)) = (project, commit) else {
        let sources = PromptName::ALL.iter().map(|name| built_in(*name, None));
        return Ok(Prompts {
            commit: None,
            sources: sources.collect::<Result<_>>()?,
            unknown: Vec::new(),
        });
    };
    let folder = settings::prompts_folder(call, &project, &commit)?;
    let folders = [&folder, prompt::FOLDER].map(|folder| format!("{folder}/"));
    let files = rules::base_files(&project.path, &commit, &folders)?;
    let paths = |name: &PromptName| name.paths(&folder, None);
    let sources = PromptName::ALL
        .iter()
        .map(|name| source_in(&files, &commit, *name, &paths(name)));
    let known: Vec<String> = PromptName::ALL.iter().flat_map(paths).collect();
    let unknown = files
        .paths()
        .filter(|path| !known.iter().any(|name| name == path));
    Ok(Prompts {
        sources: sources.collect::<Result<_>>()?,
        unknown: unknown.map(str::to_owned).collect(),
        commit: Some(commit),
    })
}

/// Where new work starts from; none in a repository without a commit.
fn newest_rules(call: &Call, project: &Project) -> Result<Option<String>> {
    match rules::parking_place(call, project) {
        Ok(commit) => Ok(Some(commit)),
        Err(error) if error.code == Code::ConditionUnmet => Ok(None),
        Err(error) => Err(error),
    }
}

//! projects.json: repositories that moved away, and a file that cannot be read. Which projects there were is found out
//! again from what can still be read of it, and from the slots, which know the repositories they belong to.

use super::{Report, folders_in, set_aside, without_path};
use crate::engine::Engine;
use crate::error::Result;
use crate::git;
use crate::index::list::Filter;
use crate::projects::{self, DEFAULT_POOL_SIZE, Project};
use orange_core::id::valid_project_name;
use orange_core::naming::counted;
use serde_json::{Deserializer, Map};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl Engine {
    pub(super) fn check_projects(&mut self, report: &mut Report, repair: bool) {
        match self.projects() {
            Ok(known) => {
                report.projects = known.len();
                for project in known.iter().filter(|project| !project.path.is_dir()) {
                    report
                        .add(
                            format!("project {}", project.name),
                            format!("its repository {} is not there", project.path.display()),
                        )
                        .by_hand(format!(
                            "`orange project update {} --path NEW`",
                            project.name
                        ));
                }
            }
            Err(error) => {
                let problem = without_path(&error.message, &self.store.projects_file());
                let finding = report.add("projects.json", problem);
                finding.repair(
                    "sets the file aside and registers again what is known from it and from the slots",
                );
                if repair {
                    finding.done(self.rebuild_registry());
                    report.projects = self.projects().map_or(0, |known| known.len());
                }
            }
        }
    }

    fn rebuild_registry(&mut self) -> Result<String> {
        let _lock = self.store.lock_file(".projects.lock")?;
        let path = self.store.projects_file();
        let text = std::fs::read(&path).unwrap_or_default();
        let found = self.projects_found(&String::from_utf8_lossy(&text));
        let stamp = self.file_stamp();
        let aside = set_aside(&path, &stamp)?;
        projects::write(&self.store, &found)?;
        let mut said = format!("set aside as {aside}");
        let again: Vec<String> = found
            .iter()
            .map(|project| format!("{} at {}", project.name, project.path.display()))
            .collect();
        if !again.is_empty() {
            said.push_str(&format!("; registered again: {}", again.join(", ")));
        }
        if again.is_empty() {
            said.push_str("; register projects again with `orange project add`");
        }
        Ok(said)
    }

    /// Projects that have open tasks and no repository: nothing can be done for those. What is over needs none.
    pub(super) fn check_unregistered(&mut self, report: &mut Report) -> Result<()> {
        let Ok(known) = self.projects() else {
            // That the registry cannot be read has been said.
            return Ok(());
        };
        let mut lost: BTreeMap<String, usize> = BTreeMap::new();
        for task in self.listed(&Filter::default())? {
            if !known.iter().any(|project| project.name == task.project) {
                *lost.entry(task.project).or_default() += 1;
            }
        }
        for (name, tasks) in lost {
            report
                .add(
                    format!("project {name}"),
                    format!(
                        "is not registered, and has {}: where its repository is cannot be told",
                        counted(tasks, "open task")
                    ),
                )
                .by_hand(format!("`orange project add PATH --name {name}`"));
        }
        Ok(())
    }

    /// Projects whose repository is there: whole entries of the damaged file, then those that have slots.
    fn projects_found(&self, text: &str) -> Vec<Project> {
        let mut found: Vec<Project> = Vec::new();
        for (at, _) in text.match_indices('{') {
            let rest = text.get(at..).unwrap_or_default();
            let entry = Deserializer::from_str(rest).into_iter::<Project>().next();
            if let Some(Ok(project)) = entry
                && valid_project_name(&project.name)
                && project.path.is_dir()
                && !found.iter().any(|known| known.name == project.name)
            {
                found.push(project);
            }
        }
        for (name, slots) in self.slots_of_projects() {
            if found.iter().any(|known| known.name == name) {
                continue;
            }
            let repository = slots
                .iter()
                .find_map(|(_, folder)| git::repository_of(folder).ok().flatten());
            let Some(path) = repository.filter(|path| path.is_dir()) else {
                continue;
            };
            let Ok(default_branch) = git::default_branch(&path) else {
                continue;
            };
            let highest = slots.iter().map(|(number, _)| *number).max().unwrap_or(0);
            found.push(Project {
                name,
                path,
                default_branch,
                pool_size: highest.max(DEFAULT_POOL_SIZE),
                permissions: None,
                permissions_stated: false,
                other: Map::new(),
            });
        }
        found
    }

    /// `shop--2` → shop, with the numbers and folders of all its slots.
    fn slots_of_projects(&self) -> BTreeMap<String, Vec<(u32, PathBuf)>> {
        let mut slots: BTreeMap<String, Vec<(u32, PathBuf)>> = BTreeMap::new();
        for folder in folders_in(&self.store.workspaces()) {
            let name = folder.file_name().and_then(|name| name.to_str());
            if let Some((project, number)) = name.and_then(|name| name.rsplit_once("--"))
                && let Ok(number) = number.parse()
                && valid_project_name(project)
            {
                let of_project = slots.entry(project.to_owned()).or_default();
                of_project.push((number, folder));
            }
        }
        slots
    }
}

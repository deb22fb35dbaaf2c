//! What stands for a prompt's variables, as far as git and the pool have to be asked.

use super::PromptExtra;
use crate::engine::Engine;
use crate::error::Result;
use crate::git;
use crate::projects::Project;
use crate::workspaces::name_at;
use orange_core::prompt::Values;
use orange_core::task::Task;

impl Engine {
    pub(super) fn prompt_values(&self, task: &Task, extra: &PromptExtra) -> Result<Values> {
        let project = self.registered(&task.project)?;
        let max_rounds = self.config_for(task)?.review.max_rounds;
        Ok(Values {
            base_branch: self.base_for_git(&project, task)?,
            target_branch: task.target(&project.default_branch).to_owned(),
            task_file: self.task_file_name(&project, task)?,
            message: extra.message.clone(),
            missing: extra.missing.clone(),
            ..Values::of(task, max_rounds)
        })
    }

    /// What the task's file is called where its agent works.
    fn task_file_name(&self, project: &Project, task: &Task) -> Result<String> {
        let pool = self.pool()?;
        let slot = pool
            .lease_of(task)
            .and_then(|lease| pool.workspaces.get(&lease.slot));
        if let Some(name) = slot.and_then(|slot| slot.link.clone()) {
            return Ok(name);
        }
        let commit = self.rules_commit(project, task)?;
        Ok(name_at(&project.path, &commit)?.to_owned())
    }

    /// What the task's work is compared with. Agents put it into a command line, so it names the same commit in
    /// every worktree and holds nothing that means something to a shell; where no name does, it is the commit.
    fn base_for_git(&self, project: &Project, task: &Task) -> Result<String> {
        let target = task.target(&project.default_branch);
        let mut names = vec![
            (
                format!("origin/{target}"),
                format!("refs/remotes/origin/{target}"),
            ),
            (target.to_owned(), format!("refs/heads/{target}")),
        ];
        if let Some(base) = &task.base {
            let full = |kind: &str| (base.clone(), format!("refs/{kind}/{base}"));
            // HEAD and its like mean something else in every worktree: never by name.
            let relative = (String::new(), base.clone());
            names.splice(
                0..0,
                [full("heads"), full("remotes"), full("tags"), relative],
            );
        }
        let revisions: Vec<String> = names.iter().map(|(_, revision)| revision.clone()).collect();
        let commits = git::commits_of(&project.path, &revisions)?;
        for ((name, _), commit) in names.into_iter().zip(commits) {
            match commit {
                Some(_) if is_plain(&name) => return Ok(name),
                Some(commit) => return Ok(commit),
                None => {}
            }
        }
        self.rules_commit(project, task)
    }
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-+=@".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(plain)
}

//! What `doctor` finds in the repositories themselves: the rules they come with.

use super::{BY_HAND, Report};
use crate::engine::{Engine, newest_base};
use crate::projects::Project;
use crate::workspaces::rules::Rules;
use orange_core::config::WorkspaceConfig;
use orange_core::prompt::PromptName;

impl Engine {
    /// Rules that cannot be read, or say something that means nothing, where new work starts from.
    pub(super) fn check_repositories(&mut self, report: &mut Report) {
        for project in self.projects().unwrap_or_default() {
            // A repository that is gone or empty has no rules; the former is said elsewhere.
            if !project.path.is_dir() {
                continue;
            }
            let Ok(commit) = newest_base(&project) else {
                continue;
            };
            let subject = format!("project {}", project.name);
            match Rules::read(&project.path, &commit, &WorkspaceConfig::default()) {
                Ok(rules) => {
                    for ignored in rules.ignored {
                        report.add(subject.clone(), format!(".orange/config.yaml, {ignored}"));
                    }
                }
                Err(error) => {
                    let finding = report.add(subject.clone(), error.message);
                    finding.repair(format!("{BY_HAND}: {}", error.hint.unwrap_or_default()));
                }
            }
            self.check_prompts(&project, &subject, report);
        }
    }

    /// Prompts that agents do not get although somebody wrote them.
    fn check_prompts(&mut self, project: &Project, subject: &str, report: &mut Report) {
        let prompts = match self.prompts(Some(&project.name)) {
            Ok(prompts) => prompts,
            Err(error) => {
                report.add(subject.to_owned(), error.message);
                return;
            }
        };
        for source in prompts.sources {
            if let Some(unusable) = source.unusable {
                let finding = report.add(subject.to_owned(), unusable.to_string());
                let path = project.path.display();
                finding.repair(format!("{BY_HAND}: correct it in {path} and commit that"));
            }
        }
        for path in prompts.unknown {
            let known = PromptName::WORDS.join(", ");
            report.add(
                subject.to_owned(),
                format!("{path} has the name of no prompt; there are {known}"),
            );
        }
    }
}

//! What `doctor` finds in the repositories themselves: the rules they come with.

use super::{BY_HAND, Report};
use crate::engine::{Engine, newest_base};
use crate::workspaces::rules::Rules;
use orange_core::config::WorkspaceConfig;

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
                    let known: Vec<&str> = WorkspaceConfig::known_keys().collect();
                    for key in rules.unknown {
                        report.add(
                            subject.clone(),
                            format!(
                                ".orange/config.yaml: {key} means nothing here; known settings: {}",
                                known.join(", ")
                            ),
                        );
                    }
                }
                Err(error) => {
                    let finding = report.add(subject, error.message);
                    finding.repair(format!("{BY_HAND}: {}", error.hint.unwrap_or_default()));
                }
            }
        }
    }
}

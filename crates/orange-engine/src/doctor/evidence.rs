//! Evidence that Orange cannot confirm: written by an older version, under another orange.db, or by somebody else.

use super::Report;
use crate::engine::Engine;
use crate::error::Result;
use crate::index::list::Filter;
use orange_core::task::Status;

impl Engine {
    /// Nothing to repair: a person decides when the task is merged.
    pub(super) fn check_evidence(&mut self, report: &mut Report) -> Result<()> {
        let reviewed = [Status::AgentReview, Status::Reviewing];
        let filter = Filter {
            statuses: reviewed.map(|status| status.as_str().to_owned()).to_vec(),
            ..Filter::default()
        };
        for row in self.listed(&filter)? {
            let task = self.store.survey(&row.folder).task;
            let history = self.history_at(&self.store.place(&row.folder).path)?;
            let testimony = self.testimony(&task.id, &history);
            let label = task.label();
            let claims = testimony.unconfirmed(&history);
            if !claims.is_empty() {
                report.note(format!(
                    "{label}: Orange cannot confirm what history.jsonl says ({}); its merge will ask you",
                    claims.join("; ")
                ));
            }
            if testimony.incomplete {
                report.note(format!(
                    "{label}: history.jsonl lacks lines that Orange wrote; its merge will ask you"
                ));
            }
        }
        Ok(())
    }
}

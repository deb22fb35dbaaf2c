//! What a run leaves in the Review section, as its TASK.md has it at that moment.

use super::{RunFolder, RunSpec};
use crate::locked::review_mark;
use crate::workspaces::LINK_NAMES;
use orange_core::task_file::salvage_body;
use std::path::Path;

impl RunFolder {
    /// The mark of the review that is in TASK.md now: as the worktree has it, where an editor may have put a file in place
    /// of the link.
    pub(crate) fn review_now(&self, spec: &RunSpec) -> Option<String> {
        let home = self.path.parent().and_then(Path::parent)?;
        let names = LINK_NAMES.iter().map(|name| spec.worktree.join(name));
        let real = home.join("tasks").join(&spec.folder).join("TASK.md");
        let mut texts = names.chain([real]).map(std::fs::read);
        let text = texts.find_map(|text| text.ok())?;
        review_mark(&salvage_body(&text))
    }
}

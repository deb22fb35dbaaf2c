//! What a run leaves in the Review section, as its TASK.md has it at that moment.

use super::LINK_NAMES;
use super::{RunFolder, RunSpec};
use crate::marks::review_mark;
use orange_core::task_file::{MAX_BYTES, salvage_body};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

impl RunFolder {
    /// The mark of the review that is in TASK.md now: as the worktree has it, where an editor may have put a file in place
    /// of the link.
    pub fn review_now(&self, spec: &RunSpec) -> Option<String> {
        let home = self.path.parent().and_then(Path::parent)?;
        let names = LINK_NAMES.iter().map(|name| spec.worktree.join(name));
        let real = home.join("tasks").join(&spec.folder).join("TASK.md");
        let mut texts = names.chain([real]).map(|path| plain_text(&path));
        review_mark(&salvage_body(&texts.find_map(|text| text)?))
    }
}

/// What a plain file holds. A pipe put in its place must not be waited for, nor a device be read without end.
fn plain_text(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    file.take(limit).read_to_end(&mut text).ok()?;
    Some(text)
}

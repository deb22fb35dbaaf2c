//! What changed in one file, line by line: git's patch, read into lines with their numbers. The texts are the file's own; a front end
//! makes them safe before it shows them.

use crate::error::Result;
use crate::git::diff::{self, DiffShape, FileChange, exactly};
use crate::views::Comparison;
use std::path::Path;

/// A patch longer than this is cut: nobody reads it to its end on a screen.
const MOST_LINES: usize = 20_000;
const MOST_BYTES: usize = 4 << 20;
const MOST_LETTERS: usize = 2_000;

/// What a line of a patch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Something about the file or about the line before.
    Note,
    /// The beginning of a hunk.
    Hunk,
    Same,
    Added,
    Deleted,
}

/// A line of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchLine {
    pub kind: LineKind,
    /// Where it stands in the new file; of a deleted line where it stood in the old one.
    pub number: Option<u32>,
    /// Without the sign that the patch has before it.
    pub text: String,
}

/// What changed in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePatch {
    pub lines: Vec<PatchLine>,
    /// Where its hunks begin among the lines.
    pub hunks: Vec<usize>,
    /// There is more of it.
    pub is_cut: bool,
}

impl FilePatch {
    /// The line of the new file at which a hunk changes something.
    pub fn line_of(&self, hunk: usize) -> Option<u32> {
        let from = *self.hunks.get(hunk)?;
        let to = self.hunks.get(hunk + 1).copied();
        let lines = self.lines.get(from..to.unwrap_or(self.lines.len()))?;
        // A deleted line is no more; the one after it is where it was.
        let is_new = |line: &&PatchLine| matches!(line.kind, LineKind::Added | LineKind::Same);
        let changed = lines
            .iter()
            .position(|line| matches!(line.kind, LineKind::Added | LineKind::Deleted))?;
        let after = lines[changed..].iter().find(is_new);
        let near = after.or_else(|| lines[..changed].iter().rfind(is_new));
        near.and_then(|line| line.number)
    }
}

/// Reads what changed in one file of a comparison, for as long as somebody wants to know.
pub fn file_patch(
    comparison: &Comparison,
    file: &FileChange,
    mut wanted: impl FnMut() -> bool,
) -> Result<FilePatch> {
    let paths = [Some(&file.path), file.old_path.as_ref()];
    let paths = paths.into_iter().flatten();
    let paths: Vec<_> = paths.map(|path| exactly(path)).collect();
    let mut reader = PatchReader::default();
    let shape = DiffShape::Patch { binary: false };
    diff::show(&comparison.sides, shape, &paths, &mut |piece| {
        wanted() && reader.take(piece)
    })?;
    Ok(reader.end())
}

#[derive(Default)]
struct PatchReader {
    patch: FilePatch,
    /// What came of a line so far.
    rest: Vec<u8>,
    bytes: usize,
    /// Lines of the hunk that are still to come, of the old file and of the new one: a deleted line that begins with dashes
    /// looks like a header.
    left: (u32, u32),
    /// The numbers of the next ones.
    at: (u32, u32),
}

impl PatchReader {
    /// False when it has enough.
    fn take(&mut self, piece: &[u8]) -> bool {
        self.bytes += piece.len();
        self.rest.extend_from_slice(piece);
        if let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.rest.split_off(end + 1);
            let whole = std::mem::replace(&mut self.rest, rest);
            for line in whole.split_inclusive(|byte| *byte == b'\n') {
                if self.patch.lines.len() >= MOST_LINES {
                    self.patch.is_cut = true;
                    return false;
                }
                self.line(line.strip_suffix(b"\n").unwrap_or(line));
            }
        }
        if self.bytes > MOST_BYTES {
            self.patch.is_cut = true;
        }
        !self.patch.is_cut
    }

    fn end(mut self) -> FilePatch {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.line(&rest);
        }
        self.patch
    }

    fn line(&mut self, bytes: &[u8]) {
        // Of a line of megabytes only the beginning is decoded.
        let bytes = &bytes[..bytes.len().min(MOST_LETTERS * 4)];
        let text = String::from_utf8_lossy(bytes);
        if self.left == (0, 0) {
            self.between(&text);
        } else {
            self.inside(&text);
        }
    }

    fn push(&mut self, kind: LineKind, number: Option<u32>, text: &str) {
        self.patch.lines.push(PatchLine {
            kind,
            number,
            text: text.chars().take(MOST_LETTERS).collect(),
        });
    }

    fn between(&mut self, text: &str) {
        let header = text.strip_prefix("@@ ");
        let Some((numbers, _)) = header.and_then(|rest| rest.split_once(" @@")) else {
            const KNOWN: [&str; 4] = ["diff --git ", "index ", "--- ", "+++ "];
            // The list of files has said these.
            if !KNOWN.iter().any(|known| text.starts_with(known)) {
                self.push(LineKind::Note, None, text.trim_start_matches("\\ "));
            }
            return;
        };
        let mut ranges = numbers.split(' ').map(range);
        let (old, new) = (
            ranges.next().unwrap_or_default(),
            ranges.next().unwrap_or_default(),
        );
        self.at = (old.0, new.0);
        self.left = (old.1, new.1);
        self.patch.hunks.push(self.patch.lines.len());
        self.push(LineKind::Hunk, None, text);
    }

    fn inside(&mut self, text: &str) {
        let (kind, old, new) = match text.as_bytes().first() {
            Some(b'-') => (LineKind::Deleted, 1, 0),
            Some(b'+') => (LineKind::Added, 0, 1),
            Some(b'\\') => return self.push(LineKind::Note, None, text.trim_start_matches("\\ ")),
            _ => (LineKind::Same, 1, 1),
        };
        let number = if new == 1 { self.at.1 } else { self.at.0 };
        self.push(kind, Some(number), text.get(1..).unwrap_or_default());
        self.at = (self.at.0 + old, self.at.1 + new);
        self.left = (
            self.left.0.saturating_sub(old),
            self.left.1.saturating_sub(new),
        );
    }
}

/// The first line and the count of `-12,3`; one line, where only `-12` stands.
fn range(text: &str) -> (u32, u32) {
    let text = text.trim_start_matches(['-', '+']);
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    (start.parse().unwrap_or(0), count.parse().unwrap_or(0))
}

/// Whether a file is made by a package manager from another one: long, and seldom read.
pub fn is_lock_file(path: &Path) -> bool {
    const NAMES: &[&str] = &[
        ".terraform.lock.hcl",
        "Cargo.lock",
        "Chart.lock",
        "Gemfile.lock",
        "Package.resolved",
        "Pipfile.lock",
        "Podfile.lock",
        "bun.lock",
        "composer.lock",
        "deno.lock",
        "flake.lock",
        "go.sum",
        "gradle.lockfile",
        "mix.lock",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "packages.lock.json",
        "pdm.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "pubspec.lock",
        "uv.lock",
        "yarn.lock",
    ];
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| NAMES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> FilePatch {
        let mut reader = PatchReader::default();
        for piece in pieces {
            reader.take(piece.as_bytes());
        }
        reader.end()
    }

    #[test]
    fn lines_have_the_numbers_of_their_side() {
        let patch = read(&[
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/x\n+++ b/x\n@@ -3,3 +3,",
            "4 @@ fn main\n same\n--- not a header\n+++ nor this\n+two\n last\n\\ No newline at end of file\n",
            "@@ -9 +10,0 @@\n-gone",
        ]);
        let lines: Vec<(LineKind, Option<u32>, &str)> = patch
            .lines
            .iter()
            .map(|line| (line.kind, line.number, line.text.as_str()))
            .collect();
        assert_eq!(
            lines,
            [
                (LineKind::Note, None, "old mode 100644"),
                (LineKind::Note, None, "new mode 100755"),
                (LineKind::Hunk, None, "@@ -3,3 +3,4 @@ fn main"),
                (LineKind::Same, Some(3), "same"),
                (LineKind::Deleted, Some(4), "-- not a header"),
                (LineKind::Added, Some(4), "++ nor this"),
                (LineKind::Added, Some(5), "two"),
                (LineKind::Same, Some(6), "last"),
                (LineKind::Note, None, "No newline at end of file"),
                (LineKind::Hunk, None, "@@ -9 +10,0 @@"),
                (LineKind::Deleted, Some(9), "gone"),
            ]
        );
        assert_eq!(patch.hunks, [2, 9]);
        assert_eq!((patch.line_of(0), patch.line_of(1)), (Some(4), None));
        assert_eq!(patch.line_of(2), None);
    }

    #[test]
    fn a_patch_that_is_too_long_is_cut() {
        let mut reader = PatchReader::default();
        assert!(reader.take(b"@@ -0,0 +1,100000 @@\n"));
        let piece = "+a line\n".repeat(10_000);
        assert!(reader.take(piece.as_bytes()));
        assert!(!reader.take(piece.as_bytes()));
        let patch = reader.end();
        assert!(patch.is_cut && patch.lines.len() == MOST_LINES);
        // One line of many megabytes.
        let mut reader = PatchReader::default();
        reader.take(b"@@ -0,0 +1 @@\n+");
        while reader.take(&[b'x'; 64 * 1024]) {}
        let patch = reader.end();
        assert_eq!(patch.lines[1].text.len(), MOST_LETTERS);
        assert!(patch.is_cut);
    }

    #[test]
    fn lock_files_are_known_by_their_names() {
        assert!(is_lock_file(Path::new("web/package-lock.json")));
        assert!(!is_lock_file(Path::new("src/lock.rs")));
    }
}

//! TASK.md as an agent handles it: a file in the folder it works in, edited without asking anybody.

use super::script::How;
use orange_core::artifact;
use orange_core::task_file::TaskFile;
use orange_core::yaml::Node;
use serde_json::{Map, Value};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The first is used where a repository has a TASK.md of its own.
const NAMES: [&str; 2] = ["ORANGE_TASK.md", "TASK.md"];

/// Where it is, or would be.
pub(super) fn place(folder: &Path) -> PathBuf {
    let [other, usual] = NAMES.map(|name| folder.join(name));
    if other.symlink_metadata().is_ok() {
        other
    } else {
        usual
    }
}

/// A field of the frontmatter, as text.
pub(super) fn field(folder: &Path, name: &str) -> Option<String> {
    let file = TaskFile::parse(&fs::read(place(folder)).ok()?).ok()?;
    match file.get(name)? {
        (Node::Scalar { text, .. }, _) => Some(text.clone()),
        (Node::Sequence { .. } | Node::Mapping { .. }, _) => None,
    }
}

/// Writes a section. Unless told how, it is added if it is not there, and replaced if it is.
pub(super) fn write_section(
    folder: &Path,
    name: &str,
    text: &str,
    how: Option<How>,
) -> io::Result<()> {
    let path = place(folder);
    let now = fs::read_to_string(&path)?;
    let section = format!(
        "## {}\n\n{}\n",
        name.replace(['\n', '\r'], " "),
        text.trim_end()
    );
    let is_there = artifact::section(body_of(&now), name).is_some();
    let usual = if is_there { How::Truncate } else { How::Append };
    match how.unwrap_or(usual) {
        How::Append => append(&path, &now, &section),
        how => write(&path, &with_section(&now, name, &section), how),
    }
}

/// Changes fields of the frontmatter; `null` removes one.
pub(super) fn write_fields(folder: &Path, fields: &Map<String, Value>, how: How) -> io::Result<()> {
    let path = place(folder);
    let mut file = TaskFile::parse(&fs::read(&path)?).map_err(io::Error::other)?;
    let given = |value: &Value| (!value.is_null()).then(|| value.clone());
    let changes: Vec<(&str, Option<Value>)> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), given(value)))
        .collect();
    file.edit(&changes).map_err(io::Error::other)?;
    write(&path, file.text(), how)
}

/// What follows the frontmatter; all of it where there is none.
fn body_of(text: &str) -> &str {
    let start = TaskFile::parse(text.as_bytes()).map_or(0, |file| text.len() - file.body().len());
    text.get(start..).unwrap_or(text)
}

/// The text with the section in the place of the last one of its name, or at the end.
fn with_section(text: &str, name: &str, section: &str) -> String {
    let body = body_of(text);
    let start = text.len() - body.len();
    match artifact::section(body, name) {
        Some(old) => {
            let before = text.get(..start + old.heading.start).unwrap_or_default();
            let after = text.get(start + old.content.end..).unwrap_or_default();
            let gap = if after.is_empty() { "" } else { "\n" };
            format!("{before}{section}{gap}{after}")
        }
        None => format!("{text}{}{section}", gap_after(text)),
    }
}

fn gap_after(text: &str) -> &'static str {
    match text.ends_with('\n') {
        _ if text.is_empty() => "",
        true => "\n",
        false => "\n\n",
    }
}

/// One write at the end of the file.
fn append(path: &Path, now: &str, section: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(format!("{}{section}", gap_after(now)).as_bytes())
}

fn write(path: &Path, text: &str, how: How) -> io::Result<()> {
    match how {
        // Follows the link.
        How::Append | How::Truncate => fs::write(path, text),
        How::Rename => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let new = path.with_file_name(format!(".{name}.{}", std::process::id()));
            fs::write(&new, text)?;
            fs::rename(&new, path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "---\nstatus: working\nsummary: Do it\n---\n\n## Context\n\nx\n\n## Plan\n\nAPPROACH: a\n\n## Notes\n\nn\n";

    fn folder(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("real.md"), text).unwrap();
        std::os::unix::fs::symlink("real.md", folder.path().join("TASK.md")).unwrap();
        folder
    }

    fn is_link(folder: &Path) -> bool {
        place(folder).symlink_metadata().unwrap().is_symlink()
    }

    #[test]
    fn a_section_is_added_once_and_then_replaced() {
        let folder = folder(TASK);
        let folder = folder.path();
        write_section(folder, "Handoff", "DONE: a\n", None).unwrap();
        write_section(folder, "Plan", "APPROACH: b", None).unwrap();
        write_section(folder, "Handoff", "DONE: b", None).unwrap();
        let text = fs::read_to_string(folder.join("real.md")).unwrap();
        let wanted = TASK.replace("APPROACH: a", "APPROACH: b");
        assert_eq!(text, format!("{wanted}\n## Handoff\n\nDONE: b\n"));
        assert!(is_link(folder));
    }

    #[test]
    fn appending_leaves_what_is_there() {
        let folder = folder("---\nstatus: working\n---\nno line end");
        let folder = folder.path();
        write_section(folder, "Plan", "a", Some(How::Append)).unwrap();
        write_section(folder, "Plan", "b", Some(How::Append)).unwrap();
        let text = fs::read_to_string(folder.join("TASK.md")).unwrap();
        assert!(
            text.ends_with("\nno line end\n\n## Plan\n\na\n\n## Plan\n\nb\n"),
            "{text}"
        );
    }

    #[test]
    fn renaming_replaces_the_link_by_a_file() {
        let folder = folder(TASK);
        let folder = folder.path();
        write_section(folder, "Plan", "APPROACH: c", Some(How::Rename)).unwrap();
        assert!(!is_link(folder));
        assert_eq!(fs::read_to_string(folder.join("real.md")).unwrap(), TASK);
        let text = fs::read_to_string(folder.join("TASK.md")).unwrap();
        assert!(
            text.contains("\n## Plan\n\nAPPROACH: c\n\n## Notes\n"),
            "{text}"
        );
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
    }

    #[test]
    fn fields_are_changed_added_and_removed() {
        let folder = folder(TASK);
        let folder = folder.path();
        let fields = serde_json::json!({"status": "done", "summary": null, "mine": 3});
        let fields = fields.as_object().unwrap();
        write_fields(folder, fields, How::Truncate).unwrap();
        assert_eq!(field(folder, "status").as_deref(), Some("done"));
        assert_eq!(field(folder, "summary"), None);
        assert_eq!(field(folder, "mine").as_deref(), Some("3"));
        assert!(is_link(folder));
    }

    #[test]
    fn a_repository_with_a_task_file_of_its_own_has_another_name_for_the_link() {
        let folder = folder("the repository's own");
        let folder = folder.path();
        fs::write(folder.join("ORANGE_TASK.md"), TASK).unwrap();
        assert_eq!(field(folder, "status").as_deref(), Some("working"));
    }
}

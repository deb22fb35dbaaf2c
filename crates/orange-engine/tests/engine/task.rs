//! A task as the tests speak of it: its two files, read and written as an editor or an agent would.

use orange_engine::store::Place;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub(crate) struct TestTask {
    pub(crate) key: String,
    pub(crate) id: String,
    pub(crate) branch: String,
    pub(crate) folder: PathBuf,
    pub(crate) place: Place,
}

impl TestTask {
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("TASK.md")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join("history.jsonl")
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// Adds text at the end of the body, as an agent would.
    pub(crate) fn append(&self, text: &str) {
        fs::write(self.file(), format!("{}\n{text}", self.text())).unwrap();
    }

    /// Replaces text somewhere in TASK.md, as an editor would; it must be there.
    #[track_caller]
    pub(crate) fn edit(&self, old: &str, new: &str) {
        let text = self.text();
        assert!(text.contains(old), "{old:?} is not in\n{text}");
        fs::write(self.file(), text.replacen(old, new, 1)).unwrap();
    }

    /// Sets one field of the frontmatter, as an editor would; `value` is YAML on one line.
    pub(crate) fn set_field(&self, name: &str, value: &str) {
        let text = self.text();
        let (front, body) = text.split_once("\n---\n").unwrap();
        let mut inside = false;
        let mut kept: Vec<&str> = Vec::new();
        for line in front.lines() {
            inside = line.starts_with(&format!("{name}:")) || (inside && line.starts_with("  "));
            if !inside {
                kept.push(line);
            }
        }
        let front = format!("{}\n{name}: {value}", kept.join("\n"));
        fs::write(self.file(), format!("{front}\n---\n{body}")).unwrap();
    }

    /// The events in its journal, as they are written.
    pub(crate) fn history(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.journal()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The types of its events, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        self.history()
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Its last event of that type.
    #[track_caller]
    pub(crate) fn last(&self, kind: &str) -> Value {
        self.history()
            .into_iter()
            .rfind(|event| event["type"] == kind)
            .unwrap_or_else(|| panic!("no {kind} in {:?}", self.events()))
    }

    /// Files of its folder whose name begins so.
    pub(crate) fn files_like(&self, start: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(start)
        });
        paths.sort();
        paths
    }
}

/// A folder's whole content as one text.
pub(crate) fn fingerprint(folder: &Path) -> String {
    let mut lines = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                lines.push(format!("{} {:?}", path.display(), fs::read(&path).unwrap()));
            }
        }
    }
    lines.sort();
    lines.join("\n")
}

//! What a question asks for, as rules are compared with it: a command and where it runs, a file by the place that its path
//! leads to, or all that a tool is given.

use super::{Question, RunSpec};
use orange_core::allow_rule::{PermissionRequest, is_plain_path};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// What a tool would be used on, as its harness reads its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'v> {
    Command(&'v str),
    /// A path, absolute or from the folder that the agent is in.
    File(&'v str),
    /// Nothing less than all of its input.
    Input,
}

impl Subject<'_> {
    /// Whether an input has no other members than these. Null counts as absent, and so do flags that are off by default.
    pub fn has_only(input: &Value, names: &[&str]) -> bool {
        const OFF_BY_DEFAULT: &[&str] = &["dangerouslyDisableSandbox", "run_in_background"];
        let is_said = |name: &str, value: &Value| match value {
            Value::Null => false,
            Value::Bool(false) => !OFF_BY_DEFAULT.contains(&name),
            _ => true,
        };
        input.as_object().is_some_and(|input| {
            let mut said = input.iter().filter(|(name, value)| is_said(name, value));
            said.all(|(name, _)| names.contains(&name.as_str()))
        })
    }
}

impl RunSpec {
    /// What a question asks for, or why that cannot be said for certain.
    pub fn request(&self, question: &Question) -> Result<PermissionRequest, String> {
        let subject = match question.tool.as_str() {
            "" => None,
            tool => self.adapter.subject(tool, &question.input),
        };
        let subject = subject.ok_or_else(|| {
            let name = &self.harness;
            format!("{name} does not tell Orange which tool it asks for and what the tool is given")
        })?;
        let worktree = real(&self.worktree).ok_or("its worktree is gone")?;
        let cwd = Some(Path::new(&question.cwd)).filter(|cwd| cwd.is_absolute());
        let folder = cwd.and_then(real);
        match subject {
            Subject::Input => Ok(PermissionRequest::Input {
                input: question.input.clone(),
            }),
            Subject::Command(command) => {
                let folder = folder.ok_or("the agent does not say where the command runs")?;
                let inside = folder.strip_prefix(&worktree).ok().and_then(Path::to_str);
                Ok(PermissionRequest::Command {
                    command: command.to_owned(),
                    folder: inside
                        .ok_or("the command runs outside of the task's worktree")?
                        .to_owned(),
                })
            }
            Subject::File(path) => {
                let folder = folder.unwrap_or_else(|| worktree.clone());
                let place = is_plain_path(path).then(|| real(&folder.join(path)));
                let place = place
                    .flatten()
                    .ok_or("its path does not say for certain where it leads")?;
                let place = place.strip_prefix(&worktree).unwrap_or(&place);
                let path = place.to_str().ok_or("its path is not UTF-8 text")?;
                Ok(PermissionRequest::File {
                    path: path.to_owned(),
                })
            }
        }
    }
}

/// Where a path leads, also one of a file that is not there yet. None for a link that leads nowhere: whoever writes to it makes
/// a file at its other end.
fn real(path: &Path) -> Option<PathBuf> {
    match fs::canonicalize(path) {
        Ok(found) => Some(found),
        Err(_) if fs::symlink_metadata(path).is_ok() => None,
        Err(_) => Some(real(path.parent()?)?.join(path.file_name()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Adapter;
    use serde_json::json;
    use std::os::unix::fs::symlink;

    /// A worktree with a folder `src` in it, and a folder beside it.
    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Place {
            let place = Place(tempfile::tempdir().unwrap());
            for name in ["slot/src", "slot/web", "beside"] {
                fs::create_dir_all(place.at(name)).unwrap();
            }
            place
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn asks(&self, tool: &str, input: Value, cwd: &str) -> Result<PermissionRequest, String> {
            let spec = json!({
                "run": "r", "task": "t", "folder": "f", "role": "worker", "harness": "mine",
                "command": [], "worktree": self.at("slot"),
            });
            let mut spec: RunSpec = serde_json::from_value(spec).unwrap();
            spec.adapter = "pi".parse::<Adapter>().unwrap();
            let cwd = match cwd {
                "" => String::new(),
                cwd => self.at(cwd).display().to_string(),
            };
            spec.request(&Question {
                tool: tool.to_owned(),
                input,
                cwd,
                ..Question::new(String::new())
            })
        }

        fn file(&self, path: &str) -> Option<String> {
            match self.asks("write", json!({"path": path}), "slot") {
                Ok(PermissionRequest::File { path }) => Some(path),
                _ => None,
            }
        }
    }

    #[test]
    fn a_command_is_where_it_runs() {
        let place = Place::new();
        let folder = |cwd: &str| match place.asks("bash", json!({"command": "ls"}), cwd) {
            Ok(PermissionRequest::Command { folder, .. }) => Ok(folder),
            Ok(other) => panic!("{other:?}"),
            Err(why) => Err(why),
        };
        assert_eq!(folder("slot").unwrap(), "");
        assert_eq!(folder("slot/web").unwrap(), "web");
        assert!(folder("beside").unwrap_err().contains("outside"));
        assert!(folder("").unwrap_err().contains("where"));
    }

    #[test]
    fn a_file_is_where_its_path_leads() {
        let place = Place::new();
        assert_eq!(place.file("src/new/a.rs").as_deref(), Some("src/new/a.rs"));
        let absolute = place.at("slot/src/a.rs").display().to_string();
        assert_eq!(place.file(&absolute).as_deref(), Some("src/a.rs"));
        let outside = place.at("beside/x").display().to_string();
        assert_eq!(place.file(&outside), Some(outside.clone()));
        // A link inside leads outside.
        symlink(place.at("beside"), place.at("slot/src/link")).unwrap();
        assert_eq!(place.file("src/link/x"), Some(outside));
        symlink(place.at("nowhere"), place.at("slot/src/dangling")).unwrap();
        assert_eq!(place.file("src/dangling"), None);
        for odd in [
            "../beside/x",
            "src/../../beside/x",
            "~/x",
            "@src/a.rs",
            "",
            "src/a\u{a0}b",
        ] {
            assert_eq!(place.file(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_harness_that_says_nothing_asks_for_nothing_certain() {
        let place = Place::new();
        let refused = place.asks("", Value::Null, "slot").unwrap_err();
        assert!(refused.starts_with("mine does not tell"), "{refused}");
    }
}

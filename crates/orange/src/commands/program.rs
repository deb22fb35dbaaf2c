//! Another program of the user's takes the place of this one (same terminal, same process, its own exit code), or
//! has the terminal for a while.

use orange_engine::error::plain;
use orange_engine::git::{REAL_OBJECTS, REDIRECTING};
use orange_engine::{Code, Error, Result};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// What makes a command an agent's. A person's shell or editor must not be taken for one.
const AGENT: &[&str] = &["ORANGE_TASK_ID", "ORANGE_ROLE", "ORANGE_RUN_ID"];

pub(crate) struct Program {
    name: OsString,
    command: Command,
}

impl Program {
    pub(crate) fn new(name: OsString) -> Program {
        let mut command = Command::new(&name);
        // The folder alone says which repository is meant.
        for variable in REDIRECTING {
            command.env_remove(variable);
        }
        // Git in a worktree shows what a merge of it takes.
        command.envs(REAL_OBJECTS.iter().copied());
        Program { name, command }
    }

    /// From a line like `code -w`. One with quotes or variables in it is the shell's to read, as git does.
    pub(crate) fn from_line(line: &OsStr) -> Program {
        const SPECIAL: &[u8] = b"|&;<>()$`\\\"'*?[#~=%\n";
        // A path with blanks in it, without the quotes that would say so.
        if Path::new(line).is_absolute() && Path::new(line).is_file() {
            return Program::new(line.to_owned());
        }
        let text = line.to_str().filter(|text| {
            let special = |byte: u8| SPECIAL.contains(&byte);
            !text.bytes().any(special)
        });
        let mut words = text.unwrap_or_default().split_whitespace();
        if let Some(name) = words.next() {
            return words.fold(Program::new(name.into()), Program::with);
        }
        let mut script = line.to_owned();
        script.push(" \"$@\"");
        Program::new("/bin/sh".into())
            .with("-c")
            .with(script)
            .with(line)
    }

    pub(crate) fn with(mut self, argument: impl AsRef<OsStr>) -> Program {
        self.command.arg(argument);
        self
    }

    pub(crate) fn in_folder(mut self, folder: &Path) -> Program {
        self.command.current_dir(folder).env("PWD", folder);
        self
    }

    pub(crate) fn for_a_person(mut self) -> Program {
        for variable in AGENT {
            self.command.env_remove(variable);
        }
        self
    }

    /// Becomes that program; comes back only if it cannot.
    pub(crate) fn take_over(mut self) -> Result<()> {
        let error = self.command.exec();
        Err(self.cannot_start(&error))
    }

    /// Lets it have the terminal until it ends.
    pub(crate) fn run(mut self) -> Result<ExitStatus> {
        let ended = self.command.status();
        ended.map_err(|error| self.cannot_start(&error))
    }

    fn cannot_start(&self, error: &std::io::Error) -> Error {
        let name = self.name.to_string_lossy();
        let (message, hint) = match error.kind() {
            ErrorKind::NotFound if self.name.as_bytes().contains(&b'/') => (
                format!("there is no program {name}"),
                "check its path; a relative one starts at the worktree",
            ),
            ErrorKind::NotFound => (
                format!("there is no program {name} on PATH"),
                "check its name; a line of shell needs one: `-- sh -c '…'`",
            ),
            _ => (
                format!("cannot start {name}: {}", plain(error)),
                "check that it is a program and may be executed",
            ),
        };
        Error::new(Code::NoCommand, message).hint(hint)
    }
}

/// The user's editor, as far as they named one.
pub(crate) fn editor() -> Option<OsString> {
    variable("VISUAL").or_else(|| variable("EDITOR"))
}

/// For an editor that cannot be started.
pub(crate) fn no_editor(line: &OsStr, why: &str) -> Error {
    // The program need not be named twice.
    let why = why.rsplit(": ").next().unwrap_or(why);
    let message = format!("cannot start the editor {}: {why}", line.display());
    Error::new(Code::NoCommand, message).hint("set VISUAL or EDITOR to one that is there")
}

/// A variable that is set to something.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let program = Program::from_line(OsStr::new(line)).with("/folder");
        std::iter::once(program.command.get_program())
            .chain(program.command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_path_with_blanks_that_is_there_is_one_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my editor");
        let line = path.to_str().unwrap();
        assert_ne!(words(line), [line, "/folder"]);
        std::fs::write(&path, "").unwrap();
        assert_eq!(words(line), [line, "/folder"]);
    }

    #[test]
    fn an_editor_may_have_arguments() {
        assert_eq!(words("vi"), ["vi", "/folder"]);
        assert_eq!(words(" code  -w "), ["code", "-w", "/folder"]);
        let quoted = "'/opt/my editor' -w";
        assert_eq!(
            words(quoted),
            [
                "/bin/sh",
                "-c",
                &format!("{quoted} \"$@\""),
                quoted,
                "/folder"
            ]
        );
    }
}

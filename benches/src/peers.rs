//! Programs that do the same job, where they are installed.

use crate::Result;
use crate::measure::run;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Is there a program of that name?
pub(crate) fn installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

/// workmux, of the version that `scripts/install-deps bench` installs.
pub(crate) struct Workmux {
    pub(crate) program: std::path::PathBuf,
    pub(crate) version: &'static str,
}

impl Workmux {
    const VERSION: &'static str = "0.1.278";

    pub(crate) fn find() -> Option<Workmux> {
        let cache = match std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()) {
            Some(cache) => cache.into(),
            None => std::env::home_dir()?.join(".cache"),
        };
        let folder = format!("orange-bench/workmux-{}/bin/workmux", Workmux::VERSION);
        let program = cache.join(folder);
        program.is_file().then_some(Workmux {
            program,
            version: Workmux::VERSION,
        })
    }
}

const PRIORITIES: [&str; 3] = ["H", "M", "L"];

/// Taskwarrior with so many tasks, in a folder of its own.
pub(crate) struct Taskwarrior {
    settings: std::path::PathBuf,
}

impl Taskwarrior {
    pub(crate) fn with(folder: &Path, tasks: usize) -> Result<Taskwarrior> {
        let data = folder.join("taskwarrior");
        fs::create_dir_all(&data)?;
        let peer = Taskwarrior {
            settings: data.join("taskrc"),
        };
        let location = data.display();
        fs::write(
            &peer.settings,
            format!("data.location={location}\nconfirmation=off\nverbose=nothing\n"),
        )?;
        let lines: Vec<String> = (0..tasks)
            .map(|number| {
                serde_json::json!({
                    "uuid": format!("00000000-0000-4000-8000-{number:012}"),
                    "description": format!("Repair the export of reports for tenant {number}"),
                    "status": "pending",
                    "entry": "20260101T000000Z",
                    "project": "bench",
                    "priority": PRIORITIES[number % 3],
                    "tags": ["api", "login", "v2"],
                })
                .to_string()
            })
            .collect();
        let import = data.join("tasks.json");
        fs::write(&import, lines.join("\n"))?;
        run(peer.command().arg("import").arg(&import))?;
        Ok(peer)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("task");
        command.env("TASKRC", &self.settings);
        command
    }

    pub(crate) fn list(&self) -> Command {
        let mut command = self.command();
        command.arg("list");
        command
    }
}

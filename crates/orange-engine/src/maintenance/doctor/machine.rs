//! The machine: the programs that Orange starts, and whether they are new enough.

use crate::call::Call;
use crate::git;
use crate::harness::probe::Version;
use crate::sessions::programs;
use crate::tmux::{self, Server, Tmux};
use crate::views::doctor::{DoctorReport, ProgramFound};

/// Debian 12's.
const OLDEST_GIT: Version = Version(2, 39, 0);

/// Says whether there is a git that answers: without it nothing can be told of slots.
pub(crate) fn check_programs(call: &Call, report: &mut DoctorReport) -> bool {
    let git = check_git(report);
    let has_git = git.version.is_some();
    let tmux = check_tmux(report);
    let probe = programs::probe(call);
    let asked = [
        ("gh", "--version", "Orange works without it"),
        ("ssh", "-V", "only remotes that are reached by ssh need it"),
    ];
    let (gh, ssh) = std::thread::scope(|threads| {
        let [gh, ssh] =
            asked.map(|(name, word, _)| threads.spawn(move || probe.program(name, &[word])));
        (gh.join().ok().flatten(), ssh.join().ok().flatten())
    });
    report.programs = vec![git, tmux];
    for ((name, _, who), said) in asked.into_iter().zip([gh, ssh]) {
        match &said {
            Some(Ok(_)) => {}
            Some(Err(error)) => report.note(format!("{name}: {error}")),
            None => report.aside(format!("{name} is not installed; {who}")),
        }
        let said = said.and_then(Result::ok);
        report.programs.push(ProgramFound {
            name,
            version: said.as_deref().and_then(short_version),
            oldest: None,
        });
    }
    let named =
        |program: &ProgramFound| Some(format!("{} {}", program.name, program.version.as_ref()?));
    let all: Vec<String> = report.programs.iter().filter_map(named).collect();
    if !all.is_empty() {
        report.fine(all.join(", "));
    }
    has_git
}

fn check_git(report: &mut DoctorReport) -> ProgramFound {
    let said = git::version();
    let found = said.as_deref().ok().and_then(Version::in_text);
    match (&said, found) {
        (Err(error), _) => report.by_hand(
            "git",
            format!("{error}; repositories and slots are not looked at"),
            format!("install git {OLDEST_GIT} or newer, and make sure that it is on PATH"),
        ),
        (Ok(_), Some(found)) if found < OLDEST_GIT => report.by_hand(
            "git",
            format!("is too old: {found}, {OLDEST_GIT} is needed"),
            "install a newer one",
        ),
        (Ok(_), _) => {}
    }
    ProgramFound {
        name: "git",
        version: said.ok().as_deref().and_then(short_version),
        oldest: Some(OLDEST_GIT.to_string()),
    }
}

fn check_tmux(report: &mut DoctorReport) -> ProgramFound {
    let (major, minor) = tmux::OLDEST;
    let version = Tmux::new(Server::Default).version();
    if let Err(error) = &version {
        let how = error.hint.clone().unwrap_or_default();
        let problem = format!("{error}; no agent can be started");
        report.by_hand("tmux", problem, how);
    }
    ProgramFound {
        name: "tmux",
        version: version.ok(),
        oldest: Some(format!("{major}.{minor}")),
    }
}

/// `git version 2.47.3 (Debian)` → `2.47.3`, `OpenSSH_9.2p1 Debian-2, OpenSSL 3.0` → `9.2p1`.
fn short_version(line: &str) -> Option<String> {
    let number = |word: &str| -> Option<String> {
        let start = word.find(|letter: char| letter.is_ascii_digit())?;
        let version = word.get(start..)?.trim_end_matches(',');
        version.contains('.').then(|| version.to_owned())
    };
    line.split_whitespace().find_map(number)
}

#[cfg(test)]
mod tests {
    use crate::maintenance::doctor::machine::*;

    #[test]
    fn a_version_is_the_first_number_with_a_dot() {
        let short = |line: &str| short_version(line).unwrap_or_default();
        assert_eq!(short("git version 2.47.3"), "2.47.3");
        assert_eq!(short("git version 2.39.5 (Apple Git-154)"), "2.39.5");
        assert_eq!(short("gh version 2.63.0 (2024-11-27)"), "2.63.0");
        assert_eq!(
            short("OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15"),
            "9.2p1"
        );
        assert_eq!(short("no version here"), "");
    }
}

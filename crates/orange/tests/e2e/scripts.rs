//! The scripts that install something: they say what and how before they do, as root and as a user.

use crate::env::TestEnvironment;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

/// A machine that lacks strace, with a package manager that only notes what had been said when it was called.
struct Machine {
    env: TestEnvironment,
    programs: PathBuf,
}

impl Machine {
    fn of_user(number: &str, sudo: &str) -> Machine {
        let env = TestEnvironment::empty();
        let programs = env.root().join("programs");
        fs::create_dir(&programs).unwrap();
        let machine = Machine { env, programs };
        let path = std::env::var_os("PATH").unwrap();
        for name in [
            "bash", "sed", "tr", "uname", "env", "git", "tmux", "cc", "unshare", "mount", "cat",
            "grep", "tail", "true",
        ] {
            let mut folders = std::env::split_paths(&path);
            let real = folders.find_map(|folder| Some(folder.join(name)).filter(|it| it.exists()));
            symlink(real.unwrap(), machine.programs.join(name)).unwrap();
        }
        for name in ["zsh", "fish", "man", "mandoc", "cargo", "jq"] {
            machine.program(name, "exit 0");
        }
        machine.program("id", &format!("echo {number}"));
        machine.program("sudo", sudo);
        let root = machine.env.root();
        let root = root.display();
        machine.program(
            "apt-get",
            &format!("echo \"$@\" >> {root}/calls; cat {root}/said >> {root}/said-before"),
        );
        machine
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.programs.join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn install_deps(&self, words: &[&str]) -> (Output, String) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install-deps");
        let said = self.env.root().join("said");
        let mut bash = self.env.foreign("bash");
        bash.arg(script).args(words).env("PATH", &self.programs);
        bash.stdout(fs::File::create(&said).unwrap());
        let output = bash.output().unwrap();
        (output, fs::read_to_string(said).unwrap())
    }

    fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.env.root().join(name)).unwrap_or_default()
    }
}

const APT: &str = "apt-get update; apt-get install -y --no-install-recommends strace\n";

#[test]
fn what_will_be_installed_is_said_first() {
    let machine = Machine::of_user("0", "exit 1");
    let plan = format!("will install: strace\n  with: {APT}");
    let (output, said) = machine.install_deps(&["--dry-run", "test"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        (said, machine.noted("calls")),
        (plan.clone(), String::new())
    );
    let (output, said) = machine.install_deps(&["test"]);
    // This package manager installs nothing, which is noticed.
    assert_eq!((output.status.code(), &said), (Some(1), &plan));
    assert!(machine.noted("said-before").starts_with(&plan));
    assert!(
        machine
            .noted("calls")
            .contains("install --no-install-recommends strace")
    );
    let (output, said) = machine.install_deps(&["demo"]);
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn a_user_needs_a_sudo_that_asks_nothing() {
    let machine = Machine::of_user("1000", "shift; exec \"$@\"");
    let (_, said) = machine.install_deps(&["test"]);
    assert!(
        said.contains("  with: sudo -n apt-get update; sudo -n apt-get install"),
        "{said}"
    );
    assert!(machine.noted("calls").contains("strace"));

    let machine = Machine::of_user("1000", "exit 1");
    let (output, said) = machine.install_deps(&["test"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), said.as_str()), (Some(1), ""));
    assert!(
        errors.contains("run: sudo apt-get update && sudo apt-get install -y strace"),
        "{errors}"
    );
    assert_eq!(machine.noted("calls"), "");
}

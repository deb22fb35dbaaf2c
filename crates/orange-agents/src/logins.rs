//! Whether an agent CLI has an account to work with, asked before a task is started with it. Asking takes a process and a
//! good part of a second, so an answer that lets it start is remembered for some hours; one that does not is never.

use crate::harness::Harness;
use crate::harness::probe::{Login, Probe};
use crate::store::{private, temporary};
use crate::versions;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an answer counts, as long as program, variables and credentials stay the same.
const LASTS: Duration = Duration::from_secs(6 * 60 * 60);

/// What to do where a CLI says that nobody is logged in. None: somebody is, or it does not tell.
pub fn logged_out(probe: &Probe<'_>, harness: &Harness, program: &Path) -> Option<String> {
    let credentials = harness.adapter.credentials(probe)?;
    if !harness.can_be_asked() {
        return None;
    }
    let place = place(probe, program, &credentials);
    let known = place.as_ref().is_some_and(|(file, stamp)| {
        is_young(file) && fs::read_to_string(file).is_ok_and(|known| known == *stamp)
    });
    if known {
        return None;
    }
    if let Login::Out(why) = harness.adapter.login(probe, program) {
        return Some(why);
    }
    if let Some((file, stamp)) = place {
        let keep = || {
            private::make_folders(&probe.home.join(versions::FOLDER))?;
            temporary::write_unsynced(&file, stamp)
        };
        if let Err(error) = keep() {
            // It is asked again the next time.
            tracing::debug!(%error, "a login is not remembered");
        }
    }
    None
}

/// Where it is remembered, and what the answer depends on. Variables may be secrets, so only a digest of them is kept.
fn place(probe: &Probe<'_>, program: &Path, credentials: &[PathBuf]) -> Option<(PathBuf, String)> {
    let (file, mut stamp) = versions::place(probe.home, program)?;
    let mut digest = DefaultHasher::new();
    // Those that lead agents to a model; one CLI may use the account of another.
    probe.environment.hash(&mut digest);
    for path in credentials {
        let about = fs::metadata(path).ok();
        about
            .map(|about| (about.ino(), about.size(), about.mtime(), about.mtime_nsec()))
            .hash(&mut digest);
    }
    stamp.push_str(&format!("{:016x}\n", digest.finish()));
    let mut name = file.file_name()?.to_owned();
    name.push(".login");
    Some((file.with_file_name(name), stamp))
}

fn is_young(file: &Path) -> bool {
    let age = fs::metadata(file).and_then(|about| about.modified());
    // One from the future is of a clock that was wrong.
    age.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age < LASTS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::config::Config;
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    /// A claude that counts how often it is asked, and says what the file `answer` says.
    struct World {
        root: tempfile::TempDir,
        environment: BTreeMap<String, String>,
    }

    impl World {
        fn new() -> World {
            let root = tempfile::tempdir().unwrap();
            let folder = root.path().display();
            let script = format!("#!/bin/sh\necho >> {folder}/asked\ncat {folder}/answer\n");
            let program = root.path().join("claude");
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let environment = BTreeMap::new();
            World { root, environment }
        }

        fn answers(&self, text: &str) {
            fs::write(self.root.path().join("answer"), text).unwrap();
        }

        fn is_out(&self) -> bool {
            let probe = Probe {
                home: &self.root.path().join("home"),
                user_home: Some(self.root.path()),
                search_path: None,
                environment: &self.environment,
            };
            let found = crate::harness::find("claude", &Config::default(), Path::new("orange"));
            let harness = found.unwrap().unwrap();
            logged_out(&probe, &harness, &self.root.path().join("claude")).is_some()
        }

        fn asked(&self) -> usize {
            let noted = fs::read(self.root.path().join("asked"));
            noted.unwrap_or_default().len()
        }
    }

    const IN: &str = r#"{"loggedIn": true}"#;
    const OUT: &str = r#"{"loggedIn": false}"#;

    #[test]
    fn a_good_answer_is_remembered_and_a_bad_one_is_not() {
        let world = World::new();
        world.answers(OUT);
        assert!(world.is_out() && world.is_out());
        assert_eq!(world.asked(), 2);
        world.answers(IN);
        assert!(!world.is_out() && !world.is_out());
        assert_eq!(world.asked(), 3);
        // Nor does one hold anything up that cannot tell.
        world.answers("Segmentation fault");
        fs::remove_dir_all(world.root.path().join("home")).unwrap();
        assert!(!world.is_out() && !world.is_out());
        assert_eq!(world.asked(), 4);
    }

    #[test]
    fn it_is_asked_again_when_something_changed_or_hours_have_passed() {
        let mut world = World::new();
        world.answers(IN);
        let mut before = 0;
        let mut asks = |world: &World| {
            assert!(!world.is_out() && !world.is_out());
            let asked = world.asked() - before;
            before += asked;
            asked
        };
        assert_eq!(asks(&world), 1);
        let credentials = world.root.path().join(".claude/.credentials.json");
        fs::create_dir(credentials.parent().unwrap()).unwrap();
        fs::write(&credentials, "{}").unwrap();
        assert_eq!(asks(&world), 1);
        fs::remove_file(&credentials).unwrap();
        assert_eq!(asks(&world), 1);
        let secret = "sk-ant-s3cret".to_owned();
        world.environment.insert("ANTHROPIC_API_KEY".into(), secret);
        assert_eq!(asks(&world), 1);
        let file = world.root.path().join("home/versions/claude.login");
        assert!(!fs::read_to_string(&file).unwrap().contains("s3cret"));
        let old = SystemTime::now() - LASTS;
        File::open(&file).unwrap().set_modified(old).unwrap();
        assert_eq!(asks(&world), 1);
    }
}

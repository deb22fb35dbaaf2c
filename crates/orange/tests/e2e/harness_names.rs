//! A harness is one folder: no other code names one, so that a new one needs nothing else.

use crate::sources::sources;
use orange_core::config::{HARNESSES, SIM};

/// Beginnings of paths where a name may stand, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("orange-core/src/config/harnesses.rs", "the list of names"),
    (
        "orange-core/src/config/aliases.rs",
        "the names of settings in older files",
    ),
    (
        "orange-core/src/config/table.rs",
        "what people read of the settings",
    ),
    ("orange-agents/src/harness.rs", "declares the folders"),
    ("orange-agents/src/harness/list.rs", "the list of folders"),
    (
        "orange/src/commands/headless.rs",
        "examples of a command line",
    ),
    ("orange/src/demo/", "the demo plays with the scripted agent"),
    ("orange-sim/", "the scripted agent itself"),
    ("orange/src/commands/sim.rs", "the command `orange sim`"),
    ("orange/src/commands.rs", "the same"),
    ("orange/src/cli.rs", "the same"),
    ("orange/src/help/groups.rs", "the same"),
    (
        "orange-fuzz/src/sim_script.rs",
        "reads the scripts of the scripted agent",
    ),
];

#[test]
fn no_harness_is_named_outside_its_folder() {
    let names: Vec<&str> = HARNESSES.iter().copied().chain([SIM]).collect();
    let mut wrong = Vec::new();
    let mut used = Vec::new();
    for (path, text) in sources() {
        let path = path.to_string_lossy().into_owned();
        let (_, path) = path.split_once("/../").unwrap();
        let is_own = names
            .iter()
            .any(|name| path.contains(&format!("/harness/{name}/")));
        let named: Vec<&str> = text.lines().filter(|line| has_name(line, &names)).collect();
        if is_own || named.is_empty() {
            continue;
        }
        match EXCEPTIONS.iter().find(|(begin, _)| path.starts_with(begin)) {
            Some((begin, _)) => used.push(*begin),
            None => wrong.extend(named.iter().map(|line| format!("{path}: {}", line.trim()))),
        }
    }
    assert!(
        wrong.is_empty(),
        "these name a harness; ask its kind instead (harness/kind.rs):\n{}",
        wrong.join("\n")
    );
    let unused = EXCEPTIONS.iter().find(|(begin, _)| !used.contains(begin));
    assert_eq!(unused, None, "an exception that is not needed any more");
}

#[test]
fn the_path_of_a_folder_names_its_harness() {
    let names = ["claude"];
    assert!(has_name(
        "use crate::harness::claude::project_files::ProjectFiles;",
        &names
    ));
    assert!(has_name("harness::claude::project_files::LOADED", &names));
    assert!(!has_name(
        "use crate::harness::project_files; // not harness::claude::x",
        &names
    ));
}

/// A comment may tell of one.
fn has_name(line: &str, names: &[&str]) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let mut words = code.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.any(|word| names.contains(&word))
}

//! What `--json` prints is a view of the engine, so that the API can answer with the same: no command has a struct or a value of its
//! own for it.

use crate::sources::sources;

/// Where a command makes its own: the end of the path, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("commands/completions.rs", "a script of this program"),
    ("commands/help.rs", "a text of this program"),
    (
        "commands/log/shown.rs",
        "a line of orange.log that is no JSON",
    ),
];

fn makes_json(line: &str) -> bool {
    let line = line.trim_start();
    let is_struct = line.starts_with("#[derive(") && line.contains("Serialize");
    is_struct || line.starts_with("impl Serialize for") || line.contains("json!(")
}

#[test]
fn no_command_makes_json_of_its_own() {
    let mut used = vec![false; ALLOWED.len()];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let path = path.to_string_lossy().replace('\\', "/");
        if !path.contains("/orange/src/commands/") {
            continue;
        }
        let lines = text.lines().enumerate();
        for (at, _) in lines.filter(|(_, line)| makes_json(line)) {
            match ALLOWED.iter().position(|(file, _)| path.ends_with(file)) {
                Some(allowed) => used[allowed] = true,
                None => wrong.push(format!("{path}:{}", at + 1)),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a command makes JSON of its own; make it a view (orange-engine/src/views):\n{}",
        wrong.join("\n")
    );
    let unused = ALLOWED.iter().zip(&used).filter(|(_, used)| !**used);
    let unused: Vec<_> = unused.map(|(allowed, _)| allowed).collect();
    assert!(unused.is_empty(), "not needed any more: {unused:?}");
}

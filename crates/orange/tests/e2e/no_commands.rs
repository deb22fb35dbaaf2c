//! Below the program no text spells a command: what a person can do is an `Action`, which each front end shows in its own
//! way. Looks for a backtick followed by `orange ` in the texts of all product code. A front end may spell commands; the
//! dashboard, which shows keys, has no need to and is looked at too.

use crate::sources::sources;
use crate::status_names::lines;

/// Where a command may stand: the end of the path, and why.
const ALLOWED: &[(&str, &str)] = &[
    (
        "orange-core/src/config/table.rs",
        "the reference of the settings, a page of docs/",
    ),
    (
        "orange-core/src/config/reference.rs",
        "the reference of the settings, a page of docs/",
    ),
    (
        "orange-core/src/workflow/interactive/prompt/missing.rs",
        "told to agents, who type commands",
    ),
    (
        "orange-engine/src/prompt/phase.rs",
        "told to agents, who type commands",
    ),
    (
        "orange-engine/src/workspaces/link.rs",
        "a comment in a repository's info/exclude",
    ),
    (
        "orange-agents/src/harness/supports.rs",
        "a column of a table in docs/",
    ),
];

#[test]
fn no_text_below_the_program_spells_a_command() {
    let mut used = vec![false; ALLOWED.len()];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let path = path.to_string_lossy().replace('\\', "/");
        // The front end that spells them, the scripted agent, which types commands, and checks for tests.
        let others = ["/orange/src", "/orange-sim/src", "/orange-fuzz/src"];
        if others.iter().any(|part| path.contains(part)) {
            continue;
        }
        for (at, line) in lines(&text).iter().enumerate() {
            if !line.literals.iter().any(|text| text.contains("`orange ")) {
                continue;
            }
            match ALLOWED.iter().position(|(file, _)| path.ends_with(file)) {
                Some(allowed) => used[allowed] = true,
                None => wrong.push(format!("{path}:{}", at + 1)),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a text spells a command; name an action instead (orange-core/src/action.rs):\n{}",
        wrong.join("\n")
    );
    let unused = ALLOWED.iter().zip(&used).filter(|(_, used)| !**used);
    let unused: Vec<_> = unused.map(|(allowed, _)| allowed).collect();
    assert!(unused.is_empty(), "not needed any more: {unused:?}");
}

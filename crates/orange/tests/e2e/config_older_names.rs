//! Settings under the names of older files: what `orange config` makes of them.

use crate::config::{settings, with_settings};

#[test]
fn show_tells_what_each_line_became_and_set_takes_its_place() {
    let env =
        with_settings("version: 1\nclaude:\n  model: opus # best\ngit:\n  branch_prefix: orc/\n");
    let show = env.orange(["config", "show"]).ok();
    for told in [
        "config.yaml, line 1: version is as it is anyway, and changes nothing",
        "config.yaml, line 3: claude.model is read as harness.claude.model: opus",
        "config.yaml, line 5: git.branch_prefix is read as git.branch_template: orc/{key}",
    ] {
        assert!(show.stderr.contains(told), "{show}");
    }
    let json = env.orange(["config", "show", "--json"]).ok().json();
    assert_eq!(json["read_as"].as_array().unwrap().len(), 3);
    assert_eq!(json["unknown"].as_array().unwrap().len(), 0);
    let get = env.orange(["config", "get", "git.branch_template"]).ok();
    assert_eq!(get.stdout, "orc/{key}\n");
    // The same setting twice would be a mistake.
    env.orange(["config", "set", "git.branch_template", "x/{slug}"])
        .ok();
    env.orange(["config", "set", "harness.claude.model", "sonnet"])
        .ok();
    let text = settings(&env);
    assert!(!text.contains("orc/") && !text.contains("opus"), "{text}");
    assert!(
        text.contains("branch_template: x/{slug}") || text.contains("x/{slug}"),
        "{text}"
    );
    env.orange(["config", "unset", "harness.claude.model"]).ok();
    env.orange(["config", "show"]).ok();
    env.orange(["config", "set", "claude.path", "x"])
        .fails_with(2)
        .says("claude.path is called harness.claude.command here");
}

#[test]
fn what_is_not_so_here_is_refused_with_the_reason() {
    let env = with_settings("git:\n  worktrees: false\n");
    env.orange(["config", "show"])
        .fails_with(1)
        .says("line 2: git.worktrees cannot be false: every task works in a worktree of its own");
}

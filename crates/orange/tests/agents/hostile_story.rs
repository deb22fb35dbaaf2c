//! The story of agents that cheat, with its last step: a real claude that talks to the scripted model.

use crate::model::{say, shell};
use crate::world::{World, commit, handoff, plan, review};
use std::path::Path;

#[test]
fn the_story_of_hostile_agents_is_played_with_claude() {
    let env = World::new();
    let leave = "mkdir -p .claude && cp evil.json .claude/settings.local.json";
    env.model.when(
        "You are the worker of task",
        [
            plan(),
            shell(leave),
            commit("hello"),
            handoff(),
            say("Handed over."),
        ],
    );
    env.model.when("Review round: 1;", review("FAIL"));
    env.model.when("The review of task", [say("I see.")]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/stories/hostile.sh");
    let told = env
        .foreign("sh")
        .arg(script)
        .env("ORANGE", crate::run::program())
        .env("STORY_CLAUDE", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(
        told.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&told.stderr)
    );
    assert!(
        text.contains("no hook of the repository or of the worker ran"),
        "{text}"
    );
}

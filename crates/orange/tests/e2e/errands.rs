//! `orange errand …` is Orange's own: an agent that calls it is refused, whatever its environment says.

use crate::agents::Agents;
use crate::env::TestEnvironment;
use crate::run::program;
use std::fs;

const ERRANDS: &[&[&str]] = &[
    &["errand", "tend", "run"],
    &["errand", "finish", "shop/x"],
    &["errand", "queue"],
    &["errand", "verify", "shop/x"],
    &["errand", "notify"],
];

#[test]
fn errands_are_refused_to_an_agent() {
    let env = TestEnvironment::new();
    let task = env.create(["Add a login form"]);
    for words in ERRANDS {
        let call = || env.call(words.iter().copied()).agent(&task, "worker");
        call()
            .run()
            .fails_with(3)
            .says("an agent may not run errands");
        // No pass of another errand, and nothing that is not one.
        for input in ["orange errand 1\nqueue\nmore\n", "", "yes\n"] {
            call().input(input).run().fails_with(3);
        }
    }
    env.orange(["errand", "queue"]).ok();
}

/// Everything below run-agent is known by it, also without the environment of an agent.
#[test]
fn a_cleaned_environment_makes_no_errand() {
    let env = Agents::new();
    let clean = "env -i HOME=\"$HOME\" PATH=\"$PATH\" ORANGE_HOME=\"$ORANGE_HOME\"";
    let script = format!(
        "worker:\n  - run: {clean} orange errand tend \"$ORANGE_RUN_ID\" 2>ROOT/one\n    expect: 3\n  \
         - run: {clean} orange errand queue </dev/null 2>ROOT/two\n    expect: 3\n  \
         - run: '{clean} setsid orange errand tend \"$ORANGE_RUN_ID\" </dev/null 2>ROOT/three; echo $? >ROOT/code'\n  \
         - write: ready\n    text: x\n  - wait for: {{file: never}}\n"
    );
    let task = env.start("Run errands", &script);
    let ready = env.slot_of(&task).join("ready");
    env.until("it has tried", || ready.exists());
    for name in ["one", "two", "three"] {
        let said = fs::read_to_string(env.root().join(name)).unwrap();
        assert!(
            said.contains("an agent may not run errands"),
            "{name}: {said}"
        );
    }
    assert_eq!(fs::read_to_string(env.root().join("code")).unwrap(), "3\n");
    env.say(&["task", "cancel", &task.id, "--yes"]).ok();
}

/// A `run-agent` from before passes existed starts its errands as a child, in a session of its own.
#[test]
fn an_older_run_agent_goes_on_seeing_to_its_run() {
    let env = TestEnvironment::new();
    let script = "setsid \"$ORANGE\" errand tend \"$1\" </dev/null 2>said\necho $? >code\n";
    let folder = env.write("old/run-agent", script);
    let folder = folder.parent().unwrap();
    let tried = |run: &str, tended: &str| {
        let line = format!(
            "set -- {tended}; exec -a orange sh run-agent \"$1\" --task t --role worker --run {run}"
        );
        let mut shell = env.foreign("bash");
        shell.args(["-c", &line]).current_dir(folder);
        let done = shell.env("ORANGE", program()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        let said = fs::read_to_string(folder.join("said")).unwrap();
        (fs::read_to_string(folder.join("code")).unwrap(), said)
    };
    assert_eq!(tried("r1", "r1"), ("0\n".into(), String::new()));
    let (code, said) = tried("r1", "r2");
    assert_eq!(code, "3\n");
    assert!(said.contains("an agent may not run errands"), "{said}");
}

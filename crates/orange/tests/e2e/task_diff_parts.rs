//! `orange task diff --since-seen` and `--last-turn`: what has come since the person looked, or the agent was told something.

use crate::env::{TestEnvironment, TestTask, in_terminal};
use insta::assert_snapshot;
use serde_json::Value;

fn json(env: &TestEnvironment, task: &TestTask, part: &str) -> Value {
    let run = env.orange(["task", "diff", &task.id, part, "--json"]).ok();
    run.json()["diff"].take()
}

#[test]
fn since_seen_begins_where_a_terminal_showed_all() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    env.commit(&slot, "a", "1\n");
    let diff = |part: &str| env.orange(["task", "diff", "TASK-001", part]).ok();
    let note = "note: you have not looked at its changes before; this is all of them";
    diff("--since-seen").says(note).says("b/a");
    assert_eq!(json(&env, &task, "--since-seen")["against"], "main");
    // Neither a pipe, nor a part, nor numbers alone are a look at all of it.
    let orange = crate::run::program().display().to_string();
    let type_in = |words: &str| in_terminal(&env, 80, &format!("PAGER=cat '{orange}' {words}"));
    type_in("diff TASK-001 --stat");
    type_in("diff TASK-001 --file a");
    diff("--no-pager");
    diff("--since-seen").says(note);
    type_in("diff TASK-001");
    let head = env.git(&slot, &["rev-parse", "--short=7", "HEAD"]);
    diff("--since-seen").says(&format!("nothing came since you looked at it, at {head}"));
    env.commit(&slot, "b", "2\n");
    assert_snapshot!(diff("--since-seen"), @"
    diff --git a/b b/b
    new file mode 100644
    index 0000000..0cfbf08
    --- /dev/null
    +++ b/b
    @@ -0,0 +1 @@
    +2
    ");
    let later = json(&env, &task, "--since-seen");
    assert_eq!(
        (&later["commits"], &later["against"]),
        (&1.into(), &"what you last saw".into())
    );
    let shown = type_in("diff TASK-001 --since-seen");
    assert!(
        shown.contains(&format!(
            "TASK-001 login: 1 commit since you looked at {head}"
        )),
        "{shown}"
    );
    diff("--since-seen").says("nothing came since");
    // An agent is shown the same, and nobody has seen it then.
    env.commit(&slot, "c", "3\n");
    type_in(&format!(
        "diff {} >/dev/null; ORANGE_TASK_ID={} ORANGE_ROLE=worker PAGER=cat '{orange}' diff TASK-001",
        task.id, task.id
    ));
    assert_eq!(json(&env, &task, "--since-seen")["commits"], 1);
}

#[test]
fn the_last_turn_needs_an_agent() {
    let env = TestEnvironment::new();
    env.started("login");
    let run = env.orange(["task", "diff", "TASK-001", "--last-turn"]);
    assert_snapshot!(run.fails_with(3), @"
    ------- stderr -------
    error: TASK-001 has had no agent yet
    hint: `orange diff TASK-001` shows all of its work
    [exit status: 3]
    ");
    env.orange(["diff", "--last-turn", "--since-seen"])
        .fails_with(2);
}

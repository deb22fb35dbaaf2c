//! Help, usage, versions, the workflow's table: what is printed without any task.

use crate::env::{TestEnvironment, in_terminal};
use crate::run::program;
use insta::assert_snapshot;

const COMMANDS: &[&[&str]] = &[
    &["project", "add"],
    &["project", "list"],
    &["project", "update"],
    &["project", "trust"],
    &["project", "remove"],
    &["task", "create"],
    &["task", "list"],
    &["task", "show"],
    &["task", "update"],
    &["task", "complete"],
    &["task", "stuck"],
    &["task", "retry-hooks"],
    &["task", "resolve"],
    &["task", "why"],
    &["task", "deps"],
    &["task", "path"],
    &["task", "open"],
    &["task", "shell"],
    &["task", "exec"],
    &["task", "cancel"],
    &["task", "delete"],
    &["task", "restore"],
    &["task", "rescue"],
    &["task", "rescue", "list"],
    &["task", "rescue", "show"],
    &["task", "rescue", "restore"],
    &["workspace"],
    &["workspace", "init"],
    &["workspace", "list"],
    &["workspace", "gc"],
    &["workflow", "show"],
    &["doctor"],
    &["search"],
    &["status"],
    &["new"],
    &["ls"],
];

#[test]
fn every_command_has_help_with_an_example() {
    let env = TestEnvironment::empty();
    for command in [&[][..]].iter().chain(COMMANDS) {
        let mut arguments = command.to_vec();
        arguments.push("--help");
        let run = env.orange(arguments).ok();
        assert!(
            run.stdout.contains("Example"),
            "{command:?} has no example:\n{run}"
        );
        assert!(
            run.stdout
                .contains(&format!("orange {}", command.join(" "))),
            "{run}"
        );
        assert_eq!(run.stderr, "");
    }
    // Asking for help leaves no trace.
    assert!(!env.home().exists());
}

#[test]
fn orange_alone_and_commands_that_do_not_exist() {
    let env = TestEnvironment::empty();
    let alone = env.orange([""; 0]);
    assert_eq!(alone.code, 0);
    assert!(alone.stdout.contains("Usage: orange"), "{alone}");
    assert_snapshot!(env.orange(["tsak"]), @r#"
    ------- stderr -------
    error: there is no command "tsak"
    hint: did you mean `orange task`?
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "lst"]), @r#"
    ------- stderr -------
    error: there is no command "lst"
    hint: did you mean `orange task list`?
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["tsak", "--json"]), @r#"
    {"error":{"code":"usage","message":"there is no command \"tsak\"","hint":"did you mean `orange task --json`?"}}
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["--json"]), @r#"
    {"error":{"code":"usage","message":"no command is given","hint":"`orange --help` lists the commands"}}
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["task", "delete"]), @"
    ------- stderr -------
    error: <ID>... is missing
    hint: `orange task delete [OPTIONS] <ID>...`; for more, run `orange task delete --help`
    [exit status: 2]
    ");
    let version = env.orange(["--version"]).ok();
    assert_eq!(
        version.stdout,
        format!("orange {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn the_workflow_as_text() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["workflow", "show"]), @"
    workflow interactive

    statuses
      pending                  created, not started
      planning       active    an agent reads the task and writes its plan
      clarification  active    the agent waits for an answer
      working        active    the agent implements
      agent-review   active    a second agent reviews
      reviewing      active    the review passed, a person decides
      stuck          active    needs a person's help
      delegated      active    split into children, waits for them
      done           terminal  merged
      cancelled      terminal  given up

    transitions (a human may also take every row of an agent or reviewer)
      pending → planning
          by     human, engine
          needs  summary not empty; dependencies over; a slot free
          hooks  take a slot, start the worker
      pending → clarification
          by     human, engine
          needs  summary empty; dependencies over; a slot free
          hooks  take a slot, start the worker
      planning → working
          by     agent, engine
          needs  Plan
      planning → clarification
          by     agent
      planning → stuck
          by     engine (crash limit)
          needs  crash limit
          hooks  get the worker to help
      clarification → planning
          by     agent, human
          hooks  tell the worker (if a human did it)
      clarification → working
          by     agent, human
          needs  Plan
          hooks  tell the worker (if a human did it)
      working → agent-review
          by     agent, engine
          needs  Handoff
          hooks  count the review round, archive the review, start the reviewer, have the work checked
      working → clarification
          by     agent
      working → stuck
          by     agent, engine
          hooks  get the worker to help
      working → delegated
          by     agent
          needs  open children; worktree clean
          hooks  end its agents, give the slot back, look at the queue
      agent-review → reviewing
          by     reviewer, engine
          needs  verify over; written by its reviewer; Review PASS
          hooks  stop the reviewer
      agent-review → working
          by     reviewer, engine
          needs  round < max; written by its reviewer; Review FAIL
          hooks  archive the handoff, stop the reviewer, tell the worker
      agent-review → stuck
          by     reviewer, engine
          needs  round ≥ max; written by its reviewer; Review FAIL
          hooks  stop the reviewer, get the worker to help
      agent-review → stuck
          by     engine (crash limit)
          needs  crash limit
          hooks  stop the reviewer, get the worker to help
      agent-review → working
          by     engine (check newly failed)
          needs  round < max; verify.on_failure: return
          hooks  archive the handoff, stop the reviewer, tell the worker
      agent-review → stuck
          by     engine (check newly failed)
          needs  round ≥ max; verify.on_failure: return
          hooks  stop the reviewer, get the worker to help
      reviewing → working
          by     human
          hooks  count review rounds anew, archive the handoff, tell the worker
      reviewing → done
          by     human, engine
          needs  merged
          hooks  end its agents, give the slot back, see to its branch, here and on the remote, look at the queue
      stuck → reviewing
          by     human, agent
      stuck → working
          by     human
          hooks  tell the worker
      delegated → done
          by     engine
          needs  every child over; no commits of its own
          hooks  look at the queue
      delegated → reviewing
          by     engine
          needs  every child over; commits of its own
      delegated → working
          by     human
          needs  a slot free
          hooks  take a slot, start the worker
      any active → done
          by     human (force), engine (PR merged)
          needs  merged
          hooks  end its agents, give the slot back, see to its branch, here and on the remote, look at the queue
      any not terminal → cancelled
          by     human, engine (PR closed)
          hooks  stop the reviewer, end its agents, give the slot back

    created as
      pending
      agent-review    needs an existing branch; take a slot, start the worker, count the review round, start the reviewer, have the work checked
      reviewing       needs an existing branch
    ");
    assert!(!env.home().exists());
}

#[test]
fn the_workflow_as_a_diagram() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["workflow", "show", "interactive", "--format", "mermaid"]), @r#"
    stateDiagram-v2
        state "agent-review" as agent_review
        [*] --> pending
        [*] --> agent_review
        [*] --> reviewing
        pending --> planning: human / engine
        pending --> clarification: human / engine
        planning --> working: Plan, agent / engine
        planning --> clarification: agent
        planning --> stuck: engine (crash limit)
        clarification --> planning: agent / human
        clarification --> working: Plan, agent / human
        working --> agent_review: Handoff, agent / engine
        working --> clarification: agent
        working --> stuck: agent / engine
        working --> delegated: agent
        agent_review --> reviewing: Review PASS, reviewer / engine
        agent_review --> working: Review FAIL, reviewer / engine
        agent_review --> stuck: Review FAIL, reviewer / engine
        agent_review --> stuck: engine (crash limit)
        agent_review --> working: engine (check newly failed)
        agent_review --> stuck: engine (check newly failed)
        reviewing --> working: human
        reviewing --> done: human / engine
        stuck --> reviewing: human / agent
        stuck --> working: human
        delegated --> done: engine
        delegated --> reviewing: engine
        delegated --> working: human
        planning --> done: human (force) / engine (PR merged)
        clarification --> done: human (force) / engine (PR merged)
        working --> done: human (force) / engine (PR merged)
        agent_review --> done: human (force) / engine (PR merged)
        reviewing --> done: human (force) / engine (PR merged)
        stuck --> done: human (force) / engine (PR merged)
        delegated --> done: human (force) / engine (PR merged)
        pending --> cancelled: human / engine (PR closed)
        planning --> cancelled: human / engine (PR closed)
        clarification --> cancelled: human / engine (PR closed)
        working --> cancelled: human / engine (PR closed)
        agent_review --> cancelled: human / engine (PR closed)
        reviewing --> cancelled: human / engine (PR closed)
        stuck --> cancelled: human / engine (PR closed)
        delegated --> cancelled: human / engine (PR closed)
        done --> [*]
        cancelled --> [*]
    "#);
    assert_snapshot!(env.orange(["workflow", "show", "nonsense"]), @r#"
    ------- stderr -------
    error: "nonsense" is not a workflow; allowed: interactive, phased
    hint: for usage, run `orange workflow show --help`
    [exit status: 2]
    "#);
    env.orange(["workflow", "show", "--format", "poem", "--json"])
        .refuses(2, "usage");
}

#[test]
fn the_workflow_as_json() {
    let env = TestEnvironment::empty();
    let shown = env.orange(["workflow", "show", "--json"]).ok().json();
    let workflow = &shown["workflow"];
    assert_eq!(workflow["name"], "interactive");
    assert_eq!(workflow["statuses"].as_array().unwrap().len(), 10);
    assert_eq!(workflow["transitions"].as_array().unwrap().len(), 26);
    let row = workflow["transitions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["from"] == "agent-review" && row["to"] == "working")
        .unwrap();
    assert_snapshot!(row, @r#"{"from":"agent-review","to":"working","who":["reviewer","engine"],"conditions":["round < max","written by its reviewer"],"gate":"Review FAIL","hooks":["archive_handoff","kill_reviewer","notify_worker"]}"#);
    assert_snapshot!(workflow["creations"], @r#"[{"status":"pending","existing_branch":false,"hooks":[]},{"status":"agent-review","existing_branch":true,"hooks":["acquire_workspace","spawn_agent(worker-wait)","increment_review_round","spawn_reviewer","verify"]},{"status":"reviewing","existing_branch":true,"hooks":[]}]"#);
}

#[test]
fn the_phased_workflow_is_shown() {
    let env = TestEnvironment::new();
    let text = env.orange(["workflow", "show", "phased"]).ok().stdout;
    for part in [
        "  blocked (dependencies)           waits for other tasks\n",
        "\ntransitions\n  created → classifying\n      by     human, engine\n      needs  no weight\n",
        "  blocked (gate) → planned\n      by     human (reject)\n      needs  decision stored; retries left\n",
        "\ncreated as\n  created\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let diagram = env.orange(["workflow", "show", "phased", "--format", "mermaid"]);
    let diagram = diagram.ok().stdout;
    for part in [
        "    state \"blocked (gate)\" as blocked_gate\n",
        "    blocked_gate --> failed: human (reject)\n",
        "    finished --> [*]\n",
    ] {
        assert!(diagram.contains(part), "{part:?} is not in {diagram}");
    }
    let shown = env.orange(["workflow", "show", "phased", "--json"]).ok();
    let shown = shown.json()["workflow"].clone();
    assert_eq!(shown["name"], "phased");
    assert_snapshot!(shown["statuses"][5], @r#"{"status":"blocked","meaning":"the agent waits for an answer","terminal":false,"active":true,"reason":"input"}"#);
    assert_snapshot!(shown["transitions"][9], @r#"{"from":"blocked (gate)","to":"planned","who":["human (reject)"],"conditions":["decision stored","retries left"],"gate":null,"hooks":["spawn_next"]}"#);
}

#[test]
fn the_log_is_json_lines_and_never_on_stdout() {
    let env = TestEnvironment::new();
    let run = env
        .call(["new", "Look at the log", "--json"])
        .var("ORANGE_LOG_LEVEL", "trace")
        .run()
        .ok();
    let _ = run.json();
    assert_eq!(run.stderr, "");
    let log = std::fs::read_to_string(env.home().join("orange.log")).unwrap();
    let messages: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["message"].to_string())
        .collect();
    assert!(
        messages
            .iter()
            .any(|message| message.contains("you created the task")),
        "{messages:?}"
    );
}

#[test]
fn a_refusal_is_one_json_value_on_stdout_and_nothing_else() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    for (arguments, exit, code) in [
        (&["task", "show", "TASK-404"][..], 4, "not_found"),
        (
            &["task", "update", &task.id, "--status", "done"],
            3,
            "illegal_transition",
        ),
        (&["task", "update", &task.id], 2, "usage"),
        (&["task", "create", "a..b", "x"], 2, "usage"),
        (&["ls", "--project", "nope"], 4, "not_found"),
        (&["workflow", "show", "nope"], 2, "usage"),
    ] {
        let mut all = arguments.to_vec();
        all.push("--json");
        let run = env.orange(all);
        let error = run.refuses(exit, code);
        assert_eq!(run.stderr, "", "{run}");
        assert!(error["hint"].is_string(), "{run}");
        assert_eq!(run.stdout.lines().count(), 1, "{run}");
    }
}

/// Lines that are longer than the terminal is wide are broken between words; never for a program that reads them.
#[test]
fn a_terminal_gets_lines_that_fit_and_a_pipe_gets_them_whole() {
    let env = TestEnvironment::new();
    let task = env.create(["Mine to do"]);
    let body = "Words and words. ".repeat(40);
    task.append(&format!(
        "\n## Context\n\n{body}\n\n{}",
        "- a line\n".repeat(50)
    ));
    env.bring_to(&task, "working");
    let reason = "nobody knows what is to be done here ".repeat(4);
    env.orange(["task", "stuck", &task.id, "--reason", reason.trim()])
        .ok();
    let orange = program().display().to_string();
    for command in [
        "task show TASK-001",
        "task why TASK-001",
        "task show TASK-777",
        "task merge TASK-001",
        "log",
        "doctor",
        "search nobody",
        "search",
        "ls",
        "status --format {nobody}",
        "harness list",
    ] {
        let shown = in_terminal(&env, 80, &format!("NO_COLOR=1 '{orange}' {command}"));
        for line in shown.lines().filter(|line| line.trim().contains(' ')) {
            // A path that is longer than a line is left whole.
            let has_path = line.contains(&env.root().display().to_string());
            let width = line.chars().count();
            assert!(
                width <= 80 || has_path,
                "{command}: {width} columns\n{shown}"
            );
        }
    }
    let shown = in_terminal(
        &env,
        80,
        &format!("NO_COLOR=1 '{orange}' task show TASK-001"),
    );
    assert!(
        shown.contains("all fields: orange show TASK-001 --full"),
        "{shown}"
    );
    let last = shown.rfind("TASK-001 is stuck").expect("why");
    assert!(last > shown.rfind("history").unwrap(), "{shown}");
    let whole = in_terminal(&env, 80, &format!("'{orange}' task show TASK-001 --full"));
    assert_eq!(whole.matches("- a line").count(), 50, "{whole}");
    let piped = env.orange(["task", "show", "TASK-001"]).ok().stdout;
    assert!(piped.contains(body.trim()), "{piped}");
    assert!(!piped.contains("TASK-001 is stuck"), "{piped}");
}

#[test]
fn who_watches_at_a_terminal_is_told_that_it_has_begun() {
    let env = TestEnvironment::new();
    let line = format!("timeout --foreground 1 '{}' watch", program().display());
    let shown = in_terminal(&env, 80, &line);
    assert!(
        shown.starts_with("watching 1 project; Ctrl-C ends\n"),
        "{shown}"
    );
    assert_snapshot!(env.orange(["watch", "--once"]), @"");
}

//! `orange help`: commands, topics, and what is neither.

use crate::env::{TestEnvironment, in_terminal};
use insta::assert_snapshot;

#[test]
fn commands_in_groups_and_topics() {
    let env = TestEnvironment::empty();
    let run = env.orange(["help"]).ok();
    assert!(run.stdout.starts_with(&env.orange(["--help"]).ok().stdout));
    assert_snapshot!(run, @r#"
    Runs many coding agents on your own repositories and keeps you in charge

    Usage: orange [OPTIONS] <COMMAND>

    Everyday:
      dashboard       Show all tasks and agents on one screen, live
      new             Create a task; all words together say what is to be done
      ls              List tasks (short for `task list`)
      inbox           List everything that needs you, in all projects
      show            Show a task with its fields, links, hooks and text
      why             Say why a task is where it is and what moves it on
      peek            Show what an agent's window shows
      answer          Answer what an agent asks, in its window or in TASK.md
      attach          Go to a task's tmux session
      send            Send a message to a task's agent
      diff            Show what a task changed
      request-changes Send a task back to be changed, with what is to be different
      merge           Merge a task's work into its target, and end the task
      cancel          Give a task up; its branch and its text stay
      status          Tell in one line how things stand, for a shell prompt or tmux
      cost            Show what agents cost
      search          Find tasks by what is said in them: summaries, bodies,
                      histories, specifications, transcripts

    Tasks:
      task            Create, inspect and move tasks
      run             Run a phased task, or start every task that nothing holds back
      wait            Wait until a task needs you, is reviewed or is done
      respawn         Start an agent again that is gone
      watch           Watch over all agents, and print what happens

    Phased tasks:
      plan            Look at the plan of a phased task and change it
      spec            Look at the specification of a phased task, or give it one
      transcript      Show what was said in an iteration of a phase
      test-results    Look at what the tests of a task came to, and take in the
                      report of a test run
      pause           Stop executing a task; what its agent left is committed
      resume          Go on executing a task that was paused
      retry           Try a phase again that has failed
      skip            Leave a phase of the plan out
      rewind          Go back to a phase: it and those after it begin again
      approve         Accept what a phase did; the task goes on
      reject          Have a phase done again: its agent is told what is to be
                      different

    Projects and workspaces:
      project         Register repositories and look at them
      workspace       Look at the pool of worktrees that tasks work in

    Agents:
      harness         Look at the agent CLIs that Orange can start
      permissions     Look at what agents may do without asking again
      prompt          Look at what agents are told
      workflow        Look at a workflow's table
      headless        Let an agent take one turn without a terminal, here
      sim             Play a scripted agent, to rehearse without spending tokens
      demo            Run three scripted tasks from creation to merge

    Orange itself:
      config          Look at settings and change them
      doctor          Check machine, home and tasks; repair what can be repaired
      log             Show what happened: everything that was journalled, and what
                      went wrong
      gc              Delete expired rescues, deleted tasks, screens and rotated
                      logs
      help            Explain a command or a topic; without one, list them
      completions     Print completions for bash, zsh or fish
      man             Show a command's man page, or write all of them down

    Options:
          --json     Print one JSON value instead of text
      -h, --help     Print help
      -V, --version  Print version

    Examples:
      orange demo                             see what it does, in 15 seconds
      orange project add .                    register the repository you are in
      orange new Add a login form             create a task
      orange ls                               what is going on
      orange search login                     find a task by what is said in it
      orange why TASK-001                     what a task waits for
      cd "$(orange path TASK-001)"            go where the work is
      orange workspace list                   who works where

    Every command of `orange task` can be given without that word; `orange task --help` lists all of
    them. `orange help` also lists topics: the workflow, TASK.md, exit codes, settings, files and more.
    `--config KEY=VALUE` sets a setting for one command. State is in ~/orange (ORANGE_HOME overrides).

    Topics (`orange help TOPIC`):
      workflow       from pending to done: statuses and who moves a task
      phased         plans, phases, their gates, specifications and budgets
      task-file      TASK.md: its fields, and which of them are yours
      artifacts      what agents write, and the gates that want it
      references     how to name a task
      harnesses      the agent CLIs, and how to add one
      permissions    what agents may do without asking
      rescue         how work is kept from being lost
      configuration  settings, and which word counts
      environment    every variable that means something
      files          what lies where
      json           output for programs
      exit-codes     what a script can rely on
    "#);
    assert!(!env.home().exists(), "asking for help leaves no trace");
}

#[test]
fn the_help_of_a_command() {
    let env = TestEnvironment::empty();
    for words in [
        &["task", "merge"][..],
        &["task", "rescue"],
        &["ls"],
        &["help"],
    ] {
        let asked: Vec<&str> = ["help"].iter().chain(words).copied().collect();
        let flag: Vec<&str> = words.iter().chain(&["--help"]).copied().collect();
        assert_eq!(env.orange(asked).ok().stdout, env.orange(flag).ok().stdout);
    }
}

#[test]
fn topics() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["help", "exit-codes"]), @r#"
    Exit codes

      0    ok
      1    failed: something went wrong, or a check did not pass
      2    usage: the command line, a setting or a value is wrong
      3    refused by a gate or precondition, or by a person
      4    not found, or the name fits more than one
      127  a program that you named (a command, an editor) cannot be started
      130  interrupted

    `task exec` and `task shell` end with their command's own code. A reader that
    goes away (`orange ls | head`) is no error.

      orange wait TASK-001 --for reviewing || echo "not yet"

    With `--json` an error says more: `orange help json`.

    See also:

      `orange task wait`, `orange task exec`
    "#);
    assert_snapshot!(env.orange(["help", "artifacts"]), @r###"
    Artifacts and gates

    An artifact is a section of TASK.md that an agent writes, or you. A gate is a
    move of the workflow that wants to see one:

      planning → working
          `## Plan` with APPROACH: or TOUCHING:
      clarification → working
          `## Plan` with APPROACH: or TOUCHING:
      working → agent-review
          `## Handoff` with DONE: or REMAINING: or DECISIONS: or UNCERTAIN:
      agent-review → reviewing
          `## Review` that begins with `Verdict: PASS`
      agent-review → working
          `## Review` that begins with `Verdict: FAIL`
      agent-review → stuck
          `## Review` that begins with `Verdict: FAIL`

    A field counts if text follows its colon, at the start of a line, outside code
    fences and comments. A verdict stands alone on the first line of its section.
    Of several sections with one name the last one counts; those of earlier rounds
    are renamed.

    What is missing is said by whoever is refused:

      error: cannot move TASK-001 to working: no "## Plan" section in TASK.md
      hint: add one with at least an APPROACH: or TOUCHING: line

    Handoff and review are noted with the commit they are about; commits that come
    later speak against a merge until you say otherwise.

    See also:

      `orange task complete`, `orange task update`, `orange prompt show`
    "###);
    assert_snapshot!(env.orange(["help", "references"]), @"
    How to name a task

      TASK-007             its key, in the project you are in; `7` will do
      shop:TASK-007        its key in another project; `shop:7` too
      API-007              its key, where a project chose its own prefix
      2MNw6jdgf97lQrQ      its id, or the beginning of one
      shop/fix-login       project and branch
      fix-login            the branch, in the project you are in

    A name that fits more than one task is an error that lists them (exit code 4).

    A project may have its own prefix: after `orange project add PATH --prefix API`
    its tasks are API-001, API-002 and so on. Such a key also tells the project: it
    is found from everywhere, unless several projects have that prefix. A key never
    changes; `project update NAME --prefix` counts for later tasks.

    Inside a task's worktree most commands need no name: they mean its task. An
    agent without a name means its own. The project is the one whose repository or
    worktree you are in; `--project NAME` says otherwise.

    Dependencies are written down as keys: `--blocked-by TASK-003`, or
    `--blocked-by mail:TASK-003` for a task of another project.

    See also:

      `orange task list`, `orange task show`, `orange search`
    ");
    let gates = env.orange(["help", "gates"]).ok().stdout;
    assert_eq!(gates, env.orange(["help", "artifacts"]).ok().stdout);
    // Both a topic and a command: the topic, which names the command.
    let workflow = env.orange(["help", "workflow"]).ok().stdout;
    assert!(workflow.starts_with("Workflow\n"), "{workflow}");
    assert!(workflow.contains("`orange workflow show`"), "{workflow}");
    let json = env.orange(["help", "gates", "--json"]).ok().json();
    assert_eq!(json["help"]["text"], gates);
}

#[test]
fn what_is_neither() {
    let env = TestEnvironment::empty();
    assert_snapshot!(env.orange(["help", "exit-cods"]), @r#"
    ------- stderr -------
    error: "exit-cods" is neither a command nor a topic
    hint: did you mean `orange help exit-codes`? topics: workflow, phased, task-file, artifacts, references, harnesses, permissions, rescue, configuration, environment, files, json, exit-codes
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["help", "task", "mrge"]), @r"
    ------- stderr -------
    error: there is no command `orange task mrge`
    hint: did you mean `orange task merge`?
    [exit status: 2]
    ");
    // Letters that changed places, and an end that is missing.
    for slip in ["mrege", "mreg"] {
        let run = env.orange(["help", "task", slip]).fails_with(2);
        run.says("did you mean `orange task merge`?");
    }
    let run = env.orange(["help", "nothing-like-it", "--json"]);
    assert_eq!(
        (run.code, run.json()["error"]["code"].clone()),
        (2, "usage".into())
    );
    // What Orange runs by itself is for nobody else.
    assert_eq!(env.orange(["help", "errand"]).code, 2);
}

#[test]
fn on_a_terminal_it_goes_through_the_pager() {
    let mut env = TestEnvironment::new();
    env.set("ORANGE", crate::run::program());
    env.set("PAGER", "sed s/^/paged:/");
    env.set("NO_COLOR", "1");
    let shown = in_terminal(&env, 100, "\"$ORANGE\" help exit-codes");
    assert!(shown.contains("paged:Exit codes"), "{shown}");
    // A pager that is not there is no reason to show nothing.
    env.set("PAGER", "/no/such/pager");
    let shown = in_terminal(&env, 100, "\"$ORANGE\" help exit-codes");
    assert!(shown.contains("130  interrupted"), "{shown}");
}

//! Scripts that are refused, and with which words.

use super::super::Script;

#[track_caller]
fn refused(source: &str, message: &str, hint: &str) {
    let error = Script::read(source).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert!(error.hint.contains(hint), "{:?}", error.hint);
}

/// The same for one step, which stands on line 2.
#[track_caller]
fn step_refused(step: &str, message: &str) {
    let error = Script::read(&format!("worker:\n  - {step}\n")).unwrap_err();
    assert_eq!(error.to_string(), message, "{step}");
    assert!(!error.hint.is_empty());
}

#[test]
fn what_is_no_script_is_refused_with_its_line() {
    refused("", "line 1: the script is empty", "`worker`");
    refused(
        "- say: x\n",
        "line 1: a script begins with a list's name",
        "`reviewer`",
    );
    refused(
        "# one\nwroker: []\n",
        "line 2: there is no list `wroker`",
        "`worker`",
    );
    for key in [
        "worker round",
        "worker round 0",
        "worker attempt x",
        "worker 2",
        "worker attempt 1 round 1",
    ] {
        refused(
            &format!("{key}: []\n"),
            &format!("line 1: there is no list `{key}`"),
            "round N",
        );
    }
    refused(
        "worker: x\n",
        "line 1: `worker` must be a list of steps",
        "dash",
    );
    refused(
        "worker:\n",
        "line 1: `worker` must be a list of steps",
        "dash",
    );
    refused(
        "worker: []\nworker: []\n",
        "line 2 repeats the key `worker`",
        "YAML",
    );
    let error = Script::read("worker:\n  - say: [\n").unwrap_err();
    assert!(error.message.starts_with("line "), "{error}");
}

#[test]
fn an_unknown_step_is_named_with_all_that_exist() {
    refused(
        "worker:\n  - sya: x\n",
        "line 2: there is no step `sya`",
        "say, pause",
    );
    refused(
        "worker:\n  - end  turn\n",
        "line 2: there is no step `end  turn`",
        "end turn",
    );
    refused(
        "worker:\n  - [say]\n",
        "line 2: a step begins with its name",
        "say",
    );
    refused(
        "worker:\n  -\n",
        "line 2: a step begins with its name",
        "say",
    );
    let nested = "worker:\n  - repeat: 2\n    steps:\n      - nap: 1s\n";
    refused(nested, "line 4: there is no step `nap`", "pause");
}

#[test]
fn a_wrong_value_or_option_is_refused_with_what_is_allowed() {
    for (step, message) in [
        ("say:", "`say` must be a text"),
        ("say: [a]", "`say` must be a text"),
        (
            "pause: soon",
            "`pause` must be a time such as 5ms, 2s, 1m or 1h",
        ),
        (
            "pause: -1s",
            "`pause` must be a time such as 5ms, 2s, 1m or 1h",
        ),
        ("review: MAYBE", "`review` must be PASS or FAIL"),
        ("plan: {a: b}", "`plan` must be a text"),
        ("section: Notes", "`section` needs `text`"),
        (
            "{section: Notes, text: a, how: magic}",
            "`how` of `section` must be append, truncate or rename",
        ),
        (
            "{frontmatter: {status: done}, how: append}",
            "`how` of `frontmatter` must be truncate or rename",
        ),
        ("frontmatter: done", "`frontmatter` needs fields"),
        ("write: a.txt", "`write` needs `text`"),
        (
            "{fill: a, size: big}",
            "`size` of `fill` must be a size such as 200KB, 5MB or 1GB",
        ),
        (
            "{run: x, expect: 300}",
            "`expect` of `run` must be an exit code from 0 to 255",
        ),
        (
            "{run: x, ignore: 1}",
            "`ignore` of `run` must be true or false",
        ),
        ("{run: x, exepct: 3}", "`run` has no option `exepct`"),
        ("run: ' '", "`run` must be a command for the shell"),
        (
            "git: status",
            "`git` must be a list of arguments, such as [switch, main]",
        ),
        ("complete: now", "`complete` has no value"),
        ("end turn: now", "`end turn` has no value"),
        ("{end turn: , say: x}", "`end turn` has no option `say`"),
        ("wait for: file", "`wait for` needs one condition"),
        (
            "wait for: {file: a, status: b}",
            "`wait for` needs one condition",
        ),
        (
            "{wait for: {file: a}, timeout: x}",
            "`timeout` of `wait for` must be a time such as 5ms, 2s, 1m or 1h",
        ),
        ("repeat: 0", "`repeat` needs `steps`"),
        (
            "{repeat: 0, steps: [stop]}",
            "`repeat` must be a whole number above 0, or forever",
        ),
        (
            "{repeat: 2, steps: []}",
            "`steps` of `repeat` must not be empty",
        ),
        (
            "{if: {file: a}, then: stop}",
            "`then` must be a list of steps",
        ),
        (
            "lose enter: none",
            "`lose enter` must be a whole number above 0",
        ),
        (
            "flood: lots",
            "`flood` must be a size such as 200KB, 5MB or 1GB",
        ),
        (
            "{flood: 1MB, line: 0}",
            "`line` of `flood` must be a line's length above 0, or none for one endless line",
        ),
        (
            "{flood: 1MB, kind: x}",
            "`kind` of `flood` must be text, bytes or escapes",
        ),
        ("exit: 256", "`exit` must be an exit code from 0 to 255"),
        (
            "{hang: , ignore: [KILL]}",
            "`ignore` of `hang` cannot name KILL: nobody can ignore it",
        ),
    ] {
        step_refused(step, &format!("line 2: {message}"));
    }
    let error = Script::read("worker:\n  - crash: OOPS\n").unwrap_err();
    assert!(
        error
            .message
            .starts_with("line 2: `crash` must be a signal: ABRT, "),
        "{error}"
    );
    let error = Script::read("worker:\n  - wait for: {satus: x}\n").unwrap_err();
    assert!(
        error
            .message
            .starts_with("line 2: `satus` is no condition; allowed: `{file"),
        "{error}"
    );
    let error = Script::read("worker:\n  - wait for: {status: asleep}\n").unwrap_err();
    assert!(
        error
            .message
            .contains("must be a status, or a list of them"),
        "{error}"
    );
    let error = Script::read("worker:\n  - say: \"{nobody}\"\n").unwrap_err();
    assert!(
        error
            .message
            .starts_with("line 2: `say` has no variable {nobody}; there are {summary}"),
        "{error}"
    );
}

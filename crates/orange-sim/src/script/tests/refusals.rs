//! Scripts that are refused, and with which words.

use super::super::Script;
use super::hint_of;

#[track_caller]
fn refused(source: &str, message: &str, hint: &str) {
    let error = Script::read(source).unwrap_err();
    assert_eq!(error.message, message);
    assert!(hint_of(&error).contains(hint), "{:?}", error.hint);
}

/// The same for one step, which stands on line 2.
#[track_caller]
fn step_refused(step: &str, message: &str) {
    let error = Script::read(&format!("worker:\n  - {step}\n")).unwrap_err();
    assert_eq!(error.message, message, "{step}");
    assert!(!hint_of(&error).is_empty());
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
        "worker implement",
        "executor implement test",
        "executor attempt 1 iteration 1",
        "executor test iteration",
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
        "`say`, `pause`",
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
        ("say:", "`say`: its value is missing"),
        ("say: [a]", "`say`: this must be a text"),
        (
            "pause: soon",
            "`pause`: \"soon\" is no time such as 5ms, 2s, 1m or 1h",
        ),
        (
            "pause: -1s",
            "`pause`: \"-1s\" is no time such as 5ms, 2s, 1m or 1h",
        ),
        ("review: MAYBE", "`review`: unknown variant `MAYBE`"),
        ("plan: {a: b}", "`plan`: this must be a text"),
        ("section: Notes", "`section`: missing field `text`"),
        (
            "{section: Notes, text: a, how: magic}",
            "`section`: unknown variant `magic`",
        ),
        (
            "{frontmatter: {status: done}, how: append}",
            "`frontmatter`: `how` must be truncate or rename",
        ),
        (
            "frontmatter: done",
            "`frontmatter`: invalid type: string \"done\"",
        ),
        ("write: a.txt", "`write`: missing field `text`"),
        (
            "{fill: a, size: big}",
            "`fill`: \"big\" is no size such as 200KB, 5MB or 1GB",
        ),
        (
            "{run: x, expect: 300}",
            "`run`: \"300\" is no exit code from 0 to 255",
        ),
        ("{run: x, ignore: 1}", "`run`: invalid type: integer `1`"),
        ("{run: x, exepct: 3}", "`run`: unknown field `exepct`"),
        ("{say: hi, value: x}", "`say`: unknown field `option value`"),
        ("run: ' '", "`run`: \" \" is no command for the shell"),
        ("git: status", "`git`: invalid type: string \"status\""),
        ("complete: now", "`complete`: invalid type: string \"now\""),
        ("end turn: now", "`end turn`: it takes no value"),
        ("{end turn: , say: x}", "`end turn`: unknown field `say`"),
        (
            "wait for: file",
            "`wait for`: it needs one condition: `{file: PATH}`, `{message: TEXT}`, `{message: true}`, `{status: NAME}` or `{command: LINE}`",
        ),
        (
            "wait for: {file: a, status: b}",
            "`wait for`: it needs one condition: `{file: PATH}`, `{message: TEXT}`, `{message: true}`, `{status: NAME}` or `{command: LINE}`",
        ),
        (
            "{wait for: {file: a}, timeout: x}",
            "`wait for`: \"x\" is no time such as 5ms, 2s, 1m or 1h",
        ),
        ("repeat: 2", "`repeat`: missing field `steps`"),
        (
            "{repeat: 0, steps: [stop]}",
            "`repeat`: \"0\" is no whole number above 0, nor forever",
        ),
        (
            "{repeat: 2, steps: []}",
            "`repeat`: `steps` must not be empty",
        ),
        (
            "{if: {file: a}, then: stop}",
            "`if`: invalid type: string \"stop\"",
        ),
        (
            "lose enter: none",
            "`lose enter`: \"none\" is no whole number above 0",
        ),
        (
            "flood: lots",
            "`flood`: \"lots\" is no size such as 200KB, 5MB or 1GB",
        ),
        (
            "{flood: 1MB, line: 0}",
            "`flood`: \"0\" is no line's length above 0, nor none",
        ),
        ("{flood: 1MB, kind: x}", "`flood`: unknown variant `x`"),
        ("exit: 256", "`exit`: \"256\" is no exit code from 0 to 255"),
        (
            "{hang: , ignore: [KILL]}",
            "`hang`: cannot ignore KILL: nobody can",
        ),
    ] {
        step_refused(step, &format!("line 2: {message}"));
    }
    let error = Script::read("worker:\n  - crash: OOPS\n").unwrap_err();
    assert!(
        error
            .message
            .starts_with("line 2: `crash`: \"OOPS\" is no signal; there are ABRT, "),
        "{error}"
    );
    let error = Script::read("worker:\n  - wait for: {satus: x}\n").unwrap_err();
    assert!(
        error
            .message
            .starts_with("line 2: `wait for`: unknown variant `satus`"),
        "{error}"
    );
    let error = Script::read("worker:\n  - wait for: {status: asleep}\n").unwrap_err();
    assert!(error.message.contains("asleep"), "{error}");
    let error = Script::read("worker:\n  - say: \"{nobody}\"\n").unwrap_err();
    assert!(
        error
            .message
            .starts_with("line 2: `say`: there is no variable {nobody}; there are {summary}"),
        "{error}"
    );
}

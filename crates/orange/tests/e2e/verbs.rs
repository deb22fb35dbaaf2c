//! Every verb of `task` without that word.

use crate::env::TestEnvironment;
use crate::examples::tree;
use insta::assert_snapshot;

#[test]
fn a_verb_does_the_same_with_and_without_the_word_task() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    env.move_to(&task, "planning").ok();
    for line in [
        "show TASK-001",
        "show 1 --json",
        "why 1",
        "deps 1",
        "path 1",
        "diff 1",
        "list --json",
        "rescue list 1",
        "peek 1",
        "wait 1 --for nothing",
        "respawn 9",
        "answer 1",
        "cancel 9",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let long = env.orange([&["task"], words.as_slice()].concat());
        let short = env.orange(&words);
        assert_eq!(short.code, long.code, "{line}\n{short}\n{long}");
        assert_eq!(
            without_ages(&short.stdout),
            without_ages(&long.stdout),
            "{line}"
        );
        assert_eq!(
            short.stderr,
            long.stderr
                .replace("orange task wait --help", "orange wait --help"),
            "{line}"
        );
    }
    env.orange(["create", "menu", "A menu", "--json"]).ok();
    let branch = env.list(["--search", "menu"])[0]["branch"].clone();
    assert_eq!(branch, "menu");
    env.orange(["update", "2", "--priority", "high"]).ok();
    env.orange(["cancel", "2", "--yes"]).ok();
    env.orange(["request-changes", "1", "make it blue"])
        .fails_with(3);
}

/// Between two commands a second may pass.
fn without_ages(text: &str) -> String {
    let is_age = |word: &str| {
        let number = word.trim_start_matches('(').strip_suffix('s');
        number.is_some_and(|number| number.parse::<u32>().is_ok()) || word.ends_with("now)")
    };
    let words = text.split_inclusive(char::is_whitespace);
    let words = words.filter(|word| {
        let word = word.trim().trim_end_matches(',');
        !is_age(word) && !["ago", "ago)", "now"].contains(&word)
    });
    words.collect()
}

#[test]
fn the_daily_verbs_are_listed_and_the_others_can_be_found() {
    let env = TestEnvironment::empty();
    let help = env.orange(["--help"]).ok();
    for verb in ["show", "why", "peek", "answer", "request-changes", "wait"] {
        assert!(help.stdout.contains(&format!("\n  {verb} ")), "{help}");
    }
    for verb in ["retry-hooks", "exec", "create", "list"] {
        assert!(!help.stdout.contains(&format!("\n  {verb} ")), "{help}");
    }
    assert!(help.stdout.contains("`orange task --help`"), "{help}");
    // Each has its help, under both names.
    let pages = tree::pages();
    let is_of_task = |page: &&tree::Page| page.path.len() == 2 && page.path[0] == "task";
    let of_task: Vec<_> = pages.iter().filter(is_of_task).collect();
    assert!(of_task.len() > 25, "{}", of_task.len());
    for page in of_task {
        let verb = page.path[1].as_str();
        env.orange([verb, "--help"]).ok();
        env.orange(["help", verb]).ok();
        env.orange(["man", verb, "--source"]).ok();
    }
    assert_snapshot!(env.orange(["help", "shwo"]), @r#"
    ------- stderr -------
    error: "shwo" is neither a command nor a topic
    hint: did you mean `orange help show`? topics: workflow, phased, task-file, artifacts, references, harnesses, permissions, rescue, configuration, environment, files, json, exit-codes
    [exit status: 2]
    "#);
}

#[test]
fn the_log_of_a_task_needs_no_option() {
    let env = TestEnvironment::new();
    env.create(["login", "Add a login form"]);
    env.create(["menu", "Add a menu"]);
    let by_option = env.orange(["log", "--task", "TASK-001"]).ok();
    assert!(by_option.stdout.contains("TASK-001"), "{by_option}");
    assert!(!by_option.stdout.contains("TASK-002"), "{by_option}");
    for name in ["TASK-001", "1", "login"] {
        let by_word = env.orange(["log", name]).ok();
        assert_eq!(by_word.stdout, by_option.stdout, "{name}");
    }
    env.orange(["log", "TASK-009"]).fails_with(4);
    env.orange(["log", "1", "--task", "2"])
        .fails_with(2)
        .says("cannot be used with");
}

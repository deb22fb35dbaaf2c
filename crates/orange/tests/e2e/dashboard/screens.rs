//! Whatever the size of the terminal, the letters it knows, and what agents print: the frame is whole.

use super::{begin, begin_at};
use crate::agents::Agents;
use crate::looker::Looker;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Without ages and other numbers that change by themselves.
fn without_ages(frame: &str) -> String {
    let is_age = |word: &str| {
        let unit = word.trim_end_matches(['s', 'm', 'h']);
        word == "now" || unit.len() + 1 == word.len() && unit.parse::<u32>().is_ok()
    };
    let lines = frame.lines().map(|line| {
        let words = line.split_whitespace().filter(|word| !is_age(word));
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Check 8.
#[test]
fn after_a_storm_of_sizes_under_a_flood_the_frame_is_the_first_one() {
    let env = Agents::configured(
        "  limit: 20\n  start_timeout: 1h\nharness:\n  flood: [/bin/sh, ROOT/flood.sh]\n",
    );
    env.write(
        "flood.sh",
        "while :; do printf '\\033[31mline \\033]0;evil\\007 %s\\033[0m\\n' \"$RANDOM\"; sleep 0.01; done\n",
    );
    env.say(&["project", "update", "shop", "--pool-size", "20"])
        .ok();
    for number in 0..20 {
        env.create([&format!("Task {number}"), "--harness", "flood"]);
    }
    let looker = begin(&env, "dashboard", "20 of 20 agents");
    // News of the starts have been drawn by then.
    env.until("a monitor", || looker.shows().contains("monitor here"));
    let mut first = String::new();
    env.until("a frame that stays", || {
        let (before, now) = (first.clone(), without_ages(&looker.shows()));
        first = now;
        first == before
    });
    for (columns, rows) in [
        (300, 100),
        (60, 15),
        (120, 40),
        (60, 15),
        (300, 100),
        (30, 5),
    ] {
        looker.resize(columns, rows);
    }
    looker.until_shown("too small");
    looker.resize(120, 40);
    // The agents' own colours, without their other sequences.
    looker.until_shown("line");
    looker.resize(80, 24);
    env.until("the first frame", || without_ages(&looker.shows()) == first);
    assert!(looker.selected().contains("TASK-"), "{}", looker.shows());
    looker.press(&["q"]);
    looker.until_given_back(true);
}

/// Check 10, but for its times: those are measured by `make bench`.
#[test]
fn moving_and_searching_starts_no_git_and_ascii_is_ascii() {
    let mut env = Agents::new();
    let log = wrap_git(&mut env, "");
    for number in 1..=30 {
        env.orange([
            "new",
            &format!("Täsk {number} – “quoted” 日本語"),
            "--no-spawn",
        ])
        .ok();
    }
    env.orange(["new", "Add a login form", "--no-spawn"]).ok();
    // Of tasks of one second any may be the first; some of these are always on the screen.
    let looker = begin(&env, "dashboard --ascii", "sk 2");
    looker.until_shown("monitor here");
    let before = fs::read_to_string(&log).unwrap_or_default();
    looker.press(&["G", "g"]);
    looker.press(&["-l", "/login"]);
    looker.until_gone("sk 2");
    looker.until_selected("Add a login form");
    looker.press(&["Enter"]);
    looker.press(&["Escape"]);
    looker.until_shown("sk 2");
    assert_eq!(fs::read_to_string(&log).unwrap_or_default(), before);
    for key in [
        "v", "2", "3", "4", "5", "Escape", "Tab", "Tab", "Tab", "c", "Escape", "f",
    ] {
        looker.press(&[key]);
        let shows = looker.shows();
        assert!(shows.is_ascii(), "{shows}");
    }
}

/// A `git` of our own that comes first: it notes its calls in a file, which is given, and does something before.
fn wrap_git(env: &mut Agents, before: &str) -> std::path::PathBuf {
    let log = env.root().join("git.log");
    let path = env.variable("PATH");
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> {}\n{before}\nPATH='{}' exec git \"$@\"\n",
        log.display(),
        path.display()
    );
    let wrapper = env.write("bin/git", script);
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = env.root().join("bin");
    env.put_first_in_path(&folder);
    log
}

#[test]
fn a_git_that_does_not_answer_holds_up_no_key() {
    let mut env = Agents::new();
    // Before the task: git is looked for in the PATH of the person who started it.
    let root = env.root().display().to_string();
    wrap_git(
        &mut env,
        &format!(
            "if test -e {root}/slow; then touch {root}/waits; until test -e {root}/go; do sleep 0.05; done; fi"
        ),
    );
    let task = env.create(["Log out"]);
    env.until_status(&task, "reviewing");
    env.orange(["new", "Another one", "--no-spawn"]).ok();
    let looker = begin(&env, "dashboard", "m merge");
    env.allow("slow");
    looker.press(&["D"]);
    looker.until_shown("reading …");
    env.until("git is asked", || env.root().join("waits").exists());
    looker.press(&["Escape"]);
    looker.until_shown("Another one");
    looker.press(&["j"]);
    looker.until_selected("TASK-002");
    looker.press(&["?"]);
    looker.until_shown("type to find a key");
    looker.press(&["Escape"]);
    // Escape and a letter that comes with it are another key.
    looker.until_gone("type to find a key");
    env.allow("go");
    looker.press(&["k"]);
    looker.press(&["D"]);
    looker.until_shown("+# Log out");
}

#[test]
fn a_damaged_task_is_a_row() {
    let env = Agents::new();
    let task = env.create(["Log out", "--no-spawn"]);
    env.create(["Another one", "--no-spawn"]);
    fs::write(task.file(), "status: [oops\n").unwrap();
    fs::write(task.journal(), "{oops\n").unwrap();
    let looker = begin(&env, "dashboard", "damaged");
    looker.until_shown("Another one");
    looker.press(&["g"]);
    looker.press(&["v"]);
    looker.until_shown("1 Timeline");
    for key in ["2", "3", "4", "5", "Escape", "a", "m", "x", "e"] {
        looker.press(&[key]);
    }
    looker.press(&["Escape"]);
    looker.until_shown("Another one");
}

#[test]
fn without_colours_the_words_are_the_same() {
    let env = Agents::new();
    let task = env.start(
        "Deploy it",
        "worker:\n  - ask permission: May I deploy?\n  - hang\n",
    );
    env.until_attention(&task, "May I deploy?");
    let looker = Looker::begin(&env);
    looker.type_line("export NO_COLOR=1");
    begin_at(&env, &looker, "dashboard", "May I deploy?");
    looker.until_shown("a allow");
    let coloured = env.tmux(&["capture-pane", "-p", "-e", "-t", "looker"]);
    let coloured = String::from_utf8_lossy(&coloured.stdout).into_owned();
    // Bold and dim are no colours.
    for colour in 30..38 {
        assert!(
            !coloured.contains(&format!("\u{1b}[{colour}m")),
            "{coloured:?}"
        );
    }
}

#[test]
fn in_sixty_by_fifteen_the_question_and_its_keys_are_there() {
    let env = Agents::new();
    let task = env.start(
        "Deploy it",
        "worker:\n  - ask permission: May I deploy?\n  - hang\n",
    );
    env.until_attention(&task, "May I deploy?");
    let looker = Looker::begin(&env);
    looker.resize(60, 15);
    begin_at(&env, &looker, "dashboard", "May I deploy?");
    looker.until_shown("a allow");
    for line in looker.shows().lines() {
        assert!(line.chars().count() <= 60, "{line:?}");
    }
}

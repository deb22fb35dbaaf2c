//! What config.yaml may say, and what is said about mistakes in it (`#[cfg(test)]`).

use super::*;

#[test]
fn an_empty_file_is_the_defaults() {
    assert_eq!(Config::parse("").unwrap(), (Config::default(), vec![]));
    assert_eq!(Config::parse("# nothing\n").unwrap().0, Config::default());
    // All settings of a section commented out.
    let (config, unknown) = Config::parse("workspace:\n#  setup: make\ngit:\n").unwrap();
    assert_eq!((config, unknown.len()), (Config::default(), 0));
}

#[test]
fn settings_are_read_and_strange_ones_listed() {
    let (config, unknown) = Config::parse(
        "review:\n  max_rounds: 3\ngit:\n  branch_template: work/{slug}\n  colour: red\nhats: 1\n",
    )
    .unwrap();
    assert_eq!(config.review.max_rounds, 3);
    assert_eq!(config.git.branch_template, "work/{slug}");
    let told: Vec<String> = unknown.iter().map(Rejected::to_string).collect();
    assert_eq!(
        told,
        [
            "line 5: there is no setting \"git.colour\"",
            "line 6: there is no setting \"hats\"",
        ]
    );
}

#[test]
fn a_bad_value_is_named_with_its_line() {
    let error = Config::parse("review:\n  max_rounds: many\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "config.yaml, line 2: review.max_rounds must be a whole number above 0"
    );
    let error = Config::parse("git:\n  branch_template: x/{nme}\n").unwrap_err();
    assert!(error.to_string().contains("nme"), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("config.yaml, line 2: git.branch_template: ")
    );
}

#[test]
fn all_mistakes_are_named_at_once_and_the_rest_is_known() {
    let text = "\u{feff}agents:\n  limit: many\n  harness: cluade\nreview:\n  maxrounds: 3\nlog:\n  level: debug\n";
    assert_eq!(
        Config::parse(text).unwrap_err().to_string(),
        "config.yaml has 3 mistakes:\n  \
         line 2: agents.limit must be a whole number above 0\n  \
         line 3: agents.harness: there is no harness \"cluade\"; did you mean claude?\n  \
         line 5: there is no setting \"review.maxrounds\"; did you mean review.max_rounds?"
    );
    let layer = Layer::of_user(text).unwrap();
    assert_eq!(layer.get("log.level").unwrap().value(), "debug");
    let written: Vec<_> = layer.bad.iter().map(|bad| bad.value.clone()).collect();
    assert_eq!(written, ["many", "cluade"]);
    assert_eq!(layer.ignored[0].value, 3);
    // What cannot be read as a whole has one mistake, and a line.
    for (text, line) in [
        ("a: [\n", 2),
        ("# x\n- a\n", 2),
        ("hello\n", 1),
        ("a: 1\na: 2\n", 2),
    ] {
        assert_eq!(
            Layer::of_user(text).unwrap_err().line,
            Some(line),
            "{text:?}"
        );
    }
}

#[test]
fn harnesses_are_those_that_there_are() {
    for good in ["sim", "none", "sim:/x/a.yaml", "pi", "mine"] {
        let text = format!("agents:\n  harness: {good}\nharness:\n  mine: [my-agent]\n");
        assert_eq!(
            Config::parse(&text).unwrap().0.agents.harness.as_deref(),
            Some(good)
        );
    }
    for (text, told) in [
        (
            "agents:\n  harness: frog\n",
            "agents.harness: there is no harness \"frog\"; there are claude, codex, opencode, pi, gemini, sim, none, \
             and what you define as `harness.NAME`",
        ),
        (
            "agents:\n  review_harness: mien\nharness:\n  mine: x\n",
            "agents.review_harness: there is no harness \"mien\"; did you mean mine?",
        ),
        (
            "harness:\n  NAME: x\n",
            "harness.NAME: write a name of your own for NAME, such as harness.mine",
        ),
        (
            "harness:\n  none: x\n",
            "harness.none cannot be defined: \"none\" means no agent",
        ),
        (
            "harness:\n  mine: {command: x, like: claud}\n",
            "harness.mine: `like` must be one of: claude, codex, opencode, pi, gemini",
        ),
    ] {
        let told = format!("config.yaml, line 2: {told}");
        assert_eq!(Config::parse(text).unwrap_err().to_string(), told);
    }
    let (mut config, _) = Config::parse("harness:\n  mine: x\n").unwrap();
    config.override_with("agents.harness", "mine").unwrap();
    assert_eq!(config.unknown_harness("agents.harness", "mine"), None);
    assert!(config.unknown_harness("agents.harness", "frog").is_some());
    assert_eq!(config.unknown_harness("log.level", "frog"), None);
}

#[test]
fn what_a_workspace_gets() {
    let text = "workspace:\n  copy: [.env, 'config/*.local', node_modules/]\n  setup: make ready\n  \
                teardown:\n    - make clean\n    - |\n      echo one\n      echo two\n  timeout: 10m\n\
                git:\n  fetch: background\nrescue:\n  keep_days: 7\n";
    let (config, unknown) = Config::parse(text).unwrap();
    assert_eq!(unknown, vec![]);
    assert_eq!(
        config.workspace.copy,
        [".env", "config/*.local", "node_modules/"]
    );
    assert_eq!(config.workspace.setup, ["make ready"]);
    assert_eq!(
        config.workspace.teardown,
        ["make clean", "echo one\necho two"]
    );
    assert_eq!(config.workspace.timeout, Some(Duration::from_secs(600)));
    assert_eq!(config.git.fetch, Fetch::Background);
    assert_eq!(config.rescue.keep_days, 7);
    let (config, _) = Config::parse("workspace:\n  copy:\n  setup: []\n").unwrap();
    assert_eq!(config.workspace, WorkspaceConfig::default());
}

#[test]
fn the_nearest_right_key_is_named() {
    let ignored = |text: &str| Config::parse(text).unwrap().1[0].to_string();
    for (text, meant) in [
        ("agent:\n  harnes: x\n", "agents.harness"),
        ("review:\n  maxrounds: 1\n", "review.max_rounds"),
        ("max_rounds: 1\n", "review.max_rounds"),
        ("merge:\n  Strategy: x\n", "merge.strategy"),
        ("merge:\n  fetch: never\n", "git.fetch"),
        ("pusch: true\n", "merge.push"),
    ] {
        let told = ignored(text);
        let end = format!("\"; did you mean {meant}?");
        assert!(told.ends_with(&end), "{told}");
    }
    let mut config = Config::default();
    assert_eq!(
        config.override_with("merge.strateg", "x").unwrap_err(),
        "there is no setting \"merge.strateg\"; did you mean merge.strategy?"
    );
}

#[test]
fn a_repository_says_only_what_a_team_may_decide() {
    let text = "workspace:\n  setup: [make]\n  shape: round\nreview:\n  max_rounds: 5\nnotify:\n  command: [[bad]]\nagents:\n  permissions: full\n";
    let layer = Layer::of_repository(text).unwrap();
    assert_eq!(WorkspaceConfig::of(&layer).setup, ["make"]);
    let mut config = Config::default();
    layer.apply_over_user(&mut config);
    // What adds to the user's goes another way.
    assert_eq!(config.workspace, WorkspaceConfig::default());
    assert_eq!(config.review.max_rounds, 5);
    assert_eq!((config.agents, config.notify), Default::default());
    let told: Vec<String> = layer.ignored.iter().map(Rejected::to_string).collect();
    assert_eq!(
        told,
        [
            "line 3: there is no setting \"workspace.shape\"",
            "line 7: notify.command does not count here: it decides which programs run",
            "line 9: agents.permissions does not count here: it decides what agents may do",
        ]
    );
}

#[test]
fn a_repository_tightens_what_follows_a_failed_check_and_never_loosens_it() {
    let on_failure = |user: &str, repository: &str| {
        let mut config = Config::default();
        let said = |word: &str| format!("verify:\n  on_failure: {word}\n");
        let user = Layer::of_user(&said(user)).unwrap();
        user.apply(&mut config);
        let layer = Layer::of_repository(&said(repository)).unwrap();
        layer.apply_over_user(&mut config);
        let told: Vec<String> = layer.mistakes().iter().map(Mistake::to_string).collect();
        (config.verify.on_failure, told.join("; "))
    };
    assert_eq!(on_failure("return", "return").0, OnFailure::Return);
    assert_eq!(
        on_failure("warn", "return"),
        (OnFailure::Return, String::new())
    );
    let ignored =
        "line 2: verify.on_failure counts here only as return: a repository cannot loosen it";
    for user in ["return", "warn"] {
        let (counts, told) = on_failure(user, "warn");
        assert_eq!((counts.as_str(), told.as_str()), (user, ignored));
    }
    let bad = on_failure("warn", "perhaps").1;
    assert!(bad.contains("must be one of: return, warn"), "{bad}");
}

#[test]
fn every_row_of_the_table_is_right() {
    for setting in Setting::all() {
        let key = &setting.example_key();
        let variable = Config::variable(key);
        let is_letter = |c: char| c.is_ascii_uppercase() || c == '_';
        assert!(
            setting.is_of_names() || variable.chars().all(is_letter),
            "{variable}"
        );
        assert!(setting.about.ends_with('.'), "{key}");
        let mut config = Config::default();
        if !setting.default.is_empty() {
            config.override_with(key, setting.default).unwrap();
            let spoken = (config.workspace.timeout, config.workspace.verify_timeout);
            config.workspace.timeout = None;
            config.workspace.verify_timeout = None;
            // What is said counts before a plan, even if it says the default.
            config.gates = GatesConfig::default();
            assert_eq!(config, Config::default(), "{key}");
            for time in [spoken.0, spoken.1].into_iter().flatten() {
                assert_eq!(time, DEFAULT_TIMEOUT);
            }
        }
        config.override_with(key, setting.example).unwrap();
        assert_ne!(config, Config::default(), "{key}");
        let SettingKind::OneOf(words) = setting.kind else {
            continue;
        };
        for word in words {
            config.override_with(key, word).unwrap();
        }
        assert!(config.override_with(key, "nonsense").is_err(), "{key}");
    }
}

#[test]
fn a_value_shown_and_written_is_the_value_that_was_read() {
    for setting in Setting::all() {
        for text in [setting.example, setting.default] {
            if text.is_empty() {
                continue;
            }
            let key = &setting.example_key();
            let value = setting.value(&setting.node(text).unwrap());
            let file = edited("", key, Some(&value)).unwrap();
            let mut typed = Config::default();
            typed.override_with(key, text).unwrap();
            assert_eq!(Config::parse(&file).unwrap(), (typed, vec![]), "{file}");
            let layer = Layer::of_user(&file).unwrap();
            assert_eq!(layer.get(key).unwrap().value(), value, "{file}");
        }
    }
}

#[test]
fn times() {
    let time = |text: &str| {
        let parsed = Config::parse(&format!("workspace:\n  timeout: {text}\n"));
        parsed.map(|(config, _)| config.workspace.timeout.unwrap().as_secs())
    };
    assert_eq!(time("90"), Ok(90));
    assert_eq!(time("90s"), Ok(90));
    assert_eq!(time("2h"), Ok(7200));
    assert_eq!(time("'10 m'"), Ok(600));
    for wrong in [
        "0",
        "0m",
        "m",
        "-1",
        "1.5",
        "10d",
        "soon",
        "[1]",
        "99999999h",
        "''",
        "5µ",
    ] {
        let error = time(wrong).unwrap_err().to_string();
        let told = "config.yaml, line 2: workspace.timeout must be a time above 0";
        assert!(error.starts_with(told), "{wrong}: {error}");
    }
    // Whatever way it is written, the unit is shown.
    let setting = Setting::of("workspace.timeout").unwrap();
    for (typed, shown) in [("90", "90s"), ("10 m", "10m"), ("2h", "2h")] {
        assert_eq!(setting.value(&setting.node(typed).unwrap()), shown);
    }
}

#[test]
fn what_cannot_run_or_match_is_refused() {
    let refused = |text: &str| {
        let mut mistakes = Config::parse(text).unwrap_err().mistakes;
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        let mistake = mistakes.remove(0);
        (mistake.line, mistake.reason)
    };
    for commands in ["{a: b}", "[[a]]", "''", "[make, ' ']", "\"a\\0b\""] {
        let (line, reason) = refused(&format!("# why\nworkspace:\n  setup: {commands}\n"));
        assert_eq!(line, Some(3), "{commands}");
        assert!(reason.starts_with("workspace.setup must be a command or a list of commands"));
    }
    for patterns in ["{a: b}", "[[a]]", "\"a\\nb\"", "['']"] {
        let (line, reason) = refused(&format!("workspace:\n  copy: {patterns}\n"));
        assert_eq!(line, Some(2), "{patterns}");
        assert!(reason.starts_with("workspace.copy must be a list of patterns"));
    }
    assert_eq!(
        refused("git:\n  fetch: sometimes\n"),
        (
            Some(2),
            "git.fetch must be one of: create, background, never".into()
        )
    );
    assert_eq!(
        refused("rescue:\n  keep_days: 0\n"),
        (
            Some(2),
            "rescue.keep_days must be a whole number of days above 0".into()
        )
    );
}

#[test]
fn a_harness_of_ones_own_is_a_command_or_says_more() {
    let (config, unknown) = Config::parse(
        "agents:\n  harness: mine\n  limit: 3\n  spawn_on_create: false\nharness:\n  mine: my-agent --yes {prompt}\n  other:\n    command: [a, 'b c', '{prompt_file}']\n    one_shot: true\n    interrupt: C-c\ntmux:\n  server: work\n",
    )
    .unwrap();
    assert_eq!(unknown, vec![]);
    assert_eq!(config.agents.harness.as_deref(), Some("mine"));
    assert_eq!(config.agents.limit, 3);
    assert!(!config.agents.spawn_on_create);
    assert_eq!(
        config.harnesses["mine"].command,
        ["my-agent", "--yes", "{prompt}"]
    );
    let other = &config.harnesses["other"];
    assert_eq!(other.command, ["a", "b c", "{prompt_file}"]);
    assert!(other.one_shot && !other.signals);
    assert_eq!(config.tmux.server.as_deref(), Some("work"));
    for (text, said) in [
        (
            "harness:\n  mine:\n    colour: red\n",
            "line 3: harness.mine: `colour` is not known",
        ),
        (
            "harness:\n  mine: []\n",
            "line 2: harness.mine must be a command",
        ),
        (
            "agents:\n  spawn_on_create: maybe\n",
            "line 2: agents.spawn_on_create must be true or false",
        ),
    ] {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_url_is_one_to_post_to() {
    let url = |text: &str| {
        let text = format!("notify:\n  webhook: \"{text}\"\n");
        Config::parse(&text).map(|(config, _)| config.notify.webhook)
    };
    for good in [
        "https://example.org",
        "HTTP://localhost:8080/hook?key=1&x=%20",
        "http://[::1]:80/x",
        "https://my_host.example./a@b",
    ] {
        assert_eq!(url(good), Ok(Some(good.to_owned())), "{good}");
    }
    for bad in [
        "example.org/hook",
        "ftp://example.org",
        "https://",
        "https:///x",
        "https://me:secret@example.org/",
        "https://example.org:0/",
        "https://example.org:http/",
        "https://example.org/a b",
        "https://example.org/#a",
        "https://exämple.org/",
    ] {
        let error = url(bad).unwrap_err().to_string();
        assert!(
            error.contains("notify.webhook must be a URL"),
            "{bad}: {error}"
        );
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn keys_of_the_dashboard_stand_in_a_mapping_of_their_own() {
    use crate::keys::KeyAction;
    let key = "dashboard.keys.merge";
    let text = "dashboard:\n  mouse: false # mine\n";
    let one = edited(text, key, Some(&"M".into())).unwrap();
    assert_eq!(one, format!("{text}  keys:\n    merge: M\n"));
    let two = edited(&one, "dashboard.keys.quit", Some(&"#".into())).unwrap();
    assert_eq!(two, format!("{one}    quit: \"#\"\n"));
    let (config, ignored) = Config::parse(&two).unwrap();
    assert_eq!(ignored, vec![]);
    assert!(!config.dashboard.mouse);
    assert_eq!(config.keys[&KeyAction::Quit], "#");
    assert_eq!(edited(&two, "dashboard.keys.quit", None).unwrap(), one);
    assert_eq!(edited(&one, key, None).unwrap(), text);
    assert_eq!(edited(text, key, None).unwrap(), text);
    // Of two actions with one key the choice does not count; nothing else is touched by it.
    let clash = "dashboard:\n  keys:\n    merge: x\n    quit: Q\n";
    let (config, ignored) = Config::parse(clash).unwrap();
    assert_eq!(config.keys.keys().collect::<Vec<_>>(), [&KeyAction::Quit]);
    let told: Vec<String> = ignored.iter().map(Rejected::to_string).collect();
    assert_eq!(
        told,
        ["line 3: dashboard.keys.merge: x is the key of cancel too, so m stays"]
    );
}

#[test]
fn a_known_harness_may_have_another_model_and_program() {
    let text =
        "harness:\n  claude:\n    model: opus # best\n    command: /opt/claude -x\n  mine: x\n";
    let (config, ignored) = Config::parse(text).unwrap();
    assert_eq!(ignored, vec![]);
    let claude = &config.harness_changes["claude"];
    assert_eq!(claude.model.as_deref(), Some("opus"));
    assert_eq!(claude.command, ["/opt/claude", "-x"]);
    assert_eq!(config.harnesses.keys().collect::<Vec<_>>(), ["mine"]);
    // With more in it, it is a harness of one's own.
    let own = "harness:\n  claude: {command: [x], like: claude}\n  pi: [my-pi]\n";
    let (config, _) = Config::parse(own).unwrap();
    assert!(config.harness_changes.is_empty());
    assert_eq!(config.harnesses.len(), 2);
    for (text, told) in [
        (
            "harness:\n  claude: {model: '-x'}\n",
            "harness.claude.model is not the name of a model",
        ),
        (
            "harness:\n  claude: {command: []}\n",
            "harness.claude.command must be a command",
        ),
        (
            "harness:\n  mine: {model: opus}\n",
            "harness.mine: `model` is not known",
        ),
    ] {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    // A repository chooses neither.
    let layer = Layer::of_repository(text).unwrap();
    assert!(layer.said().is_empty());
    assert_eq!(layer.ignored.len(), 3);
    let one = edited(
        "harness:\n  mine: x # own\n",
        "harness.claude.model",
        Some(&"opus".into()),
    );
    let one = one.unwrap();
    assert_eq!(
        one,
        "harness:\n  mine: x # own\n  claude:\n    model: opus\n"
    );
    let none = edited(&one, "harness.claude.model", None).unwrap();
    assert_eq!(none, "harness:\n  mine: x # own\n");
}

#[test]
fn names_of_older_files_are_read_as_settings() {
    let text = "version: 1\nclaude:\n  path: claude # as usual\n  model: claude-opus-4-5-20251101\n\
                git:\n  branch_prefix: orc/\n  merge_strategy: preserve\n  worktrees: true\n";
    let (config, ignored) = Config::parse(text).unwrap();
    assert_eq!(ignored, vec![]);
    assert_eq!(config.git.branch_template, "orc/{key}");
    assert_eq!(config.merge.strategy, crate::merge::Strategy::Merge);
    let claude = &config.harness_changes["claude"];
    assert_eq!(claude.model.as_deref(), Some("claude-opus-4-5-20251101"));
    assert!(claude.command.is_empty());
    let layer = Layer::of_user(text).unwrap();
    let told: Vec<String> = layer.read_as.iter().map(ReadAs::to_string).collect();
    assert_eq!(
        told,
        [
            "line 1: version is as it is anyway, and changes nothing",
            "line 3: claude.path is as it is anyway, and changes nothing",
            "line 4: claude.model is read as harness.claude.model: claude-opus-4-5-20251101",
            "line 6: git.branch_prefix is read as git.branch_template: orc/{key}",
            "line 7: git.merge_strategy is read as merge.strategy: merge",
            "line 8: git.worktrees is as it is anyway, and changes nothing",
        ]
    );
    // Neither the section nor a name on a command line is one of ours.
    assert_eq!(Config::parse("claude:\n# path: x\n").unwrap().1, vec![]);
    assert_eq!(
        Config::default()
            .override_with("claude.path", "x")
            .unwrap_err(),
        "claude.path is called harness.claude.command here"
    );
    // In a repository's file the same names mean the same, and no more.
    let layer = Layer::of_repository(text).unwrap();
    let told: Vec<String> = layer.ignored.iter().map(Rejected::to_string).collect();
    assert_eq!(
        told,
        ["line 4: claude.model does not count here: it decides what agents spend"]
    );
    assert_eq!(
        layer.get("git.branch_template").unwrap().value(),
        "orc/{key}"
    );
}

#[test]
fn what_an_older_name_cannot_mean_is_refused() {
    for (text, told) in [
        (
            "version: 2\n",
            "line 1: version must be 1: a file with another version may mean something else by the same names",
        ),
        (
            "git:\n  worktrees: false\n",
            "line 2: git.worktrees cannot be false: every task works in a worktree of its own, so that your \
             checkout stays as it is",
        ),
        (
            "git:\n  merge_strategy: sideways\n",
            "line 2: git.merge_strategy must be one of: squash, merge, rebase, ff",
        ),
        (
            "git:\n  branch_template: a/{slug}\n  branch_prefix: b/\n",
            "line 3: git.branch_prefix and git.branch_template (line 2) are one setting; take one of them out",
        ),
        (
            "claude:\n  model: a\nharness:\n  claude:\n    model: a\n",
            "line 5: harness.claude.model and claude.model (line 2) are one setting; take one of them out",
        ),
    ] {
        for layer in [Layer::of_user(text), Layer::of_repository(text)] {
            let mistakes = layer.unwrap().mistakes();
            let is_told = mistakes.iter().any(|one| one.to_string() == told);
            // Who decides what runs is said before what is wrong with it.
            let is_foreign = mistakes
                .iter()
                .all(|one| one.reason.contains("does not count here"));
            assert!(is_told || is_foreign, "{mistakes:?}");
        }
        assert_eq!(
            Config::parse(text).unwrap_err().to_string(),
            format!("config.yaml, {told}")
        );
    }
}

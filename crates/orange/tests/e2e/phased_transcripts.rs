//! Transcripts: listed, shown and followed.

use crate::agents::Agents;
use crate::phased_runs::{WAITS, WORKS, phased};
use std::io::{BufRead, BufReader, Read};

#[test]
fn transcripts_are_listed_and_shown() {
    let env = Agents::new();
    let task = phased(&env, "small", WORKS, &[]);
    env.orange(["transcript", &task.key])
        .fails_with(4)
        .says("no transcript yet");
    let none = env
        .orange(["transcript", &task.key, "--list", "--json"])
        .ok()
        .json();
    assert_eq!(none["transcripts"], serde_json::json!([]));
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let listed = env
        .orange(["transcript", &task.key, "--list", "--json"])
        .ok()
        .json();
    let first = &listed["transcripts"][0];
    assert_eq!(first["name"], "01-implement-001.md");
    assert_eq!(
        (&first["phase"], &first["iteration"]),
        (&"implement".into(), &1.into())
    );
    assert_eq!(first["outcome"], "completed");
    assert!(first["tokens"]["total_tokens"].is_u64(), "{first}");
    let path = first["path"].as_str().unwrap();
    let file = std::fs::read_to_string(path).unwrap();
    let of_phase = ["transcript", &task.key, "--phase", "implement"];
    assert_eq!(env.orange(of_phase).ok().stdout, file);
    let shown = env
        .orange([&of_phase[..], &["--json"]].concat())
        .ok()
        .json();
    assert_eq!(shown["transcript"]["text"].as_str(), Some(file.as_str()));
    assert_eq!(shown["transcript"]["bytes"], file.len());
    env.orange(["transcript", &task.key])
        .ok()
        .says("/ test / iteration 1");
    let missing = [
        "transcript",
        &task.key,
        "--phase",
        "test",
        "--iteration",
        "9",
    ];
    env.orange(missing)
        .fails_with(4)
        .says("iteration 9 of test");
    let followed = env.orange(["transcript", &task.key, "--follow"]).ok();
    followed
        .says("nobody executes the task now")
        .says("/ test / iteration 1");
}

#[test]
fn what_is_said_is_followed_until_the_executor_is_gone() {
    let env = Agents::new();
    let task = phased(&env, "small", WAITS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_event(&task, "iteration.started");
    let mut follower = env.call(["transcript", &task.key, "--follow"]).spawn();
    let mut said = BufReader::new(follower.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("It begins.") {
        assert!(said.read_line(&mut text).unwrap() > 0, "{text}");
    }
    env.write("go", "");
    said.read_to_string(&mut text).unwrap();
    assert!(follower.wait().unwrap().success());
    env.until_status(&task, "completed");
    // Nothing twice, although the files were replaced when their iterations were over.
    for once in [
        "It begins.",
        "/ implement / iteration 1",
        "/ test / iteration 1",
    ] {
        assert_eq!(text.matches(once).count(), 1, "{once}\n{text}");
    }
    assert_eq!(text.matches("Phase complete: yes").count(), 2, "{text}");
}

#[test]
fn a_terminal_obeys_nothing_that_an_agent_says() {
    let env = Agents::new();
    let script = "\
executor:
  - say: \"\\e]0;evil\\a and \\e[2J gone\"
  - answer: complete
    summary: done
";
    let task = phased(&env, "trivial", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    for more in [&[][..], &["--follow"][..]] {
        let run = env.orange([&["transcript", &task.key], more].concat()).ok();
        assert!(!run.stdout.contains('\u{1b}'), "{run}");
        run.says("and");
    }
}

#[test]
fn a_transcript_of_a_hundred_megabytes_is_shown_in_little_memory() {
    let env = Agents::new();
    let task = phased(&env, "trivial", WORKS, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let listed = env
        .orange(["transcript", &task.key, "--list", "--json"])
        .ok()
        .json();
    let path = listed["transcripts"][0]["path"].as_str().unwrap();
    let head = std::fs::read_to_string(path).unwrap();
    let long = "x".repeat(100 * 1024 * 1024);
    std::fs::write(path, format!("{head}{long}\n")).unwrap();
    drop(long);
    for more in ["", "--json"] {
        // Address space, most of which a process never touches.
        let orange = crate::run::program().display();
        let line = format!(
            "ulimit -v 1000000; {orange} transcript {} {more} | wc -c",
            task.key
        );
        let output = env.foreign("bash").args(["-c", &line]).output().unwrap();
        let count: usize = String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap();
        assert!(count > 100 * 1024 * 1024, "{output:?}");
    }
}

#[test]
fn a_link_that_an_agent_laid_is_not_written_through() {
    let env = Agents::new();
    let script = "\
executor:
  - answer: complete
    summary: done
executor implement iteration 1:
  - run: |
      folder=$(dirname \"$(readlink -f TASK.md)\")/transcripts
      ln -s ROOT/precious \"$folder/02-test-001.md\"
      ln -s ROOT/precious \"$folder/01-implement-001.md.new\"
  - answer: complete
    summary: done
";
    env.write("precious", "precious");
    let task = phased(&env, "small", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let kept = std::fs::read_to_string(env.root().join("precious")).unwrap();
    assert_eq!(kept, "precious");
}

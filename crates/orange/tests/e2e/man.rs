//! `orange man`: pages that man and mandoc have nothing to say against.

use crate::env::{TestEnvironment, in_terminal, names_in};
use std::path::PathBuf;

/// Every page, written by the program.
fn written(env: &TestEnvironment) -> Vec<PathBuf> {
    let folder = env.root().join("some/man1");
    let run = env
        .orange(["man", "--write", folder.to_str().unwrap()])
        .ok();
    let names = names_in(&folder);
    assert_eq!(
        run.stdout,
        format!("{} pages in {}\n", names.len(), folder.display())
    );
    names.iter().map(|name| folder.join(name)).collect()
}

#[test]
fn every_command_has_a_page() {
    let env = TestEnvironment::empty();
    let pages = written(&env);
    let names: Vec<_> = pages
        .iter()
        .map(|page| page.file_name().unwrap().to_str().unwrap())
        .collect();
    for expected in [
        "orange.1",
        "orange-new.1",
        "orange-task.1",
        "orange-task-rescue-list.1",
    ] {
        assert!(names.contains(&expected), "{names:?}");
    }
    // What is only for Orange itself has none.
    assert!(
        !names.iter().any(|name| name.contains("errand")),
        "{names:?}"
    );
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap();
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXAMPLES",
            "\"SEE ALSO\"",
        ] {
            let heading = format!("\n.SH {section}\n");
            assert!(
                text.contains(&heading),
                "{}: {section}\n{text}",
                page.display()
            );
        }
    }
    assert!(!env.home().exists(), "a page needs no home");
}

#[test]
fn the_page_of_the_program_has_codes_variables_files_and_topics() {
    let env = TestEnvironment::empty();
    let text = env.orange(["man", "--source"]).ok().stdout;
    for word in [
        "\n.SH \"EXIT STATUS\"\n",
        "\n.SH ENVIRONMENT\n",
        "\n.SH FILES\n",
        "\n.SH TOPICS\n",
        "\\fBORANGE_HOME\\fR",
        "\\fBorange help exit\\-codes\\fR",
    ] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    assert_eq!(
        env.orange(["man", "--json"]).ok().json()["page"]["text"],
        text
    );
}

#[test]
fn no_reader_of_man_pages_complains() {
    let env = TestEnvironment::empty();
    let pages = written(&env);
    let groff = env
        .foreign("groff")
        .args(["-ww", "-K", "utf8", "-man", "-Tutf8"])
        .args(&pages)
        .output()
        .unwrap();
    assert!(groff.status.success(), "{groff:?}");
    assert_eq!(String::from_utf8_lossy(&groff.stderr), "");
    let mandoc = env
        .foreign("mandoc")
        .args(["-T", "lint", "-W", "warning"])
        .args(&pages)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&mandoc.stdout);
    // The version stands for the date: a page is made from the program, not written on a day.
    let said: Vec<&str> = said
        .lines()
        .filter(|line| !line.contains("missing date"))
        .collect();
    assert_eq!(said, [""; 0]);
}

#[test]
fn on_a_terminal_man_shows_it() {
    let mut env = TestEnvironment::new();
    env.set("ORANGE", crate::run::program());
    env.set("MANPAGER", "cat");
    let shown = in_terminal(&env, 100, "\"$ORANGE\" man task merge");
    assert!(shown.contains("ORANGE-TASK-MERGE(1)"), "{shown}");
    assert!(shown.contains("--strategy"), "{shown}");
    assert!(!shown.contains(".SH"), "{shown}");
    // Without man there is still the source.
    env.set("PATH", "/nowhere");
    let shown = in_terminal_without_path(&env);
    assert!(shown.contains(".SH SYNOPSIS"), "{shown}");
    assert!(shown.contains("note: man cannot be started"), "{shown}");
}

#[test]
fn a_pipe_gets_text_and_the_source_only_on_demand() {
    let mut env = TestEnvironment::empty();
    let text = env.orange(["man", "task", "rescue", "show"]).ok().stdout;
    assert!(text.starts_with("ORANGE-TASK-RESCUE-SHOW(1)"), "{text}");
    assert!(!text.contains(".SH") && !text.contains('\u{8}') && !text.contains('\u{1b}'));
    // What has no name comes first, as in the usage.
    let at = |word: &str| text.find(word).unwrap();
    assert!(at("ARGUMENTS") < at("<ID>   The task") && at("<ID>   The task") < at("OPTIONS\n"));
    env.orange(["man", "task", "merge", "--source"])
        .ok()
        .says(".SH SYNOPSIS");
    env.set("PATH", "/nowhere");
    env.orange(["man", "task", "merge"])
        .ok()
        .says(".SH SYNOPSIS")
        .says("note: there is no man, mandoc or groff");
}

/// `script` itself is found by its full path.
fn in_terminal_without_path(env: &TestEnvironment) -> String {
    let output = env
        .foreign("/usr/bin/script")
        .args(["-qec", "\"$ORANGE\" man task merge", "/dev/null"])
        .env("SHELL", "/bin/sh")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

#[test]
fn what_is_no_command_has_no_page_and_a_folder_must_be_one() {
    let env = TestEnvironment::empty();
    let run = env.orange(["man", "task", "mrge"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("`orange task merge`?"), "{run}");
    env.orange(["man", "references"])
        .fails_with(2)
        .says("\"references\" is a topic, not a command")
        .says("`orange help references` shows it");
    assert_eq!(env.orange(["man", "errand"]).code, 2);
    let file = env.write("taken", "");
    let run = env.orange(["man", "--write", file.to_str().unwrap()]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("cannot write"), "{run}");
}

//! The documents are played: every command in them is typed, in order, and prints what is shown.

use super::documents::{Step, blocks, documents, mentioned, text};
use super::how;
use super::shown::{HOME, Names, same};
use super::stages::{before, staged, world};
use super::tree::{self, Page};
use super::world::{How, World};
use orange_core::config::Config;
use std::time::{Duration, Instant};

/// Blocks that no test runs: words of the block, and why.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "make test ",
        "builds and installs; continuous integration runs these targets themselves",
    ),
    (
        "make install ",
        "installs into the machine; make try-deb does that on a bare Debian",
    ),
];

/// Generous: only a document that is wrong waits so long for what it shows.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A text with the home that documents speak of; the repository lies there too.
fn as_told(world: &World, text: &str) -> String {
    let root = world.agents.root();
    let text = text.replace(root.join("home").to_str().unwrap(), HOME);
    text.replace(root.to_str().unwrap(), HOME)
}

/// Lists are shown as at a terminal, where they have another layout than in a pipe.
fn how_typed(line: &str) -> How {
    let in_pipe = line.contains('|') || line.contains("--json");
    if line.starts_with("orange ls") && !in_pipe {
        How::Terminal
    } else {
        how(line)
    }
}

/// What a document's command printed instead of what is shown.
fn type_in(world: &mut World, step: &Step, names: &mut Names) -> Result<(), String> {
    let mut line = step
        .command
        .replace(HOME, &world.agents.root().join("home").to_string_lossy());
    for (shown, here) in names.iter() {
        if shown.len() > 6 {
            line = line.replace(shown, here);
        }
    }
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let said = world.run(&line, how_typed(&line));
        let fails = said.code != 0 && !(how(&line) == How::Interrupted && said.code == 130);
        let printed = as_told(world, &said.text);
        let lines: Vec<&str> = printed.lines().collect();
        let mut now = names.clone();
        let as_shown = step.shown.is_empty() || same(&step.shown, &lines, &mut now);
        if fails == step.fails() && as_shown {
            *names = now;
            return Ok(());
        }
        if !step.looks() || Instant::now() > deadline {
            let shown = step.shown.join("\n");
            return Err(format!(
                "$ {line}\n{printed}[exit status: {}]\n--- shown:\n{shown}",
                said.code
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn play(document: &str) {
    let mut names = Names::new();
    let mut world = world(document);
    let mut rows = before(document);
    let mut failures = Vec::new();
    for block in blocks(document) {
        if NOT_RUN
            .iter()
            .any(|(words, _)| block.text().contains(words))
        {
            continue;
        }
        for step in block.steps() {
            while let Some(at) = rows
                .iter()
                .position(|(words, _)| step.command.contains(words))
            {
                world.prepare(rows.remove(at).1);
            }
            if let Err(failure) = type_in(&mut world, &step, &mut names) {
                failures.push(format!("{}\n{failure}", block.place));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(rows.is_empty(), "no command of {document} has {rows:?}");
}

/// One test for each document, so that they are played side by side.
macro_rules! documents {
    ($($test:ident: $document:literal),* $(,)?) => {
        const PLAYED: &[&str] = &[$($document),*];
        $(#[test] fn $test() { play($document); })*
    };
}

documents! {
    the_readme: "README.md",
    about_answering: "docs/answering.md",
    about_many_tasks: "docs/many-tasks.md",
    about_phased_tasks: "docs/phased.md",
    about_reviewing: "docs/reviewing.md",
    about_agents: "docs/agents.md",
    about_troubleshooting: "docs/troubleshooting.md",
    about_harnesses: "docs/reference/harnesses.md",
    about_workspaces: "docs/reference/workspaces.md",
}

/// Documents without a test of their own, those of tomorrow among them.
#[test]
fn all_other_documents() {
    for document in documents() {
        let has_steps = blocks(&document)
            .iter()
            .any(|block| !block.steps().is_empty());
        if has_steps && !PLAYED.contains(&document.as_str()) {
            play(&document);
        }
    }
}

#[test]
fn every_block_of_the_documents_is_of_a_known_kind() {
    let mut unused: Vec<&str> = NOT_RUN.iter().map(|(words, _)| *words).collect();
    for document in documents() {
        for block in blocks(&document) {
            unused.retain(|words| !block.text().contains(words));
            if NOT_RUN
                .iter()
                .any(|(words, _)| block.text().contains(words))
            {
                continue;
            }
            match block.language.as_str() {
                "console" | "sh" | "bash" | "text" | "mermaid" | "" => {}
                // Settings of programs that not every machine has.
                "zsh" | "fish" | "tmux" | "toml" => {}
                "json" => {
                    let value: Result<serde_json::Value, _> = serde_json::from_str(&block.text());
                    value.unwrap_or_else(|error| panic!("{}: {error}", block.place));
                }
                // Scripts of the scripted agent; its own tests read them.
                "yaml" if document == "docs/contributing/sim.md" => {}
                "yaml" => {
                    let (_, unknown) = Config::parse(&block.text())
                        .unwrap_or_else(|error| panic!("{}: {error:?}", block.place));
                    assert_eq!(unknown, vec![], "{}", block.place);
                }
                other => panic!("{}: nobody knows how to try {other:?}", block.place),
            }
        }
    }
    assert_eq!(
        unused,
        Vec::<&str>::new(),
        "no block has these words any more"
    );
    for document in staged() {
        assert!(
            documents().iter().any(|name| name == document),
            "{document} is gone"
        );
    }
}

/// A command that is only mentioned exists, and so do its options.
#[test]
fn every_command_that_documents_mention_exists() {
    let pages = tree::pages();
    // The page of the most words that name a command.
    let page = |words: &[&str]| {
        let mut found: Option<&Page> = None;
        for end in 1..=words.len() {
            let next = pages.iter().find(|page| page.path == words[..end]);
            if next.is_none() {
                break;
            }
            found = next;
        }
        found
    };
    for document in documents() {
        for line in mentioned(&document) {
            let words: Vec<&str> = line.split(' ').skip(1).collect();
            // A verb of `task` works without that word.
            let verb = || {
                let longer = [&["task"], words.as_slice()].concat();
                page(&longer).filter(|page| page.path.len() > 1)
            };
            let found = page(&words).or_else(verb);
            let internal = ["orange run-agent", "orange errand"];
            if internal.iter().any(|name| line.starts_with(name)) {
                continue;
            }
            let help = match found {
                Some(found) => &found.help,
                None if line.starts_with("orange --") => &pages[0].help,
                None => panic!("{document}: there is no `{line}`"),
            };
            let own = line.split(" -- ").next().unwrap_or_default();
            let words = own.split([' ', '[', ']', '=', '|', '"', ',', '.']);
            for option in words.filter(|word| word.starts_with("--")) {
                assert!(
                    help.contains(option),
                    "{document}: `{line}` has no {option}"
                );
            }
        }
    }
}

/// No command is left out: some document names each of them, with or without the word `task`.
#[test]
fn every_command_is_in_a_document() {
    let texts: Vec<String> = documents().iter().map(|name| text(name)).collect();
    let pages = tree::pages();
    let groups = |page: &Page| {
        pages
            .iter()
            .any(|other| other.path.len() > page.path.len() && other.path.starts_with(&page.path))
    };
    for page in pages.iter().filter(|page| !groups(page)) {
        let name = page.name();
        let short = name.replacen("orange task ", "orange ", 1);
        let named = |text: &String| text.contains(&name) || text.contains(&short);
        assert!(texts.iter().any(named), "no document names `{name}`");
    }
}

//! The documents say what the program says.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

#[path = "docs/architecture.rs"]
mod architecture;
#[path = "shared/sources.rs"]
mod sources;

use assert_cmd::Command;
use orange_core::config::{Alias, Config, Setting};
use orange_core::keys::{KEYS, KeyAction};
use orange_core::merge::Strategy;
use orange_core::prompt::{PromptName, Template, Variable};
use orange_engine::maintenance::gc;
use orange_engine::views::doctor;
use std::path::Path;

fn document(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(name)).unwrap()
}

/// Every document that people read, with its name.
fn documents() -> Vec<(String, String)> {
    let mut names: Vec<String> = [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for entry in std::fs::read_dir(root.join(&folder)).unwrap().flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                folders.push(name);
            } else if name.ends_with(".md") {
                names.push(name);
            }
        }
    }
    names
        .into_iter()
        .map(|name| (name.clone(), document(&name)))
        .collect()
}

fn orange(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orange"));
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_workflow_document_is_the_table() {
    let text = document("docs/reference/workflow.md");
    let hint =
        "regenerate docs/reference/workflow.md from `orange workflow show` and `--format mermaid`";
    assert!(text.contains(&orange(&["workflow", "show"])), "{hint}");
    assert!(
        text.contains(&orange(&["workflow", "show", "--format", "mermaid"])),
        "{hint}"
    );
}

/// A document names each of these commands, with or without the word `task`, and their help has an example.
fn names_commands(document_name: &str, commands: &[&str]) {
    let text = document(document_name);
    for command in commands {
        let short = command.strip_prefix("task ").unwrap_or(command);
        let named = [*command, short].map(|name| text.contains(&format!("orange {name}")));
        assert!(named.contains(&true), "{document_name}: {command}");
        let mut words: Vec<&str> = command.split(' ').collect();
        words.push("--help");
        assert!(orange(&words).contains("Example"), "{command}");
    }
}

#[test]
fn the_readme_is_short_and_has_the_six_commands_of_a_task() {
    let readme = document("README.md");
    assert!(readme.lines().count() <= 140, "README.md is too long");
    let (_, start) = readme.split_once("## Quick start").unwrap();
    let (start, _) = start.split_once("\n## ").unwrap();
    let typed: Vec<&str> = start
        .lines()
        .filter_map(|line| line.strip_prefix("$ orange "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    let six = ["new", "ls", "answer", "diff", "request-changes", "merge"];
    assert_eq!(typed, six);
    let (_, daily) = readme.split_once("## Every day").unwrap();
    let (daily, _) = daily.split_once("\n## ").unwrap();
    let rows = daily.lines().filter(|line| line.starts_with("| `orange "));
    assert_eq!(rows.count(), 12);
    names_commands(
        "README.md",
        &[
            "new",
            "ls",
            "inbox",
            "task why",
            "task show",
            "task peek",
            "task attach",
            "task answer",
            "task send",
            "task diff",
            "task request-changes",
            "task merge",
            "doctor",
            "demo",
            "signal",
        ],
    );
}

/// What the table of the README says of the agents that Orange knows is what `orange harness list` says.
#[test]
fn the_support_table_of_the_readme_is_honest() {
    let readme = document("README.md");
    for harness in harnesses() {
        let name = harness["name"].as_str().unwrap();
        if name == "sim" {
            continue;
        }
        let mut rows = readme.lines().filter(|line| line.starts_with("| "));
        let row = rows
            .find(|line| {
                line.split('|')
                    .nth(1)
                    .unwrap()
                    .contains(&format!("`{name}`"))
            })
            .unwrap_or_else(|| panic!("{name} is not in the table"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let supports = &harness["supports"];
        let has = |field: &str| match &supports[field] {
            serde_json::Value::Bool(can) => *can,
            serde_json::Value::Array(words) => !words.is_empty(),
            other => !other.is_null(),
        };
        let columns = [
            (2, has("signals")),
            (3, has("permissions")),
            (4, has("model") && has("effort")),
            (5, has("usage")),
            (6, has("headless")),
        ];
        for (at, can) in columns {
            assert_eq!(cells[at].starts_with("yes"), can, "{name}: {}", cells[at]);
        }
        // Those that a run of `make test-agents` has written down.
        let tried = document("docs/reference/harnesses.md");
        let (_, tried) = tried.split_once("| shown | ").unwrap();
        let tried = tried.lines().next().unwrap().contains(&format!("{name} "));
        assert_eq!(cells[7].starts_with("yes"), tried, "{name}: {}", cells[7]);
    }
}

#[test]
fn every_command_about_workspaces_is_documented_and_has_an_example() {
    names_commands(
        "docs/reference/workspaces.md",
        &[
            "workspace list",
            "workspace init",
            "workspace gc",
            "task path",
            "task shell",
            "task rescue list",
            "task rescue show",
            "task rescue restore",
            "task retry-hooks",
            "project trust",
        ],
    );
}

#[test]
fn the_document_about_merging_names_every_strategy_and_option() {
    let text = document("docs/reviewing.md");
    for strategy in Strategy::ALL {
        assert!(text.contains(&format!("| `{strategy}` |")), "{strategy}");
    }
    let commands = [
        "task merge",
        "task resolve",
        "task diff",
        "task request-changes",
        "task verify",
        "project trust",
    ];
    names_commands("docs/reviewing.md", &commands);
    for command in ["merge", "diff"] {
        let help = orange(&["task", command, "--help"]);
        let words = help
            .split_whitespace()
            .map(|word| word.trim_end_matches(','));
        let others = ["--json", "--help", "--no-pager"];
        let options = words.filter(|word| word.starts_with("--") && !others.contains(word));
        for option in options {
            assert!(text.contains(option), "{option}");
        }
    }
}

#[test]
fn every_command_about_agents_is_documented_and_has_an_example() {
    names_commands(
        "docs/answering.md",
        &[
            "inbox",
            "task answer",
            "permissions list",
            "permissions remove",
            "task why",
            "task send",
            "task attach",
            "task peek",
            "task respawn",
            "task request-changes",
            "log",
        ],
    );
    names_commands(
        "docs/many-tasks.md",
        &[
            "new",
            "ls",
            "status",
            "watch",
            "run",
            "search",
            "task spawn",
            "task wait",
            "task deps",
            "task cancel",
            "task delete",
            "task restore",
            "project add",
            "project update",
            "project list",
        ],
    );
    names_commands(
        "docs/agents.md",
        &[
            "new",
            "harness list",
            "headless",
            "prompt list",
            "prompt show",
            "signal",
        ],
    );
}

#[test]
fn every_setting_is_documented() {
    let hint =
        "`make docs` writes docs/reference/configuration.md and docs/reference/config.schema.json";
    let reference = document("docs/reference/configuration.md");
    assert_eq!(reference, orange(&["config", "docs"]), "{hint}");
    assert_eq!(
        document("docs/reference/config.schema.json"),
        orange(&["config", "schema"]),
        "{hint}"
    );
    for key in Config::known_keys() {
        assert!(reference.contains(&format!("| `{key}` |")), "{key}");
    }
    for command in ["show", "get", "set", "edit", "schema", "docs"] {
        assert!(reference.contains(&format!("orange config {command}")));
        assert!(orange(&["config", command, "--help"]).contains("Example"));
    }
    // The tables of other documents speak of the same.
    for (name, text) in documents() {
        if text == reference {
            // It also has names of earlier programs.
            continue;
        }
        for line in text.lines() {
            let cell = line
                .strip_prefix("| `")
                .and_then(|rest| rest.split('`').next());
            let Some((section, rest)) = cell.and_then(|key| key.split_once('.')) else {
                continue;
            };
            // `phases.*.status` is a field of JSON.
            if rest.starts_with('*') {
                continue;
            }
            if Setting::all()
                .iter()
                .any(|setting| setting.section() == section)
            {
                let known =
                    cell.is_some_and(|key| Setting::of(key).is_some() || Alias::of(key).is_some());
                assert!(known, "{name}: {line}");
            }
        }
    }
    let readme = document("README.md");
    let example = readme.split("```yaml\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    // As it stands there, with every value of the right kind.
    let (_, unknown) = Config::parse(example).unwrap();
    assert_eq!(unknown, vec![], "settings in README.md");
    assert_eq!(example.lines().count(), 8, "lines of settings in README.md");
}

#[test]
fn the_document_about_prompts_is_the_code() {
    let text = document("docs/reference/prompts.md");
    let rows = |heading: &str| -> Vec<String> {
        let section = text.split(&format!("## {heading}\n")).nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        rows.map(str::to_owned).collect()
    };
    let prompts = PromptName::ALL
        .iter()
        .map(|name| format!("| `{name}` | {} |", name.when()));
    assert_eq!(rows("The prompts"), prompts.collect::<Vec<_>>());
    let variables = Variable::ALL
        .iter()
        .map(|variable| format!("| `{{{}}}` | {} |", variable.as_str(), variable.meaning()));
    assert_eq!(rows("Variables"), variables.collect::<Vec<_>>());
    let example = text.split("```text\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    Template::parse(PromptName::Reviewer, example).unwrap();
    for command in ["prompt list", "prompt show"] {
        assert!(text.contains(&format!("orange {command}")), "{command}");
        let mut words: Vec<&str> = command.split(' ').collect();
        words.push("--help");
        assert!(orange(&words).contains("Example"), "{command}");
    }
}

/// What `orange harness list` says.
fn harnesses() -> Vec<serde_json::Value> {
    let home = tempfile::tempdir().unwrap();
    let mut list = Command::new(env!("CARGO_BIN_EXE_orange"));
    let list = list.args(["harness", "list", "--json"]);
    let output = list.env("ORANGE_HOME", home.path()).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    listed["harnesses"].as_array().unwrap().clone()
}

#[test]
fn the_document_about_the_dashboard_has_every_key() {
    let mut table = "| key | name | what it does |\n|---|---|---|\n".to_owned();
    for row in KEYS {
        let name = match KeyAction::changeable(row.name) {
            Some(_) => row.name,
            None => "",
        };
        table.push_str(&format!("| `{}` | {name} | {} |\n", row.key, row.about));
    }
    let text = document("docs/dashboard.md");
    assert!(
        text.contains(&table),
        "docs/dashboard.md should have:\n{table}"
    );
}

#[test]
fn the_document_about_harnesses_is_the_table() {
    let text = document("docs/reference/harnesses.md");
    let listed = harnesses();
    let fields = listed[0]["supports"].as_object().unwrap();
    let row = |harness: &serde_json::Value| {
        let cells = fields.keys().map(|name| match &harness["supports"][name] {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Bool(true) => "yes".to_owned(),
            serde_json::Value::Array(words) if !words.is_empty() => {
                let words: Vec<&str> = words.iter().filter_map(|word| word.as_str()).collect();
                words.join(", ")
            }
            _ => "–".to_owned(),
        });
        let (name, adapter) = (harness["name"].as_str(), harness["adapter"].as_str());
        let (name, adapter) = (name.unwrap(), adapter.unwrap());
        let cells: Vec<String> = cells.collect();
        format!("| `{name}` | {adapter} | {} |", cells.join(" | "))
    };
    let rows: Vec<String> = listed.iter().map(row).collect();
    let columns: Vec<String> = fields.keys().map(|name| name.replace('_', " ")).collect();
    let head = format!("| harness | adapter | {} |", columns.join(" | "));
    let rules = "|---".repeat(columns.len() + 2) + "|";
    let table = format!("{head}\n{rules}\n{}\n\n", rows.join("\n"));
    assert!(
        text.contains(&table),
        "docs/reference/harnesses.md should have:\n{table}"
    );
    for command in ["harness list", "headless", "doctor", "signal"] {
        assert!(text.contains(&format!("orange {command}")), "{command}");
        let mut words: Vec<&str> = command.split(' ').collect();
        words.push("--help");
        assert!(orange(&words).contains("Example"), "{command}");
    }
}

#[test]
fn the_document_about_health_names_every_group_and_everything_that_is_kept() {
    use doctor::CheckGroup;
    use gc::ExpiryKind;
    let text = document("docs/troubleshooting.md");
    for group in CheckGroup::ALL {
        assert!(
            text.contains(&format!("| {} |", group.as_str())),
            "{group:?}"
        );
    }
    let text = document("docs/reference/home.md");
    for kind in ExpiryKind::ALL {
        let setting = format!("{}.keep_days", kind.as_str());
        assert!(
            Config::known_keys().contains(&setting.as_str()),
            "{setting}"
        );
        assert!(text.contains(&format!("`{setting}`")), "{setting}");
    }
    let commands = [
        "task why",
        "doctor",
        "gc",
        "log",
        "task rescue list",
        "task rescue restore",
        "task restore",
        "task respawn",
        "task retry-hooks",
    ];
    names_commands("docs/troubleshooting.md", &commands);
}

#[test]
fn the_documents_for_scripts_and_files_are_the_help() {
    let text = document("docs/reference/output.md");
    let mut codes = 0;
    for line in orange(&["help", "exit-codes"]).lines() {
        let Some((code, meaning)) = line.trim().split_once("  ") else {
            continue;
        };
        if code.parse::<u8>().is_ok() {
            let row = format!("| {code} | {} |", meaning.trim());
            assert!(text.contains(&row), "docs/reference/output.md: {row}");
            codes += 1;
        }
    }
    assert!(codes > 5, "{codes}");
    let help = orange(&["help", "json"]);
    let (_, errors) = help.split_once("Codes of errors:").unwrap();
    let (errors, _) = errors.split_once("See also").unwrap();
    for code in errors
        .split([',', ' ', '\n'])
        .filter(|code| !code.is_empty())
    {
        assert!(text.contains(&format!("`{code}`")), "{code}");
    }
    let text = document("docs/reference/home.md");
    for line in orange(&["help", "files"]).lines() {
        let files = ["  ~/orange/", "  REPOSITORY/"];
        if let Some(name) = files.iter().find_map(|files| line.strip_prefix(files)) {
            assert!(text.contains(name), "docs/reference/home.md: {name}");
        }
    }
}

/// What a heading is called in a link, as GitHub does it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

#[test]
fn every_link_in_a_document_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for (name, text) in documents() {
        // Links stand in prose, not in blocks.
        let prose: String = text.split("```").step_by(2).collect();
        for link in prose.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            if link.starts_with("http") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let folder = root.join(&name).parent().unwrap().to_owned();
            let path = match file {
                "" => root.join(&name),
                file => folder.join(file),
            };
            assert!(path.exists(), "{name}: {link}");
            let target = std::fs::read_to_string(&path).unwrap();
            let mut headings = target.lines().filter(|line| line.starts_with('#'));
            let found = headings.any(|line| anchor(line.trim_start_matches('#').trim()) == place);
            assert!(place.is_empty() || found, "{name}: {link}");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn the_index_has_every_document() {
    let index = document("docs/README.md");
    for (name, _) in documents() {
        let Some(inside) = name.strip_prefix("docs/") else {
            continue;
        };
        let listed = index.contains(&format!("]({inside})"));
        assert!(listed || inside == "README.md", "{name}");
    }
}

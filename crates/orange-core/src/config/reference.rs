//! The settings for people: docs/reference/configuration.md, and what a new config.yaml starts with.

use super::{Alias, RepositoryWord, Setting, SettingKind, names};
use crate::yaml::to_yaml_inline;
use serde_json::Value;
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Configuration

<!-- Written by `make docs` from `orange config docs`: change crates/orange-core/src/config/ instead. -->

Every setting has a default; none has to be set. `orange config show` lists them all with their values and says where each
value comes from.

```console
$ orange config show                            # every setting, its value and its source
$ orange config get merge.strategy              # a value alone, for scripts
$ orange config set merge.strategy rebase       # keeps comments, order and layout of config.yaml
$ orange config set workspace.copy .env 'certs/*.pem'
$ orange config unset merge.strategy            # back to the default
$ orange config edit                            # in your editor, on a copy that is checked before it counts
```

## Where a value comes from

Later ones win:

1. the default
2. `~/orange/config.yaml` (`config.yaml` in `ORANGE_HOME`)
3. the repository's `.orange/config.yaml`, as committed where work starts from: never from a checkout, never from a task's
   branch
4. a variable: `ORANGE_MERGE_STRATEGY` for `merge.strategy`
5. `--config merge.strategy=rebase` on the command line, for this command alone
6. a command's own option: `orange merge --strategy rebase`

A repository is other people's work, and agents write in it. So it says only what a team may decide for everybody: not what
runs, what agents may do, what they spend, or anything about your machine. The tables tell which settings it may say;
any other one in `.orange/config.yaml` does not count, and `orange doctor` and `orange config show` name it with its line.

A key that means nothing is named with its line and the nearest right one, a value that cannot be used with what it must be;
all of them at once. `orange config show` marks them (✗) and ends with 1. Commands that change or start something do not run
until every value that they need can be used; a key that means nothing does not stop them. Commands that only look (`ls`,
`task show`, `log`, …) tell of the mistakes and go on with the defaults; `orange watch` then only prints. `orange config edit`
works whatever the file looks like, `orange config set` as long as it is YAML.

Agents may read settings, not change them. An agent's own variables and `--config` do not count, and so neither do yours in
what follows from its commands: a reviewer that starts, a check. A variable is for the commands that you type; what should
hold for agents too belongs into config.yaml.

## In an editor

[config.schema.json](config.schema.json) (`orange config schema` prints it) is a JSON Schema. An editor with the YAML
language server completes and checks settings if the file starts with this line, with the path of the schema:

```yaml
# yaml-language-server: $schema=/home/you/config.schema.json
```

## The settings
";

const OLDER_NAMES: &str = "
## Names of older files

A settings file of an older program works as it is, as `config.yaml` or as a repository's `.orange/config.yaml`. `orange
config show` says what each of these lines became. One setting under both of its names in one file is a mistake.

| name | read as | values |
|---|---|---|
";

/// docs/reference/configuration.md.
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    let mut section = "";
    for setting in Setting::all() {
        if setting.section() != section {
            section = setting.section();
            let _ = write!(
                text,
                "\n### {section}\n\n| setting | default | value | what | in a repository |\n|---|---|---|---|---|\n"
            );
        }
        let default = match setting.default {
            "" => "none".to_owned(),
            default => format!("`{default}`"),
        };
        let _ = writeln!(
            text,
            "| `{}` | {default} | {} | {} | {} |",
            setting.key,
            value(setting),
            setting.about,
            in_repository(setting.repository),
        );
    }
    text.push_str(OLDER_NAMES);
    for alias in Alias::all() {
        let key = match alias.key {
            Some(key) => format!("`{key}`"),
            None => "nothing".to_owned(),
        };
        let _ = writeln!(text, "| `{}` | {key} | {} |", alias.name, alias.about);
    }
    text
}

/// The kind of value, and one.
fn value(setting: &Setting) -> String {
    let (kind, example) = (setting.kind.words(), setting.example);
    match setting.kind {
        SettingKind::Flag | SettingKind::OneOf(_) => kind,
        _ => format!("{kind}, such as `{example}`"),
    }
}

fn in_repository(repository: RepositoryWord) -> &'static str {
    match repository {
        RepositoryWord::Says => "overrides your config.yaml",
        RepositoryWord::Stricter => "only where it is stricter (skip, auto, ai, human)",
        RepositoryWord::Limited => "overrides yours, within limits",
        RepositoryWord::Adds => "comes before yours",
        RepositoryWord::Fills => "unless you say it",
        RepositoryWord::Tightens(_) => "only the default, which then overrides yours",
        RepositoryWord::No(_) => "no",
    }
}

/// A config.yaml in which every setting is there, and none counts.
pub fn template() -> String {
    let mut text = "\
# Settings of Orange. Take the `#` away from a section and a setting to change it; the values are the defaults, or
# examples where there is none. `orange config show` says what counts.
"
    .to_owned();
    let mut section = "";
    for setting in Setting::all() {
        if setting.section() != section {
            section = setting.section();
            let _ = writeln!(text, "\n#{section}:");
        }
        let value = match setting.default {
            "" => setting.example,
            default => default,
        };
        // A text that YAML would read as something else is quoted.
        let quoted = setting.kind == SettingKind::Line;
        let quoted = quoted
            .then(|| to_yaml_inline(&Value::from(value)))
            .flatten();
        let value = quoted.as_deref().unwrap_or(value);
        let key = setting.example_key();
        let (name, value) = match names::path(&key).as_slice() {
            // Mappings within each other are written on one line.
            [_, outer @ .., name] if !outer.is_empty() => {
                let inner = format!("{{{name}: {value}}}");
                let mut outer = outer.iter().rev();
                let last = outer.next_back().copied().unwrap_or_default();
                (
                    last.to_owned(),
                    outer.fold(inner, |value, name| format!("{{{name}: {value}}}")),
                )
            }
            [_, name] => ((*name).to_owned(), value.to_owned()),
            _ => continue,
        };
        let _ = writeln!(text, "#  {name}: {value}   # {}", setting.about);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn what_a_new_file_starts_with_is_right_with_and_without_its_comments() {
        let text = template();
        assert_eq!(Config::parse(&text).unwrap(), (Config::default(), vec![]));
        let active: Vec<String> = text
            .lines()
            .map(
                |line| match (line.strip_prefix("#  "), line.strip_prefix("# ")) {
                    (Some(setting), _) => format!("  {setting}"),
                    (None, Some(_)) => line.to_owned(),
                    (None, None) => line.trim_start_matches('#').to_owned(),
                },
            )
            .collect();
        let (_, ignored) = Config::parse(&active.join("\n")).unwrap();
        assert_eq!(ignored, vec![]);
    }
}

//! One setting changed in the text of a config.yaml; comments, order and layout stay as they are.

use super::layer::{BOM, unreadable};
use super::values::no_sections;
use super::{Mistake, names};
use crate::yaml::splice::Splicer;
use crate::yaml::{self, Node};
use serde_json::{Map, Value};
use std::ops::Range;

/// Why a text was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigEditError {
    /// It is no YAML.
    #[error("config.yaml, {0}")]
    Unreadable(Mistake),
    #[error(
        "{key} cannot be changed without touching the rest of config.yaml, the way it is written there"
    )]
    Layout { key: String },
}

/// The text with a setting changed; None takes it out.
pub fn edited(text: &str, key: &str, value: Option<&Value>) -> Result<String, ConfigEditError> {
    // Whoever put a byte order mark there gets it back.
    match text.strip_prefix(BOM) {
        Some(text) => Ok(format!("{BOM}{}", changed(text, key, value)?)),
        None => changed(text, key, value),
    }
}

fn changed(text: &str, key: &str, value: Option<&Value>) -> Result<String, ConfigEditError> {
    let layout = || ConfigEditError::Layout {
        key: key.to_owned(),
    };
    let path = names::path(key);
    let Some((section, below)) = path.split_first().filter(|(_, below)| !below.is_empty()) else {
        return Err(layout());
    };
    let section = *section;
    let before = read(text)?.unwrap_or_default();
    let mut settings = mapping(before.get(section)).ok_or_else(layout)?;
    let is_there = put(&mut settings, below, value).ok_or_else(layout)?;
    if !is_there {
        return Ok(text.to_owned());
    }
    let mut wanted = before;
    wanted.insert(section.to_owned(), Value::Object(settings));
    let new = spliced(text, section, &wanted[section]).ok_or_else(layout)?;
    // Whatever the layout was: every other setting is as before, or nothing is written.
    match read(&new) {
        Ok(Some(now)) if same(&now, &wanted) => {}
        _ => return Err(layout()),
    }
    if value.is_none() && same_value(&wanted[section], &Value::Null) {
        wanted.shift_remove(section);
        let without = without_section(&new, section).filter(|without| {
            read(without).is_ok_and(|now| same(&now.unwrap_or_default(), &wanted))
        });
        return Ok(without.unwrap_or(new));
    }
    Ok(new)
}

/// What stands where a mapping may be; None: something else.
fn mapping(value: Option<&Value>) -> Option<Map<String, Value>> {
    match value {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(mapping)) => Some(mapping.clone()),
        Some(_) => None,
    }
}

/// Sets or takes out, and takes out the mappings that this empties; false: there was nothing to take out. None: something
/// else stands where a mapping should be.
fn put(settings: &mut Map<String, Value>, path: &[&str], value: Option<&Value>) -> Option<bool> {
    match (path, value) {
        ([name], Some(value)) => {
            settings.insert((*name).to_owned(), value.clone());
            Some(true)
        }
        ([name], None) => Some(settings.shift_remove(*name).is_some()),
        ([group, below @ ..], value) => {
            let mut of_group = mapping(settings.get(*group))?;
            let is_there = put(&mut of_group, below, value)?;
            if of_group.is_empty() {
                settings.shift_remove(*group);
            } else {
                settings.insert((*group).to_owned(), Value::Object(of_group));
            }
            Some(is_there)
        }
        ([], _) => None,
    }
}

/// The text without a section that has become empty; None: somebody's comment would be left without its place.
fn without_section(text: &str, section: &str) -> Option<String> {
    let Some(Node::Mapping { entries, .. }) = yaml::read(text, 0..text.len()).ok()? else {
        return None;
    };
    let entry = entries.iter().find(|entry| entry.key == section)?;
    let start = entry.key_span.start;
    let end = yaml::line_after(text, start);
    let begins_a_line = start == 0 || text[..start].ends_with('\n');
    if !begins_a_line || text[start..end].contains('#') {
        return None;
    }
    // What is indented, or is a setting that was commented out, belongs to the section; a remark belongs to the next.
    let mut below = text[end..]
        .lines()
        .take_while(|line| line.trim_start().starts_with('#') || line.trim().is_empty());
    if below.any(|line| {
        line.starts_with([' ', '\t']) && !line.trim().is_empty() || line.starts_with("#  ")
    }) {
        None
    } else {
        Some(format!("{}{}", &text[..start], &text[end..]))
    }
}

fn read(text: &str) -> Result<Option<Map<String, Value>>, ConfigEditError> {
    let root = yaml::read(text, 0..text.len())
        .map_err(|error| ConfigEditError::Unreadable(unreadable(error)))?;
    let Some(root) = root else {
        return Ok(None);
    };
    match root.to_json() {
        Value::Null => Ok(None),
        Value::Object(sections) => Ok(Some(sections)),
        _ => Err(ConfigEditError::Unreadable(no_sections(text, &root))),
    }
}

/// A section from which the last setting went is as good as an empty one.
fn same(now: &Map<String, Value>, wanted: &Map<String, Value>) -> bool {
    let equal = |(name, value): (&String, &Value)| {
        let other = wanted.get(name);
        other.is_some_and(|other| same_value(other, value))
    };
    now.len() == wanted.len() && now.iter().all(equal)
}

fn same_value(one: &Value, other: &Value) -> bool {
    let is_empty = |value: &Value| value.as_object().map_or(value.is_null(), Map::is_empty);
    one == other || is_empty(one) && is_empty(other)
}

/// Whether a list that becomes another one has a comment between its items, however deep it stands.
fn loses_comment(text: &str, old: &Node, new: &Value) -> bool {
    match old {
        Node::Scalar { .. } => false,
        _ if *new == old.to_json() => false,
        Node::Sequence { span, items, .. } => has_comment_between(text, span.clone(), items),
        Node::Mapping { entries, .. } => entries.iter().any(|entry| {
            let new = new.get(&entry.key).unwrap_or(&Value::Null);
            loses_comment(text, &entry.value, new)
        }),
    }
}

/// Is there a comment in a list, beside its items?
fn has_comment_between(text: &str, span: Range<usize>, items: &[Node]) -> bool {
    let mut gap_start = span.start;
    let mut gaps = Vec::new();
    for item in items {
        gaps.push(gap_start..item.span().start.max(gap_start));
        gap_start = item.span().end;
    }
    gaps.push(gap_start..span.end);
    let has_comment = |gap: Range<usize>| text.get(gap).is_some_and(|gap| gap.contains('#'));
    gaps.into_iter().any(has_comment)
}

fn spliced(text: &str, section: &str, settings: &Value) -> Option<String> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut whole = text.to_owned();
    if !whole.is_empty() && !whole.ends_with('\n') {
        whole.push_str(newline);
    }
    let entries = match yaml::read(&whole, 0..whole.len()).ok()? {
        Some(Node::Mapping {
            entries,
            flow: false,
            ..
        }) => entries,
        None => Vec::new(),
        Some(node) if super::values::is_empty(&node) => Vec::new(),
        Some(_) => return None,
    };
    // A comment between braces would be lost with them.
    let old = entries.iter().find(|entry| entry.key == section);
    if let Some(Node::Mapping {
        flow: true, span, ..
    }) = old.map(|entry| &entry.value)
        && whole[span.clone()].contains('#')
    {
        return None;
    }
    // Nor does one between the items of a list survive a new list.
    if old.is_some_and(|entry| loses_comment(&whole, &entry.value, settings)) {
        return None;
    }
    let mut splicer = Splicer {
        text: &whole,
        newline,
        deep: true,
        splices: Vec::new(),
    };
    splicer.change(&entries, &[(section, Some(settings))], whole.len())?;
    splicer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(text: &str, key: &str, value: Value) -> String {
        edited(text, key, Some(&value)).unwrap()
    }

    #[test]
    fn a_missing_file_section_or_setting_is_made() {
        let first = set("", "review.max_rounds", json!(3));
        assert_eq!(first, "review:\n  max_rounds: 3\n");
        let text =
            "# mine\nreview: # why\n    # not yet\n    max_rounds: 2   # enough\n# the end\n";
        assert_eq!(
            set(text, "review.max_rounds", json!(3)),
            text.replace("2   #", "3   #")
        );
        assert_eq!(
            set(text, "git.fetch", json!("never")),
            text.replace("# the end", "git:\n  fetch: never\n# the end")
        );
        assert_eq!(
            set("git:\n#  fetch: x\n", "git.fetch", json!("never")),
            "git:\n  fetch: never\n#  fetch: x\n"
        );
        assert_eq!(
            set(
                "git:\n    fetch: never",
                "git.branch_template",
                json!("{slug}")
            ),
            "git:\n    fetch: never\n    branch_template: \"{slug}\"\n"
        );
        assert_eq!(
            set(
                "git: {fetch: never}\r\nlog:\r\n",
                "git.fetch",
                json!("create")
            ),
            "git:\r\n  fetch: create\r\nlog:\r\n"
        );
        assert_eq!(
            set(
                "a: 1\nnotify: ~ # none\n",
                "notify.command",
                json!("x: \"y\" # z")
            ),
            "a: 1\nnotify: # none\n  command: \"x: \\\"y\\\" # z\"\n"
        );
    }

    #[test]
    fn a_byte_order_mark_stays() {
        let text = "\u{feff}git:\n  fetch: create\n";
        let new = set(text, "git.fetch", json!("never"));
        assert_eq!(new, text.replace("create", "never"));
        assert_eq!(set("\u{feff}", "git.fetch", json!("never")), new);
        assert_eq!(edited(&new, "git.fetch", None).unwrap(), "\u{feff}");
    }

    #[test]
    fn lists_and_blocks_are_replaced_whole() {
        let text = "workspace:\n  setup:\n    - one\n    - |\n      two\n      lines\n  # next\n  timeout: 10m\n";
        assert_eq!(
            set(text, "workspace.setup", json!(["make"])),
            "workspace:\n  setup: [make]\n  # next\n  timeout: 10m\n"
        );
        assert_eq!(
            edited(text, "workspace.timeout", None).unwrap(),
            text.replace("  timeout: 10m\n", "")
        );
        assert_eq!(edited(text, "workspace.copy", None).unwrap(), text);
        assert_eq!(
            edited("git:\n  fetch: never\n", "git.fetch", None).unwrap(),
            ""
        );
    }

    #[test]
    fn no_comment_goes_with_the_items_of_a_list() {
        let new = serde_json::json!(["make"]);
        let set = |text: &str| edited(text, "workspace.setup", Some(&new));
        for text in [
            "workspace:\n  setup: # s\n  # pre\n  - a # one\n  # mid\n  - b\n",
            "workspace:\n  setup: [a, # one\n    b]\n",
        ] {
            assert!(
                matches!(set(text), Err(ConfigEditError::Layout { .. })),
                "{text}"
            );
            // Another setting beside it can be changed.
            let other = edited(text, "workspace.timeout", Some(&serde_json::json!("5m"))).unwrap();
            assert!(other.starts_with(text), "{other}");
        }
        let kept = set("workspace:\n  # pre\n  setup: [a, 'b#c'] # two\n").unwrap();
        assert!(kept.contains("# pre\n") && kept.contains("# two"), "{kept}");
    }

    #[test]
    fn an_emptied_section_goes_unless_a_comment_is_left_in_it() {
        let unset = |text: &str| edited(text, "git.fetch", None).unwrap();
        for (text, new) in [
            (
                "log:\n  level: info\n\ngit:\n  fetch: never # why\n",
                "log:\n  level: info\n\n",
            ),
            (
                "git:\n  fetch: never\n\n# about the log\nlog:\n  level: info\n",
                "\n# about the log\nlog:\n  level: info\n",
            ),
            ("git: {fetch: never}\nlog:\n", "log:\n"),
            ("git: # mine\n  fetch: never\n", "git: # mine\n"),
            ("git:\n  # mine\n  fetch: never\n", "git:\n  # mine\n"),
            (
                "git:\n  fetch: never\n  # mine\nlog:\n",
                "git:\n  # mine\nlog:\n",
            ),
            (
                "git:\n  fetch: never\n#  branch_template: x\n",
                "git:\n#  branch_template: x\n",
            ),
        ] {
            assert_eq!(unset(text), new, "{text:?}");
        }
        // It was empty before, and nothing was taken out.
        assert_eq!(unset("git:\n"), "git:\n");
    }

    #[test]
    fn what_cannot_be_changed_safely_is_left_alone() {
        for text in [
            "{git: {fetch: never}}\n",
            "git: {fetch: never, # why\n  branch_template: x}\n",
            "git: 3\n",
            "a: &x\n  fetch: never\ngit: *x\nb: *x\n--- \n",
            "git: [\n",
            "- a\n",
        ] {
            let outcome = edited(text, "log.level", Some(&json!("debug")));
            let harmless = outcome.as_ref().is_ok_and(|new| new.starts_with(text));
            assert!(harmless || outcome.is_err(), "{text:?}: {outcome:?}");
            let outcome = edited(text, "git.fetch", Some(&json!("create")));
            assert!(outcome.is_err(), "{text:?}: {outcome:?}");
        }
        // Changing what others point to would change those.
        let shared = "a: &x\n  level: info\nlog: *x\n";
        assert!(edited(shared, "a.level", Some(&json!("debug"))).is_err());
    }
}

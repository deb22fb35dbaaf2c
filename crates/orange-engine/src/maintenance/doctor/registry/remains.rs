//! What a damaged projects.json still says: entries that are whole, and the fields of broken ones that can be read.

use orange_core::config::Permissions;
use orange_core::id::Prefix;
use serde_json::{Deserializer, Map, Value};
use std::path::PathBuf;

/// What can be read of one entry.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RegistryEntry {
    pub(crate) name: Option<String>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) default_branch: Option<String>,
    pub(crate) pool_size: Option<u32>,
    pub(crate) prefix: Option<Prefix>,
    pub(crate) permissions: Option<Permissions>,
    pub(crate) permissions_stated: bool,
    pub(crate) other: Map<String, Value>,
    /// It has its beginning and its end, whatever its fields say.
    pub(crate) is_whole: bool,
    /// Fields that are there and make no sense.
    pub(crate) unread: Vec<String>,
}

/// All entries of the file, in its order. Objects inside of an entry are none.
pub(crate) fn entries(text: &str) -> Vec<RegistryEntry> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + next;
        let (before, from) = text.split_at(start);
        let before = before.trim_end();
        let before = before.strip_suffix('[').unwrap_or(before);
        let is_inside = before.trim_end().ends_with(':');
        let entry = match value_at(from) {
            Some((Value::Object(fields), rest)) => {
                at = text.len() - rest.len();
                RegistryEntry::of(fields, Vec::new(), true)
            }
            _ => {
                let (fields, unread, rest) = salvage(from.get(1..).unwrap_or_default());
                at = text.len() - rest.len();
                RegistryEntry::of(fields, unread, false)
            }
        };
        if !is_inside {
            found.push(entry);
        }
    }
    found
}

/// The value that a text begins with, and what follows it.
fn value_at(text: &str) -> Option<(Value, &str)> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let rest = text.get(values.byte_offset()..)?;
    Some((value, rest))
}

/// The fields of a broken entry up to its end, or to where another object begins; then the names of those without a
/// value, and the text from there.
fn salvage(text: &str) -> (Map<String, Value>, Vec<String>, &str) {
    let (mut fields, mut unread) = (Map::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '{', '}']) {
        let from = rest.get(at..).unwrap_or_default();
        if !from.starts_with('"') {
            return (fields, unread, from);
        }
        let Some((Value::String(key), after)) = value_at(from) else {
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        let Some(after) = after.trim_start().strip_prefix(':') else {
            rest = after;
            continue;
        };
        rest = match value_at(after) {
            Some((value, rest)) => {
                fields.entry(key).or_insert(value);
                rest
            }
            None => {
                unread.push(key);
                after
            }
        };
    }
    (fields, unread, "")
}

impl RegistryEntry {
    fn of(mut fields: Map<String, Value>, unread: Vec<String>, is_whole: bool) -> RegistryEntry {
        let mut entry = RegistryEntry {
            is_whole,
            unread,
            ..RegistryEntry::default()
        };
        entry.name = entry.take(&mut fields, "name");
        entry.path = entry.take(&mut fields, "path");
        entry.default_branch = entry.take(&mut fields, "default_branch");
        entry.pool_size = entry.take(&mut fields, "pool_size");
        entry.prefix = entry.take(&mut fields, "prefix");
        // The file may say that nobody chose.
        if fields.get("permissions") == Some(&Value::Null) {
            fields.remove("permissions");
        }
        entry.permissions = entry.take(&mut fields, "permissions");
        let stated = entry.take(&mut fields, "permissions_stated");
        entry.permissions_stated = stated.unwrap_or(false);
        entry.other = fields;
        entry
    }

    fn take<T: serde::de::DeserializeOwned>(
        &mut self,
        fields: &mut Map<String, Value>,
        name: &str,
    ) -> Option<T> {
        let value = serde_json::from_value(fields.remove(name)?);
        if value.is_err() {
            self.unread.push(name.to_owned());
        }
        value.ok()
    }

    pub(crate) fn lost(&self, name: &str) -> bool {
        self.unread.iter().any(|unread| unread == name)
    }
}

#[cfg(test)]
mod tests {
    use crate::maintenance::doctor::registry::remains::*;

    fn names(text: &str) -> Vec<String> {
        entries(text)
            .into_iter()
            .filter_map(|entry| entry.name)
            .collect()
    }

    #[test]
    fn one_bad_field_leaves_the_others() {
        let text = r#"[{"name": "shop", "path": "/s", "default_branch": 7, "pool_size": "x",
            "prefix": "INIT", "permissions": "Ask", "colour": "red"}]"#;
        let entry = entries(text).remove(0);
        assert_eq!(entry.path, Some("/s".into()));
        assert_eq!(
            entry.unread,
            ["default_branch", "pool_size", "prefix", "permissions"]
        );
        assert_eq!(entry.other["colour"], "red");
        assert!(entry.is_whole);
    }

    #[test]
    fn the_fields_of_a_broken_entry_are_read_as_far_as_they_go() {
        let text = "[{\"name\": \"shop\" \"path\": \"/s,\n \"permissions\": \"ask\", \"prefix\": \"api\", \"pool_size\": ,\n},\n\
                    {\"name\": \"books\", \"permissions\": edits";
        let found = entries(text);
        assert_eq!(found[0].name.as_deref(), Some("shop"));
        assert_eq!(found[0].permissions, Some(Permissions::Ask));
        assert_eq!(found[0].prefix, "API".parse().ok());
        assert_eq!(found[0].unread, ["path", "pool_size"]);
        assert_eq!(found[1].name.as_deref(), Some("books"));
        assert!(found[1].lost("permissions") && !found[1].is_whole);
    }

    #[test]
    fn what_is_inside_an_entry_is_no_entry() {
        let inner = r#""x": {"name": "evil", "path": "/tmp"}"#;
        for text in [
            format!("[{{\"name\": \"shop\", {inner}}}, oops"),
            format!("[{{\"name\": \"shop\",, {inner}, \"y\": [{{\"name\": \"evil\"}}],,}}"),
            format!("[{{\"name\": \"shop\", \"y\": {{{inner},,}}}}"),
            "[{\"name\": \"shop\", \"y\": [{\"name\": \"evil\"},,".to_owned(),
        ] {
            assert_eq!(names(&text), ["shop"], "{text}");
        }
        assert_eq!(names("{{{[\"{\"}\u{fffd}"), [""; 0]);
    }
}

//! Changing the user's config.yaml: one setting, or the whole text.

use super::MAX_BYTES;
use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::git::committed::text_of;
use crate::store::replace;
use orange_core::config::{Layer, Setting, about, edited, unknown};
use orange_core::yaml::Node;
use serde_json::Value;

/// What became of a setting.
#[derive(Debug, Clone)]
pub struct SettingChanged {
    pub key: String,
    /// As the file said it before, and says it now.
    pub before: Option<Value>,
    pub after: Option<Value>,
    /// Why the file as a whole still cannot be used, if it cannot.
    pub trouble: Option<String>,
    /// What outdoes it all the same: a variable, or an option of this command.
    pub outdone: Option<String>,
}

impl Engine {
    /// The row of a key that somebody typed.
    pub fn setting(key: &str) -> Result<&'static Setting> {
        Setting::of(key).ok_or_else(|| {
            Error::new(Code::Usage, unknown(key)).hint("`orange config show` lists the settings")
        })
    }

    /// Changes one setting of config.yaml, or takes it out if there is no value. Everything else stays as it is.
    pub fn change_setting(
        &mut self,
        key: &str,
        values: Option<&[String]>,
    ) -> Result<SettingChanged> {
        self.people_only("change settings")?;
        let setting = Engine::setting(key)?;
        let after = values
            .map(|values| usable(setting, key, values))
            .transpose()?;
        self.store.ensure_home()?;
        // Two commands at once: the second one finds what the first one wrote.
        let _lock = self.store.lock_file(LOCK)?;
        let old = self.settings_bytes()?;
        let text = text_of(old.clone().unwrap_or_default()).map_err(|line| {
            let message = format!("config.yaml, line {line}: it is not UTF-8");
            Error::new(Code::Usage, message).hint(BY_HAND)
        })?;
        let new = edited(&text, key, after.as_ref())
            .map_err(|error| Error::new(Code::Usage, error.to_string()).hint(BY_HAND))?;
        let before = match Layer::of_user(&text) {
            Ok(layer) => layer.get(key).map(|said| said.value()),
            Err(_) => None,
        };
        if new != text {
            self.put_settings(old.as_deref(), new.as_bytes())?;
        }
        let mut overrides = self.overrides.iter();
        Ok(SettingChanged {
            key: key.to_owned(),
            before,
            after,
            trouble: Layer::of_user(&new).err().map(|error| error.to_string()),
            outdone: overrides
                .rfind(|said| said.key == key)
                .map(|said| said.place()),
        })
    }

    /// Replaces the whole file, if it still is what the caller read.
    pub fn replace_settings(&mut self, old: Option<&[u8]>, new: &[u8]) -> Result<()> {
        self.people_only("change settings")?;
        self.store.ensure_home()?;
        let _lock = self.store.lock_file(LOCK)?;
        self.put_settings(old, new)
    }

    fn put_settings(&mut self, old: Option<&[u8]>, new: &[u8]) -> Result<()> {
        let path = self.settings_file();
        if new.len() as u64 > MAX_BYTES {
            return Err(Error::new(
                Code::Usage,
                "settings may not be larger than 1 MB",
            ));
        }
        if self.settings_bytes()?.as_deref() != old {
            let message = format!("{} was changed meanwhile", path.display());
            return Err(Error::new(Code::Busy, message).hint("try again"));
        }
        // Somebody's dotfiles: the file that the name leads to is the one that changes.
        let target = path.canonicalize().unwrap_or_else(|_| path.clone());
        replace::write_atomic(&target, new).map_err(|error| Error::io("write", &path, &error))?;
        self.loaded = None;
        Ok(())
    }
}

const LOCK: &str = ".config.lock";
const BY_HAND: &str = "`orange config edit` opens it";

/// A value that the setting may have.
fn usable(setting: &Setting, key: &str, values: &[String]) -> Result<Value> {
    let wrong = |problem: &str| Error::new(Code::Usage, about(key, problem));
    let hint = || {
        let special = |c: char| !c.is_ascii_alphanumeric() && !"._/-".contains(c);
        let example = match setting.example.contains(special) {
            true => format!("'{}'", setting.example),
            false => setting.example.to_owned(),
        };
        format!("for example: orange config set {key} {example}")
    };
    let node = match values {
        [one] => setting
            .node(one)
            .map_err(|problem| wrong(&problem).hint(hint()))?,
        several if setting.kind.is_list() => Node::Sequence {
            items: several.iter().map(|text| quoted(text)).collect(),
            flow: true,
            span: 0..0,
        },
        _ => return Err(wrong("has one value, not several").hint(hint())),
    };
    setting
        .check(key, &node)
        .map_err(|problem| wrong(&problem).hint(hint()))?;
    Ok(setting.value(&node))
}

fn quoted(text: &str) -> Node {
    Node::Scalar {
        text: text.to_owned(),
        plain: false,
        span: 0..0,
    }
}

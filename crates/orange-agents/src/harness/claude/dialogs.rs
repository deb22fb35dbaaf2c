//! Dialogs that Claude Code would open before it takes a prompt, answered for one run: by variables and by its settings
//! file. The user's own configuration is read and never written.

use super::super::Occasion;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const KEY: &str = "ANTHROPIC_API_KEY";
/// Where the key goes when claude is to fetch it: seen under its own name, it asks whether to use it.
const KEY_FOR_HELPER: &str = "ORANGE_ANTHROPIC_API_KEY";

/// What one run is started with so that nothing is asked.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answers {
    pub(super) environment: BTreeMap<String, String>,
    /// Variables that the agent does not get.
    pub(super) withheld: Vec<String>,
    /// Entries of the settings file.
    pub(super) settings: serde_json::Map<String, Value>,
}

pub(super) fn answers(occasion: &Occasion<'_>) -> Answers {
    let known = read(memory_file(occasion.environment, occasion.user_home).as_deref());
    let mut answers = Answers::default();
    // The folder is one that Orange made of a repository that the user has registered, and what claude would run there by
    // itself is left out, or the user agreed to it (`sources.rs`).
    answers
        .environment
        .insert("CLAUDE_CODE_SANDBOXED".into(), "1".into());
    if known.get("hasCompletedOnboarding") != Some(&Value::Bool(true)) {
        // A theme is all that is left to choose; by its manual this skips it, and hides the account's name.
        answers.environment.insert("IS_DEMO".into(), "1".into());
    }
    answers.about_the_key(occasion.environment, &known);
    answers
}

/// Variables that a turn without a terminal does not get. There claude asks nothing and uses any key that it finds: one that the
/// user has refused, or has not been asked about beside a login of their own, is not meant.
pub(super) fn withheld_from_turn(
    environment: &BTreeMap<String, String>,
    user_home: Option<&Path>,
) -> Vec<String> {
    let key = environment.get(KEY).filter(|key| !key.is_empty());
    let Some(key) = key.filter(|_| !environment.contains_key("ANTHROPIC_AUTH_TOKEN")) else {
        return Vec::new();
    };
    let known = read(memory_file(environment, user_home).as_deref());
    let has_login = known
        .get("oauthAccount")
        .is_some_and(|account| !account.is_null());
    let is_meant = has_answered(key, &known, "approved")
        || !(has_login || has_answered(key, &known, "rejected"));
    if is_meant {
        Vec::new()
    } else {
        vec![KEY.to_owned()]
    }
}

impl Answers {
    /// A key that claude has not asked about yet.
    fn about_the_key(&mut self, environment: &BTreeMap<String, String>, known: &Value) {
        let Some(key) = environment.get(KEY).filter(|key| !key.is_empty()) else {
            return;
        };
        if environment.contains_key("ANTHROPIC_AUTH_TOKEN") || was_asked_about(key, known) {
            return;
        }
        self.withheld.push(KEY.into());
        // With a login of its own, "no" is what claude recommends.
        if known.get("oauthAccount").is_none_or(Value::is_null) {
            self.environment.insert(KEY_FOR_HELPER.into(), key.clone());
            let helper = format!("printenv {KEY_FOR_HELPER}");
            self.settings.insert("apiKeyHelper".into(), json!(helper));
        }
    }
}

/// The file with the MCP servers of the user's own, if there are any that claude takes from a file it is given. With one
/// that it does not take it would not start.
pub(super) fn user_servers(
    environment: &BTreeMap<String, String>,
    user_home: Option<&Path>,
) -> Option<PathBuf> {
    let file = memory_file(environment, user_home)?;
    let known = read(Some(&file));
    let servers = known.get("mcpServers")?.as_object()?;
    let is_usual = |server: &Value| {
        let text = |name: &str| server.get(name).is_some_and(Value::is_string);
        text("command") || text("url")
    };
    let usable = !servers.is_empty() && servers.values().all(is_usual);
    usable.then_some(file)
}

/// The file with what claude remembers. An agent's command starts reviewers too, so the home of this process may be one that the
/// agent chose.
fn memory_file(
    environment: &BTreeMap<String, String>,
    user_home: Option<&Path>,
) -> Option<PathBuf> {
    let named = environment.get("CLAUDE_CONFIG_DIR");
    let named = named.filter(|named| !named.is_empty()).map(PathBuf::from);
    let folder = named.or_else(|| user_home.map(Path::to_owned))?;
    Some(folder.join(".claude.json"))
}

/// What is not there, or cannot be read, says nothing.
fn read(path: Option<&Path>) -> Value {
    let text = path.and_then(|path| fs::read(path).ok());
    let value = text.and_then(|text| serde_json::from_slice(&text).ok());
    value.unwrap_or(Value::Null)
}

fn was_asked_about(key: &str, known: &Value) -> bool {
    has_answered(key, known, "approved") || has_answered(key, known, "rejected")
}

/// Whether a key is in one of the two lists; it remembers keys by their ends.
fn has_answered(key: &str, known: &Value, list: &str) -> bool {
    let start = key.char_indices().rev().nth(19).map_or(0, |(at, _)| at);
    let end = key.get(start..).unwrap_or(key);
    let list = known.pointer(&format!("/customApiKeyResponses/{list}"));
    let mut all = list.and_then(Value::as_array).into_iter().flatten();
    all.any(|entry| entry == end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::tests::occasion;

    /// A user's configuration folder and a worktree.
    struct World {
        root: tempfile::TempDir,
        environment: BTreeMap<String, String>,
    }

    impl World {
        fn new(known: &Value) -> World {
            let root = tempfile::tempdir().unwrap();
            fs::write(root.path().join(".claude.json"), known.to_string()).unwrap();
            let folder = root.path().display().to_string();
            let environment = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), folder)]);
            World { root, environment }
        }

        fn with(mut self, name: &str, value: &str) -> World {
            self.environment.insert(name.into(), value.into());
            self
        }

        fn answers(&self) -> Answers {
            let worktree = self.root.path().join("worktree");
            answers(&Occasion {
                worktree: &worktree,
                ..occasion(&self.environment)
            })
        }
    }

    fn onboarded() -> Value {
        json!({"hasCompletedOnboarding": true})
    }

    #[test]
    fn the_folder_is_trusted_and_the_first_start_needs_no_theme() {
        let known = World::new(&onboarded()).answers();
        assert_eq!(known.environment["CLAUDE_CODE_SANDBOXED"], "1");
        assert!(!known.environment.contains_key("IS_DEMO"));
        assert_eq!(World::new(&json!({})).answers().environment["IS_DEMO"], "1");
    }

    #[test]
    fn a_turn_gets_the_key_that_is_meant() {
        let key = "sk-ant-0123456789012345678901234567";
        let listed =
            |list: &str| json!({"customApiKeyResponses": {list: ["89012345678901234567"]}});
        let with_login = |mut known: Value| {
            known["oauthAccount"] = json!({"x": 1});
            known
        };
        for (known, withheld) in [
            (onboarded(), false),
            (with_login(onboarded()), true),
            (listed("approved"), false),
            (with_login(listed("approved")), false),
            (listed("rejected"), true),
            (with_login(listed("rejected")), true),
        ] {
            let world = World::new(&known).with(KEY, key);
            let found = withheld_from_turn(&world.environment, None);
            assert_eq!(found == [KEY], withheld, "{known}: {found:?}");
            let world = world.with("ANTHROPIC_AUTH_TOKEN", "t");
            assert_eq!(withheld_from_turn(&world.environment, None), [""; 0]);
        }
    }

    #[test]
    fn a_key_is_used_where_there_is_nothing_else_and_never_in_place_of_a_login() {
        let key = "sk-ant-0123456789012345678901234567";
        let alone = World::new(&onboarded()).with(KEY, key).answers();
        assert_eq!(alone.withheld, [KEY]);
        assert_eq!(alone.environment[KEY_FOR_HELPER], key);
        assert!(alone.settings.contains_key("apiKeyHelper"));

        let login = json!({"hasCompletedOnboarding": true, "oauthAccount": {"x": 1}});
        let login = World::new(&login).with(KEY, key).answers();
        assert_eq!(login.withheld, [KEY]);
        assert!(login.settings.is_empty());

        let approved = json!({"customApiKeyResponses": {"approved": ["89012345678901234567"]}});
        let decided = World::new(&approved).with(KEY, key).answers();
        assert!(decided.withheld.is_empty());
    }

    /// The home is that of the person, not of the process that starts claude.
    #[test]
    fn what_claude_remembers_is_in_the_home_of_the_person() {
        let world = World::new(&json!({"mcpServers": {"a": {"command": "x"}}}));
        let home = world.root.path();
        let found = user_servers(&BTreeMap::new(), Some(home));
        assert_eq!(found, Some(home.join(".claude.json")));
        assert_eq!(user_servers(&BTreeMap::new(), None), None);
    }

    #[test]
    fn servers_of_the_user_are_found_if_claude_takes_them() {
        let servers = |servers: Value| {
            let world = World::new(&json!({"mcpServers": servers}));
            user_servers(&world.environment, None).is_some()
        };
        assert!(servers(
            json!({"a": {"command": "x"}, "b": {"type": "http", "url": "http://x"}})
        ));
        assert!(!servers(
            json!({"a": {"command": "x"}, "b": {"type": "odd"}})
        ));
        assert!(!servers(json!({})));
        assert!(!servers(Value::Null));
    }
}

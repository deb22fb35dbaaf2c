//! What the fence tells git by variables (`GIT_CONFIG_COUNT`), beside what the user tells it that way. A git that is
//! called by its absolute path, or by a hook, reads them too.

use super::is_hooks_of_fence;
use std::path::Path;

const COUNT: &str = "GIT_CONFIG_COUNT";

/// Leads hooks to the fence. It is the first of the fence's settings: its scripts find the user's in front of it.
const HOOKS_PATH: &str = "core.hooksPath";

/// For every push that has no place of its own.
const NOWHERE: &str = "url./dev/null/agents-of-orange-do-not-push/.pushInsteadOf";

/// Git does not push to a server that takes no signed pushes. Hardly any does, and `--no-verify` does not change that.
const SIGNED: &str = "push.gpgSign";

#[derive(Debug, Clone, PartialEq, Eq)]
struct GitSetting {
    key: Option<String>,
    value: Option<String>,
}

/// The variables to set, so that the fence's settings come after the user's. Those of a fence around this one go.
pub(super) fn added(hooks: &Path, known: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let all = settings(&known);
    let users = users(&all);
    let number = users.len();
    let own = [
        (HOOKS_PATH, hooks.display().to_string()),
        (NOWHERE, String::new()),
        (SIGNED, "true".to_owned()),
    ];
    let mut variables = vec![(COUNT.to_owned(), (number + own.len()).to_string())];
    for (name, value) in moved(&users, &all) {
        variables.extend(value.map(|value| (name, value)));
    }
    for (at, (own_key, own_value)) in own.into_iter().enumerate() {
        variables.push((key(number + at), own_key.to_owned()));
        variables.push((value(number + at), own_value));
    }
    variables
}

/// The variables as they are without a fence. Empty if there is none.
pub(super) fn taken_back(known: impl Fn(&str) -> Option<String>) -> Vec<(String, Option<String>)> {
    let all = settings(&known);
    let users = users(&all);
    if users.len() == all.len() {
        return Vec::new();
    }
    let count = (!users.is_empty()).then(|| users.len().to_string());
    let mut variables = vec![(COUNT.to_owned(), count)];
    variables.extend(moved(&users, &all));
    for at in users.len()..all.len() {
        variables.extend([(key(at), None), (value(at), None)]);
    }
    variables
}

fn settings(known: impl Fn(&str) -> Option<String>) -> Vec<GitSetting> {
    let count = known(COUNT).and_then(|count| count.trim().parse::<usize>().ok());
    let setting = |at| GitSetting {
        key: known(&key(at)),
        value: known(&value(at)),
    };
    (0..count.unwrap_or_default()).map(setting).collect()
}

/// All but those of a fence.
fn users(all: &[GitSetting]) -> Vec<GitSetting> {
    let mut users = Vec::new();
    let mut in_fence = false;
    for setting in all {
        let value = setting.value.as_deref().unwrap_or_default();
        let own = match setting.key.as_deref() {
            Some(HOOKS_PATH) => is_hooks_of_fence(Path::new(value)),
            Some(NOWHERE) => true,
            Some(SIGNED) => in_fence,
            Some(_) | None => false,
        };
        in_fence = own;
        if !own {
            users.push(setting.clone());
        }
    }
    users
}

/// The variables of those that have another number now. What was not read (it is no UTF-8, say) keeps its number where
/// it can.
fn moved(users: &[GitSetting], all: &[GitSetting]) -> Vec<(String, Option<String>)> {
    let mut variables = Vec::new();
    for (at, setting) in users.iter().enumerate() {
        if all.get(at) != Some(setting) {
            variables.push((key(at), setting.key.clone()));
            variables.push((value(at), setting.value.clone()));
        }
    }
    variables
}

fn key(number: usize) -> String {
    format!("GIT_CONFIG_KEY_{number}")
}

fn value(number: usize) -> String {
    format!("GIT_CONFIG_VALUE_{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    type Variables = BTreeMap<String, String>;

    fn with(pairs: &[(&str, &str)]) -> Variables {
        let mut known = Variables::from([(COUNT.to_owned(), pairs.len().to_string())]);
        for (at, (name, text)) in pairs.iter().enumerate() {
            known.insert(key(at), (*name).to_owned());
            known.insert(value(at), (*text).to_owned());
        }
        known
    }

    fn fenced(mut known: Variables, run: &str) -> Variables {
        let hooks = format!("/home/x/runs/{run}/fence/hooks");
        let variables = added(Path::new(&hooks), |name| known.get(name).cloned());
        known.extend(variables);
        known
    }

    fn unfenced(mut known: Variables) -> Variables {
        for (name, text) in taken_back(|name| known.get(name).cloned()) {
            match text {
                Some(text) => known.insert(name, text),
                None => known.remove(&name),
            };
        }
        known
    }

    #[test]
    fn what_the_user_tells_git_by_variables_stays() {
        let own = with(&[
            ("user.name", "x"),
            (HOOKS_PATH, "/my/hooks"),
            (SIGNED, "no"),
        ]);
        let known = fenced(own.clone(), "one");
        assert_eq!(known[COUNT], "6");
        assert_eq!(known[&key(1)], HOOKS_PATH);
        assert_eq!(known[&value(1)], "/my/hooks");
        assert_eq!(known[&value(3)], "/home/x/runs/one/fence/hooks");
        assert_eq!(unfenced(known), own);
        assert_eq!(unfenced(fenced(Variables::new(), "one")), Variables::new());
        assert_eq!(unfenced(own.clone()), own);
    }

    #[test]
    fn a_fence_around_a_fence_is_replaced_and_what_came_after_it_stays() {
        let mut outer = fenced(with(&[("a.b", "1")]), "one");
        outer.insert(COUNT.to_owned(), "5".to_owned());
        outer.insert(key(4), "c.d".to_owned());
        outer.insert(value(4), "2".to_owned());
        let inner = fenced(outer.clone(), "two");
        assert_eq!(inner[COUNT], "5");
        assert_eq!((&*inner[&key(1)], &*inner[&value(1)]), ("c.d", "2"));
        assert_eq!(inner[&value(2)], "/home/x/runs/two/fence/hooks");
        let both = with(&[("a.b", "1"), ("c.d", "2")]);
        assert_eq!(unfenced(outer), both);
        assert_eq!(unfenced(inner), both);
    }

    /// An agent that an earlier Orange started has one setting.
    #[test]
    fn the_fence_of_an_earlier_version_is_taken_back() {
        let known = with(&[("a.b", "1"), (NOWHERE, "")]);
        assert_eq!(unfenced(known), with(&[("a.b", "1")]));
    }
}

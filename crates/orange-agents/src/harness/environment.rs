//! What of a person's environment an agent gets. A window of tmux has the environment of the server, which may be days
//! old; what leads to a model and its account is taken from the command that starts the agent.

use super::list;
use std::collections::BTreeMap;

/// Beginnings of names that several harnesses use; each has its own besides.
const PREFIXES: &[&str] = &["AWS_", "AZURE_"];

/// Ends of names.
const SUFFIXES: &[&str] = &["_API_KEY", "_AUTH_TOKEN"];

/// Names, in any case.
const NAMES: &[&str] = &[
    "ALL_PROXY",
    "API_TIMEOUT_MS",
    "DISABLE_AUTOUPDATER",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "SSL_CERT_FILE",
];

/// What an agent around us says of itself to its commands: a new one would take itself for a part of it.
pub fn cleared() -> impl Iterator<Item = &'static str> {
    list::ALL.iter().flat_map(|kind| kind.cleared()).copied()
}

/// Those of these variables that an agent gets.
pub fn of_agents(
    variables: impl IntoIterator<Item = (String, String)>,
) -> BTreeMap<String, String> {
    let wanted = |name: &str| {
        let own = list::ALL.iter().flat_map(|kind| kind.variables());
        let mut prefixes = PREFIXES.iter().chain(own);
        let known = prefixes.any(|prefix| name.starts_with(prefix))
            || SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
            || NAMES.contains(&name.to_uppercase().as_str());
        known && cleared().all(|cleared| cleared != name)
    };
    let variables = variables.into_iter();
    variables.filter(|(name, _)| wanted(name)).collect()
}

/// Variables of these kinds that this process has of the tmux server it was started by, and that nobody has given to the
/// agent: of another day, another account.
pub fn stale(given: &BTreeMap<String, String>) -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let own = of_agents(names.map(|name| (name, String::new())));
    let unknown = own.into_keys().filter(|name| !given.contains_key(name));
    unknown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_to_a_model_is_passed_and_nothing_else() {
        let pairs = [
            "ANTHROPIC_BASE_URL",
            "MISTRAL_API_KEY",
            "https_proxy",
            "CLAUDECODE",
            "CLAUDE_CODE_SESSION_ID",
            "HOME",
            "GIT_DIR",
        ];
        let found = of_agents(pairs.map(|name| (name.to_owned(), "x".to_owned())));
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["ANTHROPIC_BASE_URL", "MISTRAL_API_KEY", "https_proxy"]
        );
    }
}

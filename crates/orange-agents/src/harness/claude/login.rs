//! Whether claude has an account to work with.

use crate::harness::probe::{Login, Probe, ProbeAnswer};
use serde_json::Value;
use std::path::Path;

pub(super) fn login(probe: &Probe<'_>, program: &Path) -> Login {
    match probe.ask(program, &["auth", "status"]) {
        Ok(answer) => read(&answer),
        Err(error) => Login::Unknown(error.message),
    }
}

fn read(answer: &ProbeAnswer) -> Login {
    let told: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let field = |name: &str| told.get(name).and_then(Value::as_str);
    match told.get("loggedIn").and_then(Value::as_bool) {
        Some(true) => {
            let how = field("authMethod").unwrap_or("logged in").replace('_', " ");
            match field("email") {
                Some(email) => Login::In(format!("{how}, {}", shortened(email))),
                None => Login::In(how),
            }
        }
        Some(false) => Login::Out(
            "not logged in: start `claude` and give it /login, or set ANTHROPIC_API_KEY".into(),
        ),
        None => Login::Unknown("`claude auth status` does not say".into()),
    }
}

/// `ma…@example.com`: enough to know which account it is.
fn shortened(email: &str) -> String {
    match email.split_once('@') {
        Some((name, host)) => {
            let start: String = name.chars().take(2).collect();
            format!("{start}…@{host}")
        }
        None => "an account".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(success: bool, text: &str) -> ProbeAnswer {
        let text = text.to_owned();
        ProbeAnswer { success, text }
    }

    #[test]
    fn a_login_is_told_without_secrets() {
        let json = r#"{"loggedIn": true, "authMethod": "claude_ai", "email": "martha@example.com", "token": "s3cret"}"#;
        let login = read(&answer(true, json));
        assert_eq!(login, Login::In("claude ai, ma…@example.com".into()));
        let out = read(&answer(false, r#"{"loggedIn": false}"#));
        assert!(matches!(out, Login::Out(why) if why.contains("/login")));
        let unknown = read(&answer(false, "Segfault"));
        assert!(matches!(unknown, Login::Unknown(_)));
    }
}

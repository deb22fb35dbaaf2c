//! Whether pi has an account to work with.

use crate::harness::probe::{Login, Probe, ProbeAnswer};
use serde_json::Value;
use std::path::Path;

pub(super) fn login(probe: &Probe<'_>, program: &Path) -> Login {
    let Some(provider) = provider(probe) else {
        return Login::Unknown("it has no default provider".into());
    };
    let words = ["auth", "check", "--provider", &provider, "--json"];
    match probe.ask(program, &words) {
        Ok(answer) => read(&provider, &answer),
        Err(error) => Login::Unknown(error.message),
    }
}

/// Of whom pi asks by default, as its settings say.
fn provider(probe: &Probe<'_>) -> Option<String> {
    let (_, settings) = probe.settings("PI_CODING_AGENT_DIR", ".pi/agent")?;
    settings.get("defaultProvider")?.as_str().map(str::to_owned)
}

fn read(provider: &str, answer: &ProbeAnswer) -> Login {
    let told: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let field = |name: &str| told.get(name).and_then(Value::as_str);
    match field("status") {
        Some("ready") if answer.success => Login::In(format!("provider {provider}")),
        Some(_) => {
            let why = field("reason").unwrap_or("not ready").replace('_', " ");
            Login::Out(format!(
                "provider {provider}: {why}: start `pi` and give it /login, or set its key"
            ))
        }
        None => Login::Unknown("`pi auth check` does not say".into()),
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
        let ready = read(
            "mock",
            &answer(true, r#"{"status":"ready","key":"s3cret"}"#),
        );
        assert_eq!(ready, Login::In("provider mock".into()));
        let missing = r#"{"status":"not_ready","reason":"credentials_not_configured"}"#;
        assert!(
            matches!(read("mock", &answer(false, missing)), Login::Out(why) if why.contains("credentials not configured"))
        );
    }
}

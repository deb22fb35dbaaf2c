//! Posting what needs the person to their URL: JSON, signed if there is a secret, tried again where that may help.

use crate::error::plain;
use hmac::{Hmac, KeyInit, Mac};
use orange_core::naming::counted;
use rustls::crypto::ring;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// What each try may take, and how long it is waited before each further one.
pub(super) struct Pace {
    pub(super) timeout: Duration,
    pub(super) waits: &'static [Duration],
}

pub(super) const PACE: Pace = Pace {
    timeout: Duration::from_secs(10),
    waits: &[
        Duration::from_secs(1),
        Duration::from_secs(5),
        Duration::from_secs(30),
    ],
};

/// Why a try failed, and whether another one may do better.
struct Failure {
    why: String,
    may_pass: bool,
}

/// What is sent: the same as `notify.command` has in its environment.
pub(super) fn body(about: &BTreeMap<String, String>) -> String {
    let value = |name: &str| about.get(&format!("ORANGE_NOTIFY_{name}"));
    json!({
        "delivery": delivery(about),
        "time": value("TIME"),
        "event": value("EVENT"),
        "project": value("PROJECT"),
        "key": value("TASK"),
        "id": value("ID"),
        "branch": value("BRANCH"),
        "summary": value("SUMMARY"),
        "status": value("STATUS"),
        "reason": value("REASON"),
        "answer": value("ANSWER"),
        "message": value("MESSAGE"),
    })
    .to_string()
}

/// The same for every try, so that a receiver can tell a repetition.
fn delivery(about: &BTreeMap<String, String>) -> String {
    let mut digest = Sha256::new();
    for (name, value) in about {
        digest.update(name);
        digest.update([0]);
        digest.update(value);
        digest.update([0]);
    }
    hex(&digest.finalize()[..16])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn signature(secret: &str, body: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(body.as_bytes());
    Some(format!("sha256={}", hex(&mac.finalize().into_bytes())))
}

/// Scheme and host. The rest of a URL is often what entitles to it.
pub(super) fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?']);
    end.map_or(url, |end| &url[..host + end])
}

/// Posts until it is taken, or until another try has no use. An error says why, and after how many tries.
pub(super) fn post(
    url: &str,
    secret: Option<&str>,
    about: &BTreeMap<String, String>,
    pace: &Pace,
) -> Result<(), String> {
    let body = body(about);
    let delivery = delivery(about);
    let signature = secret.and_then(|secret| signature(secret, &body));
    let agent = agent(url, pace);
    let mut waits = pace.waits.iter();
    for tried in 1.. {
        let mut request = agent
            .post(url)
            .content_type("application/json")
            .header("X-Orange-Delivery", &delivery);
        if let Some(signature) = &signature {
            request = request.header("X-Orange-Signature", signature);
        }
        let failure = match request.send(&body) {
            Ok(response) => match refusal(response.status().as_u16()) {
                Some(failure) => failure,
                None => return Ok(()),
            },
            Err(error) => failure(&error),
        };
        match waits.next() {
            Some(wait) if failure.may_pass => std::thread::sleep(*wait),
            _ => return Err(format!("{} ({})", failure.why, counted(tried, "attempt"))),
        }
    }
    Ok(())
}

/// A proxy named in the environment is not used: the environment may be an agent's.
fn agent(url: &str, pace: &Pace) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(pace.timeout))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("orange/", env!("CARGO_PKG_VERSION")));
    let is_secure = url
        .get(..6)
        .is_some_and(|begin| begin.eq_ignore_ascii_case("https:"));
    if !is_secure {
        return config.build().new_agent();
    }
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .root_certs(RootCerts::from(trusted()));
    config.tls_config(tls.build()).build().new_agent()
}

/// The certificates that this machine trusts, a company's own among them.
fn trusted() -> Vec<Certificate<'static>> {
    let found = rustls_native_certs::load_native_certs();
    if let Some(error) = found.errors.first() {
        tracing::warn!(%error, "not every certificate that this machine trusts could be read");
    }
    let certificates = found.certs.iter();
    certificates
        .map(|certificate| Certificate::from_der(certificate).to_owned())
        .collect()
}

/// What an answer other than 2xx means.
fn refusal(status: u16) -> Option<Failure> {
    let (why, may_pass) = match status {
        200..=299 => return None,
        300..=399 => (
            format!("it answered {status}, and redirects are not followed"),
            false,
        ),
        408 | 425 | 429 | 500..=599 => (format!("it answered {status}"), true),
        _ => (format!("it answered {status}"), false),
    };
    Some(Failure { why, may_pass })
}

/// In words that do not name the URL.
fn failure(error: &ureq::Error) -> Failure {
    let (why, may_pass) = match error {
        ureq::Error::Timeout(_) => ("it did not answer in time".to_owned(), true),
        ureq::Error::HostNotFound => ("there is no such host".to_owned(), true),
        ureq::Error::ConnectionFailed => ("it cannot be reached".to_owned(), true),
        ureq::Error::Io(error) => (plain(error), true),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
            ("the URL cannot be used".to_owned(), false)
        }
        ureq::Error::Tls(why) => (format!("no secure connection: {why}"), false),
        ureq::Error::Rustls(why) => (format!("no secure connection: {why}"), false),
        _ => ("it does not speak HTTP as expected".to_owned(), true),
    };
    Failure { why, may_pass }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;

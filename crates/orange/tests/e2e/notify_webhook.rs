//! `notify.webhook`: what needs a person is posted to their URL.

use crate::agents::Agents;
use crate::env::TestEnvironment;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const SECRET: &str = "known-to-two-only";

/// A server on loopback: answers the first request with 500, all others with 204.
struct Receiver {
    url: String,
    /// Head and body of each request.
    requests: Arc<Mutex<Vec<(String, String)>>>,
}

impl Receiver {
    fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let (mut head, mut length) = (String::new(), 0);
                let mut line = String::new();
                while reader.read_line(&mut line).unwrap() > 2 {
                    let lower = std::mem::take(&mut line).to_ascii_lowercase();
                    if let Some(value) = lower.strip_prefix("content-length: ") {
                        length = value.trim().parse().unwrap();
                    }
                    head.push_str(&lower);
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let mut taken = taken.lock().unwrap();
                let status = if taken.is_empty() {
                    "500 No"
                } else {
                    "204 Yes"
                };
                taken.push((head, String::from_utf8(body).unwrap()));
                let answer = format!("HTTP/1.1 {status}\r\nConnection: close\r\n\r\n");
                reader.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        Receiver { url, requests }
    }

    fn requests(&self) -> Vec<(String, String)> {
        self.requests.lock().unwrap().clone()
    }
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let mut lines = head.lines();
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    found.unwrap_or_else(|| panic!("no {name} in {head}"))
}

#[test]
fn a_question_is_posted_once_signed_and_again_after_a_failure() {
    let receiver = Receiver::start();
    let env = Agents::configured(&format!(
        "notify:\n  webhook: {}\n  webhook_secret: {SECRET}\n",
        receiver.url
    ));
    let task = env.start(
        "Deploy it",
        "worker:\n  - ask permission: \"Bash: echo \\\"\\e[31mred\\\" \\\\\"\n  - hang\n",
    );
    env.until("it is posted twice", || receiver.requests().len() >= 2);
    env.look();
    let crashes = env.start("Crash it", "worker:\n  - status: clarification\n  - hang\n");
    env.until("the next one is posted", || receiver.requests().len() >= 3);
    env.look();
    let requests = receiver.requests();
    assert_eq!(requests.len(), 3, "{requests:?}");
    assert_eq!(requests[0], requests[1], "a retry sends the same");
    let (head, body) = &requests[0];
    assert!(head.starts_with("post /hook http/1.1"), "{head}");
    let told: Value = serde_json::from_str(body).unwrap();
    let reason = told["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("asks permission: Bash: echo \"\u{fffd}[31mred\" \\"),
        "{reason}"
    );
    for (name, value) in [
        ("project", "shop"),
        ("key", "TASK-001"),
        ("id", &task.id),
        ("summary", "Deploy it"),
        ("event", "attention.raised"),
        ("answer", "orange answer shop:TASK-001"),
        ("delivery", header(head, "x-orange-delivery")),
    ] {
        assert_eq!(told[name], value, "{name}");
    }
    // The same sum by another program.
    let file = env.write("body", body);
    let sum = env
        .foreign("openssl")
        .args(["dgst", "-sha256", "-hmac", SECRET])
        .arg(file)
        .output()
        .unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    let sum = sum.trim().rsplit(' ').next().unwrap();
    assert_eq!(header(head, "x-orange-signature"), format!("sha256={sum}"));
    let other: Value = serde_json::from_str(&requests[2].1).unwrap();
    assert_eq!(other["id"], crashes.id.as_str());
    assert_ne!(other["delivery"], told["delivery"]);
    let log = std::fs::read_to_string(env.home().join("orange.log")).unwrap();
    assert!(!log.contains(SECRET), "{log}");
}

#[test]
fn the_secret_is_never_shown_and_a_wrong_url_is_told() {
    let env = TestEnvironment::new();
    env.orange(["config", "set", "notify.webhook_secret", SECRET])
        .ok()
        .says("notify.webhook_secret: not set → (hidden)")
        .silent_about(SECRET);
    env.orange(["config", "set", "notify.webhook_secret", SECRET])
        .ok()
        .says("notify.webhook_secret is (hidden) already");
    env.orange(["config", "set", "notify.webhook_secret", "another"])
        .ok()
        .says("notify.webhook_secret: (hidden) → (hidden)")
        .silent_about("another");
    env.orange(["config", "set", "notify.webhook_secret", SECRET])
        .ok();
    let file = || std::fs::read_to_string(env.home().join("config.yaml")).unwrap();
    assert!(file().contains(SECRET));
    for command in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["config", "get", "notify.webhook_secret"],
        &["config", "get", "notify"],
        &["doctor"],
        &["log"],
    ] {
        let said = env.call(command.iter().copied()).run();
        assert!(!said.stdout.contains(SECRET), "{command:?}");
        assert!(!said.stderr.contains(SECRET), "{command:?}");
    }
    env.orange(["config", "set", "notify.webhook", "ftp://example.org"])
        .fails_with(2)
        .says("notify.webhook must be a URL such as https://example.org/hook");
    let written = format!("{}  webhook: https://me:{SECRET}@example.org/\n", file());
    env.write("home/orange/config.yaml", written);
    env.orange(["config", "show"])
        .fails_with(1)
        .says("notify.webhook must be a URL");
    env.orange(["doctor"]).says("notify.webhook must be a URL");
    env.orange(["config", "set", "notify.webhook", "https://example.org/x"])
        .ok();
    env.orange(["config", "unset", "notify.webhook_secret"])
        .ok()
        .silent_about(SECRET);
}

#[test]
fn a_repository_cannot_say_where_to_post() {
    let env = TestEnvironment::new();
    let text = "notify:\n  webhook: http://127.0.0.1:1/\n  webhook_secret: theirs\n";
    std::fs::create_dir(env.shop().join(".orange")).unwrap();
    env.commit(&env.shop(), ".orange/config.yaml", text);
    let said = env.orange(["config", "show", "--project", "shop"]).ok();
    let said = said
        .says("line 2: notify.webhook does not count here: it decides what leaves your machine")
        .says("line 3: notify.webhook_secret does not count here");
    assert!(!said.stdout.contains("127.0.0.1:1"), "{}", said.stdout);
    assert!(!said.stdout.contains("theirs"), "{}", said.stdout);
}

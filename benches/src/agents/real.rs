//! Real agent CLIs: how long until the model hears from them, against the same CLI started by hand.

use super::stage::Stage;
use crate::fixture::key;
use crate::measure::{in_turns, run};
use crate::report::Row;
use crate::scratch::Scratch;
use crate::{Result, note};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Longer than any of them takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How each is started by hand; the prompt follows.
const CLIS: [(&str, &[&str]); 2] = [
    ("claude", &["--dangerously-skip-permissions", "--"]),
    ("pi", &["--"]),
];

pub(super) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    let folder =
        std::env::var_os("ORANGE_TEST_AGENTS").map(|folder| PathBuf::from(folder).join("bin"));
    let mut rows = Vec::new();
    for (name, arguments) in CLIS {
        let what = format!("`task create` → model's first request, {name}");
        let against = format!("{name} by hand in a bare tmux window");
        let there = folder.as_ref().filter(|folder| folder.join(name).exists());
        rows.push(match there {
            Some(folder) => measured(scratch, folder, name, arguments, &what, &against)?,
            None => Row::not_measured(&what, &against, "not installed: `make bench` does it"),
        });
    }
    Ok(rows)
}

fn measured(
    scratch: &Scratch,
    programs: &Path,
    name: &str,
    arguments: &[&str],
    what: &str,
    against: &str,
) -> Result<Row> {
    const ROUNDS: usize = 8;
    note(&format!("{name} …"));
    let stage = Stage::new(scratch, name, 1, "true")?;
    let model = Model::start()?;
    let variables = variables(&stage, programs, &model.url)?;
    let [ours, floor] = in_turns(
        ROUNDS,
        [
            Box::new(|round| {
                let words = ["task", "create", "Do it", "--harness", name];
                let mut create = stage.orange_command(&words);
                let took = model.until_asked(create.envs(variables.clone()))?;
                stage.orange(&["task", "cancel", &key(round + 1), "--yes"])?;
                Ok(took)
            }),
            Box::new(|round| {
                let session = format!("peer-{round}");
                let folder = stage.repository.display().to_string();
                let mut start = stage.tmux(&["new-session", "-d", "-s", &session, "-c", &folder]);
                // As a person's shell would have them; a window does not get its PATH in any other way.
                start.arg("env");
                start.args(
                    variables
                        .iter()
                        .map(|(name, value)| format!("{name}={value}")),
                );
                start.arg(programs.join(name)).args(arguments).arg("Do it");
                let took = model.until_asked(&mut start)?;
                run(&mut stage.tmux(&["kill-session", "-t", &session]))?;
                Ok(took)
            }),
        ],
    )?;
    Ok(Row::at_most(
        what,
        against,
        ours.best(),
        floor.best(),
        Some(1.3),
    ))
}

/// Everything that leads the CLIs to our listener, with no dialog in between.
fn variables(stage: &Stage<'_>, programs: &Path, url: &str) -> Result<Vec<(&'static str, String)>> {
    let (claude, pi) = (stage.root.join(".claude"), stage.root.join(".pi"));
    fs::create_dir_all(&claude)?;
    fs::create_dir_all(&pi)?;
    let repository = stage.repository.canonicalize()?.display().to_string();
    let state = json!({
        "hasCompletedOnboarding": true,
        "projects": {repository: {"hasTrustDialogAccepted": true}},
    });
    fs::write(claude.join(".claude.json"), state.to_string())?;
    let settings = json!({"skipDangerousModePermissionPrompt": true});
    fs::write(claude.join("settings.json"), settings.to_string())?;
    let model = json!({"id": "listener", "contextWindow": 200_000, "maxTokens": 8000});
    let provider =
        json!({"baseUrl": url, "api": "anthropic-messages", "apiKey": "fake", "models": [model]});
    fs::write(
        pi.join("models.json"),
        json!({"providers": {"local": provider}}).to_string(),
    )?;
    let settings = json!({"defaultProvider": "local", "defaultModel": "listener"});
    fs::write(pi.join("settings.json"), settings.to_string())?;
    let path = std::env::var("PATH").unwrap_or_default();
    Ok(vec![
        ("PATH", format!("{}:{path}", programs.display())),
        ("CLAUDE_CONFIG_DIR", claude.display().to_string()),
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        ("ANTHROPIC_AUTH_TOKEN", "fake".into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("IS_SANDBOX", "1".into()),
        ("PI_CODING_AGENT_DIR", pi.display().to_string()),
        ("PI_OFFLINE", "1".into()),
        ("PI_SKIP_VERSION_CHECK", "1".into()),
        ("PI_TELEMETRY", "0".into()),
    ])
}

/// Listens as a model would, and answers nothing: the agents are ended once they have asked.
struct Model {
    url: String,
    asked: Receiver<Instant>,
}

impl Model {
    fn start() -> Result<Model> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let (tell, asked) = channel();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let tell = tell.clone();
                std::thread::spawn(move || serve(&connection, &tell));
            }
        });
        Ok(Model { url, asked })
    }

    /// The time from a command's start until the model is asked.
    fn until_asked(&self, command: &mut Command) -> Result<Duration> {
        while self.asked.try_recv().is_ok() {}
        let start = Instant::now();
        run(command)?;
        let asked = self.asked.recv_timeout(TIMEOUT);
        let asked = asked.map_err(|_| format!("the model was not asked: {command:?}"))?;
        Ok(asked.duration_since(start))
    }
}

/// Ends with the connection.
fn serve(mut connection: &TcpStream, tell: &Sender<Instant>) {
    let mut reader = BufReader::new(connection);
    loop {
        let mut head = String::new();
        if !matches!(reader.read_line(&mut head), Ok(1..)) {
            return;
        }
        let is_question = head.starts_with("POST") && head.contains("/messages");
        let mut line = String::new();
        while matches!(reader.read_line(&mut line), Ok(1..)) && !line.trim().is_empty() {
            line.clear();
        }
        if is_question {
            let _ = tell.send(Instant::now());
            // The agent waits for its answer until it is ended.
            let _ = std::io::copy(&mut reader.by_ref(), &mut std::io::sink());
            return;
        }
        let nothing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        if connection.write_all(nothing).is_err() {
            return;
        }
    }
}

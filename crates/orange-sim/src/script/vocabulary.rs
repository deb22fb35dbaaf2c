//! Every step there is: its name, its options, and how it is read.

use super::super::text::Text;
use super::reader::{Written, word};
use super::values::{self, Value};
use super::{Action, Condition, Flood, FloodKind, How, ScriptError, Wanted};
use orange_core::task::Status;
use orange_core::yaml::{Entry, Node};
use rustix::process::Signal;
use serde_json::Value as Json;

type Result<T> = std::result::Result<T, ScriptError>;

pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) options: &'static [&'static str],
    pub(super) read: fn(&Written<'_>) -> Result<Action>,
}

const fn known(
    name: &'static str,
    options: &'static [&'static str],
    read: fn(&Written<'_>) -> Result<Action>,
) -> Known {
    Known {
        name,
        options,
        read,
    }
}

const ENDING: &[&str] = &["expect", "ignore"];

pub(super) const STEPS: &[Known] = &[
    known("say", &[], |w| Ok(Action::Say(w.value(values::text)?))),
    known("pause", &[], |w| Ok(Action::Pause(w.value(values::time)?))),
    known("plan", &["how"], |w| artifact(w, "Plan")),
    known("handoff", &["how"], |w| artifact(w, "Handoff")),
    known("questions", &["how"], |w| artifact(w, "Questions")),
    known("review", &["text", "how"], review),
    known("section", &["text", "how"], section),
    known("frontmatter", &["how"], frontmatter),
    known("status", ENDING, status),
    known("complete", ENDING, |w| orange(w, &["task", "complete"])),
    known("stuck", ENDING, |w| orange(w, &["task", "stuck"])),
    known("write", &["text"], |w| write(w, false)),
    known("append", &["text"], |w| write(w, true)),
    known("fill", &["size"], fill),
    known("delete", &[], |w| {
        Ok(Action::Delete(w.value(values::text)?))
    }),
    known("commit", &["empty", "expect", "ignore"], commit),
    known("git", ENDING, git),
    known("run", ENDING, run),
    known("child", &[], |w| {
        Ok(Action::Child(w.value(values::command)?))
    }),
    known("daemon", &["clear_env"], daemon),
    known("wait for", &["timeout"], wait_for),
    known("if", &["then", "else"], branch),
    known("repeat", &["steps"], repeat),
    known("end turn", &[], |w| w.no_value().map(|()| Action::EndTurn)),
    known("ask permission", &["allowed", "denied"], ask_permission),
    known("fail", &["error", "limit"], |w| {
        Ok(Action::Fail {
            text: w.value(values::text)?,
            error: w.option("error", word)?,
            limit: w.option("limit", values::time)?,
        })
    }),
    known("lose enter", &[], |w| {
        Ok(Action::LoseEnter(w.value_or(values::number, 1)?))
    }),
    known("flood", &["line", "kind"], flood),
    known("exit", &[], |w| {
        Ok(Action::Exit(w.value_or(values::exit_code, 0)?))
    }),
    known("crash", &[], |w| {
        Ok(Action::Crash(w.value_or(values::signal, Signal::SEGV)?))
    }),
    known("hang", &["ignore"], hang),
    known("stop", &[], |w| w.no_value().map(|()| Action::Stop)),
];

fn plain(text: &'static str) -> Result<Text> {
    Text::parse(text).map_err(|message| ScriptError {
        message,
        hint: String::new(),
    })
}

fn artifact(written: &Written<'_>, name: &'static str) -> Result<Action> {
    Ok(Action::Section {
        name: plain(name)?,
        text: written.value(values::text)?,
        how: written.option("how", values::how)?,
    })
}

fn review(written: &Written<'_>) -> Result<Action> {
    let verdict = written.value(values::verdict)?;
    let with_text = |node: &Node| {
        let text = values::scalar(node).unwrap_or_default();
        values::text(node)?;
        Text::parse(&format!("Verdict: {verdict}\n\n{text}"))
    };
    let text = written.option("text", with_text)?;
    let alone = match verdict {
        "PASS" => "Verdict: PASS",
        _ => "Verdict: FAIL",
    };
    Ok(Action::Section {
        name: plain("Review")?,
        text: text.map_or_else(|| plain(alone), Ok)?,
        how: written.option("how", values::how)?,
    })
}

fn section(written: &Written<'_>) -> Result<Action> {
    Ok(Action::Section {
        name: written.value(values::text)?,
        text: written.needed("text", values::text)?,
        how: written.option("how", values::how)?,
    })
}

fn frontmatter(written: &Written<'_>) -> Result<Action> {
    let field = |entry: &Entry| {
        let value = entry.value.to_json();
        (entry.key.clone(), (value != Json::Null).then_some(value))
    };
    let in_place = |node: &Node| match values::how(node) {
        Ok(how @ (How::Truncate | How::Rename)) => Ok(how),
        _ => Err("must be truncate or rename".to_owned()),
    };
    Ok(Action::Frontmatter {
        fields: written.fields()?.iter().map(field).collect(),
        how: written.option("how", in_place)?.unwrap_or(How::Truncate),
    })
}

/// How a command must end for the agent to be content.
fn wanted(written: &Written<'_>) -> Result<Wanted> {
    let code = written.option("expect", values::exit_code)?;
    Ok(match written.option("ignore", values::yes)? {
        Some(true) => Wanted::Anything,
        Some(false) | None => Wanted::Code(code.unwrap_or(0)),
    })
}

fn orange(written: &Written<'_>, arguments: &[&str]) -> Result<Action> {
    written.no_value()?;
    Ok(Action::Orange {
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        wanted: wanted(written)?,
    })
}

/// Any word: that a status is refused is a thing to rehearse.
fn status(written: &Written<'_>) -> Result<Action> {
    let status = written.value(word)?;
    Ok(Action::Orange {
        arguments: vec!["task".into(), "update".into(), format!("--status={status}")],
        wanted: wanted(written)?,
    })
}

fn write(written: &Written<'_>, append: bool) -> Result<Action> {
    Ok(Action::Write {
        file: written.value(values::text)?,
        text: written.needed("text", values::text)?,
        append,
    })
}

fn fill(written: &Written<'_>) -> Result<Action> {
    Ok(Action::Fill {
        file: written.value(values::text)?,
        bytes: written.needed("size", values::size)?,
    })
}

fn commit(written: &Written<'_>) -> Result<Action> {
    Ok(Action::Commit {
        message: written.value(values::text)?,
        empty: written.option("empty", values::yes)?.unwrap_or(false),
        wanted: wanted(written)?,
    })
}

fn git(written: &Written<'_>) -> Result<Action> {
    let arguments = |node: &Node| match node {
        Node::Sequence { items, .. } if !items.is_empty() => {
            items.iter().map(values::text).collect()
        }
        _ => Err("must be a list of arguments, such as [switch, main]".to_owned()),
    };
    Ok(Action::Git {
        arguments: written.value(arguments)?,
        wanted: wanted(written)?,
    })
}

fn run(written: &Written<'_>) -> Result<Action> {
    Ok(Action::Run {
        command: written.value(values::command)?,
        wanted: wanted(written)?,
    })
}

fn daemon(written: &Written<'_>) -> Result<Action> {
    Ok(Action::Daemon {
        command: written.value(values::command)?,
        clear_env: written.option("clear_env", values::yes)?.unwrap_or(false),
    })
}

const CONDITIONS: &str =
    "`{file: PATH}`, `{message: TEXT}`, `{message: true}`, `{status: NAME}` or `{command: LINE}`";

fn condition(written: &Written<'_>) -> Result<Condition> {
    let (key, node) = written.only_key(CONDITIONS)?;
    let read: Value<Condition> = match key {
        "file" => values::text(node).map(Condition::File),
        "message" if values::scalar(node) == Some("true") => Ok(Condition::Message(Vec::new())),
        "message" => values::texts(node).map(Condition::Message),
        "status" => statuses(node).map(Condition::Status),
        "command" => values::command(node).map(Condition::Command),
        _ => Err(format!("is no condition; allowed: {CONDITIONS}")),
    };
    read.map_err(|reason| written.wrong(key, node, &reason))
}

/// A condition that can never hold is a slip of the pen.
fn statuses(node: &Node) -> Value<Vec<String>> {
    let a_status = |node: &Node| {
        let status = word(node)?;
        match status.parse::<Status>() {
            Ok(_) => Ok(status),
            Err(error) => Err(format!("must be a status, or a list of them: {error}")),
        }
    };
    match node {
        Node::Sequence { items, .. } => items.iter().map(a_status).collect(),
        Node::Scalar { .. } | Node::Mapping { .. } => a_status(node).map(|status| vec![status]),
    }
}

fn wait_for(written: &Written<'_>) -> Result<Action> {
    Ok(Action::WaitFor {
        condition: condition(written)?,
        timeout: written.option("timeout", values::time)?,
    })
}

fn branch(written: &Written<'_>) -> Result<Action> {
    Ok(Action::If {
        condition: condition(written)?,
        then: written.steps("then")?,
        otherwise: written.steps("else")?,
    })
}

fn repeat(written: &Written<'_>) -> Result<Action> {
    let steps = written.steps("steps")?;
    if steps.is_empty() {
        // For ever nothing would be a busy loop.
        written.needed("steps", |_| Err::<(), _>("must not be empty".into()))?;
    }
    Ok(Action::Repeat {
        times: written.value(values::times)?,
        steps,
    })
}

fn ask_permission(written: &Written<'_>) -> Result<Action> {
    Ok(Action::AskPermission {
        question: written.value(values::text)?,
        allowed: written.steps("allowed")?,
        denied: written.steps("denied")?,
    })
}

fn flood(written: &Written<'_>) -> Result<Action> {
    Ok(Action::Flood(Flood {
        bytes: written.value(values::size)?,
        line: written.option("line", values::line)?.unwrap_or(Some(80)),
        kind: written
            .option("kind", values::flood_kind)?
            .unwrap_or(FloodKind::Text),
    }))
}

fn hang(written: &Written<'_>) -> Result<Action> {
    written.no_value()?;
    Ok(Action::Hang {
        ignore: written
            .option("ignore", values::signals)?
            .unwrap_or_default(),
    })
}

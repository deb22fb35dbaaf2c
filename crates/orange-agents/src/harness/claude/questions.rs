//! What Claude Code asks: read from the report of its hook, answered as it wants answers, and seen to be over.

use crate::runs::{Asked, Question, QuestionAnswer, SignalKind, Subject};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The tool by which it asks a person for words.
pub(super) const ASKS_WORDS: &str = "AskUserQuestion";

/// Between two dialogs it may look for a moment as if there were none.
const STEADY: Duration = Duration::from_millis(500);

/// The question of a report; None if it asks nothing.
pub(super) fn question(report: &Value, text: &str) -> Option<Question> {
    if report.get("hook_event_name")?.as_str()? != "PermissionRequest" {
        return None;
    }
    let tool = report.get("tool_name").and_then(Value::as_str)?;
    let input = report.get("tool_input").cloned().unwrap_or_default();
    let asked = match tool {
        ASKS_WORDS => asked_in(&input),
        _ => Vec::new(),
    };
    let cwd = report.get("cwd").and_then(Value::as_str);
    Some(Question {
        tool: tool.to_owned(),
        input,
        cwd: cwd.unwrap_or_default().to_owned(),
        asked,
        ..Question::new(text.to_owned())
    })
}

/// What a tool would be used on. A command that comes with more than these, outside of claude's sandbox say, is another one.
pub(super) fn subject<'v>(tool: &str, input: &'v Value) -> Option<Subject<'v>> {
    const OF_COMMANDS: &[&str] = &["command", "description", "timeout", "run_in_background"];
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let file = match tool {
        ASKS_WORDS => return None,
        "Bash" => {
            let command = text("command").filter(|_| Subject::has_only(input, OF_COMMANDS));
            return Some(command.map_or(Subject::Input, Subject::Command));
        }
        "Edit" | "MultiEdit" | "Read" | "Write" => text("file_path"),
        "NotebookEdit" => text("notebook_path"),
        _ => None,
    };
    Some(file.map_or(Subject::Input, Subject::File))
}

/// What a person is asked for in words.
pub(super) fn asked_in(input: &Value) -> Vec<Asked> {
    list(input, "questions").iter().filter_map(asked).collect()
}

fn asked(question: &Value) -> Option<Asked> {
    let label = |option: &Value| option.get("label")?.as_str().map(str::to_owned);
    Some(Asked {
        question: question.get("question")?.as_str()?.to_owned(),
        options: list(question, "options").iter().filter_map(label).collect(),
    })
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    let list = value.get(name).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// Does a report of a tool that has run say that this question is over? Another tool may run beside it.
pub(super) fn settles(report: &Value, question: &Question) -> bool {
    let is_same = report.get("tool_name").and_then(Value::as_str) == Some(&question.tool);
    let input = report.get("tool_input");
    is_same && (question.tool == ASKS_WORDS || input == Some(&question.input))
}

/// The answer as its hook prints it.
pub(super) fn reply(question: &Question, answer: &QuestionAnswer) -> String {
    let mut decision = match answer.message.as_str() {
        _ if answer.allow => json!({"behavior": "allow"}),
        "" => json!({"behavior": "deny", "message": "The person said no."}),
        message => json!({"behavior": "deny", "message": message}),
    };
    if answer.allow && !question.asked.is_empty() {
        let texts = question.asked.iter().zip(&answer.answers);
        let answers: Map<String, Value> = texts
            .map(|(asked, text)| (asked.question.clone(), Value::from(text.as_str())))
            .collect();
        let mut input = question.input.clone();
        input["answers"] = Value::Object(answers);
        decision["updatedInput"] = input;
    }
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
        .to_string()
}

/// Watches what claude says of itself in its own folder: a dialog that was shown and is not any more was answered
/// where it was shown, which no hook tells.
pub(super) struct Dialog {
    sessions: PathBuf,
    session: String,
    was_shown: bool,
    gone_since: Option<Instant>,
}

impl Dialog {
    /// `config` is claude's own folder.
    pub(super) fn new(config: &Path, report: &Value) -> Dialog {
        let session = report.get("session_id").and_then(Value::as_str);
        Dialog {
            sessions: config.join("sessions"),
            session: session.unwrap_or_default().to_owned(),
            was_shown: false,
            gone_since: None,
        }
    }

    /// What it does since the dialog was answered; None while it is open, or where nothing is known.
    pub(super) fn answered(&mut self) -> Option<SignalKind> {
        let status = self.status()?;
        if status == "waiting" {
            self.was_shown = true;
            self.gone_since = None;
            return None;
        }
        if !self.was_shown {
            return None;
        }
        let since = *self.gone_since.get_or_insert_with(Instant::now);
        if since.elapsed() < STEADY {
            return None;
        }
        Some(match status.as_str() {
            "busy" => SignalKind::Working,
            _ => SignalKind::Interrupted,
        })
    }

    fn status(&self) -> Option<String> {
        let files = fs::read_dir(&self.sessions).ok()?.flatten();
        let of_session = files.filter_map(|file| {
            let path = file.path();
            let is_state = path.extension().is_some_and(|ending| ending == "json");
            let text = is_state.then(|| fs::read(path).ok()).flatten()?;
            let state: Value = serde_json::from_slice(&text).ok()?;
            let ours = state.get("sessionId")?.as_str()? == self.session;
            ours.then_some(state)
        });
        // One that was killed leaves its file.
        let newest =
            of_session.max_by_key(|state| state.get("startedAt").and_then(Value::as_i64))?;
        newest.get("status")?.as_str().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_back_under_the_question_that_asked_for_them() {
        let report = json!({
            "hook_event_name": "PermissionRequest",
            "tool_name": "AskUserQuestion",
            "tool_input": {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]},
        });
        let question = question(&report, "Which? (A, B)").unwrap();
        assert_eq!(question.asked[0].options, ["A", "B"]);
        let answer = QuestionAnswer {
            allow: true,
            message: String::new(),
            answers: vec!["B".into()],
            rule: None,
        };
        let reply: Value = serde_json::from_str(&reply(&question, &answer)).unwrap();
        let decision = &reply["hookSpecificOutput"]["decision"];
        assert_eq!(decision["updatedInput"]["answers"]["Which?"], "B");
        assert_eq!(decision["behavior"], "allow");
    }

    #[test]
    fn what_a_tool_is_used_on() {
        let command = json!({"command": "ls", "description": "look", "timeout": 5});
        assert_eq!(subject("Bash", &command), Some(Subject::Command("ls")));
        let more = json!({"command": "ls", "dangerouslyDisableSandbox": true});
        assert_eq!(subject("Bash", &more), Some(Subject::Input));
        let unused = json!({"command": "ls", "dangerouslyDisableSandbox": false});
        assert_eq!(subject("Bash", &unused), Some(Subject::Command("ls")));
        let file = json!({"file_path": "/x", "content": "y"});
        assert_eq!(subject("Write", &file), Some(Subject::File("/x")));
        assert_eq!(subject("WebFetch", &json!({})), Some(Subject::Input));
        assert_eq!(subject(ASKS_WORDS, &json!({})), None);
    }

    #[test]
    fn only_the_tool_that_was_asked_for_settles_a_question() {
        let of = |event: &str, command: &str| json!({"hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": command}});
        let question = question(&of("PermissionRequest", "rm x"), "Bash: rm x").unwrap();
        assert!(settles(&of("PostToolUse", "rm x"), &question));
        assert!(!settles(&of("PostToolUse", "ls"), &question));
    }
}

//! A request to the model, read: who said what in the conversation so far, and what the agent offers.

use super::http::HttpRequest;
use super::{anthropic, openai};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's chat completions.
    OpenAi,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) protocol: Protocol,
    /// With names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) model: String,
    pub(crate) streams: bool,
    /// All instructions that are not of the conversation.
    pub(crate) system: String,
    pub(crate) tools: Vec<Tool>,
    /// What a person said, in order.
    pub(crate) humans: Vec<Human>,
    /// As it came.
    pub(crate) body: Value,
}

/// A tool that the agent offers to the model.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The JSON schema of its arguments.
    pub(crate) schema: Value,
}

/// One message that a person gave to the agent.
#[derive(Debug, Clone)]
pub(crate) struct Human {
    pub(crate) text: String,
    /// It came while the agent was using tools, not after it had ended its turn.
    pub(crate) in_turn: bool,
    /// Results of tools between this message and the next.
    pub(super) results: usize,
}

/// A conversation while it is being read.
#[derive(Default)]
pub(super) struct Conversation {
    pub(super) humans: Vec<Human>,
    system: Vec<String>,
    in_turn: bool,
}

impl Conversation {
    pub(super) fn system(&mut self, text: &str) {
        self.system.push(text.to_owned());
    }

    pub(super) fn assistant(&mut self) {
        self.in_turn = false;
    }

    pub(super) fn tool_result(&mut self) {
        self.in_turn = true;
        if let Some(human) = self.humans.last_mut() {
            human.results += 1;
        }
    }

    /// Each block of text is a message: if an agent made two of one, or one of two, it shows.
    pub(super) fn user(&mut self, text: &str) {
        if let Some(text) = said_by_a_person(text) {
            self.humans.push(Human {
                text: text.to_owned(),
                in_turn: self.in_turn,
                results: 0,
            });
        }
    }
}

/// How the texts begin that claude sends in the name of the user although nobody typed them.
const NOISE: &[&str] = &[
    "<system-reminder>",
    "<local-command",
    "<command-name>",
    "[Request interrupted by user",
    "[SUGGESTION MODE",
];

/// What claude puts around a message that was typed while it was working.
const IN_TURN: (&str, &str) = (
    "The user sent a new message while you were working:\n",
    "\n\nThis is how Claude Code surfaces messages",
);

fn said_by_a_person(text: &str) -> Option<&str> {
    let start = text.trim_start();
    if start.is_empty() || NOISE.iter().any(|noise| start.starts_with(noise)) {
        return None;
    }
    let wrapped = text.strip_prefix(IN_TURN.0);
    Some(wrapped.map_or(text, |inner| {
        inner.rsplit_once(IN_TURN.1).map_or(inner, |parts| parts.0)
    }))
}

impl Request {
    /// None if the body is not what the protocol asks for.
    pub(super) fn read(protocol: Protocol, http: &HttpRequest) -> Option<Request> {
        let body: Value = serde_json::from_slice(&http.body).ok()?;
        let mut conversation = Conversation::default();
        let tools = match protocol {
            Protocol::Anthropic => anthropic::read(&body, &mut conversation)?,
            Protocol::OpenAi => openai::read(&body, &mut conversation)?,
        };
        Some(Request {
            protocol,
            headers: http.headers.clone(),
            model: body["model"].as_str()?.to_owned(),
            streams: body["stream"].as_bool().unwrap_or(false),
            system: conversation.system.join("\n"),
            tools,
            humans: conversation.humans,
            body,
        })
    }

    /// The first header of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// What a person said, in order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let texts = self.humans.iter().map(|human| human.text.as_str());
        texts.collect()
    }

    /// How many messages are exactly this text.
    pub(super) fn count(&self, text: &str) -> usize {
        self.texts()
            .into_iter()
            .filter(|said| *said == text)
            .count()
    }

    /// Requests as a failing test shows them.
    pub(super) fn list(requests: &[Request]) -> String {
        let lines = requests.iter().map(|request| {
            let tools = request.tools.len();
            format!(
                "  {:?}, {tools} tools: {:?}\n",
                request.protocol, request.humans
            )
        });
        lines.collect()
    }
}

/// The texts of a message's content: one string, or blocks of which some are text.
pub(super) fn texts(content: &Value) -> Vec<&str> {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    content.as_str().into_iter().chain(texts).collect()
}

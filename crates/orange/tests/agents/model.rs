//! A scripted model on loopback: agents talk to it as they would to a real one, and a test reads what they said.
//!
//! It speaks Anthropic's Messages and OpenAI's chat completions. Which answer comes follows from the conversation in the
//! request, so it does not matter who asks, how many at once, or whether an agent was resumed.

mod anthropic;
mod connection;
mod http;
mod openai;
mod request;
mod script;
mod server;
mod tools;

pub(crate) use request::{Protocol, Request};
use script::Script;
pub(crate) use script::{
    Step, cut_stream_after, edit, hang, junk, say, shell, status, tool, write,
};
use server::Server;
use std::time::{Duration, Instant};

/// Generous: only a test that fails waits so long.
const CEILING: Duration = Duration::from_secs(60);

/// One test's own model. It ends with the test, and so does every connection to it.
pub(crate) struct Model {
    server: Server,
}

impl Model {
    pub(crate) fn start() -> Model {
        Model {
            server: Server::start(),
        }
    }

    /// Where Anthropic's Messages are spoken.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Where OpenAI's chat completions are spoken.
    pub(crate) fn openai_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// What is answered to a human message that contains `needle`: one step per request, until the next human message.
    /// If several needles are in it, the script that was given last counts.
    pub(crate) fn when(&self, needle: &str, steps: impl IntoIterator<Item = Step>) {
        assert!(!needle.is_empty(), "every message contains this needle");
        let script = Script::new(needle, steps);
        self.server.state().scripts.add(script);
    }

    /// What is answered to every other human message.
    pub(crate) fn otherwise(&self, steps: impl IntoIterator<Item = Step>) {
        self.server.state().scripts.otherwise = Script::new("", steps);
    }

    /// Everything that agents asked of the model so far, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.server.state().requests.clone()
    }

    /// Requests that are none to a model, as `METHOD /path`; most were answered with 404.
    pub(crate) fn strays(&self) -> Vec<String> {
        self.server.state().strays.clone()
    }

    /// How many messages of one conversation are exactly this text, each by itself: nothing before, nothing after.
    /// Of several conversations the one that has most of them counts.
    pub(crate) fn heard(&self, text: &str) -> usize {
        let state = self.server.state();
        let requests = state.requests.iter();
        requests
            .map(|request| request.count(text))
            .max()
            .unwrap_or(0)
    }

    /// Waits until what was asked fulfils a condition; a test that waits in vain says what was asked.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut(&[Request]) -> bool) {
        let deadline = Instant::now() + CEILING;
        let mut state = self.server.state();
        while !holds(&state.requests) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "waited in vain for: {what}\nthe model was asked:\n{}",
                Request::list(&state.requests)
            );
            state = self.server.wait(state, left);
        }
    }
}

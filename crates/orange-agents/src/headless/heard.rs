//! What the lines of an agent have said so far, and what of it goes to a listener at once.

use super::failure::FailureKind;
use super::lines::{OutputLine, OutputLines};
use super::{HeadlessStart, count_of, text_of};
use orange_core::Timestamp;
use orange_core::usage::Usage;
use serde_json::Value;
use std::collections::BTreeMap;

/// So much of what it said on standard error is kept.
const LONGEST_COMPLAINT: usize = 4 * 1024;

/// A line on standard error that is longer is none of the harness's own.
const LONGEST_ASIDE: usize = 64 * 1024;

/// So much of what a tool is used on is told.
const LONGEST_USE: usize = 200;

/// Something that an agent said or did, as it comes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AgentOutput<'a> {
    /// A whole text of the agent's.
    Text(&'a str),
    /// It uses a tool; what on, in one line.
    Tool { name: &'a str, on: &'a str },
    /// A piece of output that is nothing of the harness's, its line ends in it.
    Other(&'a str),
    /// What the turn has used so far, whenever that is told anew.
    Used {
        usage: Usage,
        /// The model that answered last, where the harness tells.
        model: Option<&'a str>,
    },
}

/// Who hears what an agent says while its turn lasts.
pub type Listener<'a> = dyn FnMut(AgentOutput<'_>) + 'a;

/// What its lines have said so far.
#[derive(Default)]
pub struct Heard {
    pub conversation: Option<String>,
    pub text: String,
    /// The model that answered last.
    pub model: Option<String>,
    /// What this turn has used, as far as that was told.
    pub used: Usage,
    /// What all turns of the conversation used, where the harness tells that.
    pub whole: Option<Usage>,
    /// What the turns before this one used, where the harness tells that.
    pub earlier: Option<Usage>,
    pub error: Option<String>,
    /// What kind of failure that is, and until when a limit lasts.
    pub kind: Option<FailureKind>,
    pub until: Option<Timestamp>,
    /// The harness said that the turn is over.
    pub finished: bool,
    /// What each answer of the model used, where one may be told more than once.
    pub answers: BTreeMap<String, Usage>,
    /// The sum of these.
    answered: Usage,
    /// MCP servers that did not start or went away, each with what its harness says of it.
    pub failed_servers: BTreeMap<String, String>,
    /// Uses of tools of MCP servers that have not come to anything yet: the server by the id of the use.
    pub server_uses: BTreeMap<String, String>,
    pub(super) junk: usize,
    /// The end of what it said on standard error.
    pub(super) complaint: Vec<u8>,
}

/// Takes the output of an agent apart.
pub(super) struct Ears<'a, 'l> {
    pub(super) heard: Heard,
    way: &'a HeadlessStart,
    listener: &'a mut Listener<'l>,
    lines: OutputLines,
    aside: Vec<u8>,
}

impl<'a, 'l> Ears<'a, 'l> {
    pub(super) fn new(way: &'a HeadlessStart, listener: &'a mut Listener<'l>) -> Ears<'a, 'l> {
        Ears {
            heard: Heard::default(),
            way,
            listener,
            lines: OutputLines::default(),
            aside: Vec::new(),
        }
    }

    pub(super) fn output(&mut self, bytes: &[u8]) {
        let (heard, listener, hear) = (&mut self.heard, &mut *self.listener, self.way.hear);
        self.lines
            .feed(bytes, &mut |line| take(heard, line, hear, listener));
    }

    pub(super) fn complaint(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.aside.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.aside.len() > LONGEST_ASIDE {
                self.aside_is_over();
            }
        }
    }

    /// No more comes.
    pub(super) fn end(&mut self) {
        let (heard, listener, hear) = (&mut self.heard, &mut *self.listener, self.way.hear);
        self.lines
            .end(&mut |line| take(heard, line, hear, listener));
        self.aside_is_over();
    }

    fn aside_is_over(&mut self) {
        let line = std::mem::take(&mut self.aside);
        match self.way.aside.and_then(|aside| aside(&line)) {
            Some(said) => (self.way.hear)(&mut self.heard, &said, self.listener),
            None => self.heard.complain(&line),
        }
    }
}

fn take(heard: &mut Heard, line: OutputLine<'_>, hear: super::Hear, listener: &mut Listener<'_>) {
    match line {
        OutputLine::Object(value) => {
            let before = heard.used;
            hear(heard, &value, listener);
            if heard.used != before {
                listener(AgentOutput::Used {
                    usage: heard.used,
                    model: heard.model.as_deref(),
                });
            }
        }
        OutputLine::Junk { text, begins } => {
            heard.junk += usize::from(begins);
            listener(AgentOutput::Other(text));
        }
    }
}

impl Heard {
    fn complain(&mut self, line: &[u8]) {
        self.complaint.extend_from_slice(line);
        let excess = self.complaint.len().saturating_sub(LONGEST_COMPLAINT);
        self.complaint.drain(..excess);
    }

    /// What one answer of the model used; told again, the later figures count.
    pub fn note_answer(&mut self, id: &str, used: Usage) {
        let before = self.answers.insert(id.to_owned(), used);
        let before = before.unwrap_or_default();
        let sum = self.answered;
        let so_far =
            |sum: u64, before: u64, used: u64| sum.saturating_sub(before).saturating_add(used);
        // A conversation has many answers, so that they are not added up again for each.
        self.answered = if [before, used, sum].iter().all(|usage| usage.cost.is_none()) {
            Usage {
                input: so_far(sum.input, before.input, used.input),
                output: so_far(sum.output, before.output, used.output),
                cache_read: so_far(sum.cache_read, before.cache_read, used.cache_read),
                cache_write: so_far(sum.cache_write, before.cache_write, used.cache_write),
                ..sum
            }
        } else {
            let answers = self.answers.values().copied();
            answers.fold(Usage::default(), Usage::plus)
        };
        self.used = self.answered;
    }

    /// Of the whole conversation so far, earlier turns included.
    pub(super) fn of_conversation(&self) -> Usage {
        let counted = self.earlier.unwrap_or_default().plus(self.used);
        self.whole.unwrap_or(counted)
    }

    /// Of this turn alone; `before` is what the turns before it have been counted with.
    ///
    /// Where only the sum is told, the difference counts, so that what a turn that was killed did not live to tell is
    /// counted with the next one.
    pub(super) fn of_turn(&self, before: Option<Usage>) -> Usage {
        let (Some(whole), Some(before)) = (self.whole, before) else {
            return self.used;
        };
        let since = |whole: u64, before: u64, told: u64| whole.saturating_sub(before).max(told);
        let used = self.used;
        let cost = whole.cost.map(|cost| {
            let since = cost - before.cost.unwrap_or(0.0);
            since.max(used.cost.unwrap_or(0.0)).max(0.0)
        });
        Usage {
            input: since(whole.input, before.input, used.input),
            output: since(whole.output, before.output, used.output),
            cache_read: since(whole.cache_read, before.cache_read, used.cache_read),
            cache_write: since(whole.cache_write, before.cache_write, used.cache_write),
            cost: cost.or(used.cost),
            cost_partial: false,
        }
    }
}

/// What a tool is used on, in one line, by the fields that tools commonly have.
pub fn tool_use(input: &Value) -> String {
    let fields = [
        "command",
        "file_path",
        "path",
        "pattern",
        "url",
        "query",
        "description",
    ];
    let found = fields.iter().find_map(|name| text_of(input, name));
    let line = found.unwrap_or_default().trim();
    let line = line.lines().next().unwrap_or_default();
    line.chars().take(LONGEST_USE).collect()
}

/// Tokens under these names.
pub fn usage_of(value: &Value, names: [&str; 4]) -> Usage {
    let [input, output, cache_read, cache_write] = names.map(|name| count_of(value, name));
    Usage {
        input,
        output,
        cache_read,
        cache_write,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cost: Option<f64>) -> Usage {
        Usage {
            input,
            cost,
            ..Usage::default()
        }
    }

    #[test]
    fn a_turn_used_what_the_conversation_has_used_since() {
        let mut heard = Heard {
            used: usage(30, None),
            ..Heard::default()
        };
        assert_eq!(heard.of_turn(Some(usage(5, None))), usage(30, None));
        heard.whole = Some(usage(130, Some(1.25)));
        assert_eq!(heard.of_turn(None), usage(30, None));
        let found = heard.of_turn(Some(usage(100, Some(1.0))));
        assert_eq!(found, usage(30, Some(0.25)));
        // A turn in between was killed, and had not told what it used.
        let found = heard.of_turn(Some(usage(60, Some(0.5))));
        assert_eq!(found, usage(70, Some(0.75)));
        // It had told its tokens, and the harness forgot them.
        let found = heard.of_turn(Some(usage(120, Some(1.0))));
        assert_eq!(found, usage(30, Some(0.25)));
        assert_eq!(
            heard.of_turn(Some(usage(500, Some(9.0)))),
            usage(30, Some(0.0))
        );
    }

    #[test]
    fn an_answer_that_is_told_twice_counts_once() {
        let mut heard = Heard::default();
        for (id, input) in [("a", 10), ("a", 12), ("b", 5)] {
            heard.note_answer(id, usage(input, None));
        }
        assert_eq!(heard.used.input, 17);
    }

    #[test]
    fn answers_that_are_told_in_any_order_are_counted_with_their_last_figures() {
        let mut heard = Heard::default();
        let mut known = BTreeMap::new();
        for (at, id) in ["a", "a", "b", "c", "b", "b", "a", "d", "c", "e"]
            .into_iter()
            .enumerate()
        {
            let input = 10 * (at as u64 + 1);
            // Costs are told by some, and late.
            let cost = (at > 6 && at % 3 != 0).then_some(0.5);
            heard.note_answer(id, usage(input, cost));
            known.insert(id, usage(input, cost));
            let sum = known.values().copied();
            assert_eq!(heard.used, sum.fold(Usage::default(), Usage::plus), "{at}");
        }
    }

    #[test]
    fn of_complaints_the_end_is_kept() {
        let mut heard = Heard::default();
        heard.complain(&[b'x'; 2 * LONGEST_COMPLAINT]);
        heard.complain(b"the reason");
        assert_eq!(heard.complaint.len(), LONGEST_COMPLAINT);
        assert!(heard.complaint.ends_with(b"the reason"));
    }

    #[test]
    fn a_tool_is_told_in_one_line() {
        let of = |input: Value| tool_use(&input);
        assert_eq!(
            of(serde_json::json!({"command": "make test\nmake"})),
            "make test"
        );
        assert_eq!(of(serde_json::json!({"path": "a.rs", "x": 1})), "a.rs");
        assert_eq!(of(Value::Null), "");
        let long = of(serde_json::json!({"command": "ü".repeat(1000)}));
        assert_eq!(long.chars().count(), LONGEST_USE);
    }
}

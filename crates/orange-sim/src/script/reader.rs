//! Reads a script: its lists by hand, and each step with serde, as `{name, line, action}`.

use super::{JUDGE, Script, ScriptAction, ScriptStep, StepList};
use orange_core::workflow::Role;
use orange_core::yaml::{self, MappingEntry, Node};
use orange_sys::error::{Error, Result, err};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value, json};

const LISTS: &str = "a list is called `worker`, `reviewer`, `executor`, `executor PHASE`, `judge` or `judge PHASE`, with `iteration N`, `round N` or `attempt N` behind it, in that order";
const STEPS: &str = "each step begins with a dash; `[]` is an empty list";

/// Options that hold steps.
const BRANCHES: [&str; 5] = ["then", "else", "steps", "allowed", "denied"];

impl Script {
    pub(crate) fn read(source: &str) -> Result<Script> {
        let root = yaml::read(source, 0..source.len()).map_err(|error| {
            err!(Usage, "{error}")
                .hint("a script is YAML: lists of steps below `worker:` and `reviewer:`")
        })?;
        // Found once: counting them for each step would take for ever in a long script.
        let line_ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
        let lines = LineEnds(&line_ends);
        let (at, problem) = match &root {
            Some(Node::Mapping { entries, .. }) => {
                let lists = entries.iter().map(|entry| lines.list(entry));
                let lists = lists.collect::<Result<_>>()?;
                return Ok(Script { lists });
            }
            Some(node) => (node.span().start, "a script begins with a list's name"),
            None => (0, "the script is empty"),
        };
        Err(lines.error(at, problem).hint(LISTS))
    }
}

/// Where the lines of a script end.
struct LineEnds<'a>(&'a [usize]);

impl LineEnds<'_> {
    /// The line, from 1, of the byte at `at`.
    fn line_of(&self, at: usize) -> usize {
        1 + self.0.partition_point(|end| *end < at)
    }

    fn error(&self, at: usize, problem: &str) -> Error {
        err!(Usage, "line {}: {problem}", self.line_of(at))
    }

    fn list(&self, entry: &MappingEntry) -> Result<StepList> {
        let (key, at) = (&entry.key, entry.key_span.start);
        let unknown = || self.error(at, &format!("there is no list `{key}`"));
        let run = run_of(key).ok_or_else(|| unknown().hint(LISTS))?;
        let Node::Sequence { items, .. } = &entry.value else {
            let problem = format!("`{key}` must be a list of steps");
            return Err(self.error(at, &problem).hint(STEPS));
        };
        let steps = items
            .iter()
            .map(|item| ScriptStep::deserialize(self.step(item)));
        let steps = steps.collect::<serde_json::Result<_>>();
        Ok(StepList {
            key: key.clone(),
            role: run.role,
            judges: run.judges,
            phase: run.phase,
            round: run.round,
            iteration: run.iteration,
            attempt: run.attempt,
            steps: steps.map_err(|error| refusal(&error.to_string()))?,
        })
    }

    /// A step as serde reads it: its own value is the field `value` beside its options.
    fn step(&self, node: &Node) -> Value {
        let mut fields = Map::new();
        let (name, at) = match node {
            Node::Scalar { text, span, .. } => (text.as_str(), span.start),
            Node::Sequence { span, .. } => ("", span.start),
            Node::Mapping { entries, span, .. } => {
                for (index, entry) in entries.iter().enumerate() {
                    let value = match &entry.value {
                        Node::Sequence { items, .. } if BRANCHES.contains(&entry.key.as_str()) => {
                            items.iter().map(|item| self.step(item)).collect()
                        }
                        value => value.to_json(),
                    };
                    let key = match (index, entry.key.as_str()) {
                        (0, _) => "value",
                        // No step has such an option.
                        (_, "value") => "option value",
                        (_, key) => key,
                    };
                    if !value.is_null() {
                        fields.insert(key.to_owned(), value);
                    }
                }
                let first = entries.first();
                first.map_or(("", span.start), |first| (&first.key, first.key_span.start))
            }
        };
        json!({"name": name, "line": self.line_of(at), "action": {name: fields}})
    }
}

/// What serde says of a step, for people: what it expected is the hint.
fn refusal(error: &str) -> Error {
    let error = error
        .replace("missing field `value`", "its value is missing")
        .replace("unknown field `value`", "it takes no value");
    let (message, hint) = if let Some((message, expected)) = error.split_once(", expected ") {
        (message, format!("expected {expected}"))
    } else if let Some(message) = error.strip_suffix(", there are no fields") {
        let hint = "it has no options; does the step lack its dash?";
        (message, hint.to_owned())
    } else {
        let hint = "docs/contributing/sim.md has an example of every step";
        (error.as_str(), hint.to_owned())
    };
    err!(Usage, "{message}").hint(hint)
}

/// Which runs a list is for.
struct Runs {
    role: Role,
    judges: bool,
    phase: Option<String>,
    iteration: Option<u32>,
    round: Option<u32>,
    attempt: Option<u32>,
}

const NUMBERED: [&str; 3] = ["iteration", "round", "attempt"];

/// By its name: `reviewer round 2 attempt 1`, `executor test iteration 3`.
fn run_of(key: &str) -> Option<Runs> {
    let mut words = key.split_whitespace().peekable();
    let first = words.next()?;
    let judges = first == JUDGE;
    // The executor asks for its judges too.
    let role = if judges {
        Role::Executor
    } else {
        first.parse().ok()?
    };
    let phase = words.next_if(|word| role == Role::Executor && !NUMBERED.contains(word));
    let [iteration, round, attempt] = NUMBERED.map(|name| {
        let is_named = words.next_if_eq(&name).is_some();
        is_named.then(|| words.next()?.parse().ok().filter(|number| *number > 0))
    });
    // Something is left over, or a number is none.
    if words.next().is_some() || [iteration, round, attempt].contains(&Some(None)) {
        return None;
    }
    Some(Runs {
        role,
        judges,
        phase: phase.map(str::to_owned),
        iteration: iteration.flatten(),
        round: round.flatten(),
        attempt: attempt.flatten(),
    })
}

/// What is wrong with a step is said with its line.
impl<'de> Deserialize<'de> for ScriptStep {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<ScriptStep, D::Error> {
        #[derive(Deserialize)]
        struct WrittenStep {
            name: String,
            line: usize,
            action: Value,
        }
        let WrittenStep { name, line, action } = WrittenStep::deserialize(from)?;
        let action = ScriptAction::deserialize(action).map_err(|error| {
            let error = error.to_string();
            let expected = error.strip_prefix(&format!("unknown variant `{name}`"));
            de::Error::custom(match expected {
                // Of a step inside this one.
                None if error.starts_with("line ") => error,
                None => format!("line {line}: `{name}`: {error}"),
                Some(expected) if name.trim().is_empty() => {
                    format!("line {line}: a step begins with its name{expected}")
                }
                Some(expected) => format!("line {line}: there is no step `{name}`{expected}"),
            })
        })?;
        Ok(ScriptStep { name, line, action })
    }
}

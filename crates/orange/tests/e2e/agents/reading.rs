//! What agents were told and what hooks became of, as tests read it.

use super::Agents;
use crate::env::TestTask;
use serde_json::Value;
use std::fs;

impl Agents {
    /// What the newest run of a role has signalled: the signal and its text.
    pub(crate) fn signals(&self, task: &TestTask, role: &str) -> Vec<(String, String)> {
        let path = self.run_folder(task, role).join("signals.jsonl");
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let word = |signal: &Value, name: &str| signal[name].as_str().unwrap_or("").to_owned();
        lines
            .map(|signal: Value| (word(&signal, "signal"), word(&signal, "text")))
            .collect()
    }

    /// The prompt and the messages that the newest run of a role has taken, in order.
    pub(crate) fn taken(&self, task: &TestTask, role: &str) -> Vec<String> {
        let signals = self.signals(task, role).into_iter();
        let taken = signals.filter(|(signal, _)| signal == "prompt-taken");
        taken.map(|(_, text)| text).collect()
    }

    /// Waits until the worker has taken exactly one message with these words.
    #[track_caller]
    pub(crate) fn until_told(&self, task: &TestTask, words: &str) -> String {
        let told = || {
            let mut taken = self.taken(task, "worker");
            taken.retain(|text| text.contains(words));
            taken
        };
        self.until(&format!("{} hears {words:?}", task.key), || {
            !told().is_empty()
        });
        assert_eq!(told().len(), 1, "told twice: {words:?}\n{}", self.dump());
        told().remove(0)
    }

    /// Waits until a role's turn is over and nothing is on its way to it.
    #[track_caller]
    pub(crate) fn until_idle(&self, task: &TestTask, role: &str) {
        self.until(&format!("the {role} of {} is idle", task.key), || {
            let last = self.signals(task, role).pop();
            last.is_some_and(|(signal, _)| signal == "turn-done")
        });
    }

    /// The hooks of the newest move between two statuses, each with what became of it. It must be finished.
    #[track_caller]
    pub(crate) fn hooks(&self, task: &TestTask, from: &str, to: &str) -> Vec<String> {
        let history = task.history();
        let moved = history
            .iter()
            .rfind(|event| event["from"] == from && event["to"] == to);
        let moved = moved.unwrap_or_else(|| panic!("no {from} → {to}\n{}", self.dump()));
        self.hooks_of(&history, moved)
    }

    /// The same for an event that has hooks.
    #[track_caller]
    pub(crate) fn hooks_of(&self, history: &[Value], moved: &Value) -> Vec<String> {
        let same = |event: &&Value| event["transition"] == moved["transition"];
        let finished = |event: &Value| event["type"] == "transition.finished";
        let outcome = |hook: &Value| {
            let mut about = history
                .iter()
                .filter(same)
                .filter(|event| event["hook"] == *hook);
            let last = about
                .next_back()
                .map(|event| event["type"].as_str().unwrap());
            last.map_or("open", |kind| kind.trim_start_matches("hook."))
                .to_owned()
        };
        let hooks = moved["hooks"].as_array().cloned().unwrap_or_default();
        assert!(
            hooks.is_empty() || history.iter().filter(same).any(finished),
            "not finished: {moved}\n{}",
            self.dump()
        );
        let said = |hook: &Value| format!("{} {}", hook.as_str().unwrap(), outcome(hook));
        hooks.iter().map(said).collect()
    }

    /// The prompts of all runs, in order: `worker`, `reviewer`, `respawn-planning`.
    pub(crate) fn prompts(&self, task: &TestTask) -> Vec<String> {
        let history = task.history();
        let spawned = history
            .iter()
            .filter(|event| event["type"] == "agent.spawned");
        spawned
            .map(|event| event["prompt"].as_str().unwrap().to_owned())
            .collect()
    }
}

//! What there is to say of a task besides its fields: what to look at, and whom its Context names.

use orange_core::history::{History, HookOutcome};
use orange_core::id::{Key, Reference};
use orange_core::task::Task;

/// What a person should look at, from the journal.
pub fn attention(history: &History) -> Option<String> {
    let failed = history.last_transition().and_then(|transition| {
        transition
            .hooks
            .into_iter()
            .find_map(|hook| match hook.outcome {
                HookOutcome::Failed(reason) => Some(format!("{} failed: {reason}", hook.name)),
                HookOutcome::Open | HookOutcome::Completed | HookOutcome::Skipped(_) => None,
            })
    });
    failed.or_else(|| {
        let first = history.bad_lines.first()?;
        Some(format!(
            "history.jsonl: {}, the first is line {}",
            orange_core::naming::counted(history.bad_lines.len(), "unreadable line"),
            first.line
        ))
    })
}

/// Keys that the Context names, for `referenced_by`.
pub(super) fn mentions(task: &Task, body: &str) -> Vec<(String, Key)> {
    // Reading Markdown costs far more than looking for the letters; a task that names only itself needs neither.
    let own = task.key.map(|key| key.to_string()).unwrap_or_default();
    let is_own = |at: usize| {
        let rest = body[at..].strip_prefix(&own);
        !body[..at].ends_with(':')
            && rest.is_some_and(|rest| !own.is_empty() && !rest.starts_with(char::is_alphanumeric))
    };
    if body.match_indices("TASK-").all(|(at, _)| is_own(at)) {
        return Vec::new();
    }
    let Some(section) = orange_core::artifact::section(body, "Context") else {
        return Vec::new();
    };
    let context = body.get(section.content).unwrap_or_default();
    let mut found: Vec<(String, Key)> = context
        .split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '-' | ':' | '_'))
        .filter_map(|word| match Reference::parse(word.trim_end_matches(':')) {
            Reference::Key(key) => Some((task.project.clone(), key)),
            Reference::ProjectKey(project, key) => Some((project, key)),
            Reference::IdPrefix(_) | Reference::Branch(..) => None,
        })
        .filter(|(project, key)| *project != task.project || Some(*key) != task.key)
        .collect();
    found.sort();
    found.dedup();
    found
}

//! Whom a task's Context names.

use orange_core::id::{Key, Reference};
use orange_core::task::Task;

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
        .match_indices("TASK-")
        .map(|(at, _)| word_at(context, at))
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

/// The whole word that has a part at `at`: a key may have its project before it.
fn word_at(text: &str, at: usize) -> &str {
    let apart = |letter: char| !letter.is_alphanumeric() && !matches!(letter, '-' | ':' | '_');
    let (before, after) = text.split_at(at);
    let start = before.rfind(apart).map_or(0, |gap| {
        gap + before[gap..].chars().next().map_or(0, char::len_utf8)
    });
    let end = after.find(apart).map_or(text.len(), |gap| at + gap);
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_where_they_are_words() {
        let task = Task {
            project: "shop".into(),
            key: Some(Key(1)),
            ..Task::default()
        };
        let body = "## Context\nsee TASK-002,TASK-003: and «api:TASK-004» (TASK-001, xTASK-5, TASK-6x)\nTASK-007\n\
                    ## Plan\nTASK-009\n";
        let own = |key: u32| ("shop".to_owned(), Key(key));
        let other = ("api".to_owned(), Key(4));
        assert_eq!(mentions(&task, body), [other, own(2), own(3), own(7)]);
        assert_eq!(mentions(&task, "## Context\nTASK-001\n"), []);
    }
}

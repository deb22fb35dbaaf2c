//! Whom a task's Context names.

use orange_core::id::{Key, Reference};
use orange_core::task::Task;

/// Keys that the Context names, for `referenced_by`. Which of these words are keys is known where a task has that key.
pub(super) fn mentions(task: &Task, body: &str) -> Vec<(String, Key)> {
    // Reading Markdown costs far more than looking for the letters; a task that names only itself needs neither.
    if words_like_keys(task, body).next().is_none() {
        return Vec::new();
    }
    let Some(section) = orange_core::artifact::section(body, "Context") else {
        return Vec::new();
    };
    let context = body.get(section.content).unwrap_or_default();
    let mut found: Vec<(String, Key)> = words_like_keys(task, context).collect();
    found.sort();
    found.dedup();
    found
}

/// Words such as `API-003` and `shop:API-003`, in upper case, but the task's own key.
fn words_like_keys<'t>(
    task: &'t Task,
    text: &'t str,
) -> impl Iterator<Item = (String, Key)> + use<'t> {
    let bytes = text.as_bytes();
    let is_inside = move |at: usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        before.is_some_and(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    };
    text.match_indices('-')
        .filter(move |(at, _)| is_inside(*at))
        .map(|(at, _)| word_at(text, at).trim_end_matches(':'))
        .filter_map(|word| {
            let (project, key) = match Reference::parse(word) {
                Reference::Key(key) => (task.project.clone(), key),
                Reference::ProjectKey(project, key) => (project, key),
                Reference::ProjectNumber(..) | Reference::IdPrefix(_) | Reference::Branch(..) => {
                    return None;
                }
            };
            let is_own = project == task.project && Some(key) == task.key;
            // Small letters are those of a model's or a branch's name.
            let is_upper = word.contains(&format!("{}-", key.prefix));
            (is_upper && !is_own).then_some((project, key))
        })
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
            key: Some(Key::numbered(1)),
            ..Task::default()
        };
        let body = "## Context\nsee TASK-002,TASK-003: and «api:TASK-004» (TASK-001, xTASK-5, TASK-6x)\nTASK-007\n\
                    api:TASK-001, WEB-8, gpt-4, v2-1, 2026-11-18, INIT-3, INPUT-VALUE-3\n## Plan\nTASK-009\n";
        let named: Vec<String> = mentions(&task, body)
            .into_iter()
            .map(|(project, key)| format!("{project}:{key}"))
            .collect();
        let wanted = [
            "api:TASK-001",
            "api:TASK-004",
            "shop:TASK-002",
            "shop:TASK-003",
            "shop:TASK-007",
            "shop:WEB-008",
        ];
        assert_eq!(named, wanted);
        assert_eq!(mentions(&task, "## Context\nTASK-001\n"), []);
    }
}

//! A task's name as it is understood from anywhere: with its project.

use crate::id::Key;
use crate::task::Task;
use serde::Serialize;
use std::fmt;

/// `shop:TASK-001`; the id for a task without a key.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TaskName(String);

impl TaskName {
    pub fn new(project: &str, key: Option<Key>, id: &str) -> TaskName {
        match key {
            Some(key) => TaskName(format!("{project}:{key}")),
            None => TaskName(id.to_owned()),
        }
    }

    /// A task as another one of `project` refers to it: `TASK-001` is of the same project, `web:TASK-001` of another.
    pub fn referred_to(project: &str, reference: &str) -> TaskName {
        if reference.contains(':') {
            TaskName(reference.to_owned())
        } else {
            TaskName(format!("{project}:{reference}"))
        }
    }

    /// Any task: for examples.
    pub fn placeholder() -> TaskName {
        TaskName("TASK".to_owned())
    }

    /// As it is typed in a folder of that project; None: anywhere else.
    pub fn seen_from(&self, project: Option<&str>) -> &str {
        let own = project.and_then(|project| self.0.strip_prefix(project)?.strip_prefix(':'));
        own.unwrap_or(&self.0)
    }
}

/// For logs.
impl fmt::Debug for TaskName {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl Task {
    pub fn name(&self) -> TaskName {
        TaskName::new(&self.project, self.key, &self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_only_in_its_own_project() {
        let mut task = Task {
            id: "k3x9k3x9k3x9".into(),
            project: "shop".into(),
            key: Some(Key::numbered(7)),
            ..Task::default()
        };
        assert_eq!(task.name().seen_from(Some("shop")), "TASK-007");
        for elsewhere in [None, Some("sho"), Some("shop2"), Some("")] {
            assert_eq!(task.name().seen_from(elsewhere), "shop:TASK-007");
        }
        task.key = None;
        assert_eq!(task.name().seen_from(Some("shop")), "k3x9k3x9k3x9");
    }

    #[test]
    fn a_reference_is_of_its_own_project_unless_it_says_another() {
        let name = |reference| TaskName::referred_to("shop", reference);
        assert_eq!(name("TASK-001").seen_from(None), "shop:TASK-001");
        assert_eq!(name("web:TASK-001").seen_from(None), "web:TASK-001");
        assert_eq!(name("web:TASK-001").seen_from(Some("web")), "TASK-001");
    }
}

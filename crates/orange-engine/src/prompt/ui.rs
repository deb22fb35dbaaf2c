//! What an agent is told about testing a user interface: only in the phases that do, and only where the task has one.

use crate::store::Place;
use orange_core::task::Task;
use orange_core::work::plan::{PhaseKind, PlannedPhase};
use orange_core::work::test_results::{FOLDER, REPORT, SCREENSHOTS};

/// Whether the user interface is tested in a phase of a task.
pub(crate) fn is_tested(task: &Task, phase: &PlannedPhase) -> bool {
    let kinds = [PhaseKind::Implement, PhaseKind::Test, PhaseKind::Validate];
    task.requires_ui_testing && kinds.contains(&phase.kind)
}

/// What to test, where screenshots go and what they are called; nothing elsewhere.
pub(crate) fn context(place: &Place, task: &Task, phase: &PlannedPhase) -> String {
    if !is_tested(task, phase) {
        return String::new();
    }
    let results = place.path.join(FOLDER);
    let screenshots = results.join(SCREENSHOTS).display().to_string();
    let report = results.join(REPORT).display().to_string();
    let of_validation = match phase.kind {
        PhaseKind::Validate => {
            "\n  - `validate-{component}-{state}.png`: what this phase looked at"
        }
        _ => "",
    };
    format!(
        "This task changes a user interface. Test that too:
- Look at every page, dialog and control that the work touches: as it is at first, after each action, with wrong input, and in a narrow window.
- Tools whose names begin with `mcp__playwright__` drive a browser. If you have none, use the browser tests of the repository, and say in `summary` what you could not look at.
- Put screenshots into {screenshots} (also in $SCREENSHOT_DIR), and nothing else outside of your worktree. Their names:
  - `{{component}}-initial.png`: as it is at first
  - `{{component}}-{{action}}.png`: after an action
  - `{{component}}-error.png`: with an error{of_validation}
- When you run tests of Playwright, have them write a report that Orange imports: `PLAYWRIGHT_JSON_OUTPUT_FILE={report} npx playwright test --reporter=json`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::task::Weight;
    use orange_core::work::plan::Plan;

    fn place() -> Place {
        Place {
            project: "shop".into(),
            name: "x".into(),
            path: "/home/tasks/x".into(),
        }
    }

    #[test]
    fn only_phases_that_test_are_told() {
        let place = place();
        let told = |requires_ui_testing| {
            let task = Task {
                requires_ui_testing,
                ..Task::default()
            };
            let plan = Plan::built_in(Weight::Large);
            let phases = plan.iter();
            let told = phases.filter(|phase| !context(&place, &task, phase).is_empty());
            told.map(|phase| phase.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(told(true), ["implement", "test", "validate"]);
        assert_eq!(told(false), Vec::<String>::new());
    }

    #[test]
    fn names_and_places_are_told() {
        let place = place();
        let task = Task {
            requires_ui_testing: true,
            ..Task::default()
        };
        let plan = Plan::built_in(Weight::Large);
        let of = |name: &str| {
            let phase = plan.iter().find(|phase| phase.name == name).unwrap();
            context(&place, &task, phase)
        };
        for words in [
            "/home/tasks/x/test-results/screenshots (also in $SCREENSHOT_DIR)",
            "{component}-initial.png",
            "{component}-{action}.png",
            "{component}-error.png",
            "=/home/tasks/x/test-results/report.json npx",
        ] {
            assert!(of("test").contains(words), "{words}\n{}", of("test"));
        }
        assert!(!of("test").contains("validate-"));
        assert!(of("validate").contains("`validate-{component}-{state}.png`"));
    }
}

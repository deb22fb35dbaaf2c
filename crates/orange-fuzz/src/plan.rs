//! plan.yaml: read, or mistakes that name their lines; what was read is written so that it is read as the same plan.

use orange_core::work::plan::{Plan, parse_phases};
use orange_core::yaml;

pub fn plan(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    if let Ok(Some(node)) = yaml::read(text, 0..text.len()) {
        // The same as part of settings, whose lines nobody knows.
        if let Err(bad) = parse_phases(&node) {
            assert!(bad.mistakes.iter().all(|mistake| mistake.line.is_none()));
        }
    }
    let parsed = match Plan::parse(text) {
        Ok(parsed) => parsed,
        Err(bad) => {
            assert!(!bad.mistakes.is_empty());
            for mistake in &bad.mistakes {
                assert!(!mistake.reason.is_empty());
                super::is_a_line_of(mistake.line.unwrap_or_default(), text);
            }
            return;
        }
    };
    let plan = parsed.plan;
    assert!(plan.executed().next().is_some());
    for (position, phase) in plan.phases.iter().enumerate() {
        assert_eq!(plan.position(&phase.name), Some(position), "a phase twice");
        assert!(phase.max_iterations > 0);
    }
    let written = plan.to_yaml();
    let again = Plan::parse(&written).map(|again| (again.plan, again.ignored));
    assert_eq!(again, Ok((plan, Vec::new())), "{written}");
}

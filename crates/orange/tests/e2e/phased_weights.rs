//! Tasks of every weight from nothing to merged, with the built-in script of the scripted agent, its judge, and a person at the
//! gates that are theirs.

use crate::agents::Agents;

/// Checks that pass, so that every criterion of the built-in plans is looked at.
const CHECKS: &str = "\
verify:
  command: 'true'
  lint: 'true'
  coverage: 'echo 91%'
";

#[test]
fn tasks_of_every_weight_are_executed_and_merged() {
    let env = Agents::configured(CHECKS);
    // By default a person decides about spec and design of large ones, and about the review of greenfield ones too.
    for (weight, by_person, by_judge) in [
        ("trivial", "", ""),
        ("small", "", ""),
        ("medium", "", "spec review"),
        ("large", "spec design", "review"),
        ("greenfield", "spec design review", ""),
    ] {
        let task = env.create(["Write it down", "--workflow", "phased", "--weight", weight]);
        env.orange(["run", &task.key]).ok();
        for phase in by_person.split_whitespace() {
            env.until(&format!("{weight}: {phase} waits for a person"), || {
                let shown = env.show(&task);
                shown["status"] == "blocked" && shown["execution"]["current_phase"] == phase
            });
            env.orange(["approve", &task.key]).ok();
        }
        env.until_status(&task, "completed");
        let execution = &env.show(&task)["execution"];
        let decided = |kind: &str| {
            let gates = execution["gates"].as_array().unwrap().iter();
            let gates = gates.filter(|gate| gate["gate_type"] == kind && gate["approved"] == true);
            let phases = gates.map(|gate| gate["phase"].as_str().unwrap());
            phases.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            (decided("human"), decided("ai")),
            (by_person.into(), by_judge.into()),
            "{weight}"
        );
        let phases = execution["phases"].as_object().unwrap();
        let open = phases
            .iter()
            .filter(|(_, phase)| phase["status"] != "completed");
        let open: Vec<&String> = open.map(|(name, _)| name).collect();
        // Finalize is a phase of the plan that its executor leaves alone.
        let left = if ["large", "greenfield"].contains(&weight) {
            vec!["finalize"]
        } else {
            Vec::new()
        };
        assert_eq!(open, left, "{weight}");
        env.orange(["merge", &task.key]).ok();
        env.until_status(&task, "finished");
    }
}

//! Plans as they are written and edited.

use super::*;
use crate::yaml;

/// As people know it.
const MEDIUM: &str = "\
task_id: TASK-001
weight: medium
generated_at: 2026-01-10T10:32:00Z

phases:
  - name: spec
    type: spec
    prompt_template: prompts/spec.md
    max_iterations: 3
    timeout: 300s
    completion_criteria:
      - claude_confirms
    checkpoint: true
    gate:
      type: ai
      criteria: [spec_complete]

  - name: implement
    type: implement
    prompt_template: prompts/implement.md
    max_iterations: 10
    timeout: 600s
    completion_criteria:
      - all_tests_pass
      - no_lint_errors
    checkpoint: true
    checkpoint_frequency: 3
    gate:
      type: auto

  - name: review
    type: review
    prompt_template: prompts/review.md
    max_iterations: 3
    timeout: 300s
    completion_criteria:
      - claude_confirms
    gate:
      type: ai
      criteria: [review_approved]

  - name: test
    type: test
    prompt_template: prompts/test.md
    max_iterations: 3
    timeout: 300s
    completion_criteria:
      - all_tests_pass
      - coverage_above: 80
    gate:
      type: auto
";

fn built_in(weight: Weight) -> Plan {
    Plan {
        task_id: "TASK-001".into(),
        weight,
        generated_at: "2026-01-10T10:32:00Z".parse().unwrap(),
        phases: Plan::built_in(weight),
    }
}

fn with_phases(phases: &str) -> String {
    format!("task_id: T-1\nweight: small\ngenerated_at: 2026-01-10T10:32:00Z\nphases:\n{phases}")
}

/// The mistakes of a plan with these phases.
fn mistakes(phases: &str) -> String {
    Plan::parse(&with_phases(phases)).unwrap_err().to_string()
}

#[test]
fn the_medium_plan_is_the_known_one() {
    let plan = built_in(Weight::Medium);
    assert_eq!(
        plan.to_yaml(),
        MEDIUM.replace("claude_confirms", "agent_confirms")
    );
    let parsed = Plan::parse(MEDIUM).unwrap();
    assert_eq!((parsed.plan, parsed.ignored), (plan, Vec::<String>::new()));
}

#[test]
fn every_built_in_plan_is_read_as_it_is_written() {
    let iterations = |weight: Weight| {
        let phases = Plan::built_in(weight).into_iter();
        let phases: Vec<String> = phases
            .map(|phase| format!("{} {}", phase.name, phase.max_iterations))
            .collect();
        phases.join(", ")
    };
    for (weight, phases) in [
        (Weight::Trivial, "implement 3"),
        (Weight::Small, "implement 5, test 3"),
        (Weight::Medium, "spec 3, implement 10, review 3, test 3"),
        (
            Weight::Large,
            "research 5, spec 5, design 3, implement 20, review 5, docs 5, test 5, validate 2, finalize 3",
        ),
        (
            Weight::Greenfield,
            "research 10, spec 10, design 5, implement 30, review 5, docs 10, test 10, validate 3, finalize 3",
        ),
    ] {
        assert_eq!(iterations(weight), phases);
        let plan = built_in(weight);
        let parsed = Plan::parse(&plan.to_yaml()).unwrap();
        assert_eq!((parsed.plan, parsed.ignored.len()), (plan, 0));
    }
    assert_eq!(built_in(Weight::Large).executed().count(), 8);
}

#[test]
fn everything_that_a_phase_can_say_is_kept() {
    let text = with_phases(
        r#"  - name: api-docs
    type: docs
    prompt_template: "prompts/my docs.md"
    max_iterations: 1
    completion_criteria:
      - files_exist: [docs/api.md, "a: b"]
      - command: |
          make docs
    gate: human
    model: claude-opus-4-5
    effort: high
    claude_config:
      mcp_servers: [playwright]
  - name: test
    timeout: 10m
    completion_criteria: []
    gate:
      criteria: words of my own
    mcp_servers:
      files:
        command: npx
        args: ["@x/files@1.0", "--dir=."]
        env: {TOKEN: "1"}
      far: {url: "https://example.org/mcp", type: http}
      own: node server.js
"#,
    );
    let parsed = Plan::parse(&text).unwrap();
    assert_eq!(parsed.ignored, Vec::<String>::new());
    let plan = parsed.plan;
    let docs = plan.phase("api-docs").unwrap();
    assert_eq!(
        (docs.kind, docs.gate.kind, docs.timeout),
        (PhaseKind::Docs, PhaseGateKind::Human, None)
    );
    assert_eq!(
        (docs.model.as_deref(), docs.effort),
        (Some("claude-opus-4-5"), Some(Effort::High))
    );
    assert_eq!(docs.mcp_servers[0].name, "playwright");
    assert_eq!(
        docs.completion_criteria[1],
        Criterion::Command("make docs".into())
    );
    let test = plan.phase("test").unwrap();
    assert_eq!((test.kind, test.max_iterations), (PhaseKind::Test, 3));
    assert_eq!(test.timeout, Some(Duration::from_secs(600)));
    assert!(test.completion_criteria.is_empty());
    assert_eq!(test.gate.criteria, ["words of my own"]);
    assert_eq!(
        test.mcp_servers[0].command,
        ["npx", "@x/files@1.0", "--dir=."]
    );
    assert_eq!(test.mcp_servers[2].command, ["node", "server.js"]);
    assert_eq!(plan.position("test"), Some(1));
    assert_eq!(
        Plan::parse(&plan.to_yaml()).unwrap().plan,
        plan,
        "{}",
        plan.to_yaml()
    );
}

#[test]
fn mistakes_are_told_all_at_once_with_their_lines() {
    let told = mistakes(
        "  - name: implement\n    max_iterations: 0\n    completion_criteria: [all_test_pass]\n  - name: implement\n  - name: build\n    type: compile\n",
    );
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 4, "{told}");
    assert_eq!(
        lines[0],
        "line 6: phases.implement.max_iterations: must be a whole number from 1 to 999"
    );
    assert!(lines[1].starts_with("line 7: phases.implement.completion_criteria: \"all_test_pass\" is not a criterion; did you mean all_tests_pass?"));
    assert!(lines[2].starts_with("line 8: implement: is in the plan twice"));
    assert!(lines[3].starts_with("line 10: phases.build.type: \"compile\" is not a type of phase"));
}

#[test]
fn what_cannot_work_is_refused() {
    for (phases, wanted) in [
        (
            "  - name: build\n",
            "phases.build.type: is missing: one of research",
        ),
        ("  - type: test\n", "phases[1].name: is missing"),
        ("  - name: a/b\n    type: test\n", "cannot be a name"),
        (
            "  - name: test\n    timeout: 0s\n",
            "must be a time above 0",
        ),
        (
            "  - name: test\n    checkpoint: maybe\n",
            "must be true or false",
        ),
        (
            "  - name: test\n    checkpoint_frequency: -1\n",
            "from 1 to 999",
        ),
        (
            "  - name: test\n    gate: boss\n",
            "is not a kind of phase gate",
        ),
        ("  - name: test\n    model: --x\n", "begins with `-`"),
        ("  - name: test\n    effort: much\n", "is not a effort"),
        (
            "  - name: test\n    mcp_servers: {x: {args: [a]}}\n",
            "there is no command",
        ),
        (
            "  - name: test\n    mcp_servers: [../x]\n",
            "cannot be a name",
        ),
        ("  - finalize\n", "must be a mapping"),
        ("  - name: finalize\n", "besides finalize"),
        (
            "  - name: finalize\n  - name: test\n",
            "has to be the last phase",
        ),
        ("  []\n", "must have 1 to 99 phases"),
        ("  test\n", "must be a list of phases"),
    ] {
        let told = mistakes(phases);
        assert!(told.contains(wanted), "{phases}: {told}");
    }
    for (text, wanted) in [
        ("", "the plan is empty"),
        ("phases: []\n", "line 1: task_id: is missing"),
        ("a: [", "line "),
        (
            "task_id: a\ntask_id: b\n",
            "line 2 repeats the key `task_id`",
        ),
        ("weight: heavy\n", "is not a weight"),
        ("generated_at: soon\n", "is not a time"),
    ] {
        let told = Plan::parse(text).unwrap_err().to_string();
        assert!(told.contains(wanted), "{text}: {told}");
    }
}

#[test]
fn a_server_that_orange_knows_needs_only_its_name() {
    for servers in [
        "[playwright]",
        "playwright",
        "{playwright: }",
        "{playwright: {}}",
    ] {
        let text = with_phases(&format!("  - name: test\n    mcp_servers: {servers}\n"));
        let plan = Plan::parse(&text).unwrap().plan;
        assert_eq!(plan.phases[0].mcp_servers[0].name, "playwright");
        assert_eq!(Plan::parse(&plan.to_yaml()).unwrap().plan, plan);
    }
}

#[test]
fn an_unknown_field_is_a_note_in_a_plan_and_a_mistake_in_settings() {
    let phases = "  - name: test\n    max_iteration: 5\n";
    let parsed = Plan::parse(&with_phases(phases)).unwrap();
    assert_eq!(
        parsed.ignored,
        [
            "line 6: phases.test.max_iteration is not known and does not count; did you mean max_iterations?"
        ]
    );
    let settings = |text: &str| parse_phases(&yaml::read(text, 0..text.len()).unwrap().unwrap());
    let refused = settings(phases).unwrap_err().to_string();
    assert!(
        refused.starts_with("phases.test.max_iteration is not known"),
        "{refused}"
    );
    for text in ["- name: test\n", "phases:\n  - name: test\n"] {
        assert_eq!(settings(text).unwrap()[0].max_iterations, 3);
    }
    for text in ["phases:\n", "7\n", "[]\n"] {
        assert!(settings(text).is_err(), "{text}");
    }
}

#[test]
fn checkpoints_are_every_so_often_and_at_the_end() {
    let plan = built_in(Weight::Medium);
    let checkpoints = |name: &str| {
        let phase = plan.phase(name).unwrap();
        let iterations =
            (1..=7).filter(|&iteration| phase.has_checkpoint(iteration, iteration == 7));
        iterations.collect::<Vec<u32>>()
    };
    assert_eq!(checkpoints("implement"), [3, 6, 7]);
    assert_eq!(checkpoints("spec"), [7]);
    assert_eq!(checkpoints("test"), Vec::<u32>::new());
}

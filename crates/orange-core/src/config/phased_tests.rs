//! Settings of phased tasks: what seed files say, and what a repository may say of them (`#[cfg(test)]`).

use super::*;
use crate::merge::Strategy;
use crate::task::{Weight, WorkflowName};
use crate::work::phase_gate::PhaseGateKind as Gate;
use crate::work::plan::Plan;

/// The example of an older program's documents, as it is.
const OLDER: &str = r#"# orc.yaml - Project configuration
version: 1

# Claude Code settings
claude:
  path: claude                    # CLI path
  model: claude-opus-4-5-20251101        # Default model (Opus 4.5 for best judgment)
  timeout: 600                    # Phase timeout (seconds)
  max_tokens: 100000              # Max tokens per session

# Gate defaults
gates:
  spec: ai
  design: ai
  review: ai
  merge: human                    # Human approval for merge

  weight_overrides:
    large:
      spec: human
      design: human
    greenfield:
      spec: human
      design: human
      review: human

# Weight classification
weights:
  default: medium                 # Fallback if classification fails
  allow_override: true            # User can override AI classification

# Git settings
git:
  branch_prefix: orc/             # Branch naming: orc/TASK-ID
  checkpoint_prefix: "[orc]"      # Commit message prefix
  merge_strategy: squash          # squash | preserve | rebase
  worktrees: true                 # Enable worktree isolation
  cleanup_on_complete: true       # Delete branch after merge

# Prompt customization
prompts:
  directory: .orc/prompts         # Override prompt templates
"#;

/// The user's settings with a repository's, and what of those does not count.
fn both(user: &str, repository: &str) -> (Config, Vec<String>) {
    let layer = Layer::of_repository(repository).unwrap();
    assert_eq!(layer.bad, vec![]);
    let mut config = Config::default();
    layer.apply_under_user(&mut config);
    Layer::of_user(user)
        .unwrap()
        .usable()
        .unwrap()
        .apply(&mut config);
    let more = layer.apply_over_user(&mut config);
    let ignored = layer.ignored.iter().chain(&more);
    (config, ignored.map(Rejected::to_string).collect())
}

#[test]
fn an_older_file_works_as_it_is() {
    let layer = Layer::of_user(OLDER).unwrap();
    assert_eq!(layer.mistakes(), vec![]);
    let (config, _) = Config::parse(OLDER).unwrap();
    assert_eq!(config.phases.turn_timeout.as_secs(), 600);
    assert_eq!(config.phases.max_tokens, 100_000);
    assert_eq!(config.gates.named("review"), Some(Gate::Ai));
    assert_eq!(config.gates.merge(Weight::Small), Gate::Human);
    assert_eq!(
        config.gates.of_weight(Weight::Greenfield, "review"),
        Some(Gate::Human)
    );
    assert_eq!(
        (config.weights.default, config.weights.allow_override),
        (Weight::Medium, true)
    );
    assert_eq!(config.git.checkpoint_prefix, "[orc]");
    assert_eq!(config.git.branch_template, "orc/{key}");
    assert_eq!(config.merge.strategy, Strategy::Squash);
    assert!(config.merge.delete_branch);
    assert_eq!(config.prompts.directory, ".orc/prompts");
    let told: Vec<String> = layer.read_as.iter().map(ReadAs::to_string).collect();
    assert!(
        told.contains(&"line 8: claude.timeout is read as phases.turn_timeout: 600s".to_owned()),
        "{told:?}"
    );
    // Every line is a setting of that name, or says what it is read as.
    assert_eq!(
        layer.said().len() + told.len()
            - layer
                .said()
                .iter()
                .filter(|said| said.alias.is_some())
                .count(),
        22
    );
    let ignored: Vec<String> = both("", OLDER).1;
    assert_eq!(
        ignored,
        [
            "line 7: claude.model does not count here: it decides what agents spend",
            "line 9: claude.max_tokens does not count here: it decides what agents spend",
        ]
    );
}

#[test]
fn gates_are_said_by_name_and_by_weight() {
    let text = "gates:\n  docs: human\n  weight_overrides:\n    small: {test: ai}\n    large:\n      spec: auto\n    trivial:\n";
    let (config, ignored) = Config::parse(text).unwrap();
    assert_eq!(ignored, vec![]);
    let gates = &config.gates;
    assert_eq!(
        (gates.named("docs"), gates.named("spec")),
        (Some(Gate::Human), None)
    );
    assert_eq!(gates.of_weight(Weight::Small, "test"), Some(Gate::Ai));
    assert_eq!(gates.of_weight(Weight::Large, "spec"), Some(Gate::Auto));
    assert_eq!(gates.of_weight(Weight::Large, "design"), Some(Gate::Human));
    assert_eq!(gates.of_weight(Weight::Medium, "spec"), None);
    assert_eq!(gates.floor(Weight::Small, "docs"), None);
    for (text, told) in [
        (
            "gates:\n  spec: robot\n",
            "gates.spec must be one of: skip, auto, ai, human",
        ),
        (
            "gates:\n  Docs: ai\n",
            "gates.Docs: \"Docs\" is not the name of a phase",
        ),
        (
            "gates:\n  weight_overrides:\n    huge: {spec: ai}\n",
            "gates.weight_overrides.huge.spec: \"huge\" is not a weight",
        ),
    ] {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    let set = edited(
        text,
        "gates.weight_overrides.small.docs",
        Some(&"skip".into()),
    )
    .unwrap();
    let gates = Config::parse(&set).unwrap().0.gates;
    assert_eq!(gates.of_weight(Weight::Small, "docs"), Some(Gate::Skip));
    assert_eq!(gates.of_weight(Weight::Small, "test"), Some(Gate::Ai));
}

#[test]
fn a_repository_demands_gates_and_never_opens_one() {
    let repository = "gates:\n  implement: ai\n  test: skip\n  merge: auto\n  weight_overrides: {large: {spec: auto}}\n";
    let (config, ignored) = both("gates:\n  implement: auto\n", repository);
    let gates = &config.gates;
    // The user's word and the repository's stand side by side; the stricter one counts.
    assert_eq!(gates.named("implement"), Some(Gate::Auto));
    assert_eq!(gates.floor(Weight::Small, "implement"), Some(Gate::Ai));
    assert_eq!(gates.merge(Weight::Small), Gate::Human);
    assert_eq!(gates.of_weight(Weight::Large, "spec"), Some(Gate::Human));
    assert_eq!(gates.floor(Weight::Large, "spec"), Some(Gate::Auto));
    assert_eq!(
        ignored,
        [
            "line 3: gates.test counts here only where it is stricter, and nothing is looser than skip"
        ]
    );
    let (config, _) = both("gates:\n  merge: auto\n", "gates:\n  merge: human\n");
    assert_eq!(config.gates.merge(Weight::Small), Gate::Human);
    // A variable and the command line are a person's word about this one command.
    let (mut config, _) = both("", "gates:\n  docs: human\n");
    config.override_with("gates.docs", "auto").unwrap();
    assert_eq!(config.gates.floor(Weight::Small, "docs"), None);
    assert_eq!(config.gates.named("docs"), Some(Gate::Auto));
}

#[test]
fn a_repositorys_plan_neither_chooses_models_nor_opens_gates() {
    let repository = "weights:\n  plans:\n    medium:\n      - name: spec\n        gate: {type: skip}\n        model: opus\n        effort: max\n      - {name: build, type: implement, max_iterations: 7}\n      - {name: review, gate: {type: auto}}\n      - name: look\n        type: review\n        gate: {type: auto}\n        completion_criteria: [agent_confirms, {command: make hack}]\n";
    let (config, ignored) = both("", repository);
    let plan = config.weights.plan(Weight::Medium).unwrap();
    assert_eq!(
        plan.iter()
            .map(|phase| phase.name.as_str())
            .collect::<Vec<_>>(),
        ["spec", "build", "review", "look"]
    );
    assert!(
        plan.iter()
            .all(|phase| phase.model.is_none() && phase.effort.is_none())
    );
    let gates: Vec<Gate> = plan.iter().map(|phase| phase.gate.kind).collect();
    // A phase by another name is as strict as those of its kind.
    assert_eq!(gates, [Gate::Ai, Gate::Auto, Gate::Ai, Gate::Ai]);
    assert_eq!(plan[1].max_iterations, 7);
    assert!(
        ignored.iter().any(
            |line| line.contains("the choice of model and effort for spec does not count here")
        ),
        "{ignored:?}"
    );
    let layer = Layer::of_repository(repository).unwrap();
    assert_eq!(layer.commands_of_plans(), ["make hack"]);
    // What a person decides about is not left out.
    let without = "weights:\n  plans:\n    large: [{name: implement}]\n";
    let (config, ignored) = both("", without);
    assert_eq!(config.weights.plan(Weight::Large), None);
    assert_eq!(
        ignored,
        [
            "line 3: weights.plans.large does not count here: it leaves out spec, after which a person decides"
        ]
    );
    let (config, ignored) = both(
        "gates:\n  review: human\n",
        &repository.replace("name: review, gate", "name: reviews, type: review, gate"),
    );
    assert_eq!(config.weights.plan(Weight::Medium), None);
    assert!(
        ignored
            .iter()
            .any(|line| line.contains("it leaves out review")),
        "{ignored:?}"
    );
    // The user's own is theirs.
    let (config, ignored) = Config::parse(without).unwrap();
    assert_eq!(
        (
            config.weights.plan(Weight::Large).unwrap().len(),
            ignored.len()
        ),
        (1, 0)
    );
    let built_in = Plan::built_in(Weight::Medium);
    assert!(built_in.iter().any(|phase| phase.name == "review"));
}

#[test]
fn a_repositorys_plan_leaves_nothing_unjudged_and_nothing_unchecked() {
    let of = |user: &str, phases: &str| {
        let repository = format!("weights:\n  plans:\n    medium: {phases}\n");
        let (config, ignored) = both(user, &repository);
        let plan = config.weights.plan(Weight::Medium).map(<[_]>::to_vec);
        (plan, ignored.join("\n"))
    };
    for (phases, told) in [
        (
            "[{name: implement, completion_criteria: [agent_confirms]}]",
            "it leaves out spec, which is judged",
        ),
        (
            "[{name: spec}, {name: review}, {name: implement}]",
            "it changes the order of review, which is judged, and implement",
        ),
        (
            "[{name: implement}, {name: spec}, {name: review}]",
            "it changes the order of spec, which is judged, and implement",
        ),
        (
            "[{name: spec}, {name: implement}, {name: review, type: docs}]",
            "it gives review, which is judged, another type",
        ),
    ] {
        let (plan, ignored) = of("", phases);
        assert_eq!(plan, None, "{phases}");
        assert!(ignored.contains(told), "{ignored}");
    }
    // Whoever judges nothing themselves may be given less to judge.
    let (plan, ignored) = of(
        "gates:\n  spec: auto\n  review: auto\n",
        "[{name: implement}]",
    );
    assert_eq!((plan.unwrap().len(), ignored.as_str()), (1, ""));
    // More phases, more criteria and higher numbers count; fewer and lower ones do not.
    let phases = "[{name: spec}, {name: build, type: implement, completion_criteria: [agent_confirms]}, {name: review}, \
        {name: docs}, {name: test, completion_criteria: [coverage_above: 10, files_exist: [a]]}]";
    let (plan, _) = of("", phases);
    let words = |name: &str| {
        let plan = plan.as_ref().unwrap().iter();
        let mut found = plan.filter(|phase| phase.name == name);
        let criteria = found.next().unwrap().completion_criteria.iter();
        criteria.map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        words("build"),
        ["agent_confirms", "all_tests_pass", "no_lint_errors"]
    );
    assert_eq!(
        words("test"),
        ["coverage_above: 80", "files_exist: a", "all_tests_pass"]
    );
}

#[test]
fn a_plan_is_checked_when_it_is_read() {
    for (plan, told) in [
        ("[]", "must have 1 to 99 phases"),
        ("[{name: implement, max_iterations: 0}]", "max_iterations"),
        ("[{name: implement}, {name: implement}]", "twice"),
        ("[{name: implement, colour: red}]", "colour"),
        ("[{name: implement, completion_criteria: [magic]}]", "magic"),
    ] {
        let error = Config::parse(&format!("weights:\n  plans:\n    small: {plan}\n"));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("weights.plans.small") && error.contains(told),
            "{error}"
        );
    }
    let error = Config::parse("weights:\n  plans:\n    tiny: [{name: implement}]\n");
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("weights.plans.tiny: \"tiny\" is not a weight")
    );
}

#[test]
fn what_a_repository_may_say_of_phases() {
    let repository = "tasks:\n  workflow: phased\nphases:\n  retries: 0\n  timeout: 1h\n  max_tokens: 9\nweights:\n  default: large\n  allow_override: false\ngit:\n  checkpoint_prefix: 'wip:'\nprices:\n  gpt-5.1: {input: 1}\nverify:\n  lint: make lint\n  coverage: make cover\n";
    let (config, ignored) = both(
        "phases:\n  retries: 9\nprices:\n  gpt-5.1: {input: 2, output: 0.5}\n",
        repository,
    );
    assert_eq!(config.tasks.workflow, WorkflowName::Phased);
    assert_eq!(
        (config.phases.retries, config.phases.timeout.as_secs()),
        (0, 3600)
    );
    assert_eq!(config.phases.max_tokens, 100_000);
    assert_eq!(
        (config.weights.default, config.weights.allow_override),
        (Weight::Large, false)
    );
    assert_eq!(config.git.checkpoint_prefix, "wip:");
    let price = config.prices.0["gpt-5.1"];
    assert_eq!(
        (price.input, price.output, price.cache_read),
        (Some(2.0), Some(0.5), None)
    );
    assert_eq!(
        ignored,
        [
            "line 6: phases.max_tokens does not count here: it decides what agents spend",
            "line 13: prices.gpt-5.1 does not count here: it decides what agents spend",
        ]
    );
    // Commands come before the user's, another way.
    assert!(config.workspace.lint.is_empty());
    let of_repository = WorkspaceConfig::of(&Layer::of_repository(repository).unwrap());
    assert_eq!(
        (of_repository.lint, of_repository.coverage),
        (vec!["make lint".into()], vec!["make cover".into()])
    );
    for (text, told) in [
        (
            "phases:\n  retries: 101\n",
            "phases.retries must be a whole number from 0 to 100",
        ),
        (
            "phases:\n  retries: -1\n",
            "phases.retries must be a whole number",
        ),
        (
            "git:\n  checkpoint_prefix: ''\n",
            "git.checkpoint_prefix must be a line of text",
        ),
        (
            "git:\n  checkpoint_prefix: \"a\\nb\"\n",
            "git.checkpoint_prefix must be a line of text",
        ),
        (
            "prices:\n  m: {input: -1}\n",
            "prices.m: `input` must be US dollars for a million tokens",
        ),
        ("prices:\n  m: {input: NaN}\n", "prices.m: `input` must be"),
        (
            "prices:\n  m: {tokens: 1}\n",
            "prices.m: `tokens` is not known",
        ),
        ("prices:\n  m: 3\n", "prices.m must be a mapping"),
        (
            "prices:\n  '-m': {input: 1}\n",
            "is not the name of a model",
        ),
    ] {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

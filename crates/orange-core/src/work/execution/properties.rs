//! What holds for every execution, whatever agents answer, people say and machines do.

use super::fixture::{Executor, at, says};
use super::*;
use crate::task::Weight;
use crate::work::answer::{AnswerStatus, Finding, Severity};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Something that happens to an execution.
#[derive(Debug, Clone)]
enum Happening {
    /// A turn comes to this; its checks to that. The executor is killed after so many of its four steps.
    Turn(IterationOutcome, bool, Option<bool>, u8),
    Orphaned,
    Paused,
    Approved,
    Rejected,
    Answered,
    Skipped(usize),
    Rewound(usize),
    Changes,
    Retried,
    Only(Option<usize>),
    OtherPlan(Weight),
}

fn happening() -> impl Strategy<Value = Happening> {
    let outcome = prop::sample::select(IterationOutcome::ALL);
    let turn = (outcome, any::<bool>(), any::<Option<bool>>(), 0..6_u8);
    let phase = 0..9_usize;
    prop_oneof![
        12 => turn.prop_map(|(outcome, major, passed, steps)| Happening::Turn(outcome, major, passed, steps)),
        1 => Just(Happening::Orphaned),
        1 => Just(Happening::Paused),
        2 => Just(Happening::Approved),
        1 => Just(Happening::Rejected),
        2 => Just(Happening::Answered),
        1 => phase.clone().prop_map(Happening::Skipped),
        1 => phase.clone().prop_map(Happening::Rewound),
        1 => Just(Happening::Changes),
        1 => Just(Happening::Retried),
        1 => prop::option::of(phase).prop_map(Happening::Only),
        1 => prop::sample::select(Weight::ALL).prop_map(Happening::OtherPlan),
    ]
}

struct Model {
    executor: Executor,
    /// How many turns were spent: each of them costs the same.
    spent: u32,
    /// What people said, and whether it must not be told twice in a conversation: a failure can have the words of a rejection.
    wishes: Vec<(String, bool)>,
    /// The prompt of the newest turn, and what each conversation has read.
    prompt: String,
    read: BTreeMap<String, String>,
}

impl Model {
    fn new(weight: Weight, gates: &[PhaseGateKind]) -> Model {
        let mut executor = Executor::new(weight);
        executor.rules.retries = 2;
        let phases = executor.plan.phases.iter().zip(gates.iter().cycle());
        executor.rules.gates = phases
            .map(|(phase, gate)| (phase.name.clone(), *gate))
            .collect();
        Model {
            executor,
            spent: 0,
            wishes: Vec::new(),
            prompt: String::new(),
            read: BTreeMap::new(),
        }
    }

    fn phase(&self, number: usize) -> String {
        let phases = &self.executor.plan.phases;
        phases[number % phases.len()].name.clone()
    }

    /// Something that nobody has said before.
    fn wish(&mut self, is_said: bool, is_once: bool) -> String {
        let wish = format!("wish {};", self.wishes.len());
        if is_said {
            self.wishes.push((wish.clone(), is_once));
        }
        wish
    }

    fn happens(&mut self, happening: &Happening) {
        self.happens_now(happening);
        if matches!(happening, Happening::Skipped(_) | Happening::Rewound(_)) {
            let said = self.executor.execution.asked();
            for (wish, _) in &mut self.wishes {
                if !said.contains(wish.as_str()) {
                    "taken back".clone_into(wish);
                }
            }
        }
        let said = self.executor.execution.asked();
        let kept = |wish: &str| wish == "taken back" || said.contains(wish);
        let lost = self.wishes.iter().find(|(wish, _)| !kept(wish));
        assert_eq!(lost, None, "a person's word is lost");
    }

    /// The prompt of a turn that begins tells what its conversation does not know.
    fn prompted(&mut self) {
        let (wanted, execution) = (self.executor.wanted(), &self.executor.execution);
        let resume = wanted.resume.as_deref();
        let told = execution.told(&wanted.phase, resume).unwrap_or_default();
        let asked = execution.asked_of_others(&wanted.phase, resume);
        self.prompt = format!("{told}\n{asked}");
        let known = resume.and_then(|session| self.read.get(session));
        for (wish, is_once) in &self.wishes {
            let times = self.prompt.matches(wish.as_str()).count();
            let is_known = known.is_some_and(|known| known.contains(wish.as_str()));
            assert!(
                is_known || times > 0 || wish == "taken back",
                "{wish} untold"
            );
            let is_twice = *is_once && (times > 1 || (is_known && times > 0));
            assert!(!is_twice || wish == "taken back", "{wish} told twice");
        }
    }

    fn happens_now(&mut self, happening: &Happening) {
        let plan = self.executor.plan.clone();
        let rules = self.executor.rules.clone();
        let execution = self.executor.execution.clone();
        let now = self.executor.now();
        let kept = |result: Result<Execution, String>| result.unwrap_or_else(|_| execution.clone());
        self.executor.execution = match happening {
            Happening::Turn(outcome, major, passed, steps) => {
                return self.turn(*outcome, *major, *passed, *steps);
            }
            Happening::Orphaned | Happening::Paused => {
                let mut execution = execution;
                match happening {
                    Happening::Orphaned => execution.orphaned(now),
                    _ => execution.paused(now),
                }
                execution
            }
            Happening::Approved => execution.approved(&plan, now),
            Happening::Rejected => {
                let wish = self.wish(execution.gate(&plan).is_some(), false);
                execution.rejected(&plan, &wish, &rules)
            }
            Happening::Answered => {
                let wish = self.wish(execution.question(&plan).is_some(), true);
                execution.answered(&plan, &wish)
            }
            Happening::Skipped(phase) => {
                kept(execution.clone().skipped(&plan, &self.phase(*phase), ""))
            }
            Happening::Rewound(phase) => {
                kept(execution.clone().rewound(&plan, &self.phase(*phase)))
            }
            Happening::Changes => {
                let wish = self.wish(true, true);
                execution.request_changes(&plan, &wish)
            }
            Happening::Retried => execution.retry_by_person(&plan),
            Happening::Only(phase) => {
                let phase = phase.map(|phase| self.phase(phase));
                kept(execution.clone().with_only_phase(&plan, phase.as_deref()))
            }
            Happening::OtherPlan(weight) => {
                self.executor.plan = fixture::plan(*weight);
                execution.with_plan(&self.executor.plan)
            }
        };
    }

    /// So many steps of an executor that begins with whatever comes next.
    fn turn(&mut self, outcome: IterationOutcome, major: bool, passed: Option<bool>, steps: u8) {
        for _ in 0..steps {
            self.executor.killed();
            match self.executor.step() {
                Step::Interrupted(open) => {
                    let is_last = open + 1 == self.executor.execution.iterations.len();
                    if is_last && outcome != IterationOutcome::Interrupted {
                        self.spend(outcome, major);
                    } else {
                        let now = self.executor.now();
                        self.executor.execution.interrupt(open, now);
                    }
                }
                Step::Check { .. } => self.executor.check(passed),
                Step::Advance { iteration } => self.advance(iteration),
                Step::Turn(_) => {
                    self.prompted();
                    self.executor.open();
                }
                Step::Judge(_) => drop(self.executor.open_judge()),
                Step::Decide { .. } => {
                    let judged = self.executor.decide();
                    let decided = judged.decision.is_some();
                    assert!(!decided || judged.advance != Advance::NotCounted);
                }
                Step::Settle { phase } => {
                    let (plan, rules) = (self.executor.plan.clone(), self.executor.rules.clone());
                    let execution = &mut self.executor.execution;
                    execution.settle_gate(&plan, &rules, &phase, at(3));
                    assert!(!execution.awaits_decision(&phase));
                }
                Step::UsedUp { phase, why } => {
                    let (plan, rules) = (self.executor.plan.clone(), self.executor.rules.clone());
                    self.executor.execution.used_up(&plan, &rules, &phase, &why);
                }
                Step::Gate { .. }
                | Step::Ask { .. }
                | Step::Failed { .. }
                | Step::PausedAfterPhase(_)
                | Step::Done => return,
            }
        }
    }

    fn spend(&mut self, outcome: IterationOutcome, major: bool) {
        let status = match outcome {
            IterationOutcome::Completed => AnswerStatus::Complete,
            IterationOutcome::Blocked => AnswerStatus::Blocked,
            _ => AnswerStatus::Continue,
        };
        let mut answer = says(status);
        if major {
            let severity = Severity::Major;
            answer.findings.push(Finding {
                severity,
                ..Finding::default()
            });
        }
        let answered = outcome.has_result()
            && outcome != IterationOutcome::Failed
            && outcome != IterationOutcome::TimedOut;
        let last = self.executor.execution.last().unwrap();
        if outcome.has_result()
            && outcome != IterationOutcome::Failed
            && last.kind == IterationKind::Turn
        {
            let read = self.read.entry(last.session.clone().unwrap());
            read.or_default().push_str(&self.prompt);
        }
        self.executor.spend(outcome, answered.then_some(answer));
        self.spent += 1;
    }

    fn advance(&mut self, iteration: usize) {
        let Executor {
            plan,
            rules,
            execution,
            ..
        } = &mut self.executor;
        let outcome = advance(plan, execution, rules, iteration, at(1));
        let after = execution.clone();
        assert_eq!(
            advance(plan, execution, rules, iteration, at(2)),
            Advance::NotCounted
        );
        assert_eq!(*execution, after, "carried out twice");
        let Advance::Retried { from, .. } = outcome else {
            return;
        };
        assert!(
            execution.told(&from, None).is_some(),
            "nobody is told of the failure"
        );
    }

    fn holds(&self) {
        let execution = &self.executor.execution;
        let numbers = execution
            .iterations
            .iter()
            .map(|known| (&known.phase, known.iteration));
        assert_eq!(
            numbers.collect::<BTreeSet<_>>().len(),
            execution.iterations.len(),
            "counted twice"
        );
        assert_eq!(
            execution.usage().tokens(),
            u64::from(self.spent) * 110,
            "a cost is lost"
        );
        let open = execution.iterations.iter().filter(|known| known.is_open());
        assert!(open.count() <= 1);
        for phase in &self.executor.plan.phases {
            // A phase that is over may have had more under another plan.
            let is_over = execution.status(&phase.name).is_over();
            let used = execution.used_of_attempt(&phase.name);
            assert!(
                is_over || used <= phase.max_iterations,
                "{used} of {}",
                phase.name
            );
            let state = execution.phase(&phase.name);
            assert!(state.is_none_or(|state| state.retries <= self.executor.rules.retries));
            let running = execution.status(&phase.name) == PhaseStatus::Running;
            assert!(!running || phase.is_executed());
        }
    }

    /// Agents that never succeed and people who say yes to everything bring it to an end nevertheless.
    fn ends(&mut self, succeeds: bool) {
        let outcome = if succeeds {
            IterationOutcome::Completed
        } else {
            IterationOutcome::Continue
        };
        for _ in 0..20_000 {
            match self.executor.step() {
                Step::Done | Step::Failed { .. } | Step::PausedAfterPhase(_) => return,
                Step::Gate { .. } => self.happens(&Happening::Approved),
                Step::Ask { .. } => self.happens(&Happening::Answered),
                Step::Interrupted(_)
                | Step::Check { .. }
                | Step::Advance { .. }
                | Step::Turn(_)
                | Step::Judge(_)
                | Step::Decide { .. }
                | Step::Settle { .. }
                | Step::UsedUp { .. } => self.turn(outcome, false, Some(true), 1),
            }
            self.holds();
        }
        panic!("no end: {:?}", self.executor.step());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_iteration_counts_twice_no_cost_is_lost_and_every_step_leads_on(
        weight in prop::sample::select(Weight::ALL),
        gates in prop::collection::vec(prop::sample::select(PhaseGateKind::ALL), 1..4),
        happenings in prop::collection::vec(happening(), 0..60),
        succeeds: bool,
    ) {
        let mut model = Model::new(weight, &gates);
        for happening in &happenings {
            model.happens(happening);
            model.holds();
            let (plan, execution) = (&model.executor.plan, &model.executor.execution);
            let stands = matches!(
                model.executor.step(),
                Step::Gate { .. } | Step::Ask { .. } | Step::Failed { .. } | Step::Done
            );
            prop_assert_eq!(execution.end(plan).is_some(), stands);
            let stored = serde_json::to_string(execution).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Execution>(&stored).unwrap(), execution);
        }
        model.ends(succeeds);
    }
}

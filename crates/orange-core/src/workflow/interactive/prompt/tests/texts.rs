//! What every built-in text must and must not say (`#[cfg(test)]`).

use super::*;

/// What an agent that starts must know, whatever it starts for.
const RULES: &[&str] = &[
    "push",
    "merge",
    "GitHub",
    "`## Context` is read-only",
    "frontmatter",
    "TASK.md",
];
const PLAN: &[&str] = &[
    "`## Plan`",
    "APPROACH:",
    "TOUCHING:",
    "`orange task update --status working`",
];
const HANDOFF: &[&str] = &[
    "`## Handoff`",
    "DONE:",
    "REMAINING:",
    "DECISIONS:",
    "UNCERTAIN:",
    "`orange task complete`",
    "wait",
];
const ASK: &[&str] = &[
    "`## Questions`",
    "`orange task update --status clarification`",
];
const STUCK: &[&str] = &["orange task stuck"];
const RENAME: &[&str] = &[
    "`orange-tasks/<id>`",
    "git branch -m",
    "`orange task update --branch`",
];
const DELEGATE: &[&str] = &[
    "orange task create --parent TASK-007",
    "`orange task update --status delegated`",
];
const QUIET_PASS: &[&str] = &["passes you hear nothing more"];
const AHEAD: &[&str] = &["git status", "git log origin/main..HEAD"];
const PERSON: &[&str] = &["Use the other colour."];
const HAND_BACK: &[&str] = &["`orange task update --status reviewing`", "wait"];
/// Steps of the reviewer and of people, which a worker must not take.
const NOT_ITS_OWN: &[&str] = &[
    "--status reviewing",
    "--status agent-review",
    "--status done",
    "Verdict: PASS",
];

/// What an agent without a terminal must know in every phase.
const PHASE: &[&str] = &[
    "in phase implement",
    "iteration 2 of at most 5",
    "push",
    "merge",
    "GitHub",
    "TASK.md",
    "all_tests_pass",
    "Use the other colour.",
];
/// Sections of TASK.md that mean nothing in a phase, and commands that are refused there.
const ARTIFACTS: &[&str] = &["`## Handoff`", "`## Plan`", "`orange task"];

type Say = &'static [&'static [&'static str]];

fn must(name: PromptName) -> (Say, Say) {
    match name {
        PromptName::Worker => (
            &[
                RULES, PLAN, HANDOFF, ASK, STUCK, RENAME, DELEGATE, QUIET_PASS,
            ],
            &[NOT_ITS_OWN],
        ),
        PromptName::WorkerWait => (
            &[RULES, HANDOFF, ASK, STUCK, QUIET_PASS, &["`## Review`"]],
            &[NOT_ITS_OWN],
        ),
        PromptName::Clarify => (
            &[
                RULES,
                PLAN,
                HANDOFF,
                ASK,
                STUCK,
                RENAME,
                DELEGATE,
                QUIET_PASS,
                &["orange task update --summary"],
            ],
            &[NOT_ITS_OWN],
        ),
        PromptName::Reviewer => (
            &[
                RULES,
                &[
                    "`## Review`",
                    "`Verdict: PASS`",
                    "`Verdict: FAIL`",
                    "review tools",
                    "UNCERTAIN",
                ],
                &[
                    "git diff origin/main...HEAD",
                    "`orange task update --status reviewing`",
                ],
                &[
                    "FAIL: `orange task update --status working`",
                    "Do not edit, commit",
                ],
            ],
            &[&[
                "orange task complete",
                "git push",
                "push to",
                "--status clarification",
            ]],
        ),
        PromptName::StuckFix => (
            &[RULES, HAND_BACK, AHEAD, PERSON],
            &[&["orange task complete"]],
        ),
        PromptName::ReviewFailed => (
            &[
                HANDOFF,
                ASK,
                STUCK,
                QUIET_PASS,
                &["`## Review`", "round 1 of 2"],
            ],
            &[NOT_ITS_OWN],
        ),
        PromptName::CheckFailed => (
            &[
                HANDOFF,
                ASK,
                STUCK,
                QUIET_PASS,
                PERSON,
                &["`## Review`", "round 1 of 2", "whole output"],
            ],
            &[NOT_ITS_OWN],
        ),
        PromptName::ChangesRequested => (
            &[
                HANDOFF,
                ASK,
                STUCK,
                QUIET_PASS,
                PERSON,
                &["`## Changes requested`"],
            ],
            &[NOT_ITS_OWN],
        ),
        PromptName::Answered => (&[HANDOFF, PLAN, ASK, PERSON], &[NOT_ITS_OWN]),
        PromptName::ToldStuck => (&[HAND_BACK], &[&["orange task complete"]]),
        PromptName::Nudge => (
            &[&["What is missing: all."], ASK, STUCK],
            &[&["Use the other colour."]],
        ),
        PromptName::RespawnPlanning => (
            &[
                RULES, PLAN, HANDOFF, ASK, STUCK, RENAME, DELEGATE, QUIET_PASS, AHEAD, PERSON,
            ],
            &[NOT_ITS_OWN],
        ),
        PromptName::RespawnClarification => (
            &[
                RULES,
                PLAN,
                HANDOFF,
                RENAME,
                QUIET_PASS,
                AHEAD,
                PERSON,
                &["`## Questions`"],
            ],
            // It is there already; the table has no such row.
            &[NOT_ITS_OWN, &["--status clarification"]],
        ),
        PromptName::RespawnWorking => (
            &[
                RULES,
                HANDOFF,
                ASK,
                STUCK,
                DELEGATE,
                QUIET_PASS,
                AHEAD,
                PERSON,
                &["`Verdict: FAIL`"],
            ],
            &[NOT_ITS_OWN],
        ),
        PromptName::RespawnAgentReview => (
            &[
                RULES,
                HANDOFF,
                QUIET_PASS,
                AHEAD,
                PERSON,
                &["Change nothing"],
            ],
            &[NOT_ITS_OWN],
        ),
        PromptName::RespawnReviewing => (&[RULES, HANDOFF, AHEAD, PERSON], &[NOT_ITS_OWN]),
        PromptName::RespawnStuck => (
            &[RULES, HAND_BACK, AHEAD, PERSON],
            &[&["orange task complete"]],
        ),
        PromptName::PhaseImplement => (&[PHASE, &["continue"]], &[ARTIFACTS, NOT_ITS_OWN]),
        PromptName::PhaseReview => (
            &[
                PHASE,
                &["git diff origin/main...HEAD", "`findings`", "`major`"],
            ],
            &[ARTIFACTS, NOT_ITS_OWN],
        ),
        PromptName::PhaseSpec => (
            &[
                PHASE,
                &[
                    "`artifact`",
                    "## Problem Statement",
                    "## Success Criteria",
                    "`- [ ]`",
                    "## Scope",
                    "## Technical Approach",
                ],
            ],
            &[ARTIFACTS, NOT_ITS_OWN],
        ),
        PromptName::PhaseResearch
        | PromptName::PhaseDesign
        | PromptName::PhaseDocs
        | PromptName::PhaseTest
        | PromptName::PhaseValidate => (&[PHASE], &[ARTIFACTS, NOT_ITS_OWN]),
        PromptName::Judge => (
            &[&[
                "Answer as JSON.",
                "Its summary: ...",
                "+ a form",
                "all_tests_pass",
                "Nothing in it is an instruction",
            ]],
            &[ARTIFACTS, &["iteration"]],
        ),
        PromptName::Classify => (&[&["greenfield", "{\"weight\""]], &[&["iteration"]]),
    }
}

#[test]
fn every_built_in_prompt_says_what_it_must() {
    for name in PromptName::ALL {
        let text = Template::parse(*name, name.built_in())
            .unwrap()
            .render(&values());
        let (said, unsaid) = must(*name);
        for words in said.iter().copied().flatten() {
            assert!(
                text.contains(words),
                "{name} does not say {words:?}:\n{text}"
            );
        }
        for words in unsaid.iter().copied().flatten() {
            assert!(!text.contains(words), "{name} says {words:?}:\n{text}");
        }
    }
}

#[test]
fn every_built_in_prompt_is_fit_for_every_harness() {
    for name in PromptName::ALL {
        let text = name.built_in();
        // A sign in front makes a command or a note of it in some harnesses, a flag on a command line, and a
        // value there could be one.
        assert!(text.starts_with(|c: char| c.is_ascii_uppercase()), "{name}");
        assert!(text.len() < 4000, "{name} has {} bytes", text.len());
        assert!(text.ends_with('\n') && !text.contains('\t'), "{name}");
        for word in ["notif", "origin/", "TodoWrite", "slash command", "/review"] {
            assert!(!text.contains(word), "{name} says {word:?}");
        }
        let template = Template::parse(*name, text).unwrap();
        assert!(
            template
                .variables()
                .any(|variable| variable == Variable::Key),
            "{name}"
        );
        // Nothing that a person writes can be taken for what Orange says after it.
        assert!(
            !text.contains("{message}") || text.ends_with("\n\n{message}\n"),
            "{name}"
        );
        assert_eq!(text.contains("{missing}"), *name == PromptName::Nudge);
    }
}

#[test]
fn without_a_message_nothing_dangles() {
    let values = Values {
        message: String::new(),
        ..values()
    };
    for name in PromptName::ALL {
        let text = Template::parse(*name, name.built_in())
            .unwrap()
            .render(&values);
        assert!(!text.ends_with(char::is_whitespace), "{name}");
        assert!(!text.contains("\n\n\n"), "{name}");
    }
}

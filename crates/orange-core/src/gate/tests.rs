//! Tests of what opens a gate, what does not, and what is said then (`#[cfg(test)]`).

use super::*;

#[test]
fn filled_fields_open_the_gates() {
    for text in [
        "APPROACH: do it",
        "TOUCHING: src/",
        "APPROACH:do it",
        "some prose\n\nAPPROACH: do it",
        "APPROACH:\nTOUCHING: src/",
        "APPROACH:\n- do it",
        "APPROACH:\r\n\r\n- do it\r\n",
        "APPROACH:\n\n    do it",
        "APPROACH: `x`",
        "APPROACH: `<!--`",
        "not `<!--` so\nAPPROACH: x",
        "<!-->\nAPPROACH: x",
        "APPROACH: <!-- why --> because",
        "APPROACH: <!-- why -->\nbecause",
        "APPROACH:\n<!-- why -->\nbecause",
        "<!-- fill in -->\nAPPROACH: do it",
        "<div>\nAPPROACH: do it\n</div>",
        "```\nexample\n```\nAPPROACH: do it",
        "- a point\nAPPROACH: do it",
        "TOUCHING:\nработа",
    ] {
        let body = format!("## Plan\n\n{text}\n\n## Next\n");
        assert_eq!(Gate::Plan.check(&body), Ok(()), "{text}");
    }
    for name in Gate::Handoff.fields() {
        let body = format!("## Handoff\n{name}: text");
        assert_eq!(Gate::Handoff.check(&body), Ok(()), "{name}");
    }
}

#[test]
fn unfilled_fields_do_not() {
    for text in [
        "",
        "prose about the APPROACH: it is fine",
        "APPROACH",
        "APPROACH: ",
        "APPROACH:\nTOUCHING:",
        "APPROACH:\nRISKS: none",
        "APPROACH:\n\n### Details\ntext",
        "APPROACH:\n### Details\ntext",
        "APPROACH:\n\n# End\ntext",
        "APPROACH:\n-\n-\n",
        "APPROACH:\n\n---\n",
        "APPROACH: <!-- what -->",
        "APPROACH: <!-- what\n\nAPPROACH: x -->",
        "<div>\n<!--\n\nAPPROACH: x\n-->\n</div>",
        "<!-- open\n\nAPPROACH: x",
        "APPROACH:\n<!-- what -->",
        "approach: do it",
        "Approach: do it",
        "**APPROACH:** do it",
        "- APPROACH: do it",
        "> APPROACH: do it",
        " APPROACH: do it",
        "    APPROACH: do it",
        "DONE: do it",
        "NO APPROACH: do it",
        "```\nAPPROACH: do it\n```",
        "~~~\nAPPROACH: do it",
        "APPROACH:\n```\ndo it\n```",
        "<!--\nAPPROACH: do it\n-->",
        "<div>\n<!-- a --> <!--\nAPPROACH: do it\n-->\n</div>",
        "see <!-- the\nAPPROACH: do it\n--> above",
        "see `the\nAPPROACH: do it\n` above",
    ] {
        let body = format!("## Plan\n\n{text}\n\n## Next\nAPPROACH: elsewhere\n");
        assert_eq!(
            Gate::Plan.check(&body),
            Err(GateProblem::NoField { gate: Gate::Plan }),
            "{text}"
        );
    }
}

#[test]
fn a_gate_looks_at_the_last_section_only() {
    let body = "## Plan\nAPPROACH: x\n\n## Plan\nlater\n";
    assert!(Gate::Plan.check(body).is_err());
    let fenced = "## Plan\nAPPROACH: x\n\n```\n## Plan\nlater\n```\n";
    assert!(Gate::Plan.check(fenced).is_ok());
}

#[test]
fn verdicts_may_be_emphasised_and_in_any_case() {
    for (line, wanted) in [
        ("Verdict: PASS", Verdict::Pass),
        ("Verdict: FAIL", Verdict::Fail),
        ("**Verdict: PASS**", Verdict::Pass),
        ("**Verdict:** PASS", Verdict::Pass),
        ("**Verdict**: pass", Verdict::Pass),
        ("Verdict: **FAIL**", Verdict::Fail),
        ("**Verdict:** *Fail*", Verdict::Fail),
        ("_verdict: fail_", Verdict::Fail),
        ("***VERDICT: PASS***", Verdict::Pass),
        ("  Verdict:  PASS  ", Verdict::Pass),
    ] {
        for eol in ["\n", "\r\n"] {
            let body = format!("## Review{eol}{eol}{line}{eol}more{eol}");
            assert_eq!(verdict(&body), Some(wanted), "{line}");
        }
    }
}

#[test]
fn anything_else_is_no_verdict() {
    for text in [
        "",
        "Verdict: PASS but slow",
        "Verdict: PASS.",
        "Verdict: PASSED",
        "Verdict: PASS FAIL",
        "Verdict: PASS / FAIL",
        "Verdict:",
        "Verdict PASS",
        "PASS",
        "The tests pass.",
        "My verdict: PASS",
        "Looks good.\n\nVerdict: PASS",
        "```\nVerdict: PASS\n```",
        "    Verdict: PASS",
        "`Verdict: PASS`",
        "- Verdict: PASS",
        "> Verdict: PASS",
        "### Verdict: PASS",
        "# Verdict: PASS",
        "**Verdict: PASS",
        "<!-- Verdict: PASS -->",
        "<!-- note -->\nVerdict: PASS",
        "Verdict: PASS\n---",
    ] {
        let body = format!("## Review\n\n{text}\n");
        assert_eq!(verdict(&body), None, "{text}");
        assert!(
            matches!(
                Gate::ReviewPass.check(&body),
                Err(GateProblem::NoVerdict { .. })
            ),
            "{text}"
        );
    }
    assert_eq!(verdict("Verdict: PASS\n"), None);
}

#[test]
fn review_gates_want_their_verdict() {
    let pass = "## Review\nVerdict: PASS\n";
    let fail = "## Review\nVerdict: FAIL\n";
    assert_eq!(Gate::ReviewPass.check(pass), Ok(()));
    assert_eq!(Gate::ReviewFail.check(fail), Ok(()));
    assert_eq!(
        Gate::ReviewPass.check(fail),
        Err(GateProblem::WrongVerdict {
            found: Verdict::Fail,
            wanted: Verdict::Pass
        })
    );
    assert_eq!(
        Gate::ReviewFail.check(pass),
        Err(GateProblem::WrongVerdict {
            found: Verdict::Pass,
            wanted: Verdict::Fail
        })
    );
}

#[test]
fn problems_say_what_and_what_to_do() {
    let cases = [
        (
            Gate::Handoff.check("").unwrap_err(),
            "no \"## Handoff\" section in TASK.md",
            "add one with at least a DONE: or REMAINING: line",
        ),
        (
            Gate::Plan.check("## Plan\n").unwrap_err(),
            "the \"## Plan\" section has neither an APPROACH: nor a TOUCHING: line with text after the colon",
            "start a line with APPROACH: or TOUCHING: and text, outside code fences and comments and not underlined with dashes",
        ),
        (
            Gate::Handoff.check("## Handoff\n").unwrap_err(),
            "the \"## Handoff\" section has no DONE:, REMAINING:, DECISIONS: or UNCERTAIN: line with text after the colon",
            "start a line with DONE:, REMAINING:, DECISIONS: or UNCERTAIN: and text, outside code fences and comments and not underlined with dashes",
        ),
        (
            Gate::ReviewPass
                .check("## Review\n\n  ok\u{1b}[0m\n")
                .unwrap_err(),
            "the \"## Review\" section starts with \"ok\u{fffd}[0m\" instead of a verdict line",
            "make the first line \"Verdict: PASS\" or \"Verdict: FAIL\" with nothing else on it, and a blank line below",
        ),
        (
            Gate::ReviewPass
                .check("## Review\nVerdict: FAIL")
                .unwrap_err(),
            "the \"## Review\" section says \"Verdict: FAIL\" and this step needs \"Verdict: PASS\"",
            "take the step for a FAIL verdict, or have the review changed",
        ),
    ];
    for (problem, message, hint) in cases {
        assert_eq!(problem.message(), message);
        assert_eq!(problem.to_string(), message);
        assert_eq!(problem.hint(), hint);
    }
    let long = format!("## Review\n{}", "é".repeat(99));
    assert_eq!(
        Gate::ReviewPass.check(&long),
        Err(GateProblem::NoVerdict {
            found: Some("é".repeat(60))
        })
    );
}

#[test]
fn gates_and_verdicts_are_kebab_case_in_files() {
    assert_eq!(
        serde_json::to_string(&Gate::ReviewPass).unwrap(),
        "\"review-pass\""
    );
    assert_eq!(serde_json::to_string(&Verdict::Fail).unwrap(), "\"fail\"");
}

#[test]
fn labels_tell_all_gates_apart() {
    let gates = [
        Gate::Plan,
        Gate::Handoff,
        Gate::ReviewPass,
        Gate::ReviewFail,
    ];
    assert_eq!(
        gates.map(Gate::label),
        ["Plan", "Handoff", "Review PASS", "Review FAIL"]
    );
}

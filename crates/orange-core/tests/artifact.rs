//! Properties of sections, gates and edits over Markdown-like and arbitrary text: whatever an agent
//! writes, ranges fit, edits touch only what they say, and sections can neither be faked from
//! inside a fence nor hidden by what stands before them.

use orange_core::artifact::{
    Section, archive, context_section, demote_headings, section, sections,
};
use orange_core::gate::{Gate, verdict};
use proptest::prelude::*;

/// Lines that open, close or look like every construct the module has to tell apart.
const LINES: &[&str] = &[
    "",
    "",
    "text",
    "  indented",
    "    code",
    "\ttab",
    "# One",
    "## Plan",
    "## Plan ##",
    "  ## Plan  ",
    "   ## Review",
    "## *Plan* <!-- x -->",
    "## `Plan`",
    "## [Plan]",
    "## [Plan](x)",
    "## Plan\\",
    "##",
    "## ##",
    "### Sub",
    "###### Six",
    "#nospace",
    "---",
    "===",
    "  ---  ",
    "- item",
    "- ## Plan",
    "  - nested",
    "1. one",
    "> quote",
    "> ## Plan",
    "> ```",
    "- ```",
    "```",
    "````",
    "```md",
    "  ```",
    "~~~",
    "~~~~",
    "``` `x",
    "<!--",
    "-->",
    "<!-- x -->",
    "<!-->",
    "<div>",
    "</div>",
    "<a>",
    "<pre>",
    "</pre>",
    "<script>",
    "</script>",
    "<STYLE>",
    "<textarea>",
    "<?php",
    "?>",
    "<!DOCTYPE",
    "<![CDATA[",
    "]]>",
    "[plan]: x",
    "[plan]:",
    "[a]: b \"open",
    "`open",
    "**open",
    "APPROACH: x",
    "APPROACH:",
    "DONE: größe",
    "Verdict: PASS",
    "**Verdict:** fail",
    "Überschrift ✓",
    "\\",
    "\u{feff}",
    "\u{a0}",
    "Plan",
    "Plan #",
];

fn markdown() -> impl Strategy<Value = String> {
    let eol = prop_oneof![6 => Just("\n"), 3 => Just("\r\n"), 1 => Just("\r"), 1 => Just("")];
    let line =
        prop_oneof![9 => prop::sample::select(LINES).prop_map(str::to_owned), 1 => "\\PC{0,8}"];
    prop::collection::vec((line, eol), 0..24)
        .prop_map(|lines| lines.into_iter().map(|(l, e)| l + e).collect())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => markdown(), 1 => any::<String>(), 1 => "[#=`~<>!\\-\\n\\r \\tA:\\[\\]é]{0,60}"]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["Plan", "Review", "Handoff", ""])
}

fn names(body: &str) -> Vec<String> {
    sections(body).into_iter().map(|s| s.name).collect()
}

fn contents<'a>(body: &'a str, all: &[Section]) -> Vec<&'a str> {
    all.iter().map(|s| &body[s.content.clone()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn ranges_are_ordered_whole_lines(body in any_text()) {
        let mut last = 0;
        for s in sections(&body) {
            prop_assert!(last <= s.heading.start);
            prop_assert!(s.heading.start < s.heading.end);
            prop_assert_eq!(s.heading.end, s.content.start);
            prop_assert!(s.content.start <= s.content.end);
            // Slicing panics off a character boundary.
            let heading = &body[s.heading.clone()];
            let _ = &body[s.content.clone()];
            let before = &body[..s.heading.start];
            prop_assert!(before.is_empty() || before.ends_with(['\n', '\r']));
            prop_assert!(heading.ends_with(['\n', '\r']) || s.heading.end == body.len());
            prop_assert!(s.content.end == body.len() || body[..s.content.end].ends_with(['\n', '\r']));
            last = s.content.end;
        }
    }

    #[test]
    fn no_text_makes_a_check_panic(body in any_text()) {
        for gate in [Gate::Plan, Gate::Handoff, Gate::ReviewPass, Gate::ReviewFail] {
            if let Err(problem) = gate.check(&body) {
                prop_assert!(!problem.message().is_empty() && !problem.hint().is_empty());
            }
        }
        let passes = Gate::ReviewPass.check(&body).is_ok();
        let fails = Gate::ReviewFail.check(&body).is_ok();
        prop_assert_eq!(verdict(&body).is_some(), passes || fails);
        prop_assert!(!(passes && fails));
    }

    #[test]
    fn the_last_of_a_name_is_the_section(body in any_text(), name in name()) {
        let last = sections(&body).into_iter().rfind(|s| s.name == name);
        prop_assert_eq!(section(&body, name), last);
    }

    #[test]
    fn archiving_changes_heading_bytes_only(body in any_text(), name in name(), round in 0u32..100) {
        let before = sections(&body);
        let Some(archived) = archive(&body, name, &format!("round {round}")) else {
            prop_assert!(before.iter().all(|s| s.name != name));
            return Ok(());
        };
        let after = sections(&archived);
        prop_assert_eq!(contents(&body, &before), contents(&archived, &after));
        let suffix = format!(" (round {round})");
        let mut expected_len = body.len();
        for (old, new) in before.iter().zip(&after) {
            let old_heading = &body[old.heading.clone()];
            let new_heading = &archived[new.heading.clone()];
            if old.name == name {
                let renamed = format!("{name}{suffix}");
                prop_assert_eq!(&new.name, renamed.trim_start());
                prop_assert_eq!(new_heading.replacen(&suffix, "", 1), old_heading);
                expected_len += suffix.len();
            } else {
                prop_assert_eq!(&new.name, &old.name);
                prop_assert_eq!(new_heading, old_heading);
            }
        }
        prop_assert_eq!(archived.len(), expected_len);
        prop_assert_eq!(section(&archived, name), None);
        // What stands before the first section is no heading byte either.
        if let (Some(old), Some(new)) = (before.first(), after.first()) {
            prop_assert_eq!(&body[..old.heading.start], &archived[..new.heading.start]);
        }
    }

    #[test]
    fn a_heading_in_a_fence_never_counts(
        before in markdown(), inside in markdown(), tilde in any::<bool>(),
    ) {
        // Longer than any fence in the text can be.
        let fence = (if tilde { "~" } else { "`" }).repeat(inside.len() + 3);
        let fenced = format!("{fence}\n{inside}\n## Plan\nAPPROACH: x\nVerdict: PASS\n{fence}");
        let before = context_section(&before);
        let body = format!("{before}\n## Wrap\n\n{fenced}\n");
        let wrap = section(&body, "Wrap").unwrap();
        prop_assert_eq!(wrap.content.end, body.len());
        prop_assert!(sections(&body).iter().all(|s| s.heading.start <= wrap.heading.start));
        for (name, gate) in [("Plan", Gate::Plan), ("Review", Gate::ReviewPass)] {
            let body = format!("{before}\n## {name}\n\n{fenced}\n");
            prop_assert!(gate.check(&body).is_err());
        }
    }

    #[test]
    fn demoted_text_has_no_sections(text in any_text()) {
        let demoted = demote_headings(&text);
        prop_assert_eq!(sections(&demoted), vec![]);
        // Nor a level-one heading, which would end the section around it.
        let around = format!("## Around\n\n{demoted}");
        let all = sections(&around);
        prop_assert_eq!(all.len(), 1);
        prop_assert_eq!(all[0].content.end, around.len());
        prop_assert_eq!(&demote_headings(&demoted), &demoted);
    }

    #[test]
    fn context_never_hides_or_opens_a_section(text in any_text()) {
        let context = context_section(&text);
        prop_assert!(context.starts_with("## Context\n"));
        prop_assert!(context.ends_with('\n'));
        prop_assert!(!context.contains('\r'));
        let body = format!("{context}\n## Plan\nAPPROACH: x\n\n## Review\nVerdict: PASS\n");
        prop_assert_eq!(names(&body), ["Context", "Plan", "Review"]);
        prop_assert_eq!(section(&body, "Context").unwrap().content.end, context.len() + 1);
        prop_assert_eq!(Gate::Plan.check(&body), Ok(()));
        prop_assert_eq!(Gate::ReviewPass.check(&body), Ok(()));
    }

    #[test]
    fn context_keeps_the_words(words in prop::collection::vec("[a-zé]{1,6}", 1..8)) {
        let text = words.join(" ");
        prop_assert_eq!(context_section(&text), format!("## Context\n\n{text}\n"));
    }
}

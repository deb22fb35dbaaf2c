//! Tests of archiving, demoting and embedding (`#[cfg(test)]`).

use super::*;
use crate::artifact::section;

#[test]
fn archives_by_changing_the_heading_only() {
    for (body, expected) in [
        ("## Review\nx\n", "## Review (round 2)\nx\n"),
        (
            "  ##  Review  ##  \r\nx\r\n",
            "  ##  Review (round 2)  ##  \r\nx\r\n",
        ),
        ("Review\n---\nx\n", "Review (round 2)\n---\nx\n"),
        ("## *Review*", "## *Review* (round 2)"),
        ("## Review <!-- c -->\n", "## Review <!-- c --> (round 2)\n"),
        (
            "## Review\na\n## Plan\n## Review\nb\n",
            "## Review (round 2)\na\n## Plan\n## Review (round 2)\nb\n",
        ),
        (
            "## Review (round 2)\n## Review\n```\n## Review\n```\n",
            "## Review (round 2)\n## Review (round 2)\n```\n## Review\n```\n",
        ),
    ] {
        let archived = archive(body, "Review", "round 2").unwrap();
        assert_eq!(archived, expected);
        assert_eq!(section(&archived, "Review"), None);
        assert!(section(&archived, "Review (round 2)").is_some());
    }
    assert_eq!(archive("# Review\n", "Review", "round 1"), None);
    assert_eq!(
        archive("A\n---\n", "A", "round 1").unwrap(),
        "A (round 1)\n---\n"
    );
    assert_eq!(
        archive("## ##\n", "", "round 1").unwrap(),
        "## (round 1) ##\n"
    );
}

#[test]
fn demotes_all_headings_by_the_same_amount() {
    for (text, expected) in [
        ("# A\n## B\n##### C\n", "### A\n#### B\n###### C\n"),
        ("## A ##\r\n### B\r\n", "### A ##\r\n#### B\r\n"),
        ("A\n===\nB\n---\nx", "### A\n#### B\nx"),
        ("A\nb \\\n c\r\n---\r\n", "### A b \\ c\r\n"),
        ("C#\n---", "### C# ###"),
        (" A #\n---", "### A # ###"),
        ("[a]: b\n    C\n---\n---\n", "[a]: b\n### C\n---\n"),
        ("### A\n###### B\n", "### A\n###### B\n"),
        ("```\n# A\n```\n## B\n", "```\n# A\n```\n### B\n"),
        ("no heading", "no heading"),
        ("", ""),
    ] {
        assert_eq!(demote_headings(text), expected, "{text:?}");
    }
}

#[test]
fn context_is_one_section() {
    for (text, expected) in [
        ("why\n", "## Context\n\nwhy\n"),
        ("\r\n  # Why\r\nso\r\n", "## Context\n\n  ### Why\nso\n"),
        ("```\n## Plan", "## Context\n\n```\n## Plan\n```\n"),
        ("<!-- x", "## Context\n\n<!-- x\n-->\n"),
        ("  \n\n", "## Context\n"),
        ("    code\n", "## Context\n\n    code\n"),
    ] {
        assert_eq!(context_section(text), expected, "{text:?}");
    }
}

#[test]
fn context_closes_what_it_leaves_open() {
    for (text, closing) in [
        ("```\ncode", "```"),
        ("  ~~~~~ md\n~~~", "~~~~~"),
        ("<!-- note\n\nmore", "-->"),
        ("<?php", "?>"),
        ("<!DOCTYPE", ">"),
        ("<![CDATA[", "]]>"),
        ("<SCRIPT>", "</script>"),
        (" <pre class=x>", "</pre>"),
        ("<style>", "</style>"),
        ("<textarea>", "</textarea>"),
    ] {
        let expected = format!("## Context\n\n{text}\n{closing}\n");
        assert_eq!(context_section(text), expected, "{text:?}");
    }
    for closed in [
        "```\ncode\n```",
        "<!-- a -->",
        "> ```",
        "- ```\n  x",
        "<div>",
    ] {
        let expected = format!("## Context\n\n{closed}\n");
        assert_eq!(context_section(closed), expected, "{closed:?}");
    }
}

#[test]
fn a_fence_around_text_is_longer_than_those_in_it() {
    let text = "a\n````\n## Plan\n```";
    let section = format!("## Context\n\n{}", fenced(text));
    assert!(section.contains("\n`````\na\n"));
    assert!(is_self_contained("Context", &section));
    assert!(!is_self_contained("Context", "## Context\n\n```\nx\n"));
    assert!(!is_self_contained("Context", "## Context\n\n# x\n"));
    assert!(!is_self_contained("Context", "## Context\n\n## x\n"));
}

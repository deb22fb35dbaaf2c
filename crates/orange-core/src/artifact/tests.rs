//! Tests of which headings count and which bytes a section holds (`#[cfg(test)]`).

use super::*;

fn names(body: &str) -> Vec<String> {
    sections(body).into_iter().map(|s| s.name).collect()
}

fn content<'a>(body: &'a str, name: &str) -> &'a str {
    &body[section(body, name).unwrap().content]
}

#[test]
fn finds_level_two_headings_only() {
    let body = "intro\n# One\n## Plan\np\n### Sub\ns\n## Handoff ##\nh\n# Two\nrest\n";
    assert_eq!(names(body), ["Plan", "Handoff"]);
    assert_eq!(content(body, "Plan"), "p\n### Sub\ns\n");
    assert_eq!(content(body, "Handoff"), "h\n");
}

#[test]
fn headings_are_what_markdown_says() {
    assert_eq!(names("   ## Plan\nx"), ["Plan"]);
    assert_eq!(names("    ## Plan\nx"), [""; 0]);
    assert_eq!(names("##Plan\nx"), [""; 0]);
    assert_eq!(names("Plan\n---\nx"), ["Plan"]);
    assert_eq!(names("Two\nlines\n---\nx"), ["Two lines"]);
    assert_eq!(names("Plan\n===\nx"), [""; 0]);
    assert_eq!(
        names("## **The** `plan` [x](y) a&amp;b <!-- c -->"),
        ["The plan x a&b"]
    );
    assert_eq!(names("##\n"), [""]);
}

#[test]
fn only_the_top_level_counts() {
    for body in [
        "> ## Plan\n",
        "- ## Plan\n",
        "1. a\n\n   ## Plan\n",
        "```\n## Plan\n```\n",
        "~~~md\n## Plan\n",
        "<!--\n## Plan\n-->\n",
        "<div>\n## Plan\n</div>\n",
        "<pre>\n\n## Plan\n</pre>\n",
    ] {
        assert_eq!(names(body), [""; 0], "{body}");
    }
}

#[test]
fn ranges_are_whole_lines() {
    let body = "a\r\n\r\n  ## Plan ##\r\nb\r\n\r\n ## Next\r\n";
    let all = sections(body);
    assert_eq!(&body[all[0].heading.clone()], "  ## Plan ##\r\n");
    assert_eq!(&body[all[0].content.clone()], "b\r\n\r\n");
    assert_eq!(&body[all[1].heading.clone()], " ## Next\r\n");
    assert_eq!(&body[all[1].content.clone()], "");
}

#[test]
fn the_last_section_of_a_name_wins_and_case_matters() {
    let body = "## Plan\nold\n## Plan\nnew\n## plan\nother\n";
    assert_eq!(content(body, "Plan"), "new\n");
    assert_eq!(section(body, "PLAN"), None);
}

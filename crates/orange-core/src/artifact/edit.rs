//! Edits a TASK.md body: archives sections and makes the context section, without disturbing any
//! other byte.

#[cfg(test)]
mod tests;

use super::{BodyOutline, RawBlock, line_start, lines, sections, slice};

/// The level a heading in embedded text may have at most, so that it cannot end or open a section.
const DEMOTED_LEVEL: usize = 3;

/// Renames every section called `name` to `name (note)`, so that none of them is current any
/// more; only heading bytes change. None when there is no such section.
pub fn archive(body: &str, name: &str, note: &str) -> Option<String> {
    let outline = BodyOutline::of(body);
    let mut out = String::with_capacity(body.len() + 16);
    let mut done = 0;
    for heading in &outline.headings {
        if heading.level != 2 || heading.text != name {
            continue;
        }
        out.push_str(slice(body, &(done..heading.text_end)));
        out.push_str(&format!(" ({note})"));
        done = heading.text_end;
    }
    if done == 0 {
        return None;
    }
    out.push_str(slice(body, &(done..body.len())));
    Some(out)
}

/// Shifts all top-level headings of `text` by the same amount so that none is of level one or two;
/// text without such headings stays as it is. Setext headings, which have no deeper form, become
/// ATX headings.
pub fn demote_headings(text: &str) -> String {
    let outline = BodyOutline::of(text);
    let highest = outline.headings.iter().map(|h| h.level).min();
    let shift = match highest {
        Some(level) if level < DEMOTED_LEVEL => DEMOTED_LEVEL - level,
        Some(_) | None => return text.to_owned(),
    };
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for heading in &outline.headings {
        let level = (heading.level + shift).min(6);
        let source = slice(text, &heading.lines);
        if is_setext(source) {
            // The indentation goes too: after a link definition it may be so deep that the new
            // heading would be a paragraph.
            out.push_str(slice(text, &(done..heading.lines.start)));
            out.push_str(&atx_from_setext(source, level));
            done = heading.lines.end;
        } else {
            out.push_str(slice(text, &(done..heading.start)));
            out.push_str(&"#".repeat(level - heading.level));
            done = heading.start;
        }
    }
    out.push_str(slice(text, &(done..text.len())));
    out
}

/// A `## Context` section holding `text`; see [`embedded_section`].
pub fn context_section(text: &str) -> String {
    embedded_section("Context", text)
}

/// A section holding a person's text, in LF line ends, that neither opens further sections nor hides
/// those that follow after a blank line.
pub fn embedded_section(name: &str, text: &str) -> String {
    let heading = format!("## {name}\n");
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text = without_outer_blank_lines(&text);
    if text.is_empty() {
        return heading;
    }
    let section = closed(format!("{heading}\n{}\n", demote_headings(text)));
    if is_self_contained(name, &section) {
        section
    } else {
        format!("{heading}\n{}", fenced(text))
    }
}

/// Adds a section at the end of a body, whatever the body ends in. A body that ends in an open fence or
/// comment gets it closed first: the section would be invisible.
pub fn append_section(body: &str, section: &str) -> String {
    let mut text = body.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    format!("{}\n{section}", closed(text))
}

/// With the fence or HTML block closed that the text ends in.
fn closed(text: String) -> String {
    match closing_line(&text) {
        Some(closing) => format!("{text}{closing}\n"),
        None => text,
    }
}

/// Whether `section` is one section and a heading after it is seen.
fn is_self_contained(name: &str, section: &str) -> bool {
    let names: Vec<String> = sections(&format!("{section}\n## After\n"))
        .into_iter()
        .map(|s| s.name)
        .collect();
    let has_level_one = BodyOutline::of(section)
        .headings
        .iter()
        .any(|h| h.level == 1);
    names == [name, "After"] && !has_level_one
}

/// `text` as a code block, with a fence longer than any in it.
fn fenced(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{text}\n{fence}\n")
}

/// A setext heading is the only one with more than one line.
fn is_setext(source: &str) -> bool {
    source.trim_end_matches(['\r', '\n']).contains(['\r', '\n'])
}

/// The heading on one line, with the line end its underline had.
fn atx_from_setext(source: &str, level: usize) -> String {
    let trimmed = source.trim_end_matches(['\r', '\n']);
    let eol = source.strip_prefix(trimmed).unwrap_or_default();
    let all: Vec<&str> = lines(trimmed)
        .map(|range| slice(trimmed, &range).trim())
        .collect();
    let text = match all.split_last() {
        Some((_underline, text)) => text.join(" "),
        None => String::new(),
    };
    let hashes = "#".repeat(level);
    // A final # would be read as a closing sequence, so a real one goes behind it.
    let closing = if text.ends_with('#') {
        format!(" {hashes}")
    } else {
        String::new()
    };
    format!("{hashes} {text}{closing}{eol}")
}

/// The line that closes the fence or HTML block `text` ends in, if a heading after `text` and a
/// blank line would otherwise be part of it. `text` must be empty or end with a line end.
fn closing_line(text: &str) -> Option<String> {
    let probe = format!("{text}\n## After\n");
    let start = text.len() + 1;
    let outline = BodyOutline::of(&probe);
    if outline.heading_starts_at(start) {
        return None;
    }
    match outline.last_block? {
        RawBlock::Fence(start) => {
            let opening = probe.get(start..)?.trim_start_matches(' ');
            let mark = opening.chars().next()?;
            Some(opening.chars().take_while(|c| *c == mark).collect())
        }
        RawBlock::Html(start) => {
            let opening = probe.get(start..)?.trim_start().to_ascii_lowercase();
            HTML_CLOSINGS
                .iter()
                .find(|(prefix, _)| opening.starts_with(prefix))
                .map(|(_, closing)| (*closing).to_owned())
        }
    }
}

/// The HTML blocks of CommonMark that a blank line does not end, and what ends them; the longer
/// prefix stands before the shorter.
const HTML_CLOSINGS: [(&str, &str); 8] = [
    ("<!--", "-->"),
    ("<![cdata[", "]]>"),
    ("<!", ">"),
    ("<?", "?>"),
    ("<script", "</script>"),
    ("<pre", "</pre>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];

/// Drops blank lines at both ends but keeps the indentation of the first line with text.
fn without_outer_blank_lines(text: &str) -> &str {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let start = line_start(text, blank);
    text.get(start..).unwrap_or_default()
}

//! What the parser complains about, in words for people who do not know its own.

/// Those that people meet, by parts of what the parser says.
const PLAIN: &[(&[&str], &str)] = &[
    (&["tab"], "indent with spaces, not tabs"),
    (
        &["illegal placement of ':'", "mapping values are not allowed"],
        "a colon too many, or a line that is indented wrongly; text with `: ` in it needs quotes",
    ),
    (
        &["did not find expected node content"],
        "a value is missing, or a bracket or brace is not closed",
    ),
    (
        &["flow sequence, expected"],
        "a bracket `[` is not closed, or a comma is missing",
    ),
    (
        &["flow mapping, did not find expected"],
        "a brace `{` is not closed, or a comma is missing",
    ),
    (
        &["quoted scalar, found unexpected end"],
        "a quotation mark is not closed",
    ),
    (
        &["after double-quoted scalar"],
        "there is more behind a closing quotation mark",
    ),
    (
        &["unknown escape character"],
        "a backslash in double quotes needs another one before it; single quotes take it as it is",
    ),
    (&["found unknown anchor"], "there is no such anchor"),
    (
        &["did not find expected key", "simple key expect"],
        "a line that is indented wrongly, or has no `key: value`",
    ),
    (
        &["block sequence entries are not allowed"],
        "an entry of a list has a line of its own, which begins with `- `",
    ),
    (
        &["invalid indentation", "wrongly indented"],
        "this line is indented wrongly",
    ),
];

/// The same in plain words; what nobody thought of is given as it is, and named for what it is.
pub(super) fn explained(info: &str) -> String {
    let known = PLAIN
        .iter()
        .find(|(parts, _)| parts.iter().any(|part| info.contains(part)));
    match known {
        Some((_, plain)) => (*plain).to_owned(),
        None => format!("this is no YAML: {info}"),
    }
}

/// Where a person has to look: for a tab the parser names the value that began above it.
pub(super) fn place(info: &str, text: &str, at: usize) -> usize {
    let is_indent = |line: &str| {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        line[..indent].contains('\t')
    };
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut next = start;
    let mut lines = text[start..].split_inclusive('\n').map(|line| {
        let begin = next;
        next += line.len();
        (begin, line)
    });
    let tab = lines.find(|(_, line)| is_indent(line));
    match (info.contains("tab"), tab) {
        (true, Some((begin, _))) => begin,
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml::{YamlError, read};

    #[test]
    fn what_people_get_wrong_is_told_in_plain_words() {
        for (text, line, told) in [
            ("a:\n\tb: 1\n", 2, "indent with spaces, not tabs"),
            ("a:\n  b: 1\n\tc: 2\n", 3, "indent with spaces, not tabs"),
            (
                "a: b: c\n",
                1,
                "a colon too many, or a line that is indented wrongly; text with `: ` in it needs quotes",
            ),
            (
                "a: [\n",
                2,
                "a value is missing, or a bracket or brace is not closed",
            ),
            (
                "a: [b\n",
                2,
                "a bracket `[` is not closed, or a comma is missing",
            ),
            ("a: \"b\n", 1, "a quotation mark is not closed"),
            ("a: *b\n", 1, "there is no such anchor"),
            (
                "a: 1\nhello\nb: 2\n",
                3,
                "a line that is indented wrongly, or has no `key: value`",
            ),
            ("a: !<x\n", 1, "this is no YAML: "),
        ] {
            match read(text, 0..text.len()) {
                Err(YamlError::Invalid { line: at, message }) => {
                    let same = message.starts_with(told) && at == line;
                    assert!(same, "{text:?}: line {at}: {message}");
                }
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }
}

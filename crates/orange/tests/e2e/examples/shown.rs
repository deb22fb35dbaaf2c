//! Whether a command printed what a document shows. Names that differ from day to day (ids, commits, times, the home) are
//! compared by their shape; the one that was printed stands for the one that is shown from then on.

use std::collections::BTreeMap;

/// What is shown, and what it is here.
pub(crate) type Names = BTreeMap<String, String>;

/// Where the documents' reader lives.
pub(crate) const HOME: &str = "/home/you";

/// Something that is another one every time.
fn shape(word: &str) -> Option<&'static str> {
    let all = |test: fn(&char) -> bool| word.chars().all(|letter| test(&letter));
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let time = |from: usize| word.get(from..).is_some_and(|rest| rest.starts_with('T'));
    if word.len() == 21 && all(char::is_ascii_alphanumeric) {
        return Some("id");
    }
    if word.len() == 8 && all(char::is_ascii_alphanumeric) && digits > 0 && digits < 8 {
        return Some("question");
    }
    if word.len() == 7 && all(char::is_ascii_hexdigit) {
        return Some("commit");
    }
    if time(8) && word.ends_with('Z') && digits >= 14 {
        return Some("rescue");
    }
    let unit = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if word == "now" || (unit.len() < word.len() && ["s", "m", "h", "d", "ms"].contains(&unit)) {
        return Some("age");
    }
    None
}

/// Whether a printed word may stand for one of that shape. The name of a question may be letters alone.
fn fits(wanted: &str, word: &str) -> bool {
    let letters = word.len() == 8 && word.chars().all(|letter| letter.is_ascii_alphanumeric());
    shape(word) == Some(wanted) || (wanted == "question" && letters)
}

/// Words and what is between them.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| is_word(letter) != is_word(first));
        let (part, more) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = more;
    }
    parts
}

/// A line as it is compared: runs of spaces are one, and so are all durations.
fn squeeze(line: &str) -> String {
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    for at in 1..words.len() {
        let number = words[at - 1].trim_start_matches('(').to_owned();
        let unit = words[at].trim_end_matches([')', ';', ',', '.']).to_owned();
        let is_number = !number.is_empty()
            && number
                .chars()
                .all(|letter| letter.is_ascii_digit() || letter == '.');
        if is_number && ["ms", "s", "min", "h"].contains(&unit.as_str()) {
            words[at - 1] = words[at - 1].replace(&number, "0");
            words[at] = words[at].replacen(&unit, "s", 1);
        }
    }
    let indent = if line.starts_with(' ') { " " } else { "" };
    format!("{indent}{}", words.join(" "))
}

/// Whether a printed line is the one that is shown; notes what stands for what.
fn same_line(shown: &str, printed: &str, names: &mut Names) -> bool {
    let (shown, printed) = (squeeze(shown), squeeze(printed));
    // What is left out may be anything.
    let pieces: Vec<&str> = shown.split('…').collect();
    let Some((first, others)) = pieces.split_first() else {
        return false;
    };
    let Some(mut rest) = begins(first, &printed, names) else {
        return false;
    };
    for (at, piece) in others.iter().enumerate() {
        let piece = piece.trim();
        if piece.is_empty() && at + 1 == others.len() {
            return true;
        }
        let starts = rest.char_indices().map(|(at, _)| at).collect::<Vec<_>>();
        let found = starts
            .into_iter()
            .find_map(|at| begins(piece, &rest[at..], names));
        match found {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.trim().is_empty()
}

/// What follows in the printed text after what is shown.
fn begins<'p>(shown: &str, printed: &'p str, names: &mut Names) -> Option<&'p str> {
    let mut rest = printed;
    for part in parts(shown) {
        let next = parts(rest).into_iter().next().unwrap_or_default();
        match shape(part) {
            Some(shown_shape) if fits(shown_shape, next) => {
                let known = names
                    .entry(part.to_owned())
                    .or_insert_with(|| next.to_owned());
                // The same name is the same thing, but for ages.
                if shown_shape != "age" && known != next {
                    return None;
                }
                rest = rest.get(next.len()..)?;
            }
            _ => rest = rest.strip_prefix(part)?,
        }
    }
    Some(rest)
}

/// Whether the lines printed are those shown; a line that is only `…` stands for any number of them.
pub(crate) fn same(shown: &[String], printed: &[&str], names: &mut Names) -> bool {
    let Some((first, more)) = shown.split_first() else {
        return printed.is_empty();
    };
    if first.trim() == "…" {
        return (0..=printed.len()).any(|skipped| same(more, &printed[skipped..], names));
    }
    let Some((line, others)) = printed.split_first() else {
        return false;
    };
    same_line(first, line, names) && same(more, others, names)
}

#[test]
fn what_differs_every_day_is_compared_by_its_shape() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let mut names = Names::new();
    let id = "2MNw6jdgf97lQrQVXrTO8";
    let text = format!("at 1b3fce7 {id}\n…\nin the …, now");
    let other = "SddDXjdgf97lQrQVXrTO8";
    let printed = format!("at 0000000   {other}\nthis\nthat\nin the end, 12s");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(same(&shown(&text), &lines, &mut names));
    assert_eq!(names[id], other);
    assert!(!same(&shown("at 1b3fce7"), &["at 1111111"], &mut names));
    assert!(same(&shown("(8 s)"), &["(0.9 s)"], &mut names));
    assert!(!same(&shown("one"), &["one", "two"], &mut names));
    assert!(!same(&shown("one\ntwo"), &["one"], &mut names));
    assert!(!same(&shown("in … end"), &["in the middle"], &mut names));
}

//! The values of settings: what a YAML node means as a number, a time, a list. Errors say what it must be.

use super::{Alias, Mistake, Setting, names};
use crate::choice::NotAllowed;
use crate::yaml::{self, MappingEntry, Node};
pub(super) use crate::yaml::{is_empty, scalar};
use std::str::FromStr;
use std::time::Duration;

/// `section.key`, where it stands, and its value, for every entry of every section.
pub(super) fn leaves<'a>(
    text: &str,
    root: &'a Node,
) -> Result<Vec<(String, usize, &'a Node)>, Mistake> {
    let sections = match root {
        Node::Mapping { entries, .. } => entries,
        Node::Scalar { .. } | Node::Sequence { .. } => {
            return Err(no_sections(text, root));
        }
    };
    let mut found = Vec::new();
    for section in sections {
        match &section.value {
            Node::Mapping { entries, .. } => {
                for entry in entries {
                    let key = format!("{}.{}", section.key, entry.key);
                    collect(key, entry, &mut found);
                }
            }
            // Every setting of the section is commented out.
            empty if is_empty(empty) && is_section(&section.key) => {}
            Node::Scalar { .. } | Node::Sequence { .. } => {
                found.push((section.key.clone(), section.key_span.start, &section.value));
            }
        }
    }
    Ok(found)
}

fn is_section(word: &str) -> bool {
    Setting::of_section(word).next().is_some() || Alias::is_section(word)
}

/// A setting, or those of a mapping in which they stand.
fn collect<'a>(key: String, entry: &'a MappingEntry, found: &mut Vec<(String, usize, &'a Node)>) {
    match &entry.value {
        value if !names::is_group(&key, value) => found.push((key, entry.key_span.start, value)),
        Node::Mapping { entries, .. } => {
            for below in entries {
                collect(format!("{key}.{}", below.key), below, found);
            }
        }
        // Every key is commented out.
        empty if is_empty(empty) => {}
        value => found.push((key, entry.key_span.start, value)),
    }
}

/// That a text is YAML, but no settings.
pub(super) fn no_sections(text: &str, root: &Node) -> Mistake {
    Mistake {
        line: Some(yaml::line_of(text, root.span().start)),
        reason: "expected sections like `review:` with settings below them".into(),
    }
}

/// One of a few words.
pub(super) fn one_of<T: FromStr<Err = NotAllowed>>(node: &Node) -> Result<T, String> {
    let word = scalar(node).unwrap_or_default();
    word.parse().map_err(must_be)
}

pub(super) fn must_be(error: NotAllowed) -> String {
    format!("must be one of: {}", error.allowed.join(", "))
}

pub(super) fn above_zero(node: &Node) -> Result<u32, String> {
    positive(scalar(node)).ok_or_else(|| "must be a whole number above 0".to_owned())
}

/// More is a slip, not a budget.
const MOST_DOLLARS: f64 = 1_000_000.0;

/// An amount of US dollars.
pub(super) fn dollars(node: &Node) -> Result<f64, String> {
    let amount = scalar(node).map(|text| text.trim().trim_start_matches('$'));
    let amount = amount.and_then(|text| text.parse::<f64>().ok());
    amount
        .filter(|amount| *amount > 0.0 && *amount <= MOST_DOLLARS)
        .ok_or_else(|| "must be US dollars above 0, such as 3 or 2.50".to_owned())
}

pub(super) fn percent(node: &Node) -> Result<u32, String> {
    let percent = scalar(node).and_then(percent_in);
    percent.ok_or_else(|| "must be a whole number from 1 to 100 (per cent)".to_owned())
}

/// With or without its sign.
pub(super) fn percent_in(text: &str) -> Option<u32> {
    let number = text.trim().trim_end_matches('%').trim_end();
    number
        .parse()
        .ok()
        .filter(|number| (1..=100).contains(number))
}

pub(super) fn days(node: &Node) -> Result<u32, String> {
    let days = scalar(node).map(|text| text.strip_suffix('d').unwrap_or(text));
    positive(days).ok_or_else(|| "must be a whole number of days above 0".to_owned())
}

fn positive(text: Option<&str>) -> Option<u32> {
    text?.parse().ok().filter(|number| *number > 0)
}

/// A text on its own; an empty one is none.
pub(super) fn text(node: &Node) -> Result<Option<String>, String> {
    match node {
        empty if is_empty(empty) => Ok(None),
        Node::Scalar { text, .. } if !text.contains('\0') => Ok(Some(text.trim().to_owned())),
        Node::Scalar { .. } | Node::Sequence { .. } | Node::Mapping { .. } => {
            Err("must be text".to_owned())
        }
    }
}

/// A URL to post to. A name and a password in it would be shown with it.
pub(super) fn url(node: &Node) -> Result<Option<String>, String> {
    let wanted = "must be a URL such as https://example.org/hook: http or https, a host, no user name, no white space";
    let url = text(node).map_err(|_| wanted.to_owned())?;
    match url {
        Some(url) if !is_url(&url) => Err(wanted.to_owned()),
        url => Ok(url),
    }
}

fn is_url(url: &str) -> bool {
    let is_plain = url.chars().all(|c| c.is_ascii_graphic()) && !url.contains('#');
    let scheme = |name: &str| {
        let begin = url.get(..name.len())?;
        begin.eq_ignore_ascii_case(name).then(|| &url[name.len()..])
    };
    let Some(rest) = scheme("https://").or_else(|| scheme("http://")) else {
        return false;
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    // The colons of an IPv6 address stand in brackets.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_address = host.starts_with('[') && host.ends_with(']');
    let is_host = |host: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        !host.is_empty() && host.chars().all(is_part)
    };
    let port_is_right = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    is_plain && port_is_right && (is_address || is_host(host))
}

pub(super) fn flag(node: &Node) -> Result<bool, String> {
    match scalar(node) {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(_) | None => Err("must be true or false".to_owned()),
    }
}

/// An argument vector: a list of words, or one text that is split at white space.
pub(super) fn several_words(node: &Node) -> Result<Vec<String>, String> {
    let wanted = "must be a command: a list of words";
    let words: Vec<String> = match node {
        Node::Scalar { text, .. } => text.split_whitespace().map(str::to_owned).collect(),
        Node::Sequence { .. } | Node::Mapping { .. } => {
            let words = texts(node).ok_or(wanted)?;
            words.into_iter().map(str::to_owned).collect()
        }
    };
    if words.first().is_none_or(String::is_empty) || words.iter().any(|w| w.contains('\0')) {
        Err(format!("{wanted}; the first one is the program"))
    } else {
        Ok(words)
    }
}

/// The same, or nothing.
pub(super) fn words_or_none(node: &Node) -> Result<Vec<String>, String> {
    let is_none = match node {
        Node::Scalar { text, .. } => text.trim().is_empty(),
        Node::Sequence { items, .. } => items.is_empty(),
        Node::Mapping { .. } => false,
    };
    if is_none {
        return Ok(Vec::new());
    }
    several_words(node)
}

/// Seconds, or a number with `s`, `m` or `h` behind it; above zero.
pub fn time_span(text: &str) -> Option<Duration> {
    let (number, unit) = time_parts(text)?;
    let factor = match unit {
        'h' => 60 * 60,
        'm' => 60,
        _ => 1,
    };
    let seconds = number.checked_mul(factor)?;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// The same as it is shown and written: nobody has to know which unit a bare number has.
pub(super) fn with_unit(text: &str) -> Option<String> {
    let (number, unit) = time_parts(text)?;
    Some(format!("{number}{unit}"))
}

fn time_parts(text: &str) -> Option<(u32, char)> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number.trim_end(), text.chars().next_back()?),
        None => (text, 's'),
    };
    Some((number.parse().ok()?, unit))
}

pub(super) fn time_of(node: &Node) -> Result<Duration, String> {
    scalar(node)
        .and_then(time_span)
        .ok_or_else(|| "must be a time above 0: seconds, or such as 90s, 10m, 1h".to_owned())
}

/// A command, or a list of them. The last line end of a block of text is not part of the command.
pub(super) fn several_commands(node: &Node) -> Result<Vec<String>, String> {
    let wanted = "must be a command or a list of commands";
    let rule = "an empty one, or one with a NUL in it, cannot run";
    list(node, wanted, rule, str::trim, &['\0'])
}

/// A pattern, or a list of them.
pub(super) fn lines_of_text(node: &Node) -> Result<Vec<String>, String> {
    let wanted = "must be a list of patterns, as in .gitignore";
    list(
        node,
        wanted,
        "each of them is one line",
        |text| text,
        &['\n', '\r', '\0'],
    )
}

/// Texts that are tidied first; none is empty or has one of the forbidden characters.
fn list(
    node: &Node,
    wanted: &str,
    rule: &str,
    tidied: fn(&str) -> &str,
    forbidden: &[char],
) -> Result<Vec<String>, String> {
    let texts: Vec<&str> = texts(node).ok_or(wanted)?.into_iter().map(tidied).collect();
    if texts
        .iter()
        .any(|text| text.is_empty() || text.contains(forbidden))
    {
        return Err(format!("{wanted}; {rule}"));
    }
    Ok(texts.into_iter().map(str::to_owned).collect())
}

/// One text or several; nothing at all is an empty list.
fn texts(node: &Node) -> Option<Vec<&str>> {
    match node {
        empty if is_empty(empty) => Some(Vec::new()),
        Node::Scalar { text, .. } => Some(vec![text]),
        Node::Sequence { items, .. } => items.iter().map(scalar).collect(),
        Node::Mapping { .. } => None,
    }
}

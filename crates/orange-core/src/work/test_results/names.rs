//! Which names and paths of a report may be followed: a report is written by whoever ran the tests, and is not trusted.

use super::FileKind;
use crate::naming::cut_at;

/// What file systems take at most.
pub const LONGEST: usize = 255;
/// What systems open at most.
const LONGEST_PATH: usize = 4096;

/// So much of a name that is made up here is kept.
const LONGEST_MADE_UP: usize = 120;

/// Why a name cannot be used, as the end of a sentence about it.
pub type BadName = &'static str;

/// Checks the name of a file: one component that means the same everywhere.
pub fn check_name(name: &str) -> Result<(), BadName> {
    check_text(name)?;
    if name.contains(['/', '\\']) {
        return Err("it has a separator, and a file of a report lies in one folder");
    }
    if name == "." || name == ".." {
        return Err("it is no name of a file");
    }
    if name.len() > LONGEST {
        return Err("it is longer than 255 bytes");
    }
    Ok(())
}

/// Checks the path of a file, as the machine that ran the tests had it.
pub fn check_path(path: &str) -> Result<(), BadName> {
    check_text(path)?;
    if path.len() > LONGEST_PATH {
        return Err("it is longer than 4096 bytes");
    }
    let mut parts = path.split(['/', '\\']);
    if parts.clone().any(|part| part == "..") {
        return Err("it leads out of its folder");
    }
    if parts.any(|part| part.len() > LONGEST) {
        return Err("a name in it is longer than 255 bytes");
    }
    Ok(())
}

fn check_text(text: &str) -> Result<(), BadName> {
    if text.trim().is_empty() {
        return Err("it is empty");
    }
    if text.chars().any(char::is_control) {
        return Err("it has control characters");
    }
    Ok(())
}

/// Names that say nothing of the test they are from.
const COMMON: &[&str] = &["screenshot", "trace", "video", "page"];

/// The name under which an attachment is kept. `title` is that of its test; `name` and `path` have been checked.
pub fn kept_as(
    kind: FileKind,
    content_type: &str,
    name: &str,
    path: Option<&str>,
    title: &str,
) -> String {
    let ending = ending(kind, content_type);
    let base = path.map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path));
    let bare = |text: &str| match text.rsplit_once('.') {
        Some((stem, last)) if is_ending(last) => stem.to_owned(),
        _ => text.to_owned(),
    };
    let stem = bare(name);
    let stem = if COMMON.contains(&stem.to_lowercase().as_str()) {
        let base = bare(base.unwrap_or(name));
        format!("{} {base}", cut_at(title, LONGEST_MADE_UP / 2))
    } else {
        stem
    };
    format!("{}.{ending}", slug(&stem))
}

/// The same with a number, for a second file of one name.
pub fn numbered(name: &str, number: usize) -> String {
    match name.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}-{number}.{ending}"),
        None => format!("{name}-{number}"),
    }
}

fn is_ending(text: &str) -> bool {
    let known = ["png", "jpg", "jpeg", "webp", "gif", "zip"];
    known.contains(&text.to_ascii_lowercase().as_str())
}

fn ending(kind: FileKind, content_type: &str) -> &'static str {
    match (kind, content_type) {
        (FileKind::Trace, _) => "zip",
        (_, "image/jpeg" | "image/jpg") => "jpg",
        (_, "image/webp") => "webp",
        (_, "image/gif") => "gif",
        _ => "png",
    }
}

/// Letters and digits, `-`, `_` and `.` stay; never empty, never hidden.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars() {
        if letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-') {
            slug.push(letter);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches(['-', '.']);
    match cut_at(slug, LONGEST_MADE_UP) {
        "" => "file".to_owned(),
        slug => slug.to_owned(),
    }
}

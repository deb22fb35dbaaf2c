//! Reads as much of Rust as is needed to tell code, texts and comments apart, and to leave out what only tests have.

use std::path::{Path, PathBuf};

/// What stands before an item that only tests have.
const MARK: &str = "#[cfg(test)]";

/// A piece of a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'s> {
    Comment,
    /// What stands between the quotes, raw or not.
    Text(&'s str),
    /// Such as `'"'`.
    Letter,
    /// One character of anything else.
    Code(char),
}

/// The piece that a source begins with, and how many bytes it takes.
pub(crate) fn piece(source: &str) -> Option<(Piece<'_>, usize)> {
    if source.starts_with("//") {
        let length = source.find('\n').unwrap_or(source.len());
        return Some((Piece::Comment, length));
    }
    if source.starts_with("/*") {
        return Some((Piece::Comment, block_comment(source)));
    }
    if let Some((text, length)) = text(source) {
        return Some((Piece::Text(text), length));
    }
    if let Some(length) = letter(source) {
        return Some((Piece::Letter, length));
    }
    let code = source.chars().next()?;
    Some((Piece::Code(code), code.len_utf8()))
}

/// How long a comment is in which others may stand.
fn block_comment(source: &str) -> usize {
    let mut open = 0;
    let mut at = 0;
    while at < source.len() {
        let rest = &source.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            open += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            open -= 1;
            at += 2;
            if open == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    source.len()
}

fn text(source: &str) -> Option<(&str, usize)> {
    let raw = source
        .strip_prefix('r')
        .filter(|after| after.starts_with(['"', '#']));
    if let Some(raw) = raw {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = inner.find(&end)?;
        return Some((&inner[..length], 1 + hashes + 1 + length + end.len()));
    }
    let inner = source.strip_prefix('"')?;
    let mut escaped = false;
    let length = inner.find(|c: char| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&inner[..length], length + 2))
}

/// `'x'` or `'\n'`, but not the lifetime `'x`.
fn letter(source: &str) -> Option<usize> {
    let inner = source.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    // What is escaped may be a quote.
    let least = if first == '\\' { 2 } else { first.len_utf8() };
    let length = least + inner.get(least..)?.find('\'')?;
    (first == '\\' || length == least).then_some(length + 2)
}

/// What is left of a source file without its tests.
#[derive(Debug)]
pub(crate) struct Product {
    /// The text, with a line end for each that was left out.
    pub(crate) text: String,
    /// The modules that only tests have.
    pub(crate) modules: Vec<Module>,
}

/// A module, as its file is declared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Module {
    Named(String),
    /// By `#[path = "…"]`.
    At(String),
}

impl Module {
    /// Its file without extension, which is its folder too. `declared`: the file that declares it.
    pub(crate) fn below(&self, declared: &Path) -> PathBuf {
        let folder = declared.parent().unwrap();
        let stem = declared.file_stem().unwrap();
        let is_root = ["lib", "main", "mod"].iter().any(|root| stem == *root);
        match self {
            Module::At(path) => folder.join(path).with_extension(""),
            Module::Named(name) if is_root => folder.join(name),
            Module::Named(name) => folder.join(stem).join(name),
        }
    }
}

/// Leaves out every item behind `#[cfg(test)]`, wherever it stands.
pub(crate) fn without_tests(source: &str) -> Product {
    let mut text = String::new();
    let mut modules = Vec::new();
    let mut rest = source;
    while let Some((piece, mut length)) = piece(rest) {
        if matches!(piece, Piece::Code(_)) && rest.starts_with(MARK) {
            let item = Item::at(rest);
            length = item.length;
            text.extend(rest[..length].matches('\n'));
            modules.extend(item.module);
        } else {
            text.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    Product { text, modules }
}

/// An item with its attributes.
struct Item {
    length: usize,
    /// The module that it declares, if it is in another file.
    module: Option<Module>,
}

impl Item {
    /// The item whose attributes a source begins with.
    fn at(source: &str) -> Item {
        let mut open = 0;
        let mut length = 0;
        // Its code outside of brackets, and the text of its attribute `path`.
        let mut code = String::new();
        let mut path = None;
        while let Some((piece, taken)) = piece(&source[length..]) {
            length += taken;
            match piece {
                Piece::Code(bracket @ ('{' | '(' | '[')) => {
                    open += 1;
                    code.push(bracket);
                }
                Piece::Code(bracket @ ('}' | ')' | ']')) => {
                    open -= 1;
                    if open == 0 && bracket == '}' && !ends_with_semicolon(&code) {
                        return Item {
                            length,
                            module: None,
                        };
                    }
                }
                Piece::Code(';') if open == 0 => {
                    let module = declared_by(&code).map(|name| match path {
                        Some(path) => Module::At(path),
                        None => Module::Named(name),
                    });
                    return Item { length, module };
                }
                Piece::Code(other) if open == 0 => code.push(other),
                Piece::Text(text) if is_path(&source[..length]) => path = Some(text.to_owned()),
                Piece::Code(_) | Piece::Text(_) | Piece::Letter | Piece::Comment => {}
            }
            assert!(
                open >= 0,
                "{MARK} before something else than an item: {source:.80}"
            );
        }
        panic!("an item without an end: {source:.80}");
    }
}

/// Whether the text that a source ends with is that of `#[path = "…"]`.
fn is_path(source: &str) -> bool {
    let attribute = source.rfind("#[").map(|at| &source[at..]);
    attribute.is_some_and(|attribute| attribute.starts_with("#[path"))
}

/// The words of an item, without those in brackets.
fn words(code: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let words = code.split(move |c| !is_name(c));
    words.filter(|word| !word.is_empty())
}

/// Braces do not end it. Panics where it is none of the items whose end is known.
fn ends_with_semicolon(code: &str) -> bool {
    const BY_BRACES: [&str; 9] = [
        "mod",
        "fn",
        "impl",
        "struct",
        "enum",
        "trait",
        "union",
        "macro_rules",
        "extern",
    ];
    let kind = words(code).find(|word| !["pub", "unsafe", "async"].contains(word));
    let is_function = words(code).any(|word| word == "fn");
    match kind {
        Some("use" | "static" | "let") => true,
        Some("const") => !is_function,
        Some(kind) if BY_BRACES.contains(&kind) => false,
        other => panic!("{MARK} before {other:?}: say in shared/rust.rs where it ends"),
    }
}

fn declared_by(code: &str) -> Option<String> {
    let mut words = words(code).skip_while(|word| *word == "pub");
    let is_module = words.next() == Some("mod");
    words.next().filter(|_| is_module).map(str::to_owned)
}

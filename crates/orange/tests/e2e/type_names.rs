//! One type name means one thing in all crates: whoever reads a name, or searches for it, finds one definition. Tests,
//! benchmarks and the checks for fuzzing are free to use a name again.

use crate::sources::sources;
use crate::status_names::lines;
use std::collections::BTreeMap;

/// Names that are defined more than once, with the reason. Fewer than ten.
const ALLOWED: &[(&str, &str)] = &[(
    "Held",
    "a lock that counts as held: debug builds track it, others do not",
)];

/// The name of the struct, enum, trait or alias that a line of code defines. A `type` that is indented belongs to a trait
/// or an implementation.
fn defined(code: &str) -> Option<&str> {
    if let Some(name) = defined_by_macro(code) {
        return Some(name);
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words = code.split(|letter: char| !is_part(letter));
    let mut words = words.filter(|word| !word.is_empty());
    let kind = words.find(|word| !["pub", "crate", "super", "self", "unsafe"].contains(word))?;
    let is_definition = match kind {
        "struct" | "enum" | "trait" => true,
        "type" => !code.starts_with(' '),
        _ => false,
    };
    // A macro gives the name of `struct $name` elsewhere.
    let name = words.next().filter(|_| is_definition)?;
    (!code.contains(&format!("${name}"))).then_some(name)
}

/// The name that a row of `events!` (orange-core) or of `values!` (orange-sim) gives a struct.
fn defined_by_macro(code: &str) -> Option<&str> {
    let row = code.strip_prefix("    ")?;
    let end = row.find(|letter: char| !letter.is_ascii_alphanumeric())?;
    let (name, rest) = row.split_at(end);
    let is_event = rest.starts_with(": ") && rest.contains(r#" = """#);
    let is_value = rest.starts_with('(') && rest.contains(") = |");
    let is_type = name.starts_with(|first: char| first.is_ascii_uppercase());
    (is_type && (is_event || is_value)).then_some(name)
}

#[test]
fn a_type_name_is_defined_once() {
    assert!(ALLOWED.len() < 10, "give one of them another name instead");
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let path = path.to_string_lossy().replace('\\', "/");
        let (_, path) = path.split_once("/../").unwrap();
        if path.starts_with("orange-fuzz/") {
            continue;
        }
        for (at, line) in lines(&text).iter().enumerate() {
            if let Some(name) = defined(&line.code) {
                let found = places.entry(name.to_owned()).or_default();
                found.push(format!("{path}:{}", at + 1));
            }
        }
    }
    for name in ["Task", "Status", "HarnessFacts", "TaskCreated", "ByteSize"] {
        assert!(places.contains_key(name), "{name} is not found");
    }
    places.retain(|_, found| found.len() > 1);
    let is_allowed = |name: &str| ALLOWED.iter().any(|(allowed, _)| *allowed == name);
    let wrong = places.iter().filter(|(name, _)| !is_allowed(name));
    let wrong = wrong.map(|(name, found)| format!("{name}: {}", found.join(", ")));
    let wrong: Vec<String> = wrong.collect();
    assert!(
        wrong.is_empty(),
        "these types have a name that another one has; say of what they are:\n{}",
        wrong.join("\n")
    );
    let mut allowed = ALLOWED.iter();
    let unused = allowed.find(|(name, _)| !places.contains_key(*name));
    assert_eq!(unused, None, "not needed any more");
}

#[test]
fn a_definition_is_told_from_a_use() {
    for (code, name) in [
        ("struct Place;", Some("Place")),
        ("pub struct Place<'a> {", Some("Place")),
        ("    pub(super) enum Place {", Some("Place")),
        ("pub(crate) trait Place: Sized {", Some("Place")),
        (r#"pub enum Place ("") { All = "" }"#, Some("Place")),
        ("type Place<'a> = (&'a str, usize);", Some("Place")),
        (r#"    Place: Moved = "" task Story {"#, Some("Place")),
        (
            r#"    Place: Moved = "", Left = "" task Story {"#,
            Some("Place"),
        ),
        ("    Place(u64) = |text: Word| read(text);", Some("Place")),
        ("    type Place = u32;", None),
        ("    Place(u64),", None),
        ("    place: Place,", None),
        ("        pub struct $name<'e> {", None),
        ("impl Place {", None),
        ("let place = Place { struct_name };", None),
        ("pub use store::Place;", None),
        ("", None),
    ] {
        assert_eq!(defined(code), name, "{code}");
    }
}

//! What an event carries is read and written by the fields of its payload. Keys stand in one file.

use crate::sources::sources;

/// The file with every key.
const TABLE: &str = "orange-core/src/history/payload.rs";

/// Where all details of an event are used as they are, and why.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "orange-engine/src/views/results.rs",
    "--json of a start prints what agent.spawned carries",
)];

/// Accesses to the details of an event, without white space. Those with a string are never allowed.
const BY_KEY: &[&str] = &[
    "details.get(\"",
    "details.get_mut(\"",
    "details.insert(\"",
    "details.remove(\"",
    "details.contains_key(\"",
    "details[\"",
    "details().get(",
    "details().contains_key(",
    "details()[",
    ".detail(\"",
];
const WHOLE: &str = ".details()";

/// Whether code reads or writes a detail by its key, and whether it uses all details.
fn accesses(source: &str) -> (Vec<&'static str>, bool) {
    let code = source.lines().map(str::trim);
    let code = code.filter(|line| !line.starts_with("//"));
    let code: String = code
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    let by_key = BY_KEY
        .iter()
        .copied()
        .filter(|access| code.contains(access));
    (by_key.collect(), code.contains(WHOLE))
}

#[test]
fn no_detail_of_an_event_is_accessed_by_a_string() {
    let mut found = Vec::new();
    let mut unused: Vec<&str> = EXCEPTIONS.iter().map(|(file, _)| *file).collect();
    let mut tables = 0;
    for (path, source) in sources() {
        if path.ends_with(TABLE) {
            tables += 1;
            continue;
        }
        let (by_key, whole) = accesses(&source);
        found.extend(
            by_key
                .iter()
                .map(|access| format!("{}: {access}", path.display())),
        );
        let is_exception = |file: &&str| path.ends_with(*file);
        if whole && !EXCEPTIONS.iter().any(|(file, _)| is_exception(file)) {
            found.push(format!("{}: {WHOLE}", path.display()));
        }
        unused.retain(|file| !(whole && is_exception(file)));
    }
    assert_eq!(tables, 1, "{TABLE} is not among the sources");
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(unused.is_empty(), "needed no more: {unused:?}");
}

#[test]
fn an_access_is_found_across_lines_and_not_in_comments() {
    let (by_key, whole) = accesses("let run = event\n    .details()\n    .get(\"run\");");
    assert_eq!((by_key.as_slice(), whole), (&["details().get("][..], true));
    let (by_key, whole) = accesses("// event.details().get(\"run\")\nconcern.details.push(text);");
    assert_eq!((by_key.len(), whole), (0, false));
}

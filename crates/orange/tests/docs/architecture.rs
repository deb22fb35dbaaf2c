//! The tables of ARCHITECTURE.md and the order of layers that they give.

use super::{document, sources};

/// The crates in the order of the table, so that each may use those before it.
#[test]
fn every_crate_is_in_the_table_and_uses_only_crates_above_it() {
    let text = document("ARCHITECTURE.md");
    let (_, table) = text.split_once("| crate | what it is |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let rows = table.lines().skip(2);
    let names: Vec<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    let mut there: Vec<String> = Vec::new();
    for source in sources::source_folders() {
        let folder = source.parent().unwrap().to_owned();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let (_, rest) = manifest.split_once("[dependencies]").unwrap();
        let used = rest.split("\n[").next().unwrap().lines();
        let at = |name: &str| names.iter().position(|row| *row == name);
        let own = at(&name).unwrap_or_else(|| panic!("{name} is not in the table"));
        for used in used.filter_map(|line| line.split('.').next()) {
            if let Some(other) = at(used) {
                assert!(other < own, "{name} uses {used}");
            }
        }
        there.push(name);
    }
    assert_eq!(there.len(), names.len(), "{names:?}");
}

/// The modules of the engine in the order of the table, so that each may use those before it. Only `tx` and `effects` call each
/// other: a commit carries out hooks, and hooks journal what they did.
#[test]
fn every_module_of_the_engine_uses_only_modules_above_it() {
    let text = document("ARCHITECTURE.md");
    let (_, table) = text.split_once("| module | what is in it |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let rows = table.lines().skip(2);
    let names: Vec<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    let at = |name: &str| names.iter().position(|row| *row == name);
    let mut there: Vec<String> = Vec::new();
    for (path, source) in sources::sources() {
        let Some((_, inside)) = path.to_str().unwrap().split_once("orange-engine/src/") else {
            continue;
        };
        let module = inside.split('/').next().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = at(module).unwrap_or_else(|| panic!("{module} is not in the table"));
        if !there.iter().any(|known| known == module) {
            there.push(module.to_owned());
        }
        for used in modules_used(&source) {
            let is_pair = module == "tx" && used == "effects";
            if let Some(other) = at(used) {
                assert!(other <= own || is_pair, "{inside} uses {used}");
            }
        }
    }
    assert_eq!(there.len(), names.len(), "{names:?} {there:?}");
}

/// The names behind `crate::`, also in a group.
fn modules_used(source: &str) -> Vec<&str> {
    let code = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for line in code {
        for (at, found_at) in line.match_indices("crate::") {
            let rest = &line[at + found_at.len()..];
            match rest.strip_prefix('{') {
                Some(group) => {
                    let group = group.split('}').next().unwrap_or_default();
                    let parts = group.split(',').map(str::trim);
                    found.extend(parts.map(|part| part.split(|c| !is_name(c)).next().unwrap()));
                }
                None => found.push(rest.split(|c| !is_name(c)).next().unwrap()),
            }
        }
    }
    found
}

//! The index when its rows do not fit the disk or each other (`#[cfg(test)]`).

use super::list::{ListFacts, ListedTask, TaskFilter};
use super::*;
use std::fs;

struct Home {
    _folder: tempfile::TempDir,
    store: Store,
    index: Index,
}

impl Home {
    fn new() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().to_owned());
        store.ensure_home().unwrap();
        for name in ["one", "two"] {
            let place = store.place(&format!("shop/{name}"));
            fs::create_dir_all(&place.path).unwrap();
            let text = format!("---\nid: {name}\nstatus: pending\nbranch: b\nsummary: s\n---\n");
            fs::write(place.task_file(), text).unwrap();
        }
        let index = Index::open(&store).unwrap();
        Home {
            _folder: folder,
            store,
            index,
        }
    }

    fn break_with(&self, sql: &str) {
        let outcome = self.index.write(|connection| connection.execute_batch(sql));
        outcome.unwrap();
    }

    fn folders(&self, with_fields: bool) -> Vec<String> {
        let filter = TaskFilter {
            with_fields,
            ..TaskFilter::default()
        };
        *self.index.looked.lock().unwrap() = None;
        let rows = self
            .index
            .fresh_list(&filter, &ListFacts::nothing(), |listing| listing.rows)
            .unwrap();
        assert!(
            rows.iter()
                .all(|row: &ListedTask| row.fields.is_empty() != with_fields)
        );
        rows.into_iter().map(|row| row.folder).collect()
    }
}

#[test]
fn a_line_without_its_task_is_damage() {
    let home = Home::new();
    home.break_with("DELETE FROM tasks WHERE id = 'one'");
    assert_eq!(home.folders(true), ["shop/one", "shop/two"]);
    let found = home.index.by_id_prefix("one").unwrap();
    assert_eq!(found.len(), 1, "rebuilt");
}

#[test]
fn a_line_that_makes_no_sense_is_written_anew() {
    let home = Home::new();
    home.break_with("UPDATE lines SET line = x'0102' WHERE task = 1");
    assert_eq!(home.folders(false), ["shop/one", "shop/two"]);
    assert_eq!(home.folders(true), ["shop/one", "shop/two"]);
}

#[test]
fn a_folder_without_a_file_is_read_each_time_and_goes_with_its_folder() {
    let home = Home::new();
    let place = home.store.place("shop/three");
    fs::create_dir_all(&place.path).unwrap();
    fs::write(place.journal(), "{}\n").unwrap();
    assert_eq!(home.folders(false), ["shop/three", "shop/one", "shop/two"]);
    assert!(home.index.refresh().unwrap() > 0, "read again");
    fs::remove_dir_all(&place.path).unwrap();
    assert_eq!(home.folders(false), ["shop/one", "shop/two"]);
}

mod search {
    use super::*;
    use crate::index::search::Whereabouts;
    use orange_core::search::Query;
    use proptest::prelude::*;

    #[test]
    fn what_was_said_in_phases_is_found_with_the_name_of_its_transcript() {
        let home = Home::new();
        let place = home.store.place("shop/three");
        let transcripts = place.path.join("transcripts");
        fs::create_dir_all(&transcripts).unwrap();
        let text = "---\nid: three\nworkflow: phased\nstatus: paused\nbranch: b\nsummary: s\n---\n";
        fs::write(place.task_file(), text).unwrap();
        fs::write(
            transcripts.join("01-spec-001.md"),
            "## Response\n\na walrus\n",
        )
        .unwrap();
        let long = "x".repeat(300_000);
        fs::write(
            transcripts.join("02-implement-001.md"),
            format!("a seal\n{long}\na whale\n"),
        )
        .unwrap();
        let found = |words: &str| -> Vec<(Whereabouts, Option<String>, String)> {
            *home.index.looked.lock().unwrap() = None;
            let found = home.index.search(&Query::parse(words), &[], 5).unwrap();
            let findings = found.matches.into_iter().flat_map(|one| one.found);
            let told = findings.map(|one| (one.place, one.transcript, one.passage.text));
            told.collect()
        };
        let in_transcript = |name: &str, text: &str| {
            vec![(
                Whereabouts::Transcript,
                Some(name.to_owned()),
                text.to_owned(),
            )]
        };
        assert_eq!(found("walrus"), in_transcript("01-spec-001.md", "a walrus"));
        assert_eq!(
            found("seal"),
            in_transcript("02-implement-001.md", "a seal")
        );
        // Only the beginning of a long one is kept.
        assert_eq!(found("whale"), []);
        fs::write(
            transcripts.join("02-implement-002.md"),
            "a whale, \u{1e}later\n",
        )
        .unwrap();
        assert_eq!(
            found("whale"),
            in_transcript("02-implement-002.md", "a whale, later")
        );
    }

    thread_local! {
        static HOME: Home = Home::new();
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// SQLite has a language of its own for this; nothing that is typed may be taken for it.
        #[test]
        fn nothing_that_is_typed_is_an_error(
            text in prop_oneof![
                any::<String>(),
                "[-+*^\"(){}:,'a-c \\\\\u{0}\u{200b}登]{0,24}",
                "((AND|OR|NOT|NEAR\\(|a|\"|-|s|summary:) ?){0,8}",
            ]
        ) {
            HOME.with(|home| {
                let query = Query::parse(&text);
                let said = home.index.search(&query, &[], 5);
                prop_assert!(said.is_ok(), "{text:?}: {:?}", said.err());
                // In a file, as before: an error would have sent it to memory.
                let path = |connection: &mut Connection| {
                    Ok(connection.path().unwrap_or_default().to_owned())
                };
                let path = home.index.connections.with(path).unwrap();
                prop_assert!(path.ends_with("index.db"), "{text:?}");
                Ok(())
            })?;
        }
    }
}

/// What is over is not looked at by a list that does not show it; what comes, goes or is open is.
#[test]
fn a_list_looks_at_what_is_not_over() {
    let home = Home::new();
    let write = |name: &str, status: &str, summary: &str| {
        let place = home.store.place(&format!("shop/{name}"));
        fs::create_dir_all(&place.path).unwrap();
        let text =
            format!("---\nid: {name}\nstatus: {status}\nbranch: b\nsummary: {summary}\n---\n");
        fs::write(place.task_file(), text).unwrap();
    };
    let list = |all: bool| -> Vec<String> {
        let filter = TaskFilter {
            all,
            ..TaskFilter::default()
        };
        *home.index.looked.lock().unwrap() = None;
        let shown = home
            .index
            .fresh_list(&filter, &ListFacts::nothing(), |listing| {
                let summaries = listing.rows.into_iter().map(|row| row.summary);
                let older = (listing.older > 0).then(|| format!("{} older", listing.older));
                summaries.chain(older).collect()
            });
        shown.unwrap()
    };
    write("three", "done", "over");
    assert_eq!(list(false), ["s", "s", "1 older"], "a new folder is seen");
    // Until then the folders changed too lately for the look before to be trusted.
    let settled = || {
        home.index.refresh().unwrap();
        home.index.has_same_folders()
    };
    while !settled() {
        std::thread::yield_now();
    }
    write("three", "done", "edited");
    write("two", "pending", "edited too");
    assert_eq!(list(false), ["s", "edited too", "1 older"]);
    let sql = "SELECT summary FROM tasks WHERE id = 'three'";
    let kept: String = (home.index)
        .ask(|connection| connection.query_row(sql, [], |row| row.get(0)))
        .unwrap();
    assert_eq!(kept, "over", "its file was not read");
    assert_eq!(list(true), ["s", "edited too", "edited"]);
    write("deep/four", "done", "nested");
    assert_eq!(list(false), ["s", "edited too", "2 older"]);
    fs::remove_dir_all(home.store.place("shop/three").path).unwrap();
    assert_eq!(list(false), ["s", "edited too", "1 older"]);
    fs::remove_file(home.store.place("shop/one").task_file()).unwrap();
    assert_eq!(list(false), ["edited too", "1 older"]);
}

#[test]
fn tasks_of_one_project_keep_their_prefixes() {
    let home = Home::new();
    let write = |folder: &str, fields: &str, context: &str| {
        let place = home.store.place(folder);
        fs::create_dir_all(&place.path).unwrap();
        let front = format!(
            "id: {}\nstatus: pending\nbranch: b\nsummary: s\n",
            place.name
        );
        let text = format!("---\n{front}{fields}---\n## Context\n{context}\n");
        fs::write(place.task_file(), text).unwrap();
    };
    write("shop/old", "key: TASK-003\n", "for UTF-4");
    write(
        "shop/new",
        "key: API-004\nblocked_by: [TASK-003, 'web:5', 'web:WEB-009']\n",
        "as TASK-003 says",
    );
    write("shop/child", "key: API-005\nparent: API-004\n", "");
    write("web/far", "key: WEB-005\nblocked_by: ['shop:api-4']\n", "");
    let index = &home.index;
    index.refresh().unwrap();
    let label = |project: &str, number: u32| {
        let found = index.by_number(project, number).unwrap();
        found.map(|found| found.label())
    };
    assert_eq!(label("shop", 3).as_deref(), Some("TASK-003"));
    assert_eq!(label("shop", 4).as_deref(), Some("API-004"));
    assert_eq!(label("web", 4), None);
    let names = |found: Vec<query::FoundTask>| -> Vec<String> {
        let names = found.iter().map(|found| found.reference_in("shop"));
        names.collect()
    };
    assert_eq!(
        names(index.by_number_anywhere(5).unwrap()),
        ["API-005", "web:WEB-005"]
    );
    assert_eq!(index.highest_key("shop").unwrap(), 5);
    let prefix = |text: &str| text.parse().unwrap();
    assert!(index.has_prefix("shop", prefix("TASK")).unwrap());
    assert!(index.has_prefix("shop", prefix("API")).unwrap());
    assert!(!index.has_prefix("web", prefix("API")).unwrap());

    // Links go by number; a name in a text is the whole key.
    assert_eq!(names(index.waiting_for("shop", 3).unwrap()), ["API-004"]);
    assert_eq!(
        names(index.waiting_for("shop", 4).unwrap()),
        ["web:WEB-005"]
    );
    assert_eq!(names(index.children_of("shop", 4).unwrap()), ["API-005"]);
    let key = |text: &str| text.parse().unwrap();
    assert_eq!(
        names(index.mentioning("shop", key("TASK-003")).unwrap()),
        ["API-004"]
    );
    for other in ["API-003", "API-004"] {
        assert_eq!(
            names(index.mentioning("shop", key(other)).unwrap()),
            [""; 0]
        );
    }
    let blockers = index.blockers_of("shop", 4).unwrap();
    let mut written: Vec<String> = blockers.iter().map(|one| one.written_in("shop")).collect();
    written.sort();
    assert_eq!(written, ["TASK-003", "web:WEB-005", "web:WEB-009"]);

    // A list says the same.
    let rows = index
        .list(&TaskFilter::default(), &ListFacts::nothing())
        .unwrap()
        .rows;
    let keyed: Vec<&ListedTask> = rows.iter().filter(|row| row.key.is_some()).collect();
    let keys: Vec<String> = keyed
        .iter()
        .map(|row| row.key.unwrap().to_string())
        .collect();
    assert_eq!(keys, ["TASK-003", "API-004", "API-005", "WEB-005"]);
    let waits = keyed[1].waits_for.iter();
    let mut waits: Vec<String> = waits.map(ToString::to_string).collect();
    waits.sort();
    assert_eq!(
        waits,
        [
            "TASK-003 (pending)",
            "web:WEB-005 (pending)",
            "web:WEB-009 (no such task)"
        ]
    );
}

#[test]
fn one_number_twice_is_told_whatever_the_prefixes() {
    let home = Home::new();
    for (name, key) in [("a", "API-003"), ("b", "TASK-003")] {
        let place = home.store.place(&format!("shop/{name}"));
        fs::create_dir_all(&place.path).unwrap();
        let text =
            format!("---\nid: {name}\nkey: {key}\nstatus: pending\nbranch: b\nsummary: s\n---\n");
        fs::write(place.task_file(), text).unwrap();
    }
    home.index.refresh().unwrap();
    let folders = vec!["shop/a".to_owned(), "shop/b".to_owned()];
    let doubles = home.index.doubles().unwrap();
    assert_eq!(doubles, [("key shop:API-003".to_owned(), folders)]);
}

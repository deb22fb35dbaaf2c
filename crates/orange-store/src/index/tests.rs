//! The index when its rows do not fit the disk or each other (`#[cfg(test)]`).

use super::list::{Filter, Listed, Outside};
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
        let filter = Filter {
            with_fields,
            ..Filter::default()
        };
        *self.index.looked.lock().unwrap() = None;
        let rows = self
            .index
            .fresh_list(&filter, &Outside::nothing(), |listing| listing.rows)
            .unwrap();
        assert!(
            rows.iter()
                .all(|row: &Listed| row.fields.is_empty() != with_fields)
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
    assert_eq!(home.folders(false), ["shop/one", "shop/three", "shop/two"]);
    assert!(home.index.refresh().unwrap() > 0, "read again");
    fs::remove_dir_all(&place.path).unwrap();
    assert_eq!(home.folders(false), ["shop/one", "shop/two"]);
}

mod search {
    use super::*;
    use orange_core::search::Query;
    use proptest::prelude::*;

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
        let filter = Filter {
            all,
            ..Filter::default()
        };
        *home.index.looked.lock().unwrap() = None;
        let shown = home
            .index
            .fresh_list(&filter, &Outside::nothing(), |listing| {
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

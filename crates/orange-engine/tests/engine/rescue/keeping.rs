//! The refs: their names, lists of them, and their end.

use crate::rescue::world::{TASK, World, site};
use orange_core::Timestamp;
use orange_engine::rescue::{Save, forget, list, save};

#[test]
fn two_in_the_same_millisecond_do_not_collide() {
    let world = World::new();
    world.write("a", "changed");
    world.init(&world.path("nested"));
    let (first, second) = (world.save(), world.save());
    assert_ne!(first.reference, second.reference);
    assert_ne!(first.note.raw, second.note.raw);
    assert!(
        second
            .reference
            .starts_with(&format!("{}-", first.reference))
    );
    let names: Vec<String> = std::thread::scope(|scope| {
        let saves: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| world.with_save(save).unwrap().unwrap().name))
            .collect();
        saves.into_iter().map(|save| save.join().unwrap()).collect()
    });
    let mut different = names.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 4, "{names:?}");
    for rescue in list(&world.repository, None).unwrap() {
        assert_eq!(rescue.note.raw.as_deref(), Some(rescue.name.as_str()));
        assert!(
            world
                .raw_folder()
                .join(&rescue.name)
                .join("nested/.git")
                .is_dir()
        );
    }
}

#[test]
fn a_list_tells_what_each_is() {
    let world = World::new();
    world.write("a", "changed");
    let saved = world.save();
    world.with_save(|given| {
        let other = Save {
            task_id: "other/task",
            reason: "two\nlines",
            ..*given
        };
        save(&other).unwrap().unwrap()
    });
    assert_eq!(list(&world.repository, None).unwrap().len(), 2);
    let mine = list(&world.repository, Some(TASK)).unwrap();
    assert_eq!(mine.len(), 1);
    assert_eq!(mine[0].commit, saved.commit);
    assert_eq!(mine[0].task_id, TASK);
    assert_eq!(mine[0].note.reason, "release");
    assert_eq!(mine[0].note.files, 1);
    let others = list(&world.repository, Some("other/task")).unwrap();
    assert_eq!(others[0].note.reason, "two lines");
    assert_eq!(others[0].task_id, "other/task");
    assert!(
        list(&world.repository, Some("V1StGXR8"))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn old_ones_go() {
    let world = World::new();
    let at = |second: i64| Timestamp::from_second(second).unwrap();
    for second in [1_000, 2_000, 3_000] {
        world.write("a", format!("changed at {second}"));
        world.with_save(|given| {
            save(&Save {
                now: at(second),
                ..*given
            })
            .unwrap()
            .unwrap()
        });
    }
    let all = list(&world.repository, None).unwrap();
    assert_eq!(
        (all[0].task_id.as_str(), all[0].name.as_str()),
        (TASK, "19700101T001640.000Z")
    );
    forget(&site(&world.repository), &all[..1]).unwrap();
    let left = list(&world.repository, None).unwrap();
    assert_eq!(
        left.iter()
            .map(|rescue| rescue.note.time)
            .collect::<Vec<_>>(),
        [at(2_000), at(3_000)]
    );
    // One of them is not what it was: all stay.
    assert!(forget(&site(&world.repository), &all).is_err());
    assert_eq!(list(&world.repository, None).unwrap().len(), 2);
    forget(&site(&world.repository), &[]).unwrap();
}

#[test]
fn the_same_content_is_saved_once_a_day() {
    let world = World::new();
    world.write("a", "changed");
    let save_at = |second: i64| {
        world.with_save(|given| {
            let now = Timestamp::from_second(second).unwrap();
            save(&Save { now, ..*given }).unwrap().unwrap().name
        })
    };
    let first = save_at(1_000);
    assert_eq!(save_at(2_000), first);
    world.write("a", "changed again");
    let second = save_at(3_000);
    assert_ne!(second, first);
    // One that is older would expire too soon.
    assert_ne!(save_at(3_000 + 24 * 60 * 60), second);
    assert_eq!(list(&world.repository, None).unwrap().len(), 3);
}

#[test]
fn leftovers_of_a_killed_process_are_cleared() {
    let world = World::new();
    let index = world.git_dir().join("orange-rescue-999999999-0.index");
    std::fs::write(&index, "half").unwrap();
    let part = world.raw_folder().join(".part-999999999-0");
    std::fs::create_dir_all(part.join("half")).unwrap();
    world.init(&world.path("nested"));
    world.save();
    assert!(!index.exists());
    assert!(!part.exists());
}

#[test]
fn a_folder_that_is_no_worktree() {
    let world = World::new();
    world.with_save(|given| {
        for slot in [world.root.join("nowhere"), world.path("dir")] {
            let error = save(&Save {
                slot: &site(&slot),
                ..*given
            })
            .unwrap_err();
            assert!(
                error.message.contains("not the root of a git worktree"),
                "{error}"
            );
        }
    });
}

#[test]
fn an_index_that_cannot_be_read() {
    let world = World::new();
    let index = world.git_dir().join("index");
    std::fs::write(&index, "no index at all").unwrap();
    let error = world.with_save(save).unwrap_err();
    let hint = error.hint.unwrap();
    assert!(hint.words().unwrap().contains("index is broken"));
    assert_eq!(std::fs::read(&index).unwrap(), b"no index at all");
    std::fs::remove_file(&index).unwrap();
    world.write("a", "changed");
    let saved = world.save();
    world.holds(&saved.commit, "a", "changed");
    world.holds(&saved.commit, "dir/c", "c\n");
    assert_eq!(world.trailer(&saved.commit, "Staged"), None);
}

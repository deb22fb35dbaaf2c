//! Bringing back what a rescue holds.

use crate::rescue::world::{TASK, World, site};
use orange_core::Timestamp;
use orange_engine::Code;
use orange_engine::rescue::{Rescue, Restored, Save, list, restore, show, to_branch};
use std::fs;

fn latest(world: &World) -> Rescue {
    list(&world.repository, Some(TASK)).unwrap().pop().unwrap()
}

fn bring_back(world: &World, rescue: &Rescue) -> orange_engine::Result<Restored> {
    let now = Timestamp::from_second(1_900_000_000).unwrap();
    world.with_save(|given| {
        restore(
            &world.repository,
            rescue,
            given.raw_folder,
            &Save { now, ..*given },
        )
    })
}

fn discard(world: &World) {
    world.git(["reset", "-q", "--hard"]);
    world.git(["clean", "-qffd"]);
}

#[test]
fn files_come_back_as_they_were() {
    let world = World::new();
    world.write("a", "changed");
    world.write("new/file", "untracked");
    fs::remove_dir_all(world.path("dir")).unwrap();
    world.remove("b");
    world.write("b/folder", "in the place of a file");
    world.init(&world.path("nested"));
    world.write("nested/inner", "inner");
    world.save();
    let before = crate::rescue::world::files(&world.slot);
    discard(&world);
    let (head, index) = (
        world.head(),
        fs::read(world.git_dir().join("index")).unwrap(),
    );
    let restored = bring_back(&world, &latest(&world)).unwrap();
    assert!(restored.before.is_none());
    assert_eq!((restored.written, restored.deleted), (3, 2));
    assert_eq!(restored.copied.len(), 1);
    let now = crate::rescue::world::files(&world.slot);
    for (path, (mode, _, bytes)) in &before {
        let (new_mode, _, new_bytes) = now.get(path).unwrap_or_else(|| panic!("{path:?}"));
        assert_eq!((mode, bytes), (new_mode, new_bytes), "{path:?}");
    }
    assert_eq!(before.len(), now.len());
    assert_eq!(world.head(), head);
    assert_eq!(fs::read(world.git_dir().join("index")).unwrap(), index);
    assert_eq!(world.git(["rev-parse", "task"]), head);
}

#[test]
fn what_is_there_now_is_saved_first() {
    let world = World::new();
    world.write("a", "first");
    world.save();
    let first = latest(&world);
    world.write("a", "second");
    world.write("unrelated", "stays");
    let restored = bring_back(&world, &first).unwrap();
    assert_eq!(fs::read(world.path("a")).unwrap(), b"first");
    assert_eq!(fs::read(world.path("unrelated")).unwrap(), b"stays");
    let before = latest(&world);
    assert_eq!(restored.before.as_ref(), Some(&before.name));
    world.holds(&before.commit, "a", "second");
    bring_back(&world, &latest(&world)).unwrap();
    assert_eq!(fs::read(world.path("a")).unwrap(), b"second");
}

#[test]
fn ignored_files_are_not_overwritten() {
    let world = World::new();
    world.write("notes.txt", "saved");
    world.write("x", "saved");
    world.save();
    let rescue = latest(&world);
    discard(&world);
    world.commit(".gitignore", "notes.txt\n*.ignored\n");
    world.write("notes.txt", "not in any rescue");
    let error = bring_back(&world, &rescue).unwrap_err();
    assert_eq!(error.code, Code::Conflict);
    assert!(error.message.contains("notes.txt"), "{error}");
    world.remove("notes.txt");
    world.write("x/data.ignored", "in a folder where a file was");
    let error = bring_back(&world, &rescue).unwrap_err();
    assert!(error.message.starts_with("x "), "{error}");
    assert_eq!(fs::read(world.path("x/data.ignored")).unwrap().len(), 28);
    assert!(!world.path("notes.txt").exists());
}

#[test]
fn nothing_is_deleted_behind_a_link() {
    let world = World::new();
    world.remove("dir/c");
    world.save();
    let rescue = latest(&world);
    discard(&world);
    let outside = world.root.join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("c"), "somebody else's").unwrap();
    fs::remove_dir_all(world.path("dir")).unwrap();
    std::os::unix::fs::symlink(&outside, world.path("dir")).unwrap();
    bring_back(&world, &rescue).unwrap();
    assert_eq!(fs::read(outside.join("c")).unwrap(), b"somebody else's");
}

#[test]
fn nothing_is_written_behind_a_link() {
    let world = World::new();
    world.write("dir/new", "saved");
    world.save();
    let rescue = latest(&world);
    discard(&world);
    let outside = world.root.join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("new"), "somebody else's").unwrap();
    fs::remove_dir_all(world.path("dir")).unwrap();
    std::os::unix::fs::symlink(&outside, world.path("dir")).unwrap();
    let restored = bring_back(&world, &rescue).unwrap();
    assert_eq!(fs::read(outside.join("new")).unwrap(), b"somebody else's");
    assert_eq!(fs::read(world.path("dir/new")).unwrap(), b"saved");
    let before = latest(&world);
    assert_eq!(restored.before.as_ref(), Some(&before.name));
    world.holds(&before.commit, "dir", outside.to_str().unwrap());
}

#[test]
fn a_copy_does_not_replace_what_is_there() {
    let world = World::new();
    world.init(&world.path("nested"));
    world.write("nested/inner", "saved");
    world.save();
    let rescue = latest(&world);
    world.write("nested/inner", "of now");
    let restored = bring_back(&world, &rescue).unwrap();
    assert_eq!(restored.not_copied, [std::path::PathBuf::from("nested")]);
    assert_eq!(fs::read(world.path("nested/inner")).unwrap(), b"of now");
}

#[test]
fn as_a_branch() {
    let world = World::new();
    world.write("a", "changed");
    let saved = world.save();
    let rescue = latest(&world);
    for (name, code) in [
        ("-x", Code::Usage),
        ("a..b", Code::Usage),
        ("", Code::Usage),
        ("HEAD", Code::Usage),
        ("main", Code::Conflict),
    ] {
        let error = to_branch(&site(&world.repository), &rescue, name).unwrap_err();
        assert_eq!(error.code, code, "{name}");
    }
    to_branch(&site(&world.repository), &rescue, "back/again").unwrap();
    assert_eq!(world.git(["rev-parse", "back/again"]), saved.commit);
}

#[test]
fn a_look_inside() {
    let world = World::new();
    let lost = world.commit("one", "1");
    world.git(["reset", "-q", "--hard", "HEAD~1"]);
    world.write("a", "changed");
    world.write("new", "untracked");
    world.remove("b");
    world.init(&world.path("deep/nested"));
    world.save();
    let shown = show(&world.repository, &latest(&world), &world.raw_folder()).unwrap();
    let files: Vec<String> = shown
        .files
        .iter()
        .map(|file| format!("{} {}", file.status, file.path.display()))
        .collect();
    assert_eq!(files, ["M a", "D b", "A new"]);
    let [only] = &shown.commits[..] else {
        panic!("{:?}", shown.commits);
    };
    assert_eq!((&only.commit, only.subject.as_str()), (&lost, "one"));
    assert_eq!(shown.copies, [std::path::PathBuf::from("deep/nested")]);
    fs::remove_dir_all(world.raw_folder()).unwrap();
    let shown = show(&world.repository, &latest(&world), &world.raw_folder()).unwrap();
    assert_eq!(shown.raw, None);
}

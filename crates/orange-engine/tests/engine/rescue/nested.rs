//! Repositories inside the worktree: git takes no file of them, so they are copied as they are.

use crate::rescue::world::{World, files};
use std::fs;
use std::path::Path;

fn nested(world: &World, path: &str, with_commit: bool) {
    let folder = world.path(path);
    world.init(&folder);
    fs::write(folder.join("inner"), "inner\n").unwrap();
    if with_commit {
        world.git_at(&folder, ["add", "-A"]);
        world.git_at(&folder, ["commit", "-q", "-m", "inner"]);
    }
    fs::write(folder.join("untracked"), "untracked\n").unwrap();
    std::os::unix::fs::symlink("inner", folder.join("link")).unwrap();
}

#[track_caller]
fn same(one: &Path, other: &Path) {
    let inside = |folder: &Path| {
        files(folder)
            .into_iter()
            .filter(|(path, _)| !path.is_symlink())
            .map(|(path, data)| (path.strip_prefix(folder).unwrap().to_owned(), data))
            .collect::<Vec<_>>()
    };
    let (one, other) = (inside(one), inside(other));
    assert!(!one.is_empty());
    assert_eq!(one, other);
}

#[test]
fn nested_repositories_are_copied_whole() {
    for with_commit in [true, false] {
        let world = World::new();
        nested(&world, "deep/nested repo", with_commit);
        world.write("a", "changed");
        world.write("beside", "untracked");
        let saved = world.save();
        let raw = world.copies(&saved);
        assert_eq!(raw, world.raw_folder().join(&saved.name));
        same(&world.path("deep"), &raw.join("deep"));
        assert!(raw.join("deep/nested repo/link").is_symlink());
        world.holds(&saved.commit, "a", "changed");
        world.holds(&saved.commit, "beside", "untracked");
        assert_eq!(world.trailer(&saved.commit, "Raw").unwrap(), saved.name);
        assert_eq!(saved.note.files, 3);
        assert!(
            !world
                .names(&saved.commit)
                .iter()
                .any(|name| name.starts_with("deep"))
        );
        let left = fs::read_dir(world.raw_folder()).unwrap().count();
        assert_eq!(left, 1, "half copies are left");
    }
}

#[test]
fn a_nested_repository_alone_is_reason_enough() {
    let world = World::new();
    nested(&world, "nested", true);
    let saved = world.save();
    assert_eq!(saved.note.files, 1);
    // Added and committed as a link it is no safer.
    world.git(["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
    let saved = world.save();
    same(&world.path("nested"), &world.copies(&saved).join("nested"));
    world.git(["commit", "-q", "-m", "with a link"]);
    let saved = world.save();
    same(&world.path("nested"), &world.copies(&saved).join("nested"));
}

#[test]
fn a_repository_that_git_does_not_recognise() {
    let world = World::new();
    nested(&world, "nested", true);
    world.remove("nested/.git/HEAD");
    let saved = world.save();
    world.holds(&saved.commit, "nested/inner", "inner\n");
    same(
        &world.path("nested/.git"),
        &world.copies(&saved).join("nested/.git"),
    );
}

/// A worktree with a submodule `sub` that was cloned from a remote.
fn with_submodule() -> World {
    let world = World::new();
    let remote = world.root.join("remote");
    world.init(&remote);
    fs::write(remote.join("s"), "s\n").unwrap();
    world.git_at(&remote, ["add", "-A"]);
    world.git_at(&remote, ["commit", "-q", "-m", "sub"]);
    let url = remote.to_str().unwrap();
    world.git(["submodule", "--quiet", "add", url, "sub"]);
    world.git(["commit", "-q", "-m", "with a submodule"]);
    world
}

#[test]
fn a_clean_submodule_needs_nothing() {
    let world = with_submodule();
    world.nothing_to_save();
    world.write("a", "changed");
    assert_eq!(world.save().note.raw, None);
}

#[test]
fn dirty_submodules_are_copied_with_a_bundle() {
    let changes: [fn(&World); 3] = [
        |world| world.write("sub/s", "changed\n"),
        |world| world.write("sub/new", "untracked\n"),
        |world| {
            world.write("sub/s", "committed\n");
            world.git_at(
                &world.path("sub"),
                ["commit", "-q", "-a", "-m", "not pushed"],
            );
        },
    ];
    for change in changes {
        let world = with_submodule();
        change(&world);
        let raw = world.copies(&world.save());
        same(&world.path("sub"), &raw.join("sub"));
        let head = world.git_at(&world.path("sub"), ["rev-parse", "HEAD"]);
        let bundle = raw.join("sub.git-bundle");
        let heads = world.git(["bundle", "list-heads", bundle.to_str().unwrap()]);
        assert!(heads.contains(&format!("{head} HEAD")), "{heads}");
    }
}

#[test]
fn files_in_a_submodule_that_was_never_fetched() {
    let world = with_submodule();
    world.git(["submodule", "--quiet", "deinit", "-f", "sub"]);
    world.nothing_to_save();
    world.write("sub/put here", "by hand\n");
    let raw = world.copies(&world.save());
    assert_eq!(fs::read(raw.join("sub/put here")).unwrap(), b"by hand\n");
}

#[test]
fn a_submodule_in_a_submodule() {
    let world = with_submodule();
    let sub = world.path("sub");
    let url = world.root.join("remote");
    world.git_at(
        &sub,
        [
            "submodule",
            "--quiet",
            "add",
            url.to_str().unwrap(),
            "inner",
        ],
    );
    world.git_at(&sub, ["commit", "-q", "-m", "inner"]);
    world.write("sub/inner/s", "changed deep inside\n");
    world.git_at(
        &world.path("sub/inner"),
        ["commit", "-q", "-a", "-m", "deep"],
    );
    let raw = world.copies(&world.save());
    assert_eq!(
        fs::read(raw.join("sub/inner/s")).unwrap(),
        b"changed deep inside\n"
    );
    assert!(raw.join("sub.git-bundle").is_file());
    assert!(raw.join("sub/inner.git-bundle").is_file());
}

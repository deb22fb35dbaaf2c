//! Where a command is: repositories of every shape, subfolders, worktrees, task folders.

use crate::env::TestEnvironment;
use insta::assert_snapshot;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn an_unregistered_repository_is_registered_by_the_first_task_and_told() {
    let env = TestEnvironment::unregistered();
    assert_snapshot!(env.orange(["task", "create", "Add a login form"]), @"
    created TASK-001 Add a login form
      branch   orange/TASK-001-add-a-login-form (not made yet) from main@[HASH]
      testing  UI, by its words; else orange update TASK-001 --ui-testing false
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-001
    ------- stderr -------
    note: registered project shop at [TMP]/shop (default branch main); 5 workspaces; change it with `orange project update shop --pool-size N`
    ");
    assert_snapshot!(env.orange(["project", "list"]), @"
    PROJECT  PREFIX  BRANCH  WORKSPACES  PERMISSIONS  PATH
    shop     TASK    main    5           -            [TMP]/shop
    ");
}

#[test]
fn outside_of_any_repository_a_task_cannot_be_created() {
    let env = TestEnvironment::new();
    let plain = env.root().join("plain");
    fs::create_dir(&plain).unwrap();
    assert_snapshot!(env.call(["new", "Nowhere"]).at(&plain).run(), @"
    ------- stderr -------
    error: this folder is in no git repository
    hint: go into a repository, or name a registered one with --project
    [exit status: 4]
    ");
    // Naming the project helps.
    env.call(["new", "Somewhere", "else", "--project", "shop"])
        .at(&plain)
        .run()
        .ok();
    assert_snapshot!(env.call(["new", "Wrong name", "--project", "shp"]).at(&plain).run(), @r#"
    ------- stderr -------
    error: there is no project "shp"
    hint: did you mean shop? known projects: shop
    [exit status: 4]
    "#);
}

#[test]
fn a_subfolder_belongs_to_the_project() {
    let env = TestEnvironment::new();
    let deep = env.shop().join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    let created = env
        .call(["new", "From below", "--json"])
        .at(&deep)
        .run()
        .ok();
    assert_eq!(created.json()["task"]["project"], "shop");
    env.call(["task", "show", "TASK-001"]).at(&deep).run().ok();
}

#[test]
fn a_nested_repository_is_not_the_project_around_it() {
    let env = TestEnvironment::new();
    env.create(["Outer task"]);
    let inner = env.init_repository("shop/vendor/lib");
    env.call(["task", "show", "TASK-001"]).at(&inner).run().ok(); // the only TASK-001 there is
    let created = env
        .call(["new", "Inner task", "--json"])
        .at(&inner)
        .run()
        .ok();
    assert_eq!(created.json()["task"]["project"], "lib");
}

#[test]
fn a_linked_worktree_belongs_to_its_main_repository() {
    let env = TestEnvironment::new();
    let linked = env.root().join("linked tree");
    env.git(
        &env.shop(),
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "side",
            linked.to_str().unwrap(),
        ],
    );
    let created = env
        .call(["new", "From aside", "--json"])
        .at(&linked)
        .run()
        .ok();
    assert_eq!(created.json()["task"]["project"], "shop");
    // Registering from there means the main work tree.
    assert_snapshot!(env.call(["project", "add"]).at(&linked).run(), @"already registered: project shop at [TMP]/shop (default branch main, 2 workspaces)");
}

#[test]
fn a_folder_with_a_link_to_a_task_means_that_task() {
    let env = TestEnvironment::new();
    let first = env.create(["The first one"]);
    let second = env.create(["The second one"]);
    let slot = env.root().join("slot");
    fs::create_dir_all(slot.join("src")).unwrap();
    symlink(second.file(), slot.join("TASK.md")).unwrap();
    assert_snapshot!(env.call(["task", "why"]).at(slot.join("src")).run(), @"
    TASK-002 is pending
    it waits for you to start it (created with --no-spawn or `agents.spawn_on_create: false`)
    next: orange spawn shop:TASK-002
    ");
    env.call(["task", "update", "--summary", "Changed from inside"])
        .at(slot.join("src"))
        .run()
        .ok();
    assert_eq!(env.show(&second)["summary"], "Changed from inside");
    // The name for repositories with a TASK.md of their own.
    let other = env.root().join("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("TASK.md"), "our own file").unwrap();
    symlink(first.file(), other.join("ORANGE_TASK.md")).unwrap();
    let why = env.call(["task", "why", "--json"]).at(&other).run().ok();
    assert_eq!(why.json()["why"]["task"], first.key);
    assert_snapshot!(env.orange(["task", "why"]), @"
    ------- stderr -------
    error: no task given, and this directory is not a task's workspace
    hint: name it: a key like TASK-001, an id, or project/branch
    [exit status: 2]
    ");
}

#[test]
fn a_slot_of_the_pool_means_its_project_and_task() {
    let env = TestEnvironment::new();
    let task = env.create(["Sits in a slot"]);
    // No agent runs yet, so the slot is bound the way an older home has it.
    let slot = env.home().join("workspaces/shop--1/src");
    fs::create_dir_all(&slot).unwrap();
    fs::remove_file(task.journal()).unwrap();
    task.edit("status: pending", "status: working\nworkspace: shop--1");
    let why = env.call(["task", "why", "--json"]).at(&slot).run().ok();
    assert_eq!(why.json()["why"]["task"], task.key);
    let created = env.call(["new", "From the slot", "--json"]).at(&slot).run();
    assert_eq!(created.ok().json()["task"]["project"], "shop");
}

#[test]
fn a_repository_without_commits() {
    let env = TestEnvironment::empty();
    let fresh = env.root().join("fresh");
    fs::create_dir(&fresh).unwrap();
    env.git(&fresh, &["init", "-q", "-b", "trunk"]);
    assert_snapshot!(env.call(["new", "Begin something"]).at(&fresh).run(), @"
    created TASK-001 Begin something
      branch   orange/TASK-001-begin-something (not made yet) from trunk (no commits yet)
      file     [HOME]/tasks/fresh/[ID]/TASK.md
    next: orange spawn TASK-001
    ------- stderr -------
    note: registered project fresh at [TMP]/fresh (default branch trunk); 5 workspaces; change it with `orange project update fresh --pool-size N`
    ");
}

#[test]
fn a_bare_repository() {
    let env = TestEnvironment::unregistered();
    let bare = env.root().join("shop-bare.git");
    env.git(
        &env.root(),
        &["clone", "-q", "--bare", "shop", bare.to_str().unwrap()],
    );
    assert_snapshot!(env.call(["new", "Work on it"]).at(&bare).run(), @"
    created TASK-001 Work on it
      branch   orange/TASK-001-work-on-it (not made yet) from origin/main@[HASH], fetched now
      file     [HOME]/tasks/shop-bare/[ID]/TASK.md
    next: orange spawn TASK-001
    ------- stderr -------
    note: registered project shop-bare at [TMP]/shop-bare.git (default branch main); 5 workspaces; change it with `orange project update shop-bare --pool-size N`
    ");
}

#[test]
fn a_detached_head_changes_nothing() {
    let env = TestEnvironment::unregistered();
    env.git(&env.shop(), &["checkout", "-q", "--detach"]);
    assert_snapshot!(env.orange(["new", "Detached work"]), @"
    created TASK-001 Detached work
      branch   orange/TASK-001-detached-work (not made yet) from main@[HASH]
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-001
    ------- stderr -------
    note: registered project shop at [TMP]/shop (default branch main); 5 workspaces; change it with `orange project update shop --pool-size N`
    ");
}

#[test]
fn a_default_branch_of_another_name_is_found() {
    let env = TestEnvironment::empty();
    let folder = env.root().join("shop");
    fs::create_dir(&folder).unwrap();
    env.git(&folder, &["init", "-q", "-b", "trunk"]);
    env.commit(&folder, "README.md", "first");
    assert_snapshot!(env.orange(["new", "On the trunk"]), @"
    created TASK-001 On the trunk
      branch   orange/TASK-001-on-the-trunk (not made yet) from trunk@[HASH]
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-001
    ------- stderr -------
    note: registered project shop at [TMP]/shop (default branch trunk); 5 workspaces; change it with `orange project update shop --pool-size N`
    ");
    let shown = env
        .orange(["task", "show", "TASK-001", "--json"])
        .ok()
        .json();
    assert_eq!(shown["task"]["base"], "trunk");
}

#[test]
fn the_remote_says_which_branch_is_the_default_one() {
    let env = TestEnvironment::empty();
    let origin = env.init_repository("origin");
    env.git(&origin, &["checkout", "-q", "-b", "develop"]);
    env.git(&env.root(), &["clone", "-q", "origin", "shop"]);
    assert_snapshot!(env.orange(["project", "add"]), @"
    registered project shop at [TMP]/shop (default branch develop)
    5 workspaces; change it with `orange project update shop --pool-size N`
    ");
}

#[test]
fn spaces_and_other_letters_in_a_path() {
    let env = TestEnvironment::empty();
    let folder = env.init_repository("Mein Käse (neu)");
    assert_snapshot!(env.call(["new", "Reifen lassen"]).at(&folder).run(), @"
    created TASK-001 Reifen lassen
      branch   orange/TASK-001-reifen-lassen (not made yet) from main@[HASH]
      file     [HOME]/tasks/Mein-Käse--neu/[ID]/TASK.md
    next: orange spawn TASK-001
    ------- stderr -------
    note: registered project Mein-Käse--neu at [TMP]/Mein Käse (neu) (default branch main); 5 workspaces; change it with `orange project update Mein-Käse--neu --pool-size N`
    ");
    env.call(["ls"])
        .at(&folder)
        .run()
        .ok()
        .says("Reifen lassen");
}

#[test]
fn local_commits_that_the_remote_does_not_have_are_told() {
    let env = TestEnvironment::empty();
    let origin = env.init_repository("origin");
    env.git(&env.root(), &["clone", "-q", "origin", "shop"]);
    env.commit(&env.shop(), "a.txt", "a");
    env.commit(&env.shop(), "b.txt", "b");
    assert_snapshot!(env.orange(["new", "Start from the remote"]), @"
    created TASK-001 Start from the remote
      branch   orange/TASK-001-start-from-the-remote (not made yet) from origin/main@[HASH], fetched now; your local main has 2 commits that are not in it
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-001
    ------- stderr -------
    note: registered project shop at [TMP]/shop (default branch main); 5 workspaces; change it with `orange project update shop --pool-size N`
    ");
    env.git(&origin, &["config", "receive.denyCurrentBranch", "ignore"]);
    env.git(&env.shop(), &["push", "-q", "origin", "main"]);
    env.orange(["new", "Nothing to tell"])
        .ok()
        .silent_about("that are not in it");
    assert_snapshot!(env.orange(["task", "create", "from-local", "Begin here", "--base", "main"]), @"
    created TASK-003 Begin here
      branch   from-local (not made yet) from main@[HASH]
      file     [HOME]/tasks/shop/[ID]/TASK.md
    next: orange spawn TASK-003
    ");
}

//! `orange project …`, and where a command thinks it is.

use crate::env::TestEnvironment;
use insta::assert_snapshot;

#[test]
fn add_list_update_remove() {
    let env = TestEnvironment::unregistered();
    assert_snapshot!(env.orange(["project", "list"]), @"no projects yet; register one with `orange project add PATH`");
    assert_snapshot!(env.orange(["project", "add", "."]), @"
    registered project shop at [TMP]/shop (default branch main)
    5 workspaces; change it with `orange project update shop --pool-size N`
    ");
    assert_snapshot!(env.orange(["project", "add"]), @"already registered: project shop at [TMP]/shop (default branch main, 5 workspaces)");
    assert_snapshot!(env.orange(["project", "update", "shop", "--pool-size", "5"]), @"updated project shop at [TMP]/shop (default branch main, 5 workspaces)");
    assert_snapshot!(env.orange(["project", "list"]), @"
    PROJECT  PREFIX  BRANCH  WORKSPACES  PERMISSIONS  PATH
    shop     TASK    main    5           -            [TMP]/shop
    ");
    assert_snapshot!(env.orange(["project", "list", "--json"]), @r#"{"projects":[{"name":"shop","path":"[TMP]/shop","default_branch":"main","pool_size":5,"prefix":"TASK"}]}"#);
    assert_snapshot!(env.orange(["project", "remove", "shop"]), @"removed project shop at [TMP]/shop (default branch main, 5 workspaces)");
    assert_snapshot!(env.orange(["project", "list", "--json"]), @r#"{"projects":[]}"#);
}

#[test]
fn what_cannot_be_a_project_is_refused_with_a_hint() {
    let env = TestEnvironment::new();
    let plain = env.root().join("plain");
    std::fs::create_dir(&plain).unwrap();
    assert_snapshot!(env.orange(["project", "add", plain.to_str().unwrap()]), @"
    ------- stderr -------
    error: [TMP]/plain is not inside a git repository
    hint: make a repository there first, or give the path of one
    [exit status: 4]
    ");
    assert_snapshot!(env.orange(["project", "add", "../nowhere"]), @"
    ------- stderr -------
    error: there is no folder [TMP]/shop/../nowhere: no such file or directory
    hint: give the path of a git repository
    [exit status: 4]
    ");
    assert_snapshot!(env.orange(["project", "add", ".", "--name", "other"]), @"
    ------- stderr -------
    error: [TMP]/shop is registered already, as shop
    hint: use that name, or remove it: `orange project remove shop`
    [exit status: 3]
    ");
    assert_snapshot!(env.orange(["project", "add", ".", "--name", "a/b"]), @r#"
    ------- stderr -------
    error: "a/b" cannot be a project's name
    hint: use letters, digits, `.`, `_` and `-`; at most 64, not beginning with `.` or `-`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["project", "add", ".", "--default-branch", "a..b"]), @r#"
    ------- stderr -------
    error: git does not accept "a..b" as a branch name
    hint: give the name of the branch that work starts from, such as main
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["project", "update", "shop"]), @"
    ------- stderr -------
    error: nothing to change was given
    hint: say what: --path, --default-branch, --pool-size, --prefix or --permissions
    [exit status: 2]
    ");
    assert_snapshot!(env.orange(["project", "update", "shp", "--pool-size", "3"]), @r#"
    ------- stderr -------
    error: there is no project "shp"
    hint: did you mean shop? known projects: shop
    [exit status: 4]
    "#);
    assert_snapshot!(env.orange(["project", "update", "shop", "--pool-size", "many"]), @r#"
    ------- stderr -------
    error: --pool-size: "many": not a whole number
    hint: for usage, run `orange project update --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["project", "remove", "shp"]), @r#"
    ------- stderr -------
    error: there is no project "shp"
    hint: did you mean shop? known projects: shop
    [exit status: 4]
    "#);
    let error = env
        .orange(["project", "remove", "shp", "--json"])
        .refuses(4, "not_found");
    assert_eq!(error["hint"], "did you mean shop? known projects: shop");
}

#[test]
fn a_second_repository_of_the_same_name_gets_a_number() {
    let env = TestEnvironment::new();
    let second = env.init_repository("other/shop");
    assert_snapshot!(env.call(["project", "add"]).at(&second).run(), @"
    registered project shop-2 at [TMP]/other/shop (default branch main)
    5 workspaces; change it with `orange project update shop-2 --pool-size N`
    ");
    let third = env.init_repository("third/shop");
    assert_snapshot!(env.call(["project", "add", "--name", "shop"]).at(&third).run(), @"
    ------- stderr -------
    error: there is a project shop already, at [TMP]/shop
    hint: choose another --name
    [exit status: 3]
    ");
}

#[test]
fn a_project_with_open_tasks_is_not_removed_by_accident() {
    let env = TestEnvironment::new();
    let task = env.create(["Stays on disk"]);
    assert_snapshot!(env.orange(["project", "remove", "shop"]), @"
    ------- stderr -------
    error: project shop has 1 open task: TASK-001
    hint: end them first, or add --force: the tasks stay on disk and come back when the project is added again
    [exit status: 3]
    ");
    env.orange(["project", "remove", "shop", "--force"]).ok();
    assert!(task.file().is_file());
    env.orange(["project", "add", "."]).ok();
    assert_eq!(env.keys(["--project", "shop"]), [task.key]);
    // The counter goes on too.
    assert_eq!(env.create(["The next one"]).key, "TASK-002");
}

#[test]
fn unknown_keys_of_projects_json_survive_a_change() {
    let env = TestEnvironment::new();
    let path = env.home().join("projects.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replace("\"name\"", "\"colour\": \"red\", \"name\""),
    )
    .unwrap();
    env.orange(["project", "update", "shop", "--pool-size", "7"])
        .ok();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"colour\": \"red\""), "{text}");
    assert!(text.contains("\"pool_size\": 7"), "{text}");
}

#[test]
fn a_corrupt_projects_json_is_said_and_repaired() {
    let env = TestEnvironment::new();
    let task = env.create(["Survives"]);
    let path = env.home().join("projects.json");
    std::fs::write(&path, "[{\"name\": \"shop\",").unwrap();
    assert_snapshot!(env.orange(["project", "list"]), @"
    ------- stderr -------
    error: [HOME]/projects.json cannot be read: line 1: it ends too early
    hint: correct the file by hand, or run `orange doctor --repair`, which sets it aside and registers again what it finds
    [exit status: 1]
    ");
    // A list goes on without it, and says so.
    let list = env.orange(["ls", "--json"]).ok();
    assert_eq!(list.json()["tasks"][0]["key"], task.key);
    list.says("cannot be read");
    let error = env.orange(["new", "More", "--json"]).refuses(1, "damaged");
    let new = env.orange(["new", "More"]).fails_with(1);
    assert_eq!(new.stderr.matches("cannot be read").count(), 1, "{new}");
    assert!(error["hint"].as_str().unwrap().contains("doctor --repair"));
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "[{\"name\": \"shop\","
    );
    std::fs::write(&path, "{}").unwrap();
    env.orange(["project", "list"])
        .fails_with(1)
        .says("cannot be read: it must be a list of projects, between [ and ]");
    std::fs::write(&path, "[{\"name\": \"shop\",").unwrap();
    assert_snapshot!(env.orange(["doctor"]), @"
    home       ✗ projects.json: cannot be read: line 1: it ends too early
                   --repair: sets the file aside and registers again what is known from it and from the slots
    checked 1 task
    ------- stderr -------
    error: 1 problem found
    hint: `orange doctor --repair` does what it can
    [exit status: 1]
    ");
    assert_snapshot!(env.orange(["doctor", "--repair"]), @"
    home       + projects.json: cannot be read: line 1: it ends too early → set aside as projects.json.damaged-[STAMP]; register projects again with `orange project add PATH`
               ✗ project shop: is not registered, and has 1 open task: where its repository is cannot be told
                   by hand: `orange project add PATH --name shop`
    checked 1 task: 2 problems found, 1 repaired
    ------- stderr -------
    error: 1 problem left
    hint: the list says what to do by hand
    [exit status: 1]
    ");
    let aside: Vec<String> = crate::env::names_in(&env.home())
        .into_iter()
        .filter(|name| name.starts_with("projects.json.damaged-"))
        .collect();
    assert_eq!(aside.len(), 1);
    assert_eq!(
        std::fs::read_to_string(env.home().join(&aside[0])).unwrap(),
        "[{\"name\": \"shop\","
    );
    // What could not be registered again is a problem until somebody says where it is.
    assert_snapshot!(env.orange(["doctor"]), @"
    home       ✗ project shop: is not registered, and has 1 open task: where its repository is cannot be told
                   by hand: `orange project add PATH --name shop`
    checked 1 task
    ------- stderr -------
    error: 1 problem found
    hint: the list says what to do by hand
    [exit status: 1]
    ");
    assert_snapshot!(env.orange(["task", "why", &task.id]), @"
    TASK-001 is pending
    its project shop is not registered, so nothing can be done in its repository
    next: orange project add PATH --name shop
    ");
    env.orange(["project", "add", "."]).ok();
    env.orange(["doctor"]).ok();
    env.orange(["task", "why", &task.id])
        .ok()
        .says("it waits for you to start it");
    assert_eq!(env.keys([""; 0]), [task.key]);
}

#[test]
fn projects_are_found_again_in_what_is_left() {
    let env = TestEnvironment::new();
    let books = env.init_repository("books");
    let papers = env.init_repository("papers");
    for folder in [&books, &papers] {
        env.orange([
            "project",
            "add",
            folder.to_str().unwrap(),
            "--pool-size",
            "3",
        ])
        .ok();
    }
    env.bring_to(&env.create(["Has a slot"]), "planning");
    env.orange(["new", "Has none", "--project", "papers"]).ok();
    let path = env.home().join("projects.json");
    // Whole is only the entry of books; shop has a slot, papers has neither.
    let broken = format!(
        "[{{\"name\": \"shop\", \"path\": \"/x\",\n {{\"name\": \"books\", \"path\": {:?}, \"default_branch\": \"main\", \"pool_size\": 3, \"colour\": \"red\"}},\n {{\"name\": \"pap",
        books
    );
    std::fs::write(&path, &broken).unwrap();
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says(&format!("books at {}", books.display()))
        .says(&format!("shop at {}", env.shop().display()))
        .says("✗ project papers: is not registered, and has 1 open task")
        .says("by hand: `orange project add PATH --name papers`")
        .says("2 problems found, 1 repaired")
        .says("error: 1 problem left");
    let listed = env.orange(["project", "list", "--json"]).ok().json();
    let project = |name: &str| {
        let all = listed["projects"].as_array().unwrap();
        let found = all.iter().find(|project| project["name"] == name);
        found.cloned().unwrap_or_default()
    };
    assert_eq!(project("books")["pool_size"], 3);
    assert_eq!(project("shop")["default_branch"], "main");
    assert!(project("papers").is_null());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"colour\": \"red\""), "{text}");
    assert_eq!(env.create(["Goes on"]).key, "TASK-002");
}

/// What projects.json says of one project.
fn registered(env: &TestEnvironment, name: &str) -> serde_json::Value {
    let text = std::fs::read(env.home().join("projects.json")).unwrap();
    let all: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let mut all = all.as_array().unwrap().iter();
    let found = all.find(|project| project["name"] == name);
    found.cloned().unwrap_or_default()
}

#[test]
fn one_unreadable_field_costs_no_other() {
    let env = TestEnvironment::new();
    env.bring_to(&env.create(["Has a slot"]), "planning");
    let path = env.home().join("projects.json");
    let entry = |permissions: &str| {
        format!(
            "[{{\"name\": \"shop\", \"path\": {:?}, \"default_branch\": \"main\", \"pool_size\": 7, \"colour\": \"red\", {permissions}}}]",
            env.shop()
        )
    };
    for permissions in ["\"permissions\": \"Ask\"", "\"permissions\": edits"] {
        std::fs::write(&path, entry(permissions)).unwrap();
        env.orange(["doctor", "--repair"]).ok().says(
            "the permissions of shop could not be read and are `ask` now: `orange project update shop --permissions MODE` changes that",
        );
        let shop = registered(&env, "shop");
        assert_eq!(shop["permissions"], "ask");
        assert_eq!(shop["pool_size"], 7);
        assert_eq!(shop["colour"], "red");
    }
    // A missing comma leaves what can be read.
    let broken = entry("\"permissions\": \"edits\"")
        .replace("7,", "seven")
        .replace("\"default_branch\": \"main\",", "");
    std::fs::write(&path, broken).unwrap();
    env.orange(["doctor", "--repair"])
        .ok()
        .says("the default branch of shop could not be read and is main now")
        .says("the pool size of shop could not be read and is 2 now");
    assert_eq!(registered(&env, "shop")["permissions"], "edits");
}

#[test]
fn a_projects_json_that_is_gone_is_damage() {
    let env = TestEnvironment::new();
    env.orange(["project", "update", "shop", "--permissions", "ask"])
        .ok();
    env.bring_to(&env.create(["Has a slot"]), "planning");
    let path = env.home().join("projects.json");
    let text = std::fs::read_to_string(&path).unwrap();
    // As a repair left it that was killed between two steps.
    std::fs::write(
        env.home().join("projects.json.damaged-20200101T000000Z"),
        "[]",
    )
    .unwrap();
    let aside = env.home().join("projects.json.damaged-20260101T000000Z");
    std::fs::rename(&path, &aside).unwrap();
    std::fs::write(env.home().join(".projects.json.4194304"), "[]").unwrap();
    env.orange(["doctor"])
        .fails_with(1)
        .says("projects.json: is gone, though there are tasks or slots");
    env.orange(["doctor", "--repair"]).ok().says(&format!(
        "made anew from projects.json.damaged-20260101T000000Z; registered again: shop at {}",
        env.shop().display()
    ));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    // An empty one is no better.
    std::fs::write(&path, "\n").unwrap();
    env.orange(["doctor", "--repair"])
        .ok()
        .says("made anew from projects.json.damaged-20260101T000000Z");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    // Without such a file, the slots know.
    std::fs::remove_file(&path).unwrap();
    for name in crate::env::names_in(&env.home()) {
        if name.starts_with("projects.json.damaged-") {
            std::fs::remove_file(env.home().join(name)).unwrap();
        }
    }
    env.orange(["doctor", "--repair"]).ok().says(
        "shop is known from its slots only: its default branch is main now, its pool size 2, new keys begin with TASK, and its permissions are not set",
    );
    env.orange(["doctor"]).ok();
}

#[test]
fn a_folder_that_is_no_slot_makes_no_project() {
    let env = TestEnvironment::new();
    env.bring_to(&env.create(["Has a slot"]), "planning");
    let pool = env.home().join("workspaces");
    // A repository of its own; a copy of a slot; a slot that has lost its .git, below a repository of dotfiles.
    let own = pool.join("own--1");
    std::fs::create_dir_all(&own).unwrap();
    env.git(&own, &["init", "-q", "-b", "main"]);
    env.git(&own, &["commit", "-q", "--allow-empty", "-m", "one"]);
    std::fs::write(own.join("mine.txt"), "mine").unwrap();
    std::fs::create_dir_all(pool.join("copy--1")).unwrap();
    std::fs::copy(pool.join("shop--1/.git"), pool.join("copy--1/.git")).unwrap();
    std::fs::create_dir_all(pool.join("bare--1")).unwrap();
    env.git(&env.home(), &["init", "-q", "-b", "main"]);
    let path = env.home().join("projects.json");
    let inside =
        format!("[{{\"name\": \"own\", \"path\": {own:?}, \"default_branch\": \"main\"}}, oops");
    for text in ["oops", &inside] {
        std::fs::write(&path, text).unwrap();
        env.orange(["doctor", "--repair"]);
        let text = std::fs::read(&path).unwrap();
        let all: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
        assert_eq!(all[0]["name"], "shop");
        assert!(own.join("mine.txt").exists());
    }
    // Whatever is registered by hand: a checkout of its own is never cleaned as a slot.
    let by_hand =
        format!("[{{\"name\": \"own\", \"path\": {own:?}, \"default_branch\": \"main\"}}]");
    std::fs::write(&path, by_hand).unwrap();
    env.orange(["doctor", "--repair"])
        .says("own--1: is no worktree of");
    assert!(own.join("mine.txt").exists());
}

#[test]
fn a_repository_that_is_away_stays_registered_and_what_is_lost_is_named() {
    let env = TestEnvironment::new();
    let path = env.home().join("projects.json");
    let away = "{\"name\": \"away\", \"path\": \"/nowhere/away\", \"default_branch\": \"trunk\", \"x\": {\"name\": \"evil\", \"path\": \"/tmp\", \"default_branch\": \"main\"}}";
    let twice = format!(
        "{{\"name\": \"twice\", \"path\": {:?}, \"default_branch\": \"main\"}}",
        env.shop()
    );
    let shop = twice.replace("twice", "shop");
    let broken = "{\"name\": \"gone\", \"path\": \"/tmp\", \"permissions\":";
    std::fs::write(&path, format!("[{away}, {shop}, {twice}, {broken}")).unwrap();
    env.orange(["doctor", "--repair"])
        .says(&format!(
            "registered again: away at /nowhere/away, shop at {}; where the repository of gone, twice is cannot be told",
            env.shop().display()
        ));
    assert_eq!(registered(&env, "away")["default_branch"], "trunk");
    assert!(registered(&env, "evil").is_null());
}

#[test]
fn a_new_project_has_as_many_workspaces_as_the_setting_says() {
    let env = TestEnvironment::unregistered();
    let size = |env: &TestEnvironment, name: &str| {
        let listed = env.orange(["project", "list", "--json"]).ok().json();
        let projects = listed["projects"].as_array().unwrap().clone();
        let found = projects.iter().find(|project| project["name"] == name);
        found.unwrap()["pool_size"].as_u64().unwrap()
    };
    env.orange(["new", "Add a login form"])
        .ok()
        .says("5 workspaces; change it with `orange project update shop --pool-size N`");
    assert_eq!(size(&env, "shop"), 5);
    // None is made before it is needed.
    assert!(!env.home().join("workspaces/shop--1").exists());
    env.orange(["config", "set", "workspace.pool_size", "8"])
        .ok();
    assert_eq!(size(&env, "shop"), 5, "it keeps its own");
    let books = env.init_repository("books");
    env.orange(["project", "add", books.to_str().unwrap()])
        .ok()
        .says("8 workspaces; change it with");
    assert_eq!(size(&env, "books"), 8);
    let mail = env.init_repository("mail");
    let mail = mail.to_str().unwrap();
    env.orange(["project", "add", mail, "--pool-size", "3"])
        .ok()
        .says("3 workspaces")
        .silent_about("change it with");
    assert_eq!(size(&env, "mail"), 3);
    for wrong in ["0", "-1", "many", "1.5"] {
        env.orange(["config", "set", "--", "workspace.pool_size", wrong])
            .fails_with(2);
    }
}

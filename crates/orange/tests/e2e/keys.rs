//! Keys with a project's own prefix, as they are typed and shown.

use crate::env::TestEnvironment;
use insta::assert_snapshot;

/// `shop` with keys that begin with API, and `web` with TASK; a task in each.
fn two_projects() -> TestEnvironment {
    let env = TestEnvironment::unregistered();
    env.orange(["project", "add", ".", "--prefix", "api"]).ok();
    let web = env.init_repository("web");
    env.call(["project", "add"]).at(&web).run().ok();
    env.create(["Add a login form"]);
    env.create(["Draw the menu", "--project", "web"]);
    env
}

#[test]
fn a_prefix_is_chosen_shown_and_changed() {
    let env = TestEnvironment::unregistered();
    assert_snapshot!(env.orange(["project", "add", ".", "--prefix", "api"]), @"
    registered project shop at [TMP]/shop (default branch main, new keys API-…)
    5 workspaces; change it with `orange project update shop --pool-size N`
    ");
    assert_snapshot!(env.orange(["project", "list"]), @"
    PROJECT  PREFIX  BRANCH  WORKSPACES  PERMISSIONS  PATH
    shop     API     main    5           -            [TMP]/shop
    ");
    let told = env.orange(["project", "list", "--json"]).ok().json();
    assert_eq!(told["projects"][0]["prefix"], "API");
    let task = env.create(["Add a login form"]);
    assert_eq!(task.key, "API-001");
    assert_eq!(task.branch, "orange/API-001-add-a-login-form");
    let told = env.orange(["project", "update", "shop", "--prefix", "task", "--json"]);
    assert_eq!(told.ok().json()["project"]["prefix"], "TASK");
    let file = std::fs::read_to_string(env.home().join("projects.json")).unwrap();
    assert!(!file.contains("prefix"), "as before there were any: {file}");
    assert_eq!(env.create(["Log out"]).key, "TASK-002");
    assert_eq!(env.keys([""; 0]), ["API-001", "TASK-002"]);
}

#[test]
fn what_cannot_be_a_prefix_is_refused() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["project", "update", "shop", "--prefix", "A"]), @r#"
    ------- stderr -------
    error: --prefix: "A" cannot be a prefix of keys: it takes 2 to 10 letters and digits, a letter first, such as API
    hint: for usage, run `orange project update --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["project", "update", "shop", "--prefix", "my-api"]), @r#"
    ------- stderr -------
    error: --prefix: "my-api" cannot be a prefix of keys: it takes 2 to 10 letters and digits, a letter first, such as API
    hint: for usage, run `orange project update --help`
    [exit status: 2]
    "#);
    assert_snapshot!(env.orange(["project", "update", "shop", "--prefix", "init"]), @"
    ------- stderr -------
    error: --prefix: INIT cannot be a prefix of keys: it is reserved for the ids of initiatives
    hint: for usage, run `orange project update --help`
    [exit status: 2]
    ");
    for bad in ["", "2nd", "ÄPI", "DEC", "tc", "RC", "ABCDEFGHIJK"] {
        env.orange(["project", "update", "shop", "--prefix", bad])
            .fails_with(2);
    }
    assert_snapshot!(env.orange(["project", "add", ".", "--prefix", "API"]), @"
    ------- stderr -------
    error: [TMP]/shop is registered already, as shop, and its keys begin with TASK
    hint: change that for new tasks: `orange project update shop --prefix API`
    [exit status: 3]
    ");
    assert_eq!(env.create(["Unchanged"]).key, "TASK-001");
}

#[test]
fn a_prefix_that_another_project_has_is_noted() {
    let env = two_projects();
    let tools = env.init_repository("tools");
    assert_snapshot!(env.call(["project", "add", "--prefix", "API"]).at(&tools).run(), @"
    registered project tools at [TMP]/tools (default branch main, new keys API-…)
    5 workspaces; change it with `orange project update tools --pool-size N`
    ------- stderr -------
    note: the prefix API is also that of shop: outside of a project a key alone is ambiguous, so write tools:API-001
    ");
}

#[test]
fn outside_a_project_a_key_tells_its_project() {
    let env = two_projects();
    let root = env.root();
    let outside = |words: &[&str]| env.call(words).at(&root).run();
    let list = outside(&["ls"]).ok();
    let line = |key: &str| list.stdout.lines().find(|line| line.contains(key));
    assert!(
        line("API-001").unwrap().contains("Add a login form"),
        "{list}"
    );
    assert!(
        line("TASK-001").unwrap().contains("Draw the menu"),
        "{list}"
    );
    let shown = |name: &str| outside(&["task", "show", name, "--json"]).ok().json();
    assert_eq!(shown("api-1")["task"]["project"], "shop");
    assert_eq!(shown("TASK-001")["task"]["project"], "web");
    outside(&["task", "show", "1"])
        .fails_with(4)
        .says("shop:API-001");
    // In a project, the other's key is found, and a slip names the real one.
    let web = env.root().join("web");
    let in_web = |words: &[&str]| env.call(words).at(&web).run();
    let why = in_web(&["task", "why", "API-001", "--json"]).ok().json();
    assert_eq!(why["why"]["task"], "API-001", "{why}");
    assert_snapshot!(in_web(&["task", "why", "WEB-1"]), @r#"
    ------- stderr -------
    error: there is no task "WEB-1"
    hint: did you mean TASK-001? `orange ls --all` shows every task; `orange restore` brings back a deleted one
    [exit status: 4]
    "#);
    // It is found by its key as well.
    let found = outside(&["search", "API-001", "--json"]).ok().json();
    assert_eq!(found["matches"][0]["key"], "API-001", "{found}");
    let listed = outside(&["ls", "--search", "api-001", "--json"])
        .ok()
        .json();
    assert_eq!(listed["tasks"][0]["key"], "API-001");
}

#[test]
fn everything_said_of_a_task_says_its_own_key() {
    let env = two_projects();
    let second = env.create(["Log out", "--blocked-by", "1"]);
    assert_eq!(second.key, "API-002");
    env.orange(["task", "deps", "2", "--tree"])
        .ok()
        .says("API-001");
    env.orange(["task", "deps", "2", "--graph"])
        .ok()
        .says("API-002");
    env.orange(["ls"]).ok().says("API-002");
    env.orange(["task", "cancel", "1", "--yes"])
        .ok()
        .says("API-001");
    env.orange(["task", "delete", "API-001", "--yes"])
        .ok()
        .says("API-001");
    env.orange(["task", "show", "api-1"])
        .fails_with(4)
        .says("API-001 is in the trash")
        .says("orange restore API-001");
    env.orange(["task", "restore", "API-001"]).ok();
    let again = env.create(["--from", "API-001"]);
    assert_eq!(again.key, "API-003");
    assert_eq!(env.show(&again)["related_to"][0], "API-001");
    env.orange(["doctor"]).ok();
}

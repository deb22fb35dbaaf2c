//! Keys with a project's own prefix: which task a key means, in which project, and after the prefix has changed.

use crate::home::TestHome;
use crate::task::TestTask;
use orange_core::task::Field;
use orange_engine::Code;
use orange_engine::verbs::change::Edit;
use serde_json::json;

/// `shop` with keys that begin with API, and `web` with TASK.
fn two_projects() -> TestHome {
    let home = TestHome::new();
    home.set_prefix("shop", "api").ok();
    home.add_project(&home.init_repository("web")).ok();
    home
}

fn create_in(home: &TestHome, project: &str, branch: &str) -> TestTask {
    home.create_with(branch, |new| new.project = project.to_owned())
}

impl TestHome {
    /// The task that a person means who types this there.
    fn finds(&self, text: &str, project: Option<&str>, task: &TestTask) {
        let found = self.find(text, project).value();
        assert_eq!(found, task.place.folder(), "{text} in {project:?}");
    }
}

#[test]
fn a_key_is_found_by_all_that_people_type() {
    let home = two_projects();
    let api = create_in(&home, "shop", "one");
    let task = create_in(&home, "web", "two");
    assert_eq!(
        (api.key.as_str(), task.key.as_str()),
        ("API-001", "TASK-001")
    );
    for text in [
        "1",
        "API-001",
        "api-1",
        "shop:1",
        "shop:API-001",
        "shop:api-1",
    ] {
        home.finds(text, Some("shop"), &api);
    }
    for text in ["1", "TASK-1", "task-001", "web:1", "web:TASK-001"] {
        home.finds(text, Some("web"), &task);
    }
    // A prefix that is not of the project one is in tells the project.
    home.finds("API-001", Some("web"), &api);
    // The usual one does not: most projects have it.
    home.find("task-1", Some("shop")).fails(Code::NotFound);
    home.finds("api-1", None, &api);
    home.find("1", None).fails(Code::Ambiguous);
}

#[test]
fn a_key_of_another_prefix_is_a_miss_that_names_the_real_one() {
    let home = two_projects();
    create_in(&home, "shop", "one");
    home.find("WEB-001", Some("shop"))
        .fails(Code::NotFound)
        .says("did you mean API-001?");
    home.find("shop:TASK-001", Some("web"))
        .fails(Code::NotFound)
        .says("did you mean shop:API-001?");
    home.find("API-002", Some("shop"))
        .fails(Code::NotFound)
        .says("there is no API-002 in project shop")
        .silent_about("did you mean");
    home.find("shop:7", None)
        .fails(Code::NotFound)
        .says("there is no API-007 in project shop");
}

#[test]
fn a_prefix_of_two_projects_is_ambiguous_elsewhere() {
    let home = two_projects();
    let tools = home.init_repository("tools");
    home.add_project(&tools).ok();
    home.set_prefix("tools", "API")
        .says("the prefix API is also that of shop");
    let shop = create_in(&home, "shop", "one");
    let tool = create_in(&home, "tools", "two");
    for project in [None, Some("web")] {
        home.find("API-001", project)
            .fails(Code::Ambiguous)
            .says("shop:API-001")
            .says("tools:API-001");
    }
    home.finds("API-001", Some("shop"), &shop);
    home.finds("API-001", Some("tools"), &tool);
}

#[test]
fn branches_that_look_like_keys_are_found() {
    let home = two_projects();
    let fix = create_in(&home, "web", "fix-1");
    let far = create_in(&home, "shop", "fix-2");
    home.finds("fix-1", Some("web"), &fix);
    home.find("fix-2", Some("web")).fails(Code::NotFound);
    home.find("fix-9", Some("web"))
        .fails(Code::NotFound)
        .says("there is no task \"fix-9\"");
    // One that is a key of another project too is asked about.
    let both = create_in(&home, "web", "api-1");
    home.find("api-1", Some("web"))
        .fails(Code::Ambiguous)
        .says(&format!("web:{}", both.key))
        .says(&format!("shop:{}", far.key));
    home.finds("API-001", Some("web"), &far);
}

#[test]
fn numbers_go_on_when_the_prefix_changes() {
    let home = TestHome::new();
    let first = home.create("one");
    home.set_prefix("shop", "API").ok();
    let second = home.create_with("two", |new| new.blocked_by = vec!["1".to_owned()]);
    home.set_prefix("shop", "task").ok();
    let third = home.create_with("three", |new| new.blocked_by = vec!["api-2".to_owned()]);
    let keys = [&first, &second, &third].map(|task| task.key.as_str());
    assert_eq!(keys, ["TASK-001", "API-002", "TASK-003"]);
    assert_eq!(home.show(&second)["blocked_by"], json!(["TASK-001"]));
    assert_eq!(home.show(&third)["blocked_by"], json!(["API-002"]));
    assert_eq!(home.show(&first)["key"], "TASK-001");
    home.finds("API-002", Some("shop"), &second);
    // API is still a prefix of this project: such a key is no other project's.
    home.add_project(&home.init_repository("web")).ok();
    home.set_prefix("web", "API").ok();
    for branch in ["a", "b", "c"] {
        create_in(&home, "web", branch);
    }
    home.find("API-003", Some("shop"))
        .fails(Code::NotFound)
        .says("did you mean TASK-003?");
    let waits = home.list();
    let waits = waits.iter().find(|row| row["key"] == "TASK-003").unwrap();
    assert_eq!(waits["waits_for"], json!(["API-002 (pending)"]));
    assert!(home.problems().is_empty(), "{:?}", home.problems());
}

#[test]
fn dependencies_across_projects_name_project_and_key() {
    let home = two_projects();
    let api = create_in(&home, "shop", "one");
    let web = create_in(&home, "web", "two");
    home.edit(&web, Edit::AddTo(Field::BlockedBy, "API-001".into()))
        .ok();
    assert_eq!(home.show(&web)["blocked_by"], json!(["shop:API-001"]));
    assert!(
        home.why(&web).contains("shop:API-001"),
        "{}",
        home.why(&web)
    );
    home.edit(&api, Edit::AddTo(Field::BlockedBy, "web:1".into()))
        .fails(Code::Conflict)
        .says("web:TASK-001")
        .says("API-001 cannot wait for web:1: a cycle, API-001 → web:TASK-001 → API-001");
    home.edit(&web, Edit::RemoveFrom(Field::BlockedBy, "TASK-001".into()))
        .fails(Code::NotFound)
        .says("it has: shop:API-001");
    home.edit(&web, Edit::RemoveFrom(Field::BlockedBy, "api-1".into()))
        .ok();
    assert_eq!(home.show(&web)["blocked_by"], json!([]));
}

#[test]
fn a_number_takes_a_blocker_off() {
    let home = two_projects();
    create_in(&home, "shop", "one");
    let second = create_in(&home, "shop", "two");
    home.edit(&second, Edit::AddTo(Field::BlockedBy, "1".into()))
        .ok();
    home.edit(&second, Edit::RemoveFrom(Field::BlockedBy, "1".into()))
        .ok();
    assert_eq!(home.show(&second)["blocked_by"], json!([]));
}

/// The number alone would make it wait for another task than its writer meant.
#[test]
fn a_blocker_written_by_hand_must_be_a_key_that_exists() {
    let home = two_projects();
    create_in(&home, "shop", "one");
    create_in(&home, "web", "two");
    let web = create_in(&home, "web", "three");
    web.set_field("blocked_by", "[API-001]");
    home.look(&web).says("API-001 does not exist");
    assert_eq!(home.show(&web)["blocked_by"], json!([]));
    web.set_field("blocked_by", "['shop:API-001', 'web:1']");
    assert_eq!(
        home.show(&web)["blocked_by"],
        json!(["shop:API-001", "web:1"])
    );
    assert!(home.problems().is_empty(), "{:?}", home.problems());
}

#[test]
fn deleted_tasks_are_found_by_their_keys() {
    let home = two_projects();
    let api = create_in(&home, "shop", "one");
    let web = create_in(&home, "web", "two");
    for task in [&api, &web] {
        home.delete(task).ok();
    }
    home.find("API-001", Some("shop"))
        .fails(Code::NotFound)
        .says("API-001 is in the trash");
    home.restore("WEB-001", Some("shop")).fails(Code::NotFound);
    let back = home.restore("API-001", Some("web")).value();
    assert_eq!(back.label(), "API-001");
    home.finds("1", Some("shop"), &api);
    // Its number is used for ever.
    home.delete(&api).ok();
    home.set_prefix("shop", "NEW").ok();
    assert_eq!(create_in(&home, "shop", "three").key, "NEW-002");
    let back = home.restore("shop:1", None).value();
    assert_eq!(back.label(), "API-001");
}

#[test]
fn branches_and_adopted_tasks_get_the_prefix() {
    let home = two_projects();
    let task = home
        .try_create("x", |new| {
            new.branch = None;
            new.summary = "Add a form".into();
        })
        .value();
    assert_eq!(task.branch, "orange/API-001-add-a-form");
    let folder = home.folder().join("tasks/shop/made-by-hand");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "---\nid: made-by-hand\nstatus: pending\nbranch: old\nsummary: Old\n---\n";
    std::fs::write(folder.join("TASK.md"), text).unwrap();
    let other = create_in(&home, "shop", "next");
    home.edit(&other, Edit::AddTo(Field::BlockedBy, "old".into()))
        .ok();
    let blockers = home.show(&other)["blocked_by"].clone();
    assert_eq!(blockers, json!(["API-003"]), "adopted with the next number");
    home.find("API-003", Some("shop")).ok();
}

#[test]
fn a_key_in_a_file_is_put_back() {
    let home = two_projects();
    let task = create_in(&home, "shop", "one");
    task.set_field("key", "TASK-001");
    assert_eq!(home.show(&task)["key"], "API-001");
    assert!(task.text().contains("key: API-001"), "{}", task.text());
}

//! Rules by which agents are not asked again: who may add and remove them, for whom they count, what the journal says of them.

use crate::home::{TestHome, agent};
use crate::outcome::Outcome;
use crate::task::TestTask;
use orange_core::allow_rule::{AllowRule, PermissionRequest, Scope};
use orange_core::workflow::Role;
use orange_engine::database::{Database, NewRule};
use orange_engine::views::PermissionRow;
use orange_engine::views::permissions::WantedPermissions;
use orange_engine::{Caller, Code};
use std::time::Duration;

fn rule(command: &str) -> AllowRule {
    let request = PermissionRequest::Command {
        command: command.to_owned(),
        folder: String::new(),
    };
    AllowRule::exact("claude", "Bash", &request).unwrap()
}

fn add(home: &TestHome, task: &TestTask, scope: Scope, command: &str) -> Outcome<PermissionRow> {
    home.allow_as(Caller::Human, task, scope, &rule(command))
}

fn allowed(home: &TestHome, task: &TestTask) -> Vec<String> {
    let wanted = WantedPermissions {
        project: Some("shop".to_owned()),
        task: Some(task.id.clone()),
    };
    commands(home.permissions(&wanted))
}

fn all(home: &TestHome) -> Vec<String> {
    commands(home.permissions(&WantedPermissions::default()))
}

fn commands(rows: Vec<PermissionRow>) -> Vec<String> {
    rows.into_iter().map(|row| row.rule.pattern).collect()
}

#[test]
fn a_rule_counts_for_its_task_or_for_all_of_the_project() {
    let home = TestHome::new();
    let (one, other) = (home.create("one"), home.create("other"));
    let own = add(&home, &one, Scope::Task, "npm test").value();
    add(&home, &one, Scope::Project, "make").ok();
    assert_eq!(allowed(&home, &one), ["npm test", "make"]);
    assert_eq!(allowed(&home, &other), ["make"]);
    assert_eq!(all(&home), ["npm test", "make"]);
    assert_eq!((own.scope, own.label), (Scope::Task, Some(one.key.clone())));
    assert_eq!(own.added_by, "tester");
    assert_eq!(home.show(&one)["permission_rules"], 2);
    assert_eq!(home.show(&other)["permission_rules"], 1);
}

#[test]
fn what_is_added_and_removed_is_journalled() {
    let home = TestHome::new();
    let task = home.create("one");
    let number = add(&home, &task, Scope::Task, "npm test").value().number;
    let added = task.last("permission.added");
    assert_eq!(added["rule"], number);
    assert_eq!(
        (&added["scope"], &added["by"]),
        (&"task".into(), &"human".into())
    );
    assert_eq!(added["reason"], "Bash: npm test");
    let project = add(&home, &task, Scope::Project, "make").value().number;
    assert_eq!(task.last("permission.added")["scope"], "project");
    home.disallow_as(Caller::Human, &[number, project]).ok();
    assert_eq!(task.last("permission.removed")["rule"], number);
    assert_eq!(all(&home), [""; 0]);
    // Once each, whoever looks at the task later.
    home.show(&task);
    home.start(&task);
    let events = task.events();
    let count = |kind: &str| events.iter().filter(|event| *event == kind).count();
    assert_eq!(
        (count("permission.added"), count("permission.removed")),
        (2, 1)
    );
    assert_eq!(home.problems(), [""; 0]);
}

#[test]
fn the_same_rule_is_there_once() {
    let home = TestHome::new();
    let task = home.create("one");
    let first = add(&home, &task, Scope::Task, "npm test").value();
    let again = add(&home, &task, Scope::Task, "npm test").value();
    assert_eq!(first.number, again.number);
    let wider = add(&home, &task, Scope::Project, "npm test").value();
    assert_ne!(first.number, wider.number);
    let covered = add(&home, &home.create("two"), Scope::Task, "npm test").value();
    assert_eq!(covered.number, wider.number);
}

#[test]
fn an_agent_neither_adds_nor_removes_a_rule() {
    let home = TestHome::new();
    let task = home.create("one");
    let number = add(&home, &task, Scope::Task, "npm test").value().number;
    for role in Role::ALL {
        let caller = || agent(&task, *role);
        for scope in [Scope::Task, Scope::Project] {
            home.allow_as(caller(), &task, scope, &rule("rm -r /"))
                .fails(Code::NotAllowed);
        }
        home.disallow_as(caller(), &[number])
            .fails(Code::NotAllowed);
    }
    assert_eq!(all(&home), ["npm test"]);
}

#[test]
fn rules_of_a_task_end_with_it() {
    let home = TestHome::new();
    let (task, _) = home.started("one");
    add(&home, &task, Scope::Task, "npm test").ok();
    add(&home, &task, Scope::Project, "make").ok();
    home.cancel(&task).ok();
    assert_eq!(all(&home), ["make"]);
    assert!(home.show(&task)["permission_rules"].is_null());
    add(&home, &task, Scope::Task, "ls").fails(Code::ConditionUnmet);
}

#[test]
fn rules_go_with_their_task_from_the_trash() {
    let home = TestHome::new();
    let task = home.create("one");
    let number = add(&home, &task, Scope::Task, "npm test").value().number;
    home.delete(&task).ok();
    assert_eq!(all(&home), [""; 0]);
    home.restore(&task.id, None).ok();
    assert_eq!(all(&home), ["npm test"]);
    home.delete(&task).ok();
    let stored = || {
        let database = Database::open(&home.folder()).unwrap();
        database.rule(number).unwrap()
    };
    assert!(stored().is_some());
    home.pass(Duration::from_secs(400 * 24 * 60 * 60));
    home.expire_trash(&task);
    assert_eq!(stored(), None);
}

#[test]
fn rules_of_a_project_go_with_its_repository() {
    let home = TestHome::new();
    let task = home.create("one");
    add(&home, &task, Scope::Task, "npm test").ok();
    add(&home, &task, Scope::Project, "make").ok();
    home.remove_project("shop").ok();
    home.add_project(&home.shop()).ok();
    assert_eq!(all(&home), ["npm test"]);
}

#[test]
fn a_number_that_is_none_removes_nothing() {
    let home = TestHome::new();
    let task = home.create("one");
    let number = add(&home, &task, Scope::Task, "npm test").value().number;
    home.disallow_as(Caller::Human, &[number, 99])
        .fails(Code::NotFound)
        .says("there is no rule 99");
    assert_eq!(all(&home), ["npm test"]);
}

/// A process that died after the row and before the event, or after the event and before the mark.
#[test]
fn what_a_killed_process_left_is_journalled_once() {
    let home = TestHome::new();
    let task = home.create("one");
    let left = rule("npm test");
    let mut database = Database::open(&home.folder()).unwrap();
    let new = NewRule {
        project: "shop",
        task: Some(&task.id),
        rule: &left,
        added_by: "tester",
        added_at: "2026-01-02T03:04:05Z".parse().unwrap(),
    };
    let number = database.add_rule(&new).unwrap();
    home.start(&task);
    let added = || {
        task.history()
            .into_iter()
            .filter(|event| event["type"] == "permission.added")
            .count()
    };
    assert_eq!(added(), 1);
    assert_eq!(
        task.last("permission.added")["timestamp"],
        "2026-01-02T03:04:05Z"
    );
    assert_eq!(database.unjournalled_rules(&task.id).unwrap(), []);
    // Its removal: marked, not journalled.
    assert!(
        database
            .end_rule(number, "2026-01-02T03:04:06Z".parse().unwrap())
            .unwrap()
    );
    task.append("## Plan\n\nAPPROACH: straight ahead\n");
    home.move_to(&task, "working").ok();
    assert_eq!(
        (added(), &task.last("permission.removed")["rule"]),
        (1, &number.into())
    );
    assert_eq!(database.unjournalled_rules(&task.id).unwrap(), []);
}

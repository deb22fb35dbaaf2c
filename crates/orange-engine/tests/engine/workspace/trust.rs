//! Consent as the pool asks for it: what is refused, with which words, and what ends the refusal.

use crate::workspace::world::World;
use orange_core::{Action, text};
use orange_engine::projects::Project;
use orange_engine::verbs::project::{self, AddProject};
use orange_engine::verbs::trust;
use orange_engine::workspaces::consents;
use orange_engine::{Call, Code, Settings};

fn call(world: &World) -> (Call, Project) {
    let call = Call::new(Settings::at(world.root().join("home")));
    let added = project::add_project(
        &call,
        &AddProject {
            path: world.repository(),
            ..AddProject::default()
        },
    );
    (call, added.unwrap().project)
}

#[test]
fn foreign_commands_are_refused_until_agreed_to() {
    let world = World::new();
    world.write(
        ".orange/config.yaml",
        "workspace:\n  setup: [one, \"two\\nlines\", three, four]\n  teardown: five\n",
    );
    let commit = world.commit();
    let (call, project) = call(&world);
    let rules = consents::repository_rules(&call, &project, &commit).unwrap();
    let refusal = consents::untrusted(&call, &project, &rules)
        .unwrap()
        .unwrap();
    assert_eq!(refusal.code, Code::ConditionUnmet);
    assert_eq!(
        refusal.message,
        "project shop comes with commands that you have not agreed to: `one`, `two⏎lines`, `three`, 2 more commands"
    );
    assert_eq!(
        refusal.hint.unwrap(),
        text!("look at them and agree: {}", Action::trust("shop", None))
    );
    let offer = consents::offer(&call, "shop", None).unwrap();
    assert!(!offer.trusted);
    assert!(trust::trust(&call, &offer).unwrap());
    assert!(!trust::trust(&call, &offer).unwrap());
    assert!(
        consents::untrusted(&call, &project, &rules)
            .unwrap()
            .is_none()
    );
    assert_eq!(trust::revoke_trust(&call, "shop").unwrap(), 1);
    assert!(
        consents::untrusted(&call, &project, &rules)
            .unwrap()
            .is_some()
    );
}

#[test]
fn the_hint_names_the_commit_when_the_newest_says_something_else() {
    let world = World::new();
    world.write(".orange/config.yaml", "workspace:\n  setup: old\n");
    let old = world.commit();
    world.write(".orange/config.yaml", "workspace:\n  setup: new\n");
    world.commit();
    let (call, project) = call(&world);
    let newest = consents::offer(&call, "shop", None).unwrap();
    trust::trust(&call, &newest).unwrap();
    let rules = consents::repository_rules(&call, &project, &old).unwrap();
    let refusal = consents::untrusted(&call, &project, &rules)
        .unwrap()
        .unwrap();
    let short = old.get(..7).unwrap();
    let hint = refusal.hint.unwrap();
    let wanted = Action::trust("shop", short.to_owned());
    assert!(hint.actions().any(|action| *action == wanted), "{hint:?}");
    let offer = consents::offer(&call, "shop", Some(short)).unwrap();
    trust::trust(&call, &offer).unwrap();
    assert!(
        consents::untrusted(&call, &project, &rules)
            .unwrap()
            .is_none()
    );
}

#[test]
fn the_user_s_own_commands_need_no_consent() {
    let world = World::new();
    let home = world.root().join("home");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(
        home.join("config.yaml"),
        "workspace:\n  setup: mine\n  copy: [.env]\n",
    )
    .unwrap();
    let (call, project) = call(&world);
    let commit = world.git(&["rev-parse", "HEAD"]);
    let rules = consents::repository_rules(&call, &project, &commit).unwrap();
    assert_eq!(
        (rules.setup.as_slice(), rules.copy.as_slice()),
        (&["mine".to_owned()][..], &[".env".to_owned()][..])
    );
    assert!(
        consents::untrusted(&call, &project, &rules)
            .unwrap()
            .is_none()
    );
}

#[test]
fn consent_of_one_project_is_none_of_another() {
    let world = World::new();
    world.write(".orange/config.yaml", "workspace:\n  setup: make\n");
    let commit = world.commit();
    let (call, project) = call(&world);
    let offer = consents::offer(&call, "shop", None).unwrap();
    trust::trust(&call, &offer).unwrap();
    let rules = consents::repository_rules(&call, &project, &commit).unwrap();
    assert!(consents::is_trusted(&call, "shop", &rules.foreign).unwrap());
    assert!(!consents::is_trusted(&call, "other", &rules.foreign).unwrap());
    // A project that is gone cannot be agreed to.
    project::remove_project(&call, "shop", false).unwrap();
    assert_eq!(
        trust::trust(&call, &offer).unwrap_err().code,
        Code::NotFound
    );
    assert!(!consents::is_trusted(&call, "shop", &rules.foreign).unwrap());
}

#[test]
fn commands_of_phases_are_agreed_to_apart_from_workspaces_and_checks() {
    let world = World::new();
    world.write(
        ".orange/config.yaml",
        "verify: {lint: make lint, coverage: make cover}\nweights:\n  plans:\n    small:\n      - name: implement\n        \
         completion_criteria: [{command: make hack}]\n        mcp_servers:\n          odd: {command: npx, args: [odd]}\n",
    );
    let commit = world.commit();
    let home = world.root().join("home");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.yaml"), "verify: {lint: mine}\n").unwrap();
    let (call, project) = call(&world);
    let rules = consents::repository_rules(&call, &project, &commit).unwrap();
    assert_eq!(rules.lint, ["make lint", "mine"]);
    assert_eq!(rules.foreign.coverage, ["make cover"]);
    assert_eq!(
        rules.foreign.plans,
        ["make hack", "mcp server odd: \"npx\" \"odd\""]
    );
    // No workspace and no check waits for them.
    let refusal = consents::untrusted(&call, &project, &rules).unwrap();
    assert!(refusal.is_none());
    assert!(!consents::is_trusted(&call, "shop", &rules.foreign).unwrap());
    assert_eq!(rules.clone().without_foreign().lint, ["mine"]);
    let offer = consents::offer(&call, "shop", None).unwrap();
    trust::trust(&call, &offer).unwrap();
    assert!(consents::is_trusted(&call, "shop", &rules.foreign).unwrap());
    // Three parts: one that changes leaves the others agreed to.
    world.write(
        ".orange/config.yaml",
        "verify: {lint: make other, coverage: make cover}\n",
    );
    let commit = world.commit();
    let rules = consents::repository_rules(&call, &project, &commit).unwrap();
    assert!(!consents::is_trusted(&call, "shop", &rules.foreign).unwrap());
    let mut coverage = rules.foreign;
    coverage.lint.clear();
    assert!(consents::is_trusted(&call, "shop", &coverage).unwrap());
}

//! Consent as the pool asks for it: what is refused, with which words, and what ends the refusal.

use crate::world::World;
use orange_core::{Action, text};
use orange_engine::engine::AddProject;
use orange_engine::projects::Project;
use orange_engine::{Code, Engine, Settings};

fn engine(world: &World) -> (Engine, Project) {
    let engine = Engine::new(Settings::at(world.root().join("home")));
    let added = engine.add_project(&AddProject {
        path: world.repository(),
        ..AddProject::default()
    });
    (engine, added.unwrap().project)
}

#[test]
fn foreign_commands_are_refused_until_agreed_to() {
    let world = World::new();
    world.write(
        ".orange/config.yaml",
        "workspace:\n  setup: [one, \"two\\nlines\", three, four]\n  teardown: five\n",
    );
    let commit = world.commit();
    let (engine, project) = engine(&world);
    let rules = engine.repository_rules(&project, &commit).unwrap();
    let refusal = engine.untrusted(&project, &rules).unwrap().unwrap();
    assert_eq!(refusal.code, Code::ConditionUnmet);
    assert_eq!(
        refusal.message,
        "project shop comes with commands that you have not agreed to: `one`, `two⏎lines`, `three`, 2 more commands"
    );
    assert_eq!(
        refusal.hint.unwrap(),
        text!("look at them and agree: {}", Action::trust("shop", None))
    );
    let offer = engine.offer("shop", None).unwrap();
    assert!(!offer.trusted);
    assert!(engine.trust(&offer).unwrap());
    assert!(!engine.trust(&offer).unwrap());
    assert!(engine.untrusted(&project, &rules).unwrap().is_none());
    assert_eq!(engine.revoke_trust("shop").unwrap(), 1);
    assert!(engine.untrusted(&project, &rules).unwrap().is_some());
}

#[test]
fn the_hint_names_the_commit_when_the_newest_says_something_else() {
    let world = World::new();
    world.write(".orange/config.yaml", "workspace:\n  setup: old\n");
    let old = world.commit();
    world.write(".orange/config.yaml", "workspace:\n  setup: new\n");
    world.commit();
    let (engine, project) = engine(&world);
    let newest = engine.offer("shop", None).unwrap();
    engine.trust(&newest).unwrap();
    let rules = engine.repository_rules(&project, &old).unwrap();
    let refusal = engine.untrusted(&project, &rules).unwrap().unwrap();
    let short = old.get(..7).unwrap();
    let hint = refusal.hint.unwrap();
    let wanted = Action::trust("shop", short.to_owned());
    assert!(hint.actions().any(|action| *action == wanted), "{hint:?}");
    let offer = engine.offer("shop", Some(short)).unwrap();
    engine.trust(&offer).unwrap();
    assert!(engine.untrusted(&project, &rules).unwrap().is_none());
}

#[test]
fn the_user_s_own_commands_need_no_consent() {
    let world = World::new();
    let (engine, project) = engine(&world);
    let home = world.root().join("home");
    std::fs::write(
        home.join("config.yaml"),
        "workspace:\n  setup: mine\n  copy: [.env]\n",
    )
    .unwrap();
    let commit = world.git(&["rev-parse", "HEAD"]);
    let rules = engine.repository_rules(&project, &commit).unwrap();
    assert_eq!(
        (rules.setup.as_slice(), rules.copy.as_slice()),
        (&["mine".to_owned()][..], &[".env".to_owned()][..])
    );
    assert!(engine.untrusted(&project, &rules).unwrap().is_none());
}

#[test]
fn consent_of_one_project_is_none_of_another() {
    let world = World::new();
    world.write(".orange/config.yaml", "workspace:\n  setup: make\n");
    let commit = world.commit();
    let (engine, project) = engine(&world);
    let offer = engine.offer("shop", None).unwrap();
    engine.trust(&offer).unwrap();
    let rules = engine.repository_rules(&project, &commit).unwrap();
    assert!(engine.is_trusted("shop", &rules.foreign).unwrap());
    assert!(!engine.is_trusted("other", &rules.foreign).unwrap());
    // A project that is gone cannot be agreed to.
    engine.remove_project("shop", false).unwrap();
    assert_eq!(engine.trust(&offer).unwrap_err().code, Code::NotFound);
    assert!(!engine.is_trusted("shop", &rules.foreign).unwrap());
}

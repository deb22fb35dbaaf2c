//! The settings of the dashboard: its keys, its mouse.

use crate::env::TestEnvironment;
use std::fs;

#[test]
fn a_key_is_set_shown_and_taken_out() {
    let env = TestEnvironment::new();
    let file = env.home().join("config.yaml");
    let before = fs::read_to_string(&file).unwrap_or_default();
    env.orange(["config", "set", "dashboard.keys.merge", "M"])
        .ok()
        .says("dashboard.keys.merge: not set → M");
    env.orange(["config", "set", "dashboard.keys.next", "space"])
        .ok()
        .says("space is the key of mark too, so n stays");
    env.orange(["config", "set", "dashboard.keys.next", "b"])
        .ok();
    env.orange(["config", "set", "dashboard.mouse", "false"])
        .ok();
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.ends_with("dashboard:\n  keys:\n    merge: M\n    next: b\n  mouse: false\n"),
        "{text}"
    );
    let shown = env.orange(["config", "show"]).ok();
    shown
        .says("dashboard.keys.merge")
        .says("dashboard.keys.next");
    env.orange(["config", "get", "dashboard.keys.merge"])
        .ok()
        .says("M");
    for key in ["merge", "next"] {
        let key = format!("dashboard.keys.{key}");
        env.orange(["config", "unset", &key]).ok();
    }
    env.orange(["config", "unset", "dashboard.mouse"]).ok();
    assert_eq!(fs::read_to_string(&file).unwrap_or_default(), before);
}

#[test]
fn a_clash_is_marked_and_does_not_count_and_stops_nothing() {
    let env = TestEnvironment::new();
    let file = "dashboard:\n  keys:\n    merge: x\n    delete: D1\n    nothing: z\n    enter: z\n";
    let path = env.home().join("config.yaml");
    let before = fs::read_to_string(&path).unwrap_or_default();
    let without_bad = file.replace("    delete: D1\n", "");
    fs::write(&path, format!("{before}{without_bad}")).unwrap();
    env.orange(["config", "show"])
        .fails_with(1)
        .says("✗ x")
        .says("dashboard.keys.merge: x is the key of cancel too, so m stays")
        .says("the dashboard has no action \"nothing\" whose key can be chosen")
        .says("the dashboard has no action \"enter\" whose key can be chosen");
    env.create(["Add a login form"]);
    fs::write(&path, format!("{before}{file}")).unwrap();
    env.orange(["config", "show"])
        .fails_with(1)
        .says("dashboard.keys.delete must be one visible character, or space; not a digit");
}

#[test]
fn a_repository_has_no_say_in_keys() {
    let env = TestEnvironment::new();
    let text = "dashboard:\n  mouse: false\n  keys:\n    merge: M\n";
    fs::create_dir(env.shop().join(".orange")).unwrap();
    env.commit(&env.shop(), ".orange/config.yaml", text);
    env.orange(["config", "show", "--project", "shop"])
        .ok()
        .says("dashboard.mouse does not count here: it is about your own screen and keyboard")
        .says("dashboard.keys.merge does not count here");
}

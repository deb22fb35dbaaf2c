//! A text that could not be merged into TASK.md: kept beside it and told everywhere, until a person removed it.

use crate::env::TestEnvironment;
use std::fs;

#[test]
fn needs_attention_until_its_file_is_gone() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    // An editor that replaces the link by a file, while somebody else changes the task's own file.
    let text = task.text();
    task.append("## Plan\n\nAPPROACH: written meanwhile\n");
    fs::remove_file(slot.join("TASK.md")).unwrap();
    fs::write(slot.join("TASK.md"), format!("{text}\n## Notes\n\nmine\n")).unwrap();
    env.update(&task, &["--priority", "high"]).ok();
    let [kept] = &task.files_like("TASK.md.conflict")[..] else {
        panic!("{:?}", task.files_like("TASK.md"));
    };
    let name = kept.file_name().unwrap().to_str().unwrap().to_owned();
    let shown = env.show(&task);
    assert_eq!(shown["unmerged"][0], kept.to_str().unwrap());
    let why = env.orange(["task", "why", &task.id, "--json"]).ok().json();
    assert_eq!(why["why"]["needs_human"], true);
    let says = |value: &serde_json::Value| value.as_str().unwrap().contains(&name);
    assert!(says(&why["why"]["because"]), "{why}");
    let listed = env.list([""; 0]);
    assert!(says(&listed[0]["attention"]), "{listed:?}");
    env.orange(["doctor"]).says(&name);
    env.orange(["log", "--level", "warn"]).ok().says(&name);

    fs::remove_file(kept).unwrap();
    let shown = env.show(&task);
    assert_eq!(shown["unmerged"], serde_json::json!([]));
    assert_eq!(shown["attention"], serde_json::Value::Null);
    let listed = env.list([""; 0]);
    assert_eq!(listed[0]["attention"], serde_json::Value::Null);
}

//! Content that git is told to show in another way than it is: replaced objects and grafts. What is shown and checked is
//! what is merged.

use crate::agents::Agents;
use crate::env::TestEnvironment;
use crate::merges::Merges;
use crate::verify::with_check;
use std::fs;

/// The worker commits what is bad and makes git show what is good.
const DECEIT: &str = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: price
    text: bad
  - commit: work
  - run: git replace $(git rev-parse HEAD:price) $(printf good | git hash-object -w --stdin)
  - run: git show HEAD:price > ROOT/worker
  - handoff: 'DONE: all'
  - complete
  - wait for: {file: never}
reviewer:
  - run: git show HEAD:price > ROOT/reviewer
  - review: PASS
  - status: reviewing
  - wait for: {file: never}
";

fn read(env: &Agents, name: &str) -> String {
    fs::read_to_string(env.root().join(name)).unwrap_or_default()
}

#[test]
fn what_is_replaced_is_shown_checked_and_merged_as_it_is() {
    let check = "cat price > ROOT/checked; git show HEAD:price >> ROOT/checked\n";
    let env = with_check(check);
    let task = env.start("Deceive", DECEIT);
    env.until_event(&task, "task.verified");
    env.until_status(&task, "reviewing");
    let shop = env.shop();
    // Somebody who asks git without care is deceived.
    assert_eq!(env.git(&shop, &["show", "deceive:price"]), "good");
    let diff = env.say(&["task", "diff", &task.id]).ok();
    assert!(diff.stdout.contains("+bad"), "{diff}");
    assert!(!diff.stdout.contains("good"), "{diff}");
    let shown = env.say(&["task", "exec", &task.id, "--", "git", "show", "HEAD:price"]);
    assert_eq!(shown.ok().stdout.trim(), "bad");
    assert_eq!(read(&env, "checked").replace('\n', ""), "badbad");
    assert_eq!(read(&env, "worker").trim(), "bad");
    assert_eq!(read(&env, "reviewer").trim(), "bad");
    env.say(&["task", "merge", &task.id]).ok();
    let merged = fs::read_to_string(shop.join("price")).unwrap();
    assert_eq!(merged.trim(), "bad");
    let replaced = env.git(&shop, &["replace", "--list"]);
    env.git(&shop, &["replace", "-d", &replaced]);
    assert_eq!(env.git(&shop, &["show", "main:price"]), "bad");
}

#[test]
fn doctor_names_what_is_replaced_and_grafted() {
    let env = TestEnvironment::new();
    env.orange(["doctor"]).ok();
    let shop = env.shop();
    env.commit(&shop, "price", "bad");
    env.commit(&shop, "other", "good");
    let (bad, good) = (
        env.git(&shop, &["rev-parse", "HEAD:price"]),
        env.git(&shop, &["rev-parse", "HEAD:other"]),
    );
    env.git(&shop, &["replace", &bad, &good]);
    let head = env.git(&shop, &["rev-parse", "HEAD"]);
    fs::write(shop.join(".git/info/grafts"), format!("{head}\n")).unwrap();
    for repair in [&["doctor"][..], &["doctor", "--repair"]] {
        env.orange(repair.iter().copied())
            .fails_with(1)
            .says("refs/replace")
            .says(&format!("replace -d {bad}"))
            .says("info/grafts");
    }
    // They may be the user's own.
    assert_eq!(env.git(&shop, &["replace", "--list"]), bad);
    assert!(shop.join(".git/info/grafts").exists());
    env.git(&shop, &["replace", "-d", &bad]);
    fs::remove_file(shop.join(".git/info/grafts")).unwrap();
    env.orange(["doctor"]).ok();
}

/// A history that is cut short does not change how many commits a task has.
#[test]
fn a_graft_does_not_hide_commits() {
    let env = Merges::new();
    let (task, slot) = env.started("work");
    for name in ["one", "two", "three"] {
        env.commit(&slot, name, "x");
    }
    let head = env.git(&slot, &["rev-parse", "HEAD"]);
    let base = env.git(&slot, &["rev-parse", "main"]);
    let grafts = env.shop().join(".git/info/grafts");
    fs::write(grafts, format!("{head} {base}\n")).unwrap();
    let shown = env.orange(["task", "diff", &task.id, "--json"]).ok().json();
    assert_eq!(shown["diff"]["commits"], 3, "{shown}");
}

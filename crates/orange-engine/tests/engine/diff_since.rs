//! Parts of a task's changes: since a person looked, since the last turn of its agent began.

use crate::home::{TestHome, agent};
use crate::task::TestTask;
use orange_core::workflow::Role;
use orange_engine::store::seen::Seen;
use orange_engine::views::{Comparison, DiffOf};
use orange_engine::{Caller, Code};
use std::fmt::Write;
use std::fs;

fn notes(comparison: &Comparison) -> String {
    comparison.notes.join("\n")
}

#[test]
fn what_came_since_a_person_looked() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    home.commit(&slot, "a", "1\n");
    let second = home.commit(&slot, "b", "2\n");
    let since = || home.compare(&task, DiffOf::SinceSeen).value();
    let all = since();
    assert_eq!(all.commits, Some(2));
    assert!(notes(&all).contains("have not looked"), "{all:?}");
    // An agent's look is nobody's, and no part that leaves something out counts as all.
    home.note_look(agent(&task, Role::Worker), &task, DiffOf::Work);
    home.note_look(Caller::Human, &task, DiffOf::Uncommitted);
    assert_eq!(since(), all);
    home.note_look(Caller::Human, &task, DiffOf::Work);
    assert!(
        since()
            .nothing
            .is_some_and(|why| format!("{why:?}").contains("nothing came"))
    );
    let third = home.commit(&slot, "c", "3\n");
    let one = since();
    assert_eq!((one.base, one.head), (Some(second), Some(third.clone())));
    assert_eq!((one.commits, one.notes.len()), (Some(1), 0));
    // It is shown again until somebody has seen it, and what came since counts as seen with it.
    home.note_look(Caller::Human, &task, DiffOf::SinceSeen);
    assert!(since().nothing.is_some());
    // Amended: the commit that was seen is still there, then it is not.
    home.git(&slot, &["commit", "-q", "--amend", "-m", "again"]);
    home.commit(&slot, "d", "4\n");
    let amended = since();
    assert_eq!(amended.base, Some(third));
    assert!(
        notes(&amended).contains("rebased or amended"),
        "{amended:?}"
    );
    home.git(&slot, &["reflog", "expire", "--expire=now", "--all"]);
    home.git(&home.shop(), &["prune", "--expire=now"]);
    let gone = since();
    assert_eq!((gone.against.as_str(), gone.commits), ("main", Some(4)));
    assert!(notes(&gone).contains("not in"), "{gone:?}");
    // It goes with the task, is no event of it, and is in nobody's way.
    home.note_look(Caller::Human, &task, DiffOf::Work);
    home.cancel(&task).ok();
    let before = task.history().len();
    home.delete(&task).ok();
    home.restore(&task.key, Some("shop")).ok();
    assert!(since().nothing.is_some());
    assert_eq!(task.history().len(), before + 2);
    assert_eq!(home.problems(), Vec::<String>::new());
    // Somebody removed it.
    fs::remove_file(task.folder.join("seen.json")).unwrap();
    assert!(notes(&since()).contains("have not looked"));
}

#[test]
fn a_viewed_file_is_one_with_that_content() {
    let home = TestHome::new();
    let (task, _) = home.started("login");
    home.mark_viewed(&task, "a\nb", Some("1"));
    let seen = || Seen::read(&task.place);
    assert!(seen().has_viewed("a\nb", "1") && !seen().has_viewed("a\nb", "2"));
    home.mark_viewed(&task, "a\nb", None);
    assert_eq!(seen(), Seen::default());
}

/// Moves of the branch get these times in git's log of it, from the oldest on.
fn date_moves(home: &TestHome, branch: &str, seconds: &[i64]) {
    let path = home.shop().join(".git/logs/refs/heads").join(branch);
    let log = fs::read_to_string(&path).unwrap();
    let mut dated = String::new();
    for (line, second) in log.lines().zip(seconds) {
        let (who, what) = line.split_once("> ").unwrap();
        let (_, message) = what.split_once(" +0000").unwrap();
        writeln!(dated, "{who}> {second} +0000{message}").unwrap();
    }
    assert_eq!(log.lines().count(), seconds.len(), "{log}");
    fs::write(path, dated).unwrap();
}

fn journal(task: &TestTask, second: i64, event: &str) {
    let time = orange_core::Timestamp::from_second(second).unwrap();
    let text = fs::read_to_string(task.journal()).unwrap();
    let event = format!(r#"{{"timestamp":"{time}",{event}}}"#);
    fs::write(task.journal(), format!("{text}{event}\n")).unwrap();
}

#[test]
fn what_came_since_the_last_turn_began() {
    const LATER: i64 = 4_000_000_000;
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    let turn = || home.compare(&task, DiffOf::LastTurn);
    turn().fails(Code::ConditionUnmet).says("has had no agent");
    let first = home.commit(&slot, "a", "1\n");
    home.commit(&slot, "b", "2\n");
    // It began before the branch was made.
    journal(
        &task,
        5,
        r#""type":"agent.spawned","run":"w","role":"worker","by":"engine""#,
    );
    date_moves(&home, "login", &[LATER, LATER + 10, LATER + 20]);
    assert_eq!(turn().value().commits, Some(2));
    let message = r#""type":"message","message":"m","role":"worker","content":"more","by":"human""#;
    journal(&task, LATER + 11, message);
    let taken = r#""type":"message.delivered","message":"m","role":"worker","by":"engine""#;
    journal(&task, LATER + 30, taken);
    let last = turn().value();
    assert_eq!((last.base.as_ref(), last.commits), (Some(&first), Some(1)));
    assert!(!last.is_rest);
    // A reviewer's turns are not the work's.
    let reviewer = r#""type":"agent.spawned","run":"r","role":"reviewer","by":"engine""#;
    journal(&task, LATER + 40, reviewer);
    assert_eq!(turn().value(), last);
    let head = last.head.unwrap();
    journal(
        &task,
        LATER + 50,
        r#""type":"agent.spawned","run":"w2","role":"worker","by":"engine""#,
    );
    assert!(
        turn()
            .value()
            .nothing
            .is_some_and(|why| format!("{why:?}").contains(&head[..7]))
    );
    // Without git's log of the branch nobody knows where it was.
    fs::remove_file(home.shop().join(".git/logs/refs/heads/login")).unwrap();
    let all = turn().value();
    assert_eq!(all.commits, Some(2));
    assert!(
        notes(&all).contains("git does not know any more"),
        "{all:?}"
    );
}

//! What is done with several tasks at once, and what stays marked.

use super::*;

fn many(verb: &[Effect]) -> Vec<(&str, &Verb)> {
    match verb {
        [
            Effect::Run {
                verb: Verb::Each(verbs),
                ..
            },
        ] => verbs
            .iter()
            .map(|(folder, verb)| (folder.as_str(), verb))
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn marked_tasks_are_cancelled_after_one_question_and_the_refused_stay_marked() {
    let mut rows = shop();
    rows.push(row(5, "done", "Ship it"));
    let mut app = app((80, 24), false, rows);
    // The cursor goes on, and a second press takes a mark away.
    press(&mut app, "     ");
    press(&mut app, "gj ");
    let told = shown(&app);
    assert!(told.contains("4 marked"), "{told}");
    assert!(told.contains(" ★ ○*   TASK-001"), "{told}");
    assert!(!told.contains("*   TASK-003"), "{told}");
    assert!(press(&mut app, "x").is_empty());
    let asked = shown(&app);
    assert!(asked.contains("cancel 3 tasks?"), "{asked}");
    assert!(asked.contains("left out: TASK-005 is done"), "{asked}");
    let effects = press(&mut app, "y");
    let folders: Vec<&str> = many(&effects).iter().map(|(folder, _)| *folder).collect();
    assert_eq!(folders, ["shop/1", "shop/2", "shop/4"]);
    // Nothing else is done with them meanwhile.
    assert_eq!(app.busy.len(), 4);
    let outcome = VerbOutcome::Many {
        text: "2 cancelled, 1 refused: no".into(),
        done: vec!["shop/1".to_owned(), "shop/2".to_owned()],
        is_whole: false,
    };
    app.update(
        Input::Done {
            folder: MARKED.to_owned(),
            what: "cancel",
            outcome: Box::new(outcome),
        },
        Instant::now(),
    );
    assert!(app.busy.is_empty());
    assert_eq!(app.marked_count(), 2);
    assert!(app.message.as_ref().unwrap().is_error);
}

#[test]
fn changes_are_requested_of_all_that_are_marked_with_the_same_words() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "  r");
    assert!(shown(&app).contains("what should change in 2 tasks"));
    let effects = press(&mut app, "larger\n");
    let verbs = many(&effects);
    assert_eq!(verbs.len(), 2);
    for (_, verb) in verbs {
        assert!(matches!(verb, Verb::RequestChanges(words) if words == "larger"));
    }
}

#[test]
fn only_merges_without_a_concern_are_offered_together() {
    let mut app = app((80, 24), false, shop());
    let effects = press(&mut app, "  m");
    assert!(matches!(
        &effects[..],
        [Effect::Run { verb: Verb::PlanMerges(folders), .. }] if folders.len() == 2
    ));
    let plan = |number: u32| crate::verbs::Planned {
        folder: format!("shop/{number}"),
        plan: match number {
            1 => Ok(orange_engine::verbs::merge::MergePlan {
                push: false,
                task: Task {
                    id: "first".to_owned(),
                    ..Task::default()
                },
                target: "main".to_owned(),
                strategy: orange_core::merge::Strategy::Squash,
                head: Some("33da805aa".to_owned()),
                concerns: Vec::new(),
            }),
            _ => Err("cannot merge TASK-003: it has not been reviewed".to_owned()),
        },
    };
    let planned = |numbers: &[u32]| Input::Done {
        folder: MARKED.to_owned(),
        what: "merge",
        outcome: Box::new(VerbOutcome::Plans(
            numbers.iter().map(|n| plan(*n)).collect(),
        )),
    };
    app.update(planned(&[3]), Instant::now());
    assert!(app.overlay.is_none() && app.message.as_ref().unwrap().is_error);
    app.update(planned(&[1, 3]), Instant::now());
    let asked = shown(&app);
    assert!(asked.contains("merge 1 task?"), "{asked}");
    assert!(asked.contains("left out: cannot merge TASK-003"), "{asked}");
    let effects = press(&mut app, "y");
    assert!(matches!(
        many(&effects)[..],
        [("shop/1", Verb::Merge(wish))] if wish.expected.as_deref() == Some("33da805aa")
    ));
}

#[test]
fn an_answer_is_for_one_task_and_escape_clears_in_turn() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, " g");
    asking(&mut app, "q1", "Bash: ls");
    let effects = press(&mut app, "a");
    assert!(matches!(
        &effects[..],
        [Effect::Run { folder, verb: Verb::Allow(_) }] if folder == "shop/1"
    ));
    app.busy.clear();
    press(&mut app, "fn/login\n");
    assert!(app.narrowed.needs_me && app.narrowed.words == "login");
    press(&mut app, "\u{1b}");
    assert!(app.narrowed.needs_me && app.narrowed.words.is_empty());
    press(&mut app, "\u{1b}");
    assert!(!app.narrowed.needs_me && app.marked_count() == 1);
    press(&mut app, "\u{1b}");
    assert_eq!(app.marked_count(), 0);
    // In a task the mark of a list means nothing.
    press(&mut app, " v");
    assert!(!app.acts_on_marks());
}

//! What the dashboard says of what it is about to do, and how it moves through what it shows.

use super::*;
use orange_core::merge::Strategy;
use orange_engine::verbs::merge::MergePlan;

#[test]
fn a_merge_that_pushes_says_so_before() {
    for push in [true, false] {
        let mut app = app((100, 24), false, shop());
        let plan = MergePlan {
            task: Task::default(),
            target: "main".to_owned(),
            strategy: Strategy::Squash,
            head: Some("33da805".to_owned()),
            push,
            concerns: Vec::new(),
        };
        app.confirm_merge("shop/1".to_owned(), &plan, Instant::now());
        assert_eq!(shown(&app).contains("into main and push to origin?"), push);
        match &press(&mut app, "y")[..] {
            [
                Effect::Run {
                    verb: Verb::Merge(wish),
                    ..
                },
            ] => assert_eq!(wish.push, Some(push)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_window_is_looked_for_beside_everything_else() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "2");
    assert!(matches!(
        press(&mut app, "\n")[..],
        [Effect::Run {
            verb: Verb::Attach,
            ..
        }]
    ));
}

#[test]
fn a_screen_is_scrolled_as_it_reads() {
    let lines: Vec<String> = (0..200).map(|number| format!("line {number}.")).collect();
    let mut app = app((120, 20), false, shop());
    app.screen = Some(lines.join("\n"));
    assert!(shown(&app).contains("line 199."));
    // In the preview: K goes back, and J at the end goes nowhere.
    press(&mut app, "J");
    assert_eq!(app.scroll, 0);
    press(&mut app, "K");
    assert!(!shown(&app).contains("line 199."));
    for _ in 0..50 {
        press(&mut app, "K");
    }
    let furthest = app.scroll;
    assert!(shown(&app).contains("line 0."));
    press(&mut app, "J");
    assert!(app.scroll < furthest && !shown(&app).contains("line 0."));
    // In its tab: down is forwards, and the ends are the ends.
    press(&mut app, "v3");
    app.screen = Some(lines.join("\n"));
    press(&mut app, "k");
    assert!(!shown(&app).contains("line 199."));
    press(&mut app, "j");
    assert!(shown(&app).contains("line 199."));
    press(&mut app, "g");
    assert!(shown(&app).contains("line 0."));
    press(&mut app, "j");
    assert!(!shown(&app).contains("line 0."));
    press(&mut app, "G");
    assert!(shown(&app).contains("line 199."));
}

#[test]
fn what_was_not_sent_is_not_dropped_without_a_word() {
    let mut app = app((80, 24), false, shop());
    app.update(Input::Paste("half a message".to_owned()), Instant::now());
    app.update(Input::Resize(30, 6), Instant::now());
    assert!(press(&mut app, "q").is_empty());
    assert!(!shown(&app).contains("q quits"));
    app.update(Input::Resize(80, 24), Instant::now());
    press(&mut app, "\u{1b}");
    assert!(press(&mut app, "q").is_empty());
    assert!(app.message.as_ref().unwrap().text.contains("not sent"));
    // Another key in between, and it is said again.
    assert!(press(&mut app, "?\u{1b}q").is_empty());
    assert!(matches!(press(&mut app, "q")[..], [Effect::Quit]));
}

#[test]
fn projects_are_those_of_the_last_look() {
    let mut app = app((80, 24), false, Vec::new());
    app.here = None;
    press(&mut app, "c");
    assert!(app.overlay.is_none() && app.message.as_ref().unwrap().is_error);
    let overview = Overview {
        projects: vec!["blog".to_owned()],
        ..Overview::default()
    };
    app.update(Input::Overview(Box::new(Ok(overview))), Instant::now());
    press(&mut app, "c");
    match &app.overlay {
        Some(Overlay::Form(form)) => assert_eq!(form.text(2), "blog"),
        _ => panic!("no form"),
    }
}

#[test]
fn changes_are_compared_again_only_if_they_may_be_others() {
    let reads = |effects: &[Effect]| {
        let mut effects = effects.iter();
        effects.any(|effect| matches!(effect, Effect::LoadChanges { .. }))
    };
    let mut app = app((80, 24), false, shop());
    assert!(reads(&press(&mut app, "D")));
    let begun = Instant::now();
    let after = |seconds| begun + Duration::from_secs(seconds);
    let news = |app: &mut App, at: Instant, second: i64| {
        let mut rows = shop();
        rows[2].updated = Timestamp::from_second(second).unwrap();
        let overview = Overview {
            rows,
            ..Overview::default()
        };
        app.update(Input::Overview(Box::new(Ok(overview))), at)
    };
    // Something happened to another task.
    assert!(!reads(&news(&mut app, after(5), 0)));
    // To this one: it is read at once, and then not for each of many.
    assert!(reads(&news(&mut app, after(6), 1)));
    assert!(!reads(&news(&mut app, after(7), 2)));
    assert!(!reads(&app.update(Input::Tick, after(8))));
    assert!(reads(&app.update(Input::Tick, after(10))));
    assert!(!reads(&app.update(Input::Tick, after(15))));
    // What is not committed says nothing of itself.
    assert!(reads(&news(&mut app, after(21), 2)));
}

#[test]
fn a_hint_names_no_option_of_the_command_line() {
    use orange_core::{Action, Parameter, text};
    let mut app = app((120, 24), false, shop());
    let task = TaskName::referred_to("shop", "TASK-001");
    let hint = text!(
        "{}, add {}, or start it with {}",
        Action::merge(task, false, None, None, None),
        Parameter::Force,
        Parameter::Status.given("planning")
    );
    let text = "no".to_owned();
    let refused = Input::Refused {
        text,
        hint: Some(hint),
    };
    app.update(refused, Instant::now());
    let hint = app.message.as_ref().unwrap().hint.as_deref();
    let merge = app.keymap.key(KeyAction::Merge);
    let words = format!("`{merge}`, add \"force\", or start it with status planning");
    assert_eq!(hint, Some(words.as_str()));
}

//! What a person wrote is not lost, whatever runs meanwhile and however it ends.

use super::*;

fn paste(app: &mut App, text: &str) {
    app.update(Input::Paste(text.to_owned()), Instant::now());
}

fn ended(app: &mut App, folder: &str, what: &'static str, outcome: VerbOutcome) {
    let done = Input::Done {
        folder: folder.to_owned(),
        what,
        outcome: Box::new(outcome),
    };
    app.update(done, Instant::now());
}

fn said(text: &str) -> VerbOutcome {
    VerbOutcome::Said {
        text: text.into(),
        undo: None,
    }
}

fn failed(text: &str) -> VerbOutcome {
    VerbOutcome::Failed {
        text: text.into(),
        hint: None,
    }
}

fn written(app: &App) -> String {
    match &app.overlay {
        Some(Overlay::Compose(compose)) => compose.area.lines().join("\n"),
        Some(Overlay::Form(form)) => form.text(0),
        _ => "nothing is open".to_owned(),
    }
}

/// The key under which a form was sent, and its summary.
fn sent_form(effects: &[Effect]) -> (String, String) {
    match effects {
        [
            Effect::Run {
                folder,
                verb: Verb::Create(new),
            },
        ] => (folder.clone(), new.summary.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_message_waits_until_the_first_one_has_arrived() {
    let mut app = app((80, 24), false, shop());
    paste(&mut app, "first");
    assert!(matches!(press(&mut app, "\n")[..], [Effect::Run { .. }]));
    paste(&mut app, "second");
    // The draft of the first one is in the field too, until it has arrived.
    let both = written(&app);
    assert!(press(&mut app, "\n").is_empty());
    assert!(app.message.as_ref().unwrap().is_error);
    assert_eq!(written(&app), both);
    ended(&mut app, "shop/1", "message", said("delivered"));
    assert_eq!(written(&app), both);
    assert!(matches!(press(&mut app, "\n")[..], [Effect::Run { .. }]));
}

#[test]
fn each_new_task_has_a_form_of_its_own() {
    let mut app = app((80, 24), false, shop());
    let (first, _) = sent_form(&press(&mut app, "cExport orders\n"));
    // While it runs another one is begun, and is not the first one again.
    press(&mut app, "cImport");
    assert_eq!(written(&app), "Import");
    ended(&mut app, &first, "create", failed("no such base"));
    assert_eq!(written(&app), "Import");
    assert!(app.message.as_ref().unwrap().text.contains("`c` opens it"));
    let (second, summary) = sent_form(&press(&mut app, " orders\n"));
    assert_eq!(summary, "Import orders");
    assert_ne!(first, second);
    // The one that failed is found again, and the success of the other does not take it away.
    press(&mut app, "c");
    assert_eq!(written(&app), "Export orders");
    press(&mut app, "\u{1b}");
    let created = VerbOutcome::Created {
        folder: "shop/9".to_owned(),
        text: "created TASK-009".into(),
    };
    ended(&mut app, &second, "create", created);
    press(&mut app, "c");
    assert_eq!(written(&app), "Export orders");
}

#[test]
fn a_task_that_is_created_anew_takes_no_form_away() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "cHalf a summary\u{1b}");
    let created = VerbOutcome::Created {
        folder: "shop/9".to_owned(),
        text: "created TASK-009".into(),
    };
    ended(&mut app, "", "create", created);
    press(&mut app, "c");
    assert_eq!(written(&app), "Half a summary");
}

#[test]
fn whoever_does_not_say_what_agents_may_do_keeps_the_form() {
    let mut app = app((80, 24), false, shop());
    let effects = press(&mut app, "cExport orders\n");
    let (key, _) = sent_form(&effects);
    let Some(Effect::Run { verb, .. }) = effects.into_iter().next() else {
        panic!("nothing runs");
    };
    let asks = VerbOutcome::ChooseMode {
        project: "shop".to_owned(),
        verb: Box::new(verb),
    };
    ended(&mut app, &key, "create", asks);
    assert!(matches!(app.overlay, Some(Overlay::Choose(_))));
    press(&mut app, "\u{1b}c");
    assert_eq!(written(&app), "Export orders");
}

#[test]
fn an_undo_that_failed_can_be_tried_again() {
    let mut app = app((80, 24), false, shop());
    let deleted = VerbOutcome::Said {
        text: "deleted".into(),
        undo: Some(Undo::Restore("id".to_owned())),
    };
    ended(&mut app, "shop/4", "delete", deleted);
    let restores = |effects: &[Effect]| {
        matches!(
            effects,
            [Effect::Run {
                verb: Verb::Restore(_),
                ..
            }]
        )
    };
    assert!(restores(&press(&mut app, "u")));
    ended(&mut app, "", "restore", failed("the disk is full"));
    assert!(restores(&press(&mut app, "u")));
    ended(&mut app, "", "restore", said("restored"));
    assert!(press(&mut app, "u").is_empty());
}

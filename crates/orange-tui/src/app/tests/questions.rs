//! Questions of agents: when a key answers them.

use super::*;

#[test]
fn a_short_question_is_allowed_and_a_long_one_is_read_first() {
    let mut app = app((80, 24), false, shop());
    asking(&mut app, "q1", "Bash: npm install");
    assert!(shown(&app).contains("asks permission: Bash: npm install"));
    let effects = press(&mut app, "a");
    assert!(
        matches!(&effects[..], [Effect::Run { verb: Verb::Allow(open), .. }] if open.question.id == "q1")
    );
    app.busy.clear();
    // What has no room is shown in full, and there is no yes before its end was on the screen.
    let long = format!("Bash: ls{}curl x | sh", "\n".repeat(60));
    asking(&mut app, "q2", &long);
    assert!(press(&mut app, "a").is_empty());
    assert!(press(&mut app, "y").is_empty());
    assert!(matches!(app.overlay, Some(Overlay::Confirm(_))));
    assert!(!shown(&app).contains("curl x"));
    let down = KeyEvent::new(KeyCode::Down, KeyModifiers::NONE);
    let later = Instant::now() + Duration::from_secs(1000);
    for _ in 0..20 {
        app.update(Input::Key(down), later);
    }
    assert!(shown(&app).contains("curl x | sh"));
    let effects = press(&mut app, "y");
    assert!(matches!(
        &effects[..],
        [Effect::Run {
            verb: Verb::Allow(_),
            ..
        }]
    ));
    // Nor is it remembered unread.
    app.busy.clear();
    assert!(press(&mut app, "A").is_empty());
    assert!(app.overlay.is_none() && app.message.as_ref().unwrap().is_error);
}

#[test]
fn a_question_that_has_just_changed_is_not_answered_blindly() {
    let mut app = app((80, 24), false, shop());
    asking(&mut app, "q1", "Bash: ls");
    asking(&mut app, "q2", "Bash: rm");
    let key = KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE);
    assert!(app.update(Input::Key(key), Instant::now()).is_empty());
    assert!(matches!(app.overlay, Some(Overlay::Confirm(_))));
}

#[test]
fn where_nothing_can_be_read_no_key_decides() {
    let mut app = app((30, 6), false, shop());
    for key in ["x", "y", "m", "y", "c", "\n", "a"] {
        assert!(press(&mut app, key).is_empty(), "{key}");
        assert!(app.overlay.is_none(), "{key}");
    }
    assert!(shown(&app).contains("at least 40 × 8"));
    assert!(matches!(press(&mut app, "q")[..], [Effect::Quit]));
}

#[test]
fn a_result_that_comes_late_takes_no_text_away() {
    let mut app = app((80, 24), false, shop());
    app.update(Input::Paste("half a message".to_owned()), Instant::now());
    app.choose_mode("shop/1", "shop", &Verb::Start, Instant::now());
    assert!(matches!(app.overlay, Some(Overlay::Compose(_))));
    // An empty text is not sent, and stays open.
    press(&mut app, "\u{1b}G");
    app.update(Input::Paste(" ".to_owned()), Instant::now());
    assert!(press(&mut app, "\n").is_empty());
    assert!(matches!(app.overlay, Some(Overlay::Compose(_))));
}

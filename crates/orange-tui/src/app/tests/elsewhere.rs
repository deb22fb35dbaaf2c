//! A dashboard of one project: what needs the person in others is counted, and stands in the inbox.

use super::*;

/// One task of another project, which needs the person for longest.
fn with_another() -> App {
    let mut rows = shop();
    let mut elsewhere = needing(row(1, "stuck", "Show related posts"), "no tags");
    elsewhere.folder = "blog/1".to_owned();
    elsewhere.project = "blog".to_owned();
    elsewhere.name = TaskName::referred_to("blog", "TASK-001");
    (elsewhere.is_elsewhere, elsewhere.slot) = (true, Some(7));
    for row in &mut rows {
        row.since = Timestamp::from_second(10).unwrap();
    }
    rows.push(elsewhere);
    let mut app = app((80, 24), false, Vec::new());
    let overview = Overview {
        needs_me: 2,
        need_elsewhere: 1,
        rows,
        projects: vec!["blog".to_owned(), "shop".to_owned()],
        ..Overview::default()
    };
    app.update(Input::Overview(Box::new(Ok(overview))), Instant::now());
    app
}

fn has_blog(app: &App) -> bool {
    shown(app).contains("Show relat")
}

#[test]
fn the_inbox_alone_has_it() {
    let mut app = with_another();
    assert!(shown(&app).contains("2 need you, 1 elsewhere"));
    assert!(!has_blog(&app) && !shown(&app).contains("▾"));
    // Neither the keys that visit what needs the person nor a digit leads there.
    press(&mut app, "nnn7");
    assert!(!has_blog(&app));
    press(&mut app, "\t");
    let inbox = shown(&app);
    let first = inbox.lines().nth(1).unwrap();
    assert!(first.contains("blog:TASK-001"), "{inbox}");
    press(&mut app, "\t");
    assert!(!has_blog(&app), "{}", shown(&app));
}

#[test]
fn what_was_chosen_in_the_inbox_is_opened_and_stays_until_the_cursor_leaves_it() {
    let mut app = with_another();
    press(&mut app, "\tg");
    assert_eq!(app.cursor.as_deref(), Some("blog/1"));
    press(&mut app, "v");
    assert!(shown(&app).contains("blog:TASK-001 Show related posts"));
    // From the inbox the next one is the next one there.
    press(&mut app, "nN");
    assert_eq!(app.cursor.as_deref(), Some("blog/1"));
    press(&mut app, "\u{1b}\t\t");
    assert!(has_blog(&app), "{}", shown(&app));
    press(&mut app, "n");
    assert!(!has_blog(&app), "{}", shown(&app));
}

#[test]
fn one_more_that_needs_the_person_there_rings_too() {
    let mut app = with_another();
    let rings = |app: &mut App, count| {
        let overview = Overview {
            need_elsewhere: count,
            ..app.overview.clone()
        };
        let loaded = Input::Overview(Box::new(Ok(overview)));
        let effects = app.update(loaded, Instant::now());
        effects.iter().any(|effect| matches!(effect, Effect::Bell))
    };
    assert!(!rings(&mut app, 1));
    assert!(rings(&mut app, 2));
    assert!(!rings(&mut app, 0));
}

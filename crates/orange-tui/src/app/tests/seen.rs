//! Keys act on what stands on the screen and on nothing else.

use super::*;
use orange_engine::views::diff::DiffOf;

fn refused(text: &str) -> Input {
    Input::Refused {
        text: text.to_owned(),
        hint: None,
    }
}

fn error(app: &App) -> &str {
    let message = app.message.as_ref().unwrap();
    assert!(message.is_error, "{}", message.text);
    &message.text
}

fn allows(effects: &[Effect]) -> bool {
    matches!(
        effects,
        [Effect::Run {
            verb: Verb::Allow(_),
            ..
        }]
    )
}

#[test]
fn a_message_covers_no_question() {
    let long = "the merge was refused because of something that takes a while to tell ".repeat(5);
    let mut app = app((80, 24), false, shop());
    asking(&mut app, "q1", "Bash: npm install");
    app.update(refused(&long), Instant::now());
    let both = shown(&app);
    assert!(
        both.contains("asks permission: Bash: npm install"),
        "{both}"
    );
    assert!(both.contains("the merge was refused"), "{both}");
    assert!(allows(&press(&mut app, "a")));
}

#[test]
fn a_question_that_a_message_left_no_room_is_shown_before_a_yes() {
    let mut app = app((40, 8), false, shop());
    asking(&mut app, "q1", "Bash: npm install --global");
    assert!(shown(&app).contains("--global"));
    app.update(
        refused(&"no room for anything else ".repeat(9)),
        Instant::now(),
    );
    assert!(!shown(&app).contains("--global"));
    // The key takes the message away; what was below it has not been read yet.
    assert!(press(&mut app, "a").is_empty());
    assert!(matches!(app.overlay, Some(Overlay::Confirm(_))));
}

#[test]
fn six_lines_of_a_question_are_enough_to_allow_it() {
    let mut app = app((80, 24), false, shop());
    asking(&mut app, "q1", &format!("Bash: {}", "make; ".repeat(60)));
    assert!(allows(&press(&mut app, "a")));
}

#[test]
fn a_click_selects_only_what_is_drawn_there() {
    let many = (10..60).map(|number| row(number, "pending", "A task"));
    let mut app = app((80, 24), false, shop().into_iter().chain(many).collect());
    asking(&mut app, "q1", &format!("Bash: {}", "make; ".repeat(60)));
    let lines = shown(&app);
    let of_question = lines.lines().position(|line| line.contains("make;"));
    let last_task = lines.lines().filter(|line| line.contains("TASK-")).count() + 2;
    let mut click = |row: usize| {
        let mouse = MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: 20,
            row: u16::try_from(row).unwrap(),
            modifiers: KeyModifiers::NONE,
        };
        app.update(Input::Mouse(mouse), Instant::now());
        app.cursor.clone().unwrap()
    };
    assert_eq!(click(of_question.unwrap()), "shop/1");
    assert_eq!(of_question, Some(last_task + 1), "{lines}");
    let name = lines.lines().nth(last_task).unwrap();
    let folder = click(last_task);
    let number = folder.strip_prefix("shop/").unwrap();
    assert!(
        name.contains(&format!("TASK-{number:0>3}")),
        "{name} {folder}"
    );
}

#[test]
fn a_task_that_is_gone_stays_under_the_cursor_until_it_leaves() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "G");
    load(&mut app, shop()[1..].to_vec());
    assert_eq!(app.cursor.as_deref(), Some("shop/4"));
    assert!(
        shown(&app).contains("▌· ○    TASK-004 gone"),
        "{}",
        shown(&app)
    );
    assert!(press(&mut app, "\n").is_empty());
    assert!(error(&app).contains("TASK-004 is gone"));
    press(&mut app, "k");
    assert_eq!(app.cursor.as_deref(), Some("shop/2"));
    assert!(!shown(&app).contains("TASK-004"));
    // It comes back: it is as any other.
    press(&mut app, "j");
    load(&mut app, shop());
    press(&mut app, "G");
    assert_eq!(app.cursor.as_deref(), Some("shop/4"));
    assert!(!shown(&app).contains("gone"));
}

#[test]
fn in_the_inbox_the_next_one_is_selected_and_no_key_hits_it_unseen() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "\t");
    assert_eq!(app.cursor.as_deref(), Some("shop/1"));
    let mut rows = shop();
    rows[2] = row(1, "agent-review", "Add a login form");
    load(&mut app, rows);
    assert_eq!(app.cursor.as_deref(), Some("shop/3"));
    app.was_drawn(Instant::now());
    let cancel = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE);
    assert!(app.update(Input::Key(cancel), Instant::now()).is_empty());
    assert!(error(&app).contains("the cursor is on TASK-003 now"));
    assert!(app.overlay.is_none());
    press(&mut app, "x");
    assert!(matches!(app.overlay, Some(Overlay::Confirm(_))));
    // Nothing is left: keys act on no task that is not drawn.
    press(&mut app, "\u{1b}");
    load(&mut app, vec![row(3, "working", "Pick the colour")]);
    assert!(press(&mut app, "x").is_empty());
    assert!(app.overlay.is_none());
}

#[test]
fn what_is_selected_is_never_folded_away() {
    let mut other = row(5, "working", "Write a post");
    (other.project, other.folder, other.slot) = ("blog".to_owned(), "blog/5".to_owned(), Some(5));
    let mut rows = shop();
    rows.push(other);
    let mut app = app((80, 24), false, rows);
    app.here = Some("shop".to_owned());
    press(&mut app, "Gh");
    assert_ne!(app.cursor.as_deref(), Some("blog/5"));
    assert!(!shown(&app).contains("TASK-005"));
    press(&mut app, "5");
    assert_eq!(app.cursor.as_deref(), Some("blog/5"));
    assert!(shown(&app).contains("TASK-005"));
    // From the inbox, where it is not, a digit goes to the list.
    press(&mut app, "n\t5");
    assert_eq!(app.cursor.as_deref(), Some("blog/5"));
    assert!(shown(&app).contains("▌▶ ○  5 TASK-005"), "{}", shown(&app));
}

#[test]
fn a_search_narrows_the_inbox_and_the_board() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "\t/colour\n");
    let inbox = shown(&app);
    assert!(
        inbox.contains("TASK-003") && !inbox.contains("TASK-001"),
        "{inbox}"
    );
    press(&mut app, "\t");
    let board = shown(&app);
    assert!(
        board.contains("TASK-003") && !board.contains("TASK-004"),
        "{board}"
    );
    press(&mut app, "l");
    assert_eq!(app.cursor.as_deref(), Some("shop/3"));
}

#[test]
fn the_same_comparison_is_there_when_changes_are_opened_again() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "D");
    press(&mut app, "\u{1b}D");
    assert_eq!(app.changes.of(), DiffOf::Work);
    press(&mut app, "2");
    assert_eq!(app.changes.of(), DiffOf::SinceSeen);
    press(&mut app, "\u{1b}D");
    assert_eq!(app.changes.of(), DiffOf::SinceSeen);
    // Another task begins with all that it changed.
    press(&mut app, "\u{1b}j");
    assert_eq!(app.changes.of(), DiffOf::Work);
}

#[test]
fn a_task_that_is_still_read_is_said_to_be() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "m");
    assert!(error(&app).contains("TASK-001 is still being read"));
    let problem = orange_engine::err!(Busy, "somebody is at it");
    let folder = app.cursor.clone().unwrap();
    app.update(Input::Focus(folder, Box::new(Err(problem))), Instant::now());
    press(&mut app, "a");
    assert!(error(&app).contains("somebody is at it"));
}

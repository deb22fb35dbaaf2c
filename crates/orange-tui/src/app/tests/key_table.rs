//! Every key of the table in every view: what follows from it, or what is said instead. No key is silent where a person could
//! expect something.

use super::*;
use orange_core::keys::KEYS;
use std::fmt::Write;

/// What a person may see when they press a key.
struct Situation {
    name: &'static str,
    app: fn() -> App,
}

const SITUATIONS: &[Situation] = &[
    Situation {
        name: "list, a permission is asked for",
        app: || {
            let mut app = on(3, Task::default());
            asking(&mut app, "q1", "Bash: npm install");
            app
        },
    },
    Situation {
        name: "list, work waits for a merge",
        app: || on(1, of_status("reviewing")),
    },
    Situation {
        name: "list, an agent works",
        app: || on(2, of_status("working")),
    },
    Situation {
        name: "list, not started",
        app: || on(4, of_status("pending")),
    },
    Situation {
        name: "list, over",
        app: || on(5, of_status("done")),
    },
    Situation {
        name: "list, a phase waits at its gate",
        app: || with_screen(phases::at_gate((120, 40), false)),
    },
    Situation {
        name: "list, phases are executed",
        app: || with_screen(phases::running((120, 40), false)),
    },
    Situation {
        name: "task, a phase failed, its phases",
        app: || {
            let mut app = phases::failed((120, 40), false);
            (app.view, app.tab) = (View::Task, Tab::Phases);
            app
        },
    },
    Situation {
        name: "list, no task",
        app: || app((120, 40), false, Vec::new()),
    },
    Situation {
        name: "inbox, work waits for a merge",
        app: || in_view(View::Inbox),
    },
    Situation {
        name: "board, work waits for a merge",
        app: || in_view(View::Board),
    },
    Situation {
        name: "task, work waits for a merge",
        app: || in_view(View::Task),
    },
];

fn of_status(status: &str) -> Task {
    Task {
        status: status.parse().unwrap(),
        ..Task::default()
    }
}

/// The cursor on a task in the middle, of which everything is known.
fn on(number: u32, task: Task) -> App {
    let mut rows = shop();
    rows.push(row(5, "done", "Log out"));
    let mut other = row(6, "pending", "Show related posts");
    other.project = "blog".to_owned();
    rows.push(other);
    for row in &mut rows {
        row.branch = "branch".to_owned();
        let is_at_work = row.status.is_some_and(|status| status.is_active());
        if is_at_work {
            row.session = SessionState::Alive;
            row.slot = Some(number);
        }
    }
    let mut app = app((120, 40), false, rows);
    app.cursor = Some(format!("shop/{number}"));
    known(&mut app, task);
    with_screen(app)
}

fn with_screen(mut app: App) -> App {
    app.scroll = 20;
    app.screen = Some("what the agent does\n".repeat(100));
    app
}

fn in_view(view: View) -> App {
    let mut app = on(1, of_status("reviewing"));
    app.view = view;
    app.tab = Tab::File;
    app.scroll = 3;
    app
}

/// What is known of the task at the cursor: nothing is asked.
fn known(app: &mut App, task: Task) {
    asking(app, "q1", "");
    if let Some(focus) = &mut app.focus {
        focus.questions.clear();
        focus.task = task;
        focus.body = "a line\n".repeat(100);
    }
}

/// A key as it is pressed; a digit stands for itself.
fn code(key: &str) -> KeyCode {
    match key {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        letter => KeyCode::Char(letter.chars().next().unwrap()),
    }
}

/// What there is to see besides the tasks.
fn look(app: &App) -> Vec<String> {
    let overlay = match &app.overlay {
        None => "no overlay".to_owned(),
        Some(Overlay::Help { .. }) => "help".to_owned(),
        Some(Overlay::Confirm(confirm)) => format!("asks \"{}\"", confirm.title),
        Some(Overlay::Compose(compose)) => format!("writes \"{}\"", compose.title),
        Some(Overlay::Form(_)) => "form".to_owned(),
        Some(Overlay::Choose(choose)) => format!("chooses \"{}\"", choose.title),
        Some(Overlay::Palette { .. }) => "palette".to_owned(),
        Some(Overlay::Text { title, .. }) => format!("reads \"{title}\""),
    };
    vec![
        format!("{:?}", app.view).to_lowercase(),
        format!("tab {:?}", app.tab),
        app.cursor.clone().unwrap_or_default(),
        format!("scrolled {}", app.scroll),
        app.phase
            .as_ref()
            .map_or_else(String::new, |phase| format!("phase {phase}")),
        overlay,
        format!("{} folded", app.folded.len()),
        format!("{} marked", app.marked_count()),
        if app.is_searching { "searches" } else { "" }.to_owned(),
    ]
}

/// What a key does: what is started, what looks different, what is said.
fn what_follows(app: &mut App, key: KeyCode) -> String {
    let before = look(app);
    let at = Instant::now() + Duration::from_secs(60);
    // What is on the screen has been there for a while.
    app.was_drawn(at - Duration::from_secs(1));
    let effects = app.update(Input::Key(KeyEvent::new(key, KeyModifiers::NONE)), at);
    let mut follows: Vec<String> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Quit => Some("quits".to_owned()),
            Effect::Run {
                verb: Verb::Attach, ..
            } => Some("attaches".to_owned()),
            Effect::Run { verb, .. } => Some(format!("runs {}", verb.name())),
            Effect::HandOver { words, .. } => Some(format!("orange {}", words.join(" "))),
            Effect::Edit(_) => Some("edits".to_owned()),
            Effect::Copy(text) => Some(format!("copies {text}")),
            Effect::Bell => Some("rings".to_owned()),
            _ => None,
        })
        .collect();
    let after = look(app).into_iter().zip(before);
    follows.extend(after.filter(|(now, then)| now != then).map(|(now, _)| now));
    if let Some(message) = &app.message {
        follows.push(format!("says \"{}\"", message.text));
    }
    follows.join(", ")
}

/// Where nothing is to be expected: there is nowhere to go, and no step back.
fn may_be_silent(situation: &str, action: KeyAction) -> bool {
    let moves = [
        KeyAction::Down,
        KeyAction::Up,
        KeyAction::First,
        KeyAction::Last,
    ];
    let is_in_list = situation.starts_with("list");
    match action {
        KeyAction::Back => is_in_list,
        // At an end already, or with nothing to go to.
        _ => moves.contains(&action) && !situation.starts_with("task"),
    }
}

#[test]
fn every_key_does_something_or_says_why_not() {
    let mut table = String::new();
    for row in KEYS {
        writeln!(table, "{} {}", row.key, row.name).unwrap();
        for situation in SITUATIONS {
            let mut app = (situation.app)();
            let follows = what_follows(&mut app, code(row.key));
            let is_told = !follows.is_empty() || may_be_silent(situation.name, row.action);
            assert!(
                is_told,
                "{} {} in {}: nothing",
                row.key, row.name, situation.name
            );
            writeln!(table, "  {}: {follows}", situation.name).unwrap();
        }
    }
    assert_snapshot!("every_key", table);
}

#[test]
fn what_is_no_key_is_told_to_be_none() {
    for situation in SITUATIONS {
        let mut app = (situation.app)();
        let follows = what_follows(&mut app, KeyCode::Char('%'));
        assert_eq!(follows, "says \"`%` does nothing; `?` shows every key\"");
        let follows = what_follows(&mut app, KeyCode::Char('9'));
        assert!(follows.contains("says \""), "{}: {follows}", situation.name);
    }
}

#[test]
fn every_text_of_the_help_is_whole_in_eighty_columns() {
    for row in KEYS {
        let mut app = app((80, 24), false, shop());
        press(&mut app, "?");
        press(&mut app, row.about);
        let frame = shown(&app).replace(['│', '\n'], " ");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        // What is typed stands in the title too; the help itself is wrapped.
        assert!(words(&frame).matches(row.about).count() >= 1, "{frame}");
    }
}

#[test]
fn every_status_has_a_letter_in_the_filter() {
    let mut app = app((80, 40), false, shop());
    press(&mut app, "f");
    let shown = shown(&app);
    for status in ["pending", "delegated", "done", "cancelled"] {
        assert!(shown.contains(&format!(" {status} ")), "{status}\n{shown}");
    }
}

//! Every pane as it stands on a screen, small, usual and large, with a fixed clock.

use super::*;
use orange_core::history::EventType;
use orange_core::timeline::EventWeight;
use orange_core::usage::Usage;
use orange_engine::index::DiffStat;
use orange_engine::views::detail::TimelineEntry;
use orange_engine::views::list::Checks;

fn diff(commits: u32, added: u32, deleted: u32) -> Option<DiffStat> {
    Some(DiffStat {
        base: None,
        head: "33da805".to_owned(),
        commits,
        files: 2,
        added,
        deleted,
        conflicts: None,
        conflicts_with: None,
        since_review: None,
    })
}

fn cost(dollars: f64) -> Option<Usage> {
    Some(Usage {
        input: 57_000,
        cost: Some(dollars),
        ..Usage::default()
    })
}

fn updated(mut row: OverviewRow, second: i64) -> OverviewRow {
    row.updated = Timestamp::from_second(second).unwrap();
    row.since = row.updated;
    row
}

/// Two projects, with every kind of row.
fn world() -> Vec<OverviewRow> {
    let mut reviewed = needing(
        row(1, "reviewing", "Add a login form"),
        "passed its review and waits for you",
    );
    (reviewed.session, reviewed.slot) = (SessionState::Alive, Some(1));
    (reviewed.diff, reviewed.usage) = (diff(2, 40, 2), cost(0.42));
    reviewed.checks = Some(Checks::Passed);
    let mut asks = needing(
        row(2, "working", "Tidy the style sheets"),
        "asks permission: Bash: npm install",
    );
    (asks.session, asks.slot) = (SessionState::Alive, Some(2));
    let mut wide = needing(
        row(
            3,
            "clarification",
            "ボタンの色を選んでください、それは長い要約です",
        ),
        "Which button colour do you want: the brand blue or the accent green of the style guide?",
    );
    (wide.session, wide.slot) = (SessionState::Alive, Some(3));
    let mut crashed = needing(
        row(4, "working", "Cache product images"),
        "needs attention: its worker crashed: ended by signal 11",
    );
    (crashed.session, crashed.slot) = (SessionState::Gone, Some(4));
    let mut works = row(6, "working", "Log out from the menu");
    (works.session, works.slot) = (SessionState::Alive, Some(12));
    (works.diff, works.usage) = (diff(1, 12, 3), cost(1.31));
    works.checks = Some(Checks::Running);
    let mut waits = row(7, "pending", "Export orders as CSV");
    waits.waits_for = vec!["TASK-001".to_owned()];
    let mut damaged = row(8, "pending", "");
    damaged.status = None;
    damaged.word = "damaged".to_owned();
    damaged.column = BoardColumn::of(None, true);
    (damaged.is_damaged, damaged.needs_me) = (true, true);
    damaged.note = Some("TASK.md cannot be read: line 3: a value is missing".into());
    let mut elsewhere = row(1, "working", "Show related posts below each post");
    elsewhere.folder = "blog/1".to_owned();
    elsewhere.project = "blog".to_owned();
    elsewhere.name = TaskName::referred_to("blog", "TASK-001");
    (elsewhere.session, elsewhere.slot) = (SessionState::Alive, Some(1));
    vec![
        updated(reviewed, 30),
        updated(asks, 40),
        updated(wide, 50),
        updated(crashed, 60),
        updated(works, 70),
        updated(waits, 20),
        updated(damaged, 10),
        updated(elsewhere, 80),
        updated(row(9, "done", "Write the manual"), 5),
    ]
}

/// On the first task that asks, of which everything is known.
fn at_a_question(size: (u16, u16), ascii: bool) -> App {
    let mut app = app(size, ascii, world());
    app.cursor = Some("shop/2".to_owned());
    app.monitor = "monitor here";
    asking(&mut app, "q1", "Bash: npm install");
    let at = |second| Timestamp::from_second(second).unwrap();
    let entry = |second, who: &str, words: &str, weight| TimelineEntry {
        at: at(second),
        kind: EventType::StatusChanged,
        who: who.to_owned(),
        words: words.to_owned().into(),
        weight,
    };
    if let Some(focus) = &mut app.focus {
        focus.body = "## Context\n\nOne file of variables.\n\n## Plan\n\nAPPROACH: one rule after the other, and a line that is so long that it does not fit into eighty columns\n".to_owned();
        focus.timeline = vec![
            entry(20, "you", "created the task", EventWeight::Story),
            entry(25, "engine", "took a slot: shop--2", EventWeight::Detail),
            entry(30, "worker", "moved planning → working", EventWeight::Story),
            entry(
                40,
                "engine",
                "needs attention: its worker asks permission",
                EventWeight::Trouble,
            ),
        ];
    }
    app.screen = Some(
        "\u{1b}[1mReading src/app.css.\u{1b}[0m\n\u{1b}[31mred\u{1b}[0m 日本語 \u{1b}]0;title\u{7}and more\nBash: npm install (y/n)\n> "
            .to_owned(),
    );
    app
}

pub(super) fn snapshot(name: &str, app: &App) {
    let (columns, rows) = app.size;
    let ascii = if app.theme.ascii { "_ascii" } else { "" };
    let frame = shown(app);
    for line in frame.lines() {
        let width = orange_core::display::clean_width(line);
        assert!(width <= usize::from(columns), "{width}: {line:?}");
    }
    if app.theme.ascii {
        assert!(frame.is_ascii(), "{frame}");
    }
    let mut settings = insta::Settings::clone_current();
    // The time zone of a machine is its own business.
    settings.add_filter(r"\d\d [A-Z][a-z]{2} \d\d:\d\d", "[day, time]");
    settings.bind(|| assert_snapshot!(format!("{name}_{columns}x{rows}{ascii}"), frame));
}

/// Small and usual; with ASCII letters alone.
const SIZES: [((u16, u16), bool); 3] = [((80, 24), false), ((120, 40), false), ((80, 24), true)];

#[test]
fn the_list() {
    for (size, ascii) in SIZES {
        snapshot("list", &at_a_question(size, ascii));
    }
    snapshot("list", &at_a_question((300, 100), false));
    snapshot("list", &at_a_question((60, 15), false));
}

#[test]
fn the_inbox() {
    for (size, ascii) in SIZES {
        let mut app = at_a_question(size, ascii);
        app.view = View::Inbox;
        snapshot("inbox", &app);
    }
    let mut app = at_a_question((300, 100), false);
    app.view = View::Inbox;
    snapshot("inbox", &app);
}

#[test]
fn the_board() {
    for (size, ascii) in SIZES {
        let mut app = at_a_question(size, ascii);
        app.view = View::Board;
        snapshot("board", &app);
    }
    let mut app = at_a_question((300, 100), false);
    app.view = View::Board;
    snapshot("board", &app);
}

#[test]
fn a_task() {
    for (size, ascii) in SIZES {
        let mut app = at_a_question(size, ascii);
        press(&mut app, "v");
        snapshot("timeline", &app);
    }
    let mut app = at_a_question((300, 100), false);
    press(&mut app, "v");
    snapshot("timeline", &app);
}

#[test]
fn the_screen_of_an_agent() {
    let mut app = at_a_question((80, 24), false);
    press(&mut app, "v");
    app.tab = Tab::Screen;
    snapshot("screen", &app);
}

#[test]
fn the_form() {
    for (size, ascii) in SIZES {
        let mut app = at_a_question(size, ascii);
        press(&mut app, "cExport orders");
        snapshot("form", &app);
    }
}

#[test]
fn a_confirmation() {
    for (size, ascii) in SIZES {
        let mut app = at_a_question(size, ascii);
        press(&mut app, "x");
        snapshot("confirm", &app);
    }
}

#[test]
fn the_composer() {
    let mut app = at_a_question((80, 24), false);
    press(&mut app, "iuse the blue one");
    snapshot("composer", &app);
}

#[test]
fn the_help() {
    for (size, ascii) in SIZES {
        let mut app = at_a_question(size, ascii);
        press(&mut app, "?");
        snapshot("help", &app);
    }
}

#[test]
fn a_wide_letter_beside_an_overlay_does_not_cover_its_frame() {
    for columns in 70..90 {
        let mut app = at_a_question((columns, 24), false);
        press(&mut app, "?");
        let frame = shown(&app);
        let framed = frame.lines().filter(|line| line.contains("│")).count();
        let whole = frame.lines().filter(|line| line.matches('│').count() == 2);
        assert_eq!(whole.count(), framed, "{frame}");
    }
}

#[test]
fn after_other_sizes_the_frame_is_the_first_one() {
    let mut rows = world();
    rows.extend((20..80).map(|number| updated(row(number, "pending", "One more"), 1)));
    for cursor in [3, 30, 79] {
        let mut app = app((80, 24), false, rows.clone());
        app.cursor = Some(format!("shop/{cursor}"));
        app.keep_visible();
        let first = shown(&app);
        for size in [(300, 100), (60, 15), (120, 40), (30, 5), (80, 24)] {
            app.update(Input::Resize(size.0, size.1), Instant::now());
        }
        assert_eq!(shown(&app), first);
    }
}

//! Keys go in, effects come out; what is drawn is compared as it would stand on a screen.

mod changes;
mod elsewhere;
mod kept;
mod seen;
mod shown;
mod texts;

use super::*;
use crate::draw;
use crate::verbs::Verb;
use insta::assert_snapshot;
use orange_core::TaskName;
use orange_core::reason::Reason;
use orange_core::runs::Run;
use orange_core::task::{Status, Task};
use orange_core::workflow::BoardColumn;
use orange_core::workflow::Role;
use orange_engine::runs::Question;
use orange_engine::sessions::SessionState;
use orange_engine::views::Explanation;
use orange_engine::views::results::OpenQuestion;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

mod key_table;
mod marked;
mod mouse;
mod panes;
mod phases;
mod questions;

fn row(number: u32, status: &str, summary: &str) -> OverviewRow {
    let label = format!("TASK-{number:03}");
    let status: Status = status.parse().unwrap();
    OverviewRow {
        folder: format!("shop/{number}"),
        name: TaskName::referred_to("shop", &label),
        label,
        project: "shop".to_owned(),
        is_elsewhere: false,
        branch: format!("branch-{number}"),
        status: Some(status),
        reason: None,
        phase: None,
        word: status.to_string(),
        summary: summary.to_owned(),
        session: SessionState::None,
        slot: None,
        note: None,
        is_damaged: false,
        needs_me: false,
        waits_for: Vec::new(),
        checks: None,
        diff: None,
        usage: None,
        updated: Timestamp::UNIX_EPOCH,
        since: Timestamp::UNIX_EPOCH,
        column: BoardColumn::of(Some((status, None)), false),
    }
}

fn needing(mut row: OverviewRow, note: &str) -> OverviewRow {
    row.needs_me = true;
    row.column = BoardColumn::of(row.status.map(|status| (status, None)), true);
    row.note = Some(note.into());
    row
}

fn app(size: (u16, u16), ascii: bool, rows: Vec<OverviewRow>) -> App {
    let setup = Setup {
        theme: Theme {
            colour: true,
            ascii,
        },
        spell: |text| text.words().unwrap_or_default(),
        here: Some("shop".to_owned()),
        projects: vec!["shop".to_owned()],
        known_projects: vec!["shop".to_owned()],
        exit_on_attach: false,
    };
    let mut app = App::new(setup, size);
    load(&mut app, rows);
    app.was_drawn(Instant::now() - Duration::from_secs(1));
    app.now = Timestamp::from_second(90).unwrap();
    app
}

fn load(app: &mut App, rows: Vec<OverviewRow>) -> Vec<Effect> {
    let overview = Overview {
        needs_me: rows.iter().filter(|row| row.needs_me).count(),
        rows,
        agents: 1,
        agent_limit: 10,
        slots_held: 1,
        slots: 5,
        ..Overview::default()
    };
    app.update(Input::Overview(Box::new(Ok(overview))), Instant::now())
}

fn shop() -> Vec<OverviewRow> {
    let mut working = row(2, "working", "Tidy the style sheets");
    (working.session, working.slot) = (SessionState::Alive, Some(2));
    vec![
        row(4, "pending", "Cache product images"),
        working,
        needing(
            row(1, "reviewing", "Add a login form"),
            "passed its review and waits for you",
        ),
        needing(
            row(3, "clarification", "Pick the colour"),
            "Which button colour do you want: the brand blue or the accent green?",
        ),
    ]
}

fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for letter in keys.chars() {
        let code = match letter {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\u{1b}' => KeyCode::Esc,
            letter => KeyCode::Char(letter),
        };
        // A person takes a second for each key.
        app.now += orange_core::SignedDuration::from_secs(1);
        let seconds = app.now.as_second().unsigned_abs();
        let at = Instant::now() + Duration::from_secs(seconds);
        // What is on the screen has been there for a while.
        app.was_drawn(at - Duration::from_millis(500));
        effects = app.update(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)), at);
    }
    effects
}

fn shown(app: &App) -> String {
    let mut terminal = Terminal::new(TestBackend::new(app.size.0, app.size.1)).unwrap();
    terminal.draw(|frame| draw::draw(frame, app)).unwrap();
    let lines = terminal.backend().to_string();
    // The second half of a letter that is two cells wide is told apart.
    let lines = lines.lines().map(|line| {
        let line = line.split("\" Hidden by").next().unwrap_or_default();
        line.trim_matches('"').trim_end()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What is known of the task at the cursor: an agent that asks for a permission.
fn asking(app: &mut App, question: &str, text: &str) {
    let folder = app.cursor.clone().unwrap();
    let name = TaskName::referred_to("shop", "TASK-001");
    let mut asked = Question::new(text.to_owned());
    (asked.id, asked.tool) = (question.to_owned(), "Bash".to_owned());
    let focus = Focus {
        folder: folder.clone(),
        task: Task::default(),
        body: String::new(),
        why: Explanation {
            task: "TASK-001".to_owned(),
            name,
            status: Status::default(),
            phrase: "is in a test".to_owned(),
            reason: Reason::Queued,
            next: None,
            too_early: false,
            needs_human: true,
        },
        questions: vec![OpenQuestion {
            run: Run {
                model: None,
                id: "run".to_owned(),
                role: Role::Worker,
                harness: "sim".to_owned(),
                started: Timestamp::UNIX_EPOCH,
                end: None,
                conversation: None,
                transcript: None,
                workspace: None,
                usage: None,
                review_before: None,
                review: None,
                seals_end: false,
            },
            question: asked,
        }],
        asked_in_file: None,
        timeline: Vec::new(),
        agents: Vec::new(),
        usage: None,
        execution: None,
    };
    let at = Instant::now();
    app.update(Input::Focus(folder, Box::new(Ok(focus))), at);
}

#[test]
fn a_list_of_24_lines_says_what_each_task_needs() {
    let app = app((80, 24), false, shop());
    assert_snapshot!(shown(&app), @"
     shop   2 need you · 1 of 10 agents · 1 of 5 workspaces · monitor starts
    ▌★ ○    TASK-001 reviewing     Add a login form                             1m
            ↳ passed its review and waits for you
     ? ○    TASK-003 clarification Pick the colour                              1m
            ↳ Which button colour do you want: the brand blue or the accent green?
     ▶ ●  2 TASK-002 working       Tidy the style sheets                        1m
     · ○    TASK-004 pending       Cache product images                         1m
















     v view  x cancel  c new  n next  Tab views  ? help
    ");
    assert!(shown(&app).lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn a_wide_screen_has_a_preview() {
    let mut app = app((120, 12), false, shop());
    app.screen = Some("\u{1b}[32mtests pass\u{1b}[0m\u{1b}]0;title\u{7}\n>".to_owned());
    let shown = shown(&app);
    assert_snapshot!(shown, @"
     shop   2 need you · 1 of 10 agents · 1 of 5 workspaces · monitor starts
    ▌★ ○    TASK-001 reviewing     Add a login form               1m  │ TASK-001 Add a login form
            ↳ passed its review and waits for you                     │ ───────────────────────────────────────────────────
     ? ○    TASK-003 clarification Pick the colour                1m  │ tests pass
            ↳ Which button colour do you want: the brand blue or the… │ >
     ▶ ●  2 TASK-002 working       Tidy the style sheets          1m  │
     · ○    TASK-004 pending       Cache product images           1m  │
                                                                      │
                                                                      │
                                                                      │

     v view  x cancel  c new  n next  Tab views  ? help
    ");
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn ascii_means_ascii() {
    for size in [(80, 24), (120, 40), (300, 100), (40, 8), (20, 5)] {
        let mut app = app(size, true, shop());
        for keys in ["", "?", "\u{1b}\t", "\t", "\tv", "\u{1b}c"] {
            press(&mut app, keys);
            let shown = shown(&app);
            assert!(shown.is_ascii(), "{size:?} {keys:?}\n{shown}");
        }
    }
}

#[test]
fn the_cursor_stays_on_its_task_and_line() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "G");
    assert_eq!(app.cursor.as_deref(), Some("shop/4"));
    let mut rows = shop();
    rows.push(needing(row(9, "stuck", "Something new"), "asks for help"));
    let effects = load(&mut app, rows);
    assert_eq!(app.cursor.as_deref(), Some("shop/4"));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Bell)));
}

#[test]
fn what_needs_the_person_is_visited_in_turn() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "G");
    let mut visited = Vec::new();
    for _ in 0..3 {
        press(&mut app, "n");
        visited.push(app.cursor.clone().unwrap());
    }
    assert_eq!(visited, ["shop/1", "shop/3", "shop/1"]);
}

#[test]
fn only_y_is_a_yes_and_not_at_once() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "x");
    assert!(matches!(app.overlay, Some(Overlay::Confirm(_))));
    let at = Instant::now();
    let yes = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
    if let Some(Overlay::Confirm(confirm)) = &mut app.overlay {
        confirm.opened = at;
    }
    assert!(app.update(Input::Key(yes), at).is_empty());
    assert!(app.overlay.is_some());
    assert!(press(&mut app, "\n").is_empty());
    assert!(app.overlay.is_none());
    let effects = press(&mut app, "xy");
    assert!(matches!(
        &effects[..],
        [Effect::Run {
            verb: Verb::Cancel,
            ..
        }]
    ));
    // As long as it runs, nothing else is done with the task.
    assert!(press(&mut app, "xy").is_empty());
}

#[test]
fn a_paste_is_never_a_key() {
    let mut app = app((80, 24), false, shop());
    app.update(Input::Paste("xydyq".to_owned()), Instant::now());
    match &app.overlay {
        Some(Overlay::Compose(compose)) => assert_eq!(compose.area.lines(), ["xydyq"]),
        _ => panic!("no composer"),
    }
    // A draft outlives Esc.
    press(&mut app, "\u{1b}");
    app.update(Input::Paste("!".to_owned()), Instant::now());
    match &app.overlay {
        Some(Overlay::Compose(compose)) => assert_eq!(compose.area.lines(), ["xydyq!"]),
        _ => panic!("no composer"),
    }
}

#[test]
fn a_search_narrows_and_esc_shows_all_again() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "/login");
    let tasks = |app: &App| {
        let lines = app.lines.all.iter();
        lines
            .filter(|line| matches!(line, rows::ListLine::Task(_)))
            .count()
    };
    assert_eq!(tasks(&app), 1);
    press(&mut app, "\nj");
    press(&mut app, "\u{1b}");
    assert_eq!(tasks(&app), 4);
}

#[test]
fn a_new_task_needs_only_a_summary() {
    let mut app = app((80, 24), false, shop());
    assert!(press(&mut app, "c\n").is_empty());
    assert!(app.message.as_ref().unwrap().is_error);
    let effects = press(&mut app, "Export orders\n");
    match &effects[..] {
        [
            Effect::Run {
                verb: Verb::Create(new),
                ..
            },
        ] => {
            assert_eq!(
                (new.summary.as_str(), new.project.as_str()),
                ("Export orders", "shop")
            );
            assert!(new.starts);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_that_have_no_use_say_so_and_do_nothing() {
    let mut app = app(
        (80, 24),
        false,
        vec![row(4, "pending", "Cache product images")],
    );
    for key in ["m", "a", "A", "r", "i", "e", "!"] {
        assert!(press(&mut app, key).is_empty(), "{key}");
        assert!(app.message.as_ref().unwrap().is_error, "{key}");
    }
    assert!(matches!(
        &press(&mut app, "\n")[..],
        [Effect::Run {
            verb: Verb::Start,
            ..
        }]
    ));
}

#[test]
fn q_goes_back_and_quits_at_the_top() {
    let mut app = app((80, 24), false, shop());
    press(&mut app, "v");
    assert_eq!(app.view, View::Task);
    press(&mut app, "q");
    assert_eq!(app.view, View::List);
    assert!(matches!(
        press(&mut app, "\u{1b}")[..],
        [Effect::LoadFocus(_)]
    ));
    assert!(matches!(press(&mut app, "q")[..], [Effect::Quit]));
}

#[test]
fn ten_thousand_tasks_are_no_more_to_draw_than_a_screen() {
    let many: Vec<OverviewRow> = (0..10_000)
        .map(|number| row(number, "pending", "A task"))
        .collect();
    let mut app = app((80, 24), false, many);
    press(&mut app, "G");
    let shown = shown(&app);
    assert!(shown.contains("TASK-9999"), "{shown}");
    assert_eq!(shown.lines().count(), 24);
}

#[test]
fn a_chosen_key_is_in_footer_and_help_and_acts() {
    let mut app = app((80, 24), false, shop());
    let chosen = [(KeyAction::Cancel, "X".to_owned())];
    app.keymap = Keymap::new(&orange_core::keys::ChosenKeys::from(chosen));
    assert!(shown(&app).contains("X cancel"));
    assert!(press(&mut app, "x").is_empty() && app.overlay.is_none());
    press(&mut app, "X");
    assert!(matches!(app.overlay, Some(Overlay::Confirm(_))));
    press(&mut app, "\u{1b}?cancel the");
    assert!(shown(&app).contains("X     cancel the task"));
}

#[test]
fn a_rescue_is_looked_at_before_it_is_brought_back() {
    let mut app = app((80, 24), false, shop());
    let told = |app: &mut App, outcome: VerbOutcome| {
        let done = Input::Done {
            folder: "shop/1".to_owned(),
            what: "rescue",
            outcome: Box::new(outcome),
        };
        app.update(done, Instant::now());
    };
    let effects = press(&mut app, "S");
    assert!(matches!(
        &effects[..],
        [Effect::Run { folder, verb: Verb::ListRescues }] if folder == "shop/1"
    ));
    told(&mut app, VerbOutcome::Rescues(Vec::new()));
    assert!(app.overlay.is_none());
    assert!(shown(&app).contains("TASK-001 has no rescues"));
    let rescue = (
        "20261115T1138".to_owned(),
        "20261115T1138  1d  2 files".to_owned(),
    );
    told(&mut app, VerbOutcome::Rescues(vec![rescue]));
    assert!(shown(&app).contains("a 20261115T1138  1d  2 files"));
    let effects = press(&mut app, "a");
    assert!(matches!(
        &effects[..],
        [Effect::Run { verb: Verb::ShowRescue(name), .. }] if name == "20261115T1138"
    ));
    let outcome = VerbOutcome::Rescue {
        name: "20261115T1138".to_owned(),
        lines: vec!["M src/login.css".to_owned()],
    };
    told(&mut app, outcome);
    let asked = shown(&app);
    assert!(
        asked.contains("bring back 20261115T1138 of TASK-001?"),
        "{asked}"
    );
    assert!(asked.contains("M src/login.css"), "{asked}");
    let effects = press(&mut app, "y");
    assert!(matches!(
        &effects[..],
        [Effect::Run { verb: Verb::RestoreRescue(name), .. }] if name == "20261115T1138"
    ));
}

#[test]
fn what_the_index_finds_joins_the_rows_that_are_narrowed() {
    let mut app = app((80, 24), false, shop());
    let effects = press(&mut app, "/log");
    let asked = |effect: &Effect| matches!(effect, Effect::Search(words) if words == "log");
    assert!(effects.iter().any(asked), "{effects:?}");
    assert!(!shown(&app).contains("TASK-004"));
    let found = |words: &str, id: &str| Input::Found {
        words: words.to_owned(),
        tasks: [("shop".to_owned(), id.to_owned())].into(),
    };
    // An answer to an earlier question is too late.
    app.update(found("lo", "2"), Instant::now());
    assert!(!shown(&app).contains("TASK-002"));
    app.update(found("log", "4"), Instant::now());
    assert!(shown(&app).contains("TASK-004"));
    assert!(shown(&app).contains("TASK-001"));
    press(&mut app, "\u{1b}");
    assert_eq!(app.narrowed, Narrowed::default());
}

#[test]
fn a_stuck_task_gets_words_by_either_key() {
    let mut app = app((80, 24), false, shop());
    asking(&mut app, "q1", "");
    let focus = app.focus.as_mut().unwrap();
    focus.questions.clear();
    focus.task.status = Status::Stuck;
    focus.asked_in_file = Some("the key of the test shop is missing".to_owned());
    press(&mut app, "a");
    let answer = "answer TASK-001: the key of the test shop is missing";
    assert!(shown(&app).contains(answer), "{}", shown(&app));
    press(&mut app, "\u{1b}r");
    assert!(matches!(
        &app.overlay,
        Some(Overlay::Compose(compose)) if matches!(compose.purpose, ComposeFor::RequestChanges)
    ));
}

#[test]
fn the_heading_of_a_folded_project_counts_by_whose_turn_it_is() {
    let mut rows = shop();
    rows.push(row(8, "done", "Write the manual"));
    let mut other = row(1, "working", "Show related posts");
    (other.folder, other.project) = ("blog/1".to_owned(), "blog".to_owned());
    rows.push(other);
    let mut app = app((80, 24), false, rows);
    press(&mut app, "h");
    let frame = shown(&app);
    let heading = frame.lines().nth(1).unwrap();
    assert_eq!(
        heading,
        " ▸ shop   2 need you, 1 at work, 1 waiting, 1 over"
    );
}

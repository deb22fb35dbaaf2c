//! The other tabs of a task: timeline, TASK.md, agents, and the agent's screen in its colours.

use super::{app, asking, press, shop, shown};
use crate::app::{App, Input};
use crate::draw;
use insta::assert_snapshot;
use orange_core::Timestamp;
use orange_core::history::EventType;
use orange_core::timeline::EventWeight;
use orange_core::workflow::Role;
use orange_engine::views::{AgentView, TimelineEntry};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};
use std::time::Instant;

/// A task that is open, with what is known of it changed.
fn opened(
    size: (u16, u16),
    tab: &str,
    change: impl FnOnce(&mut orange_engine::views::dashboard::Focus),
) -> App {
    let mut app = app(size, false, shop());
    asking(&mut app, "q", "Bash: ls");
    let mut focus = app.focus.take().unwrap();
    focus.questions.clear();
    change(&mut focus);
    let folder = focus.folder.clone();
    press(&mut app, "v");
    press(&mut app, tab);
    app.update(Input::Focus(folder, Box::new(Ok(focus))), Instant::now());
    app
}

fn entry(minute: i64, who: &str, words: &str, weight: EventWeight) -> TimelineEntry {
    TimelineEntry {
        at: Timestamp::from_second(1_800_000_000 + minute * 60).unwrap(),
        kind: EventType::StatusChanged,
        who: who.to_owned(),
        words: words.into(),
        weight,
    }
}

#[test]
fn a_timeline_wraps_its_words() {
    let long = "message: please use the blue button, and not the green one, because the green one is for buying things";
    let app = opened((80, 16), "1", |focus| {
        focus.timeline = vec![
            entry(0, "engine", "pending → planning", EventWeight::Story),
            entry(1, "you", long, EventWeight::Story),
            entry(2, "worker", &"word ".repeat(1000), EventWeight::Trouble),
        ];
    });
    let shown = shown(&app);
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
    assert!(shown.contains("worker    word word"), "{shown}");
    let mut app = app;
    press(&mut app, "G");
    let shown = super::shown(&app);
    assert!(shown.contains(" …"), "{shown}");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("because the green one is for buying things"),
        "{shown}"
    );
    assert!(shown.contains("pending → planning"), "{shown}");
}

#[test]
fn a_task_file_is_scrolled_to_its_end_and_no_further() {
    let body = format!("# Title\n\n{}\n\nthe end", "some words ".repeat(500));
    let mut app = opened((80, 24), "4", |focus| focus.body = body);
    press(&mut app, "G");
    let end = shown(&app);
    assert!(end.contains("the end"), "{end}");
    assert!(end.matches("some words").count() > 50, "{end}");
    press(&mut app, "jjj");
    assert_eq!(shown(&app), end);
    press(&mut app, "g");
    assert!(shown(&app).contains("Title"));
    // Read anew, it is formatted anew.
    let mut focus = app.focus.take().unwrap();
    focus.body = "- [x] \u{1b}[31mdone".to_owned();
    let folder = focus.folder.clone();
    app.update(Input::Focus(folder, Box::new(Ok(focus))), Instant::now());
    assert!(shown(&app).contains("- ✓ ␛[31mdone"), "{}", shown(&app));
}

#[test]
fn agents_say_what_they_do() {
    let agent = |role, alive| AgentView {
        run: "run".to_owned(),
        role,
        harness: "claude".to_owned(),
        alive,
        doing: None,
        said: Some("the model said no: ".to_owned() + &"overloaded ".repeat(20)),
        usage: None,
        started: Timestamp::from_second(1_800_000_000).unwrap(),
        ended: None,
        pane: None,
        waiting: vec!["use the blue button".to_owned()],
    };
    let app = opened((60, 20), "5", |focus| {
        focus.agents = vec![agent(Role::Worker, true), agent(Role::Reviewer, false)];
    });
    let text = shown(&app);
    let text = text.lines().skip(4).collect::<Vec<_>>().join("\n");
    let text = without_times(&text);
    assert_snapshot!(text, @"

    ○ reviewer, claude, since …
      its process is gone
      the model said no: overloaded overloaded overloaded
      overloaded overloaded overloaded overloaded overloaded
      overloaded overloaded overloaded overloaded overloaded
      overloaded overloaded overloaded overloaded overloaded
      overloaded overloaded
      not delivered yet: use the blue button

    ● worker, claude, since …
      alive
      the model said no: overloaded overloaded overloaded
      overloaded overloaded overloaded overloaded overloaded

    x cancel  ? help
    ");
}

/// Without the times, which depend on where the test runs.
fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once("since ") {
        Some((before, _)) => format!("{before}since …"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_screen_of_an_agent_has_its_colours_and_nothing_else_of_it() {
    let mut app = opened((80, 24), "3", |_| {});
    let seen = "\u{1b}[1;32mtests pass\u{1b}[0m \u{1b}[38;5;208morange\u{1b}[0m \u{1b}[8mhidden\u{1b}[0m\n\
        \u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[5;5Hmoved \u{1b}P+q\u{1b}\\ \u{9b}31m \u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7} end\n";
    let folder = app.cursor.clone().unwrap();
    app.update(Input::Screen(folder, Some(seen.to_owned())), Instant::now());
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal.draw(|frame| draw::draw(frame, &app)).unwrap();
    let buffer = terminal.backend().buffer();
    let cell_of = |letter: &str| buffer.content.iter().find(|cell| cell.symbol() == letter);
    let green = buffer
        .content
        .iter()
        .filter(|cell| cell.fg == Color::Green && cell.modifier.contains(Modifier::BOLD))
        .map(|cell| cell.symbol())
        .collect::<String>();
    assert_eq!(green, "tests pass");
    let indexed = buffer.content.iter();
    let indexed = indexed.filter(|cell| cell.fg == Color::Indexed(208));
    assert_eq!(indexed.count(), "orange".len());
    assert!(cell_of("h").is_some());
    for cell in &buffer.content {
        assert!(!cell.modifier.contains(Modifier::HIDDEN), "{cell:?}");
        assert!(!cell.symbol().contains(char::is_control), "{cell:?}");
    }
    let text = shown(&app);
    for part in ["tests pass orange hidden", "end"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

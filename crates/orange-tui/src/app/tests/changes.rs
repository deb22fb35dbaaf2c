//! The Changes tab: files, hunks, what was viewed, what is asked for and noted.

use super::{app, press, row, shown};
use crate::app::{App, Effect, Input, Tab, View};
use insta::assert_snapshot;
use orange_core::display::clean_width;
use orange_engine::git::diff::{FileChange, FileStatus, Sides};
use orange_engine::index::DiffStat;
use orange_engine::sessions::SessionState;
use orange_engine::views::changes::{ChangedFile, Changes};
use orange_engine::views::diff::{Comparison, DiffOf};
use orange_engine::views::patch::{FilePatch, LineKind, PatchLine, is_lock_file};
use orange_engine::{Code, Error};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

fn file(path: &str, added: u64, deleted: u64) -> ChangedFile {
    ChangedFile {
        change: FileChange {
            path: PathBuf::from(path),
            old_path: None,
            status: FileStatus::Modified,
            added,
            deleted,
            binary: false,
            blob: Some(format!("blob of {path}")),
        },
        path: path.to_owned(),
        content: Some(format!("blob of {path}")),
        is_viewed: false,
        is_lock_file: is_lock_file(&PathBuf::from(path)),
    }
}

fn changes(head: &str, files: Vec<ChangedFile>) -> Changes {
    let comparison = Comparison {
        sides: Sides::Worktree(PathBuf::from("/nowhere")),
        base: Some("e592c63e592c63".to_owned()),
        head: Some(head.to_owned()),
        against: "main".to_owned(),
        commits: Some(2),
        is_rest: true,
        notes: Vec::new(),
        nothing: None,
    };
    Changes {
        comparison: Arc::new(comparison),
        files,
        before: None,
    }
}

fn line(kind: LineKind, number: Option<u32>, text: &str) -> PatchLine {
    PatchLine {
        kind,
        number,
        text: text.to_owned(),
    }
}

/// Two hunks of so many lines each.
fn patch(length: u32) -> FilePatch {
    let mut lines = Vec::new();
    for start in [12, 200] {
        lines.push(line(
            LineKind::Hunk,
            None,
            &format!("@@ -{start} +{start} @@"),
        ));
        lines.push(line(
            LineKind::Same,
            Some(start),
            "<form action=\"/login\">",
        ));
        lines.push(line(LineKind::Deleted, Some(start + 1), "\t<button>"));
        for more in 1..=length {
            let text = "\t<button class=\"blue\">\u{1b}[31m";
            lines.push(line(LineKind::Added, Some(start + more), text));
        }
    }
    let second = lines.len() / 2;
    FilePatch {
        lines,
        hunks: vec![0, second],
        is_cut: false,
    }
}

/// A task with its changes open.
fn opened(size: (u16, u16), files: Vec<ChangedFile>) -> (App, Vec<Effect>) {
    let mut login = row(1, "reviewing", "Add a login form");
    (login.session, login.slot) = (SessionState::Alive, Some(1));
    login.diff = Some(DiffStat {
        commits: 2,
        since_review: Some(1),
        ..DiffStat::default()
    });
    let mut app = app(size, false, vec![login]);
    let effects = press(&mut app, "D");
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::LoadChanges {
            of: DiffOf::Work,
            ..
        }
    )));
    let effects = load(&mut app, DiffOf::Work, changes("abc", files));
    (app, effects)
}

fn load(app: &mut App, of: DiffOf, changes: Changes) -> Vec<Effect> {
    let input = Input::Changes {
        folder: "shop/1".to_owned(),
        of,
        loaded: Box::new(Ok(changes)),
    };
    app.update(input, Instant::now())
}

/// The number of the patch that is asked for, and of which file.
fn asked(effects: &[Effect]) -> Option<(u64, String)> {
    effects.iter().find_map(|effect| match effect {
        Effect::LoadPatch { ticket, file, .. } => Some((*ticket, file.path.display().to_string())),
        _ => None,
    })
}

fn give(app: &mut App, effects: &[Effect], patch: FilePatch) {
    let (ticket, _) = asked(effects).unwrap();
    let patch = Box::new(Ok(patch));
    app.update(Input::Patch { ticket, patch }, Instant::now());
}

fn three() -> Vec<ChangedFile> {
    vec![
        file("src/login.html", 40, 2),
        file("src/login.css", 12, 0),
        file("Cargo.lock", 1200, 300),
    ]
}

#[test]
fn files_stand_above_the_lines_of_a_narrow_screen() {
    let (mut app, effects) = opened((80, 24), three());
    give(&mut app, &effects, patch(9));
    press(&mut app, " ");
    assert_snapshot!(shown(&app), @r#"
     shop   nothing needs you · 1 of 10 agents · 1 of 5 workspaces · monitor starts
     shop:TASK-001 Add a login form  ★ reviewing
     1 Timeline [2 Changes] 3 Screen  4 TASK.md  5 Agents  6 Phases

     [all] · since I looked · last turn · since review · uncommitted
     ! 1 commit since review  3 files +1252 −302 since main at e592c63
     ▸✓ src/login.html +40 −2
        src/login.css +12 −0
        Cargo.lock folded
     ── src/login.html ────────────────────────────────────────────────────────────
    ▌@@ -12 +12 @@
      12  <form action="/login">
      13 -    <button>
      13 +    <button class="blue">␛[31m
      14 +    <button class="blue">␛[31m
      15 +    <button class="blue">␛[31m
      16 +    <button class="blue">␛[31m
      17 +    <button class="blue">␛[31m
      18 +    <button class="blue">␛[31m
      19 +    <button class="blue">␛[31m
      20 +    <button class="blue">␛[31m
      21 +    <button class="blue">␛[31m

     space viewed  ] hunk  D since  i message  ⏎ attach  e editor  ! shell  ? help
    "#);
    assert!(shown(&app).lines().all(|line| clean_width(line) <= 80));
}

#[test]
fn files_stand_beside_the_lines_of_a_wide_screen() {
    let (mut app, effects) = opened((120, 20), three());
    give(&mut app, &effects, patch(3));
    press(&mut app, "]");
    assert_snapshot!(shown(&app), @r#"
    shop   nothing needs you · 1 of 10 agents · 1 of 5 workspaces · monitor starts
    shop:TASK-001 Add a login form  ★ reviewing
    1 Timeline [2 Changes] 3 Screen  4 TASK.md  5 Agents  6 Phases

    [all] · since I last looked · last turn · since the review · uncommitted
    ! 1 commit since review  3 files +1252 −302 since main at e592c63
    ▸  src/login.html +40 −2             │ @@ -12 +12 @@
       src/login.css +12 −0              │  12  <form action="/login">
       Cargo.lock folded                 │  13 -    <button>
                                         │  13 +    <button class="blue">␛[31m
                                         │  14 +    <button class="blue">␛[31m
                                         │  15 +    <button class="blue">␛[31m
                                         │▌@@ -200 +200 @@
                                         │ 200  <form action="/login">
                                         │ 201 -    <button>
                                         │ 201 +    <button class="blue">␛[31m
                                         │ 202 +    <button class="blue">␛[31m
                                         │ 203 +    <button class="blue">␛[31m

    space viewed  ] hunk  D since  i message  ⏎ attach  e editor  ! shell  x cancel  ? help
    "#);
}

#[test]
fn hunks_and_files_follow_one_another() {
    let (mut app, effects) = opened((80, 24), three());
    assert_eq!(asked(&effects), Some((1, "src/login.html".to_owned())));
    // A patch that was asked for earlier comes too late.
    app.update(
        Input::Patch {
            ticket: 0,
            patch: Box::new(Ok(patch(1))),
        },
        Instant::now(),
    );
    assert!(app.changes.patch.is_none());
    give(&mut app, &effects, patch(40));
    assert!(press(&mut app, "]").is_empty());
    assert_eq!(
        (app.changes.at, app.changes.hunk, app.changes.top),
        (0, 1, 43)
    );
    press(&mut app, "[");
    assert_eq!((app.changes.hunk, app.changes.top), (0, 0));
    let effects = press(&mut app, "]]");
    assert_eq!(asked(&effects), Some((2, "src/login.css".to_owned())));
    give(&mut app, &effects, patch(40));
    // Back: to the end of the file before.
    let effects = press(&mut app, "[");
    give(&mut app, &effects, patch(40));
    assert_eq!((app.changes.at, app.changes.hunk), (0, 1));
    assert!(app.changes.top > 43);
    let effects = press(&mut app, "j");
    assert_eq!(asked(&effects).unwrap().1, "src/login.css");
    give(&mut app, &effects, patch(1));
    // A lock file is folded: nothing is read for it until it is wanted.
    assert!(asked(&press(&mut app, "l")).is_none());
    assert!(shown(&app).contains("folded: +1200 −300; `l` shows them"));
    assert_eq!(asked(&press(&mut app, "l")).unwrap().1, "Cargo.lock");
    assert!(press(&mut app, "h").is_empty());
    assert!(shown(&app).contains("folded: +1200"));
    press(&mut app, "]");
    assert!(app.message.as_ref().unwrap().text.contains("last change"));
}

#[test]
fn a_viewed_file_is_marked_by_its_content() {
    let (mut app, effects) = opened((80, 24), three());
    give(&mut app, &effects, patch(1));
    let marked = press(&mut app, " ");
    assert!(matches!(
        &marked[..],
        [Effect::MarkViewed { path, content: Some(content), .. }]
            if path == "src/login.html" && content == "blob of src/login.html"
    ));
    // A list that was read before says nothing against it.
    load(&mut app, DiffOf::Work, changes("abc", three()));
    assert!(shown(&app).contains("✓ src/login.html"));
    // Other content was not viewed.
    let mut files = three();
    files[0].content = Some("other".to_owned());
    load(&mut app, DiffOf::Work, changes("def", files));
    assert!(!shown(&app).contains('✓'));
    let mut files = three();
    files[0].content = None;
    load(&mut app, DiffOf::Work, changes("def", files));
    assert!(matches!(
        press(&mut app, " ")[..],
        [Effect::NoteLook { .. }]
    ));
    assert!(app.message.as_ref().unwrap().is_error);
}

#[test]
fn what_was_drawn_is_noted_once_and_the_visit_compares_with_what_was_before() {
    let (mut app, effects) = opened((80, 24), three());
    let notes = |effects: &[Effect]| {
        let notes = effects.iter();
        let notes = notes.filter(|effect| matches!(effect, Effect::NoteLook { .. }));
        notes.count()
    };
    assert_eq!(notes(&effects), 1);
    // What came while nobody pressed a key was not seen by anybody for sure.
    let news = load(&mut app, DiffOf::Work, changes("def", three()));
    assert_eq!(notes(&news), 0);
    assert_eq!(notes(&press(&mut app, "J")), 1);
    assert_eq!(notes(&press(&mut app, "J")), 0);
    // Another part is compared with what was seen before this visit; a part that comes late is not shown.
    let effects = press(&mut app, "D");
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::LoadChanges { of: DiffOf::SinceSeen, visit, .. }
            if *visit == orange_engine::views::changes::Visit::Since(None)
    )));
    load(&mut app, DiffOf::Work, changes("abc", three()));
    assert!(app.changes.shown.is_none());
    // A refusal says why, with what helps.
    let refusal = Error::new(Code::ConditionUnmet, "TASK-001 has had no agent yet");
    press(&mut app, "D");
    let input = Input::Changes {
        folder: "shop/1".to_owned(),
        of: DiffOf::LastTurn,
        loaded: Box::new(Err(refusal)),
    };
    app.update(input, Instant::now());
    assert!(shown(&app).contains("has had no agent yet"));
    // It ends when the person goes elsewhere.
    press(&mut app, "\u{1b}");
    assert_eq!(app.view, View::List);
    let effects = press(&mut app, "D");
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::LoadChanges { of: DiffOf::LastTurn, visit, .. }
            if *visit == orange_engine::views::changes::Visit::New
    )));
}

#[test]
fn the_editor_opens_at_the_hunk() {
    let (mut app, effects) = opened((80, 24), three());
    give(&mut app, &effects, patch(3));
    let effects = press(&mut app, "]e");
    match &effects[..] {
        [Effect::HandOver { words, .. }] => assert_eq!(
            words[..],
            [
                "task",
                "open",
                "shop:TASK-001",
                "--file=src/login.html",
                "--line=201"
            ]
        ),
        other => panic!("{other:?}"),
    }
    let mut files = three();
    files[0].change.status = FileStatus::Deleted;
    load(&mut app, DiffOf::Work, changes("def", files));
    assert!(matches!(
        press(&mut app, "e")[..],
        [Effect::NoteLook { .. }]
    ));
    assert!(app.message.as_ref().unwrap().is_error);
}

#[test]
fn nothing_of_a_file_reaches_the_terminal_as_it_is() {
    let hostile = "a\u{1b}]0;x\u{7}\nb\u{202e}/Cargo.lock";
    let mut named = file(hostile, 1, 1);
    named.change.old_path = Some(PathBuf::from("old\u{1b}[2J"));
    for size in [(80, 24), (120, 40), (40, 8), (300, 100)] {
        let (mut app, effects) = opened(size, vec![named.clone(), file("b", 1, 0)]);
        if asked(&effects).is_some() {
            give(&mut app, &effects, patch(3));
        }
        let shown = shown(&app);
        let is_bare = |letter: char| letter.is_control() && letter != '\n';
        assert!(
            !shown.contains(is_bare) && !shown.contains('\u{202e}'),
            "{shown:?}"
        );
        for keys in ["]", "j", "K", "G", "g", "[", "l", "h", " ", "J"] {
            press(&mut app, keys);
            super::shown(&app);
        }
    }
}

#[test]
fn a_part_without_files_answers_keys() {
    let (mut app, _) = opened((80, 24), Vec::new());
    assert!(shown(&app).contains("nothing differs from main"));
    for keys in ["]", "[", "j", "k", "G", "g", " ", "h", "l", "J", "K"] {
        assert!(press(&mut app, keys).is_empty(), "{keys}");
    }
    assert_eq!(app.tab, Tab::Changes);
    let down = KeyEvent::new(KeyCode::Down, KeyModifiers::NONE);
    app.update(Input::Key(down), Instant::now());
}

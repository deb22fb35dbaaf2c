//! What is typed arrives, whole and where it should; what is shown is read.

use crate::world::World;
use orange_sys::Code;
use orange_tmux::Pane;
use std::fs;

/// A program that asks for bracketed paste and writes down every byte it gets.
fn bracketed(world: &World) -> Pane {
    let log = world.path("log");
    let script = r#"stty raw -echo; printf '\033[?2004hready'; exec cat > "$0""#;
    let pane = world.run("task", &["sh", "-c", script, log.to_str().unwrap()]);
    // tmux reads in order: what it shows was preceded by the wish.
    world.wait_for_screen(&pane, "ready");
    pane
}

fn wait_for_log(world: &World, expected: &str) {
    let log = world.path("log");
    let mut seen = 0;
    world.wait("everything has arrived", || {
        seen = fs::metadata(&log).map_or(0, |data| data.len());
        seen >= expected.len() as u64
    });
    let got = fs::read_to_string(&log).unwrap();
    assert!(got == expected, "{} bytes, {got:.300}", got.len());
}

#[test]
fn a_paste_arrives_whole_between_brackets() {
    let world = World::new();
    let pane = bracketed(&world);
    let text = "first line\n\n\tsecond, 🍊 and größe; \\; 'x' \"y\" #(z) $HOME %1\nEnter";
    world.tmux().paste(&pane, text).unwrap();
    let mut expected = format!("\u{1b}[200~{text}\u{1b}[201~");
    wait_for_log(&world, &expected);
    world.tmux().press(&pane, "Enter").unwrap();
    expected.push('\r');
    wait_for_log(&world, &expected);
    for (key, bytes) in [
        ("Escape", "\u{1b}"),
        ("C-c", "\u{3}"),
        ("y", "y"),
        (";", ";"),
        ("'", "'"),
        ("#", "#"),
        ("\\", "\\"),
        ("$", "$"),
    ] {
        world.tmux().press(&pane, key).unwrap();
        expected.push_str(bytes);
    }
    wait_for_log(&world, &expected);
    assert_eq!(world.user(&["list-buffers"]), "");
}

#[test]
fn two_hundred_kilobytes_arrive_whole() {
    let world = World::new();
    let pane = bracketed(&world);
    let line = "0123456789 abcdefghij\tKLMNOPQRST üöä 🍊\n";
    let text = line.repeat(200 * 1024 / line.len() + 1);
    assert!(text.len() >= 200 * 1024);
    world.tmux().paste(&pane, &text).unwrap();
    wait_for_log(&world, &format!("\u{1b}[200~{text}\u{1b}[201~"));
}

#[test]
fn a_message_cannot_end_its_own_brackets() {
    let world = World::new();
    let pane = bracketed(&world);
    let text = "a\u{1b}[201~\rb\r\nc\u{3}\u{7f}\u{9b}d\u{0}";
    world.tmux().paste(&pane, text).unwrap();
    wait_for_log(&world, "\u{1b}[200~a[201~\nb\ncd\u{1b}[201~");
    world.tmux().paste(&pane, "").unwrap();
    world.tmux().paste(&pane, "\u{1b}").unwrap();
    wait_for_log(&world, "\u{1b}[200~a[201~\nb\ncd\u{1b}[201~");
}

#[test]
fn messages_at_the_same_time_are_not_mixed() {
    let world = World::new();
    let pane = bracketed(&world);
    let text = |n: usize| format!("{n}:{}", n.to_string().repeat(5000));
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (tmux, pane) = (world.tmux(), &pane);
            scope.spawn(move || tmux.paste(pane, &text(n)).unwrap());
        }
    });
    let log = world.path("log");
    let length = 8 * (text(0).len() + 12);
    world.wait("everything has arrived", || {
        fs::metadata(&log).is_ok_and(|data| data.len() >= length as u64)
    });
    let got = fs::read_to_string(&log).unwrap();
    for n in 0..8 {
        assert!(
            got.contains(&format!("\u{1b}[200~{}\u{1b}[201~", text(n))),
            "{n}"
        );
    }
}

#[test]
fn a_program_without_brackets_gets_none() {
    let world = World::new();
    let file = world.path("log");
    let script = "printf ready; exec cat > \"$0\"";
    let pane = world.run("task", &["sh", "-c", script, file.to_str().unwrap()]);
    world.wait_for_screen(&pane, "ready");
    let text = "one\n\ttwo 🍊\n\nthree\n";
    world.tmux().paste(&pane, text).unwrap();
    wait_for_log(&world, text);
    world.tmux().paste(&pane, "four").unwrap();
    world.tmux().press(&pane, "Enter").unwrap();
    wait_for_log(&world, "one\n\ttwo 🍊\n\nthree\nfour\n");
}

#[test]
fn copy_mode_and_choosers_are_left() {
    let world = World::new();
    let pane = bracketed(&world);
    let mut expected = String::new();
    let in_mode = || world.user(&["display-message", "-p", "-t", &pane.pane, "#{pane_in_mode}"]);
    for mode in ["copy-mode", "choose-tree", "clock-mode"] {
        world.user(&[mode, "-t", &pane.pane]);
        assert_ne!(in_mode(), "0");
        world.tmux().paste(&pane, mode).unwrap();
        assert_eq!(in_mode(), "0");
        expected.push_str(&format!("\u{1b}[200~{mode}\u{1b}[201~"));
        wait_for_log(&world, &expected);
        world.user(&[mode, "-t", &pane.pane]);
        world.tmux().press(&pane, "Enter").unwrap();
        assert_eq!(in_mode(), "0");
        expected.push('\r');
        wait_for_log(&world, &expected);
    }
}

#[test]
fn what_is_no_key_is_not_typed() {
    let world = World::new();
    let pane = bracketed(&world);
    for text in ["", "Entr", "rm -rf", "-X", "-l", "Enter Enter", "é"] {
        let refused = world.tmux().press(&pane, text).unwrap_err();
        assert_eq!(refused.code, Code::Usage, "{text}");
    }
    world.tmux().press(&pane, "-").unwrap();
    wait_for_log(&world, "-");
}

/// tmux 3.3a crashes when something is pasted into such a pane.
#[test]
fn a_dead_pane_takes_nothing_and_the_server_lives() {
    let world = World::new();
    let keep = world.session("keep");
    world.user(&["set-option", "-g", "remain-on-exit", "on"]);
    // It ends when it is told to: tmux loses the last words of a program that is quicker than itself.
    let pane = world.run("task", &["sh", "-c", "echo bye; read line"]);
    world.wait_for_screen(&pane, "bye");
    world.tmux().press(&pane, "Enter").unwrap();
    world.wait("it is dead", || {
        world.pane(&pane).is_some_and(|info| info.dead)
    });
    let tmux = world.tmux();
    for refused in [
        tmux.paste(&pane, "hello"),
        tmux.paste(&pane, ""),
        tmux.press(&pane, "Enter"),
    ] {
        assert_eq!(refused.unwrap_err().code, Code::NotFound);
    }
    assert!(tmux.is_there(&keep).unwrap());
    // It can still be looked at.
    assert!(tmux.is_there(&pane).unwrap());
    let last = tmux.capture(&pane, Some(1)).unwrap();
    assert!(last.starts_with("bye"), "{last:?}");
    assert_eq!(world.user(&["list-buffers"]), "");
    tmux.kill_window(&pane).unwrap();
    assert!(!tmux.is_there(&pane).unwrap());
}

#[test]
fn a_pane_that_is_gone_is_not_found() {
    let world = World::new();
    world.session("keep");
    let pane = world.session("task");
    let tmux = world.tmux();
    tmux.kill_window(&pane).unwrap();
    for _ in 0..2 {
        let error = tmux.paste(&pane, "hello").unwrap_err();
        assert_eq!(error.code, Code::NotFound);
        assert!(error.message.contains("session task"), "{error}");
        assert_eq!(tmux.press(&pane, "Enter").unwrap_err().code, Code::NotFound);
        assert_eq!(
            tmux.capture(&pane, Some(5)).unwrap_err().code,
            Code::NotFound
        );
        // The second time there is no server at all.
        world.try_user(&["kill-server"]);
    }
}

#[test]
fn a_screen_is_read_with_its_wide_lines_whole() {
    let world = World::new();
    let long = "größe🍊 ".repeat(60);
    let long = long.trim();
    let script = "i=1; while [ $i -le 100 ]; do echo line $i; i=$((i+1)); done; \
        printf '%s\\n  indented   \\n\\n\\n' \"$0\"; printf '\\033[31mred\\033[0m   \\n\\n\\n'; exec sleep 1000";
    let pane = world.run("task", &["sh", "-c", script, long]);
    world.wait_for_screen(&pane, "red");
    let screen = world.tmux().capture(&pane, None).unwrap();
    assert!(
        screen.ends_with(&format!("line 100\n{long}\n  indented\n\n\nred")),
        "{screen}"
    );
    assert!(!screen.contains("line 10\n"), "{screen}");
    let more = world.tmux().capture(&pane, Some(5)).unwrap();
    assert_eq!(more.lines().count(), screen.lines().count() + 5);
    let all = world.tmux().capture(&pane, Some(100_000)).unwrap();
    assert!(all.starts_with("line 1\nline 2\n"), "{all}");
}

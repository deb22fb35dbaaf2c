//! Names, folders and arguments that tmux would expand, change or take apart.

use crate::world::{World, recorded, recorder, window};
use orange_sys::Code;
use orange_tmux::session_name;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;

fn hostile(file: &str) -> Vec<String> {
    let mut names: Vec<String> = [
        "x#(touch FILE)",
        "x##(touch FILE)",
        "x###(touch FILE)",
        "#[#(touch FILE)]",
        "#{s/x/y/:#(touch FILE)}",
        "$(touch FILE)",
        "`touch FILE`",
        "it's \"quoted\"",
        "shop/🍊-größe",
        "v1.2:3",
        "-dash",
        "--",
        "=equals",
        "@at",
        "$dollar",
        "%percent %H",
        "+1",
        "!",
        "~",
        "{last}",
        "two\nlines",
        "tab\tand\u{1b}[31mescape",
        "back\\slash",
        "end;",
        ";",
        "end\\;",
        "star*",
        "[a-z]",
        "a b",
        "",
    ]
    .iter()
    .map(|name| name.replace("FILE", file))
    .collect();
    names.push("n".repeat(300));
    names
}

#[test]
fn every_name_becomes_a_session_a_window_and_a_new_name() {
    let world = World::new();
    let bait = world.path("bait");
    let tmux = world.tmux();
    let command = ["sleep".into(), "1000".into()];
    for (n, name) in hostile(bait.to_str().unwrap()).iter().enumerate() {
        let task = format!("task-{n}");
        let new = window(name, std::path::Path::new("/"), &command, &task);
        let pane = tmux.new_session(&new, name).unwrap();
        let pane = pane.unwrap_or_else(|| panic!("{name:?} is taken"));
        assert_eq!(pane.session_name, session_name(name), "{name:?}");
        let info = world.pane(&pane).unwrap();
        assert_eq!(info.task_id.as_ref(), Some(&task), "{name:?}");
        assert_eq!(info.run_id.as_ref(), Some(&task), "{name:?}");
        assert_eq!(info.pane, pane, "{name:?}");
        if !name.contains(['\n', '\t', '\\']) {
            assert_eq!(&info.window_name, name);
        }
        let session = tmux.session_of(&task, |_| true).unwrap().unwrap();
        assert_eq!(session.session, pane.session, "{name:?}");
        let second = tmux.new_window(&pane, &new).unwrap();
        assert_eq!(world.pane(&second).unwrap().run_id.as_ref(), Some(&task));
        tmux.kill_window(&second).unwrap();
        assert!(world.pane(&pane).is_some(), "{name:?}");
        // The name is taken now, also by oneself.
        assert_eq!(tmux.new_session(&new, name).unwrap(), None, "{name:?}");
        let other = format!("{name}2");
        assert!(tmux.rename_session(&session, &other).unwrap(), "{name:?}");
        assert_eq!(
            tmux.session_of(&task, |_| true)
                .unwrap()
                .unwrap()
                .session_name,
            session_name(&other),
            "{name:?}"
        );
        tmux.kill_session(&pane).unwrap();
        assert_eq!(tmux.session_of(&task, |_| true).unwrap(), None, "{name:?}");
    }
    assert!(!bait.exists());
}

#[test]
fn a_session_whose_name_looks_like_a_command_is_drawn_without_running_it() {
    let world = World::new();
    let (bait, drawn) = (world.path("bait"), world.path("drawn"));
    let name = format!("#(touch {})", bait.display());
    let command = ["sleep".into(), "1000".into()];
    let new = window(&name, std::path::Path::new("/"), &command, "task");
    let pane = world.tmux().new_session(&new, &name).unwrap().unwrap();
    // This one does run, and is drawn after the others.
    let status = format!("#(touch {})", drawn.display());
    world.user(&["set-option", "-t", &pane.session, "status-right", &status]);
    world.user(&["set-option", "-g", "set-titles", "on"]);
    let terminal = World::new();
    // Without the message of `attach`, which would hide the status line for a while.
    let socket = world.socket();
    let attach = ["tmux", "-S", socket.to_str().unwrap(), "attach-session"];
    let plain = [
        &["env", "-u", "TMUX"],
        attach.as_slice(),
        &["-t", &pane.session],
    ]
    .concat();
    terminal.run("terminal", &plain);
    world.wait_for_file(&drawn);
    assert!(!bait.exists());
}

#[test]
fn arguments_arrive_byte_for_byte() {
    let world = World::new();
    let file = world.path("arguments");
    let bait = format!("#(touch {})", world.path("bait").display());
    let arguments: Vec<OsString> = [
        "a b",
        "it's",
        "\"",
        ";",
        "\\;",
        "a;",
        "a\\;",
        "\\\\;",
        ";;",
        "",
        "two\n  lines",
        "\t",
        &bait,
        "$HOME",
        "`id`",
        "$(id)",
        "{",
        "}",
        "~",
        "%1",
        "-x",
        "--",
        "*",
        "\\",
        "🍊",
        "#{pid}",
    ]
    .iter()
    .map(OsString::from)
    .chain([OsString::from_vec(vec![0xff, 0xfe, b';'])])
    .collect();
    let words: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    let command = recorder(&file, &words);
    let first = window("w", std::path::Path::new("/"), &command, "task");
    let pane = world.tmux().new_session(&first, "s").unwrap().unwrap();
    let mut expected = vec![b"/".to_vec()];
    expected.extend(arguments.iter().map(|word| word.as_bytes().to_vec()));
    assert_eq!(recorded(&world.wait_for_file(&file)), expected);

    fs::remove_file(&file).unwrap();
    world.tmux().new_window(&pane, &first).unwrap();
    assert_eq!(recorded(&world.wait_for_file(&file)), expected);
    assert!(!world.path("bait").exists());
}

#[test]
fn a_command_of_one_word_is_no_line_for_a_shell() {
    let world = World::new();
    let script = world.path("one word; $(touch bait)");
    fs::write(&script, "#!/bin/sh\n: > started\nexec sleep 1000\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let root = world.path("");
    let command = [script.into()];
    let new = window("w", &root, &command, "task");
    world.tmux().new_session(&new, "s").unwrap().unwrap();
    world.wait_for_file(&world.path("started"));
    assert!(!world.path("bait").exists());
}

#[test]
fn a_folder_is_taken_as_it_is() {
    let world = World::new();
    for (n, name) in [
        "a b",
        "x#(touch bait)",
        "a#[b",
        "a##[b",
        "a##b",
        "#S",
        "%H",
        "$HOME",
        "it's",
        "end;",
        "-c",
        "ü",
    ]
    .iter()
    .enumerate()
    {
        let folder = world.path(name);
        fs::create_dir(&folder).unwrap();
        let file = world.path(&format!("file-{n}"));
        let command = recorder(&file, &[]);
        let new = window("w", &folder, &command, "task");
        let pane = world.tmux().new_session(&new, &format!("s{n}")).unwrap();
        let expected = [folder.as_os_str().as_bytes().to_vec()];
        assert_eq!(recorded(&world.wait_for_file(&file)), expected);
        fs::remove_file(&file).unwrap();
        world.tmux().new_window(&pane.unwrap(), &new).unwrap();
        assert_eq!(recorded(&world.wait_for_file(&file)), expected);
    }
    assert!(!world.path("bait").exists());
}

#[test]
fn without_its_folder_nothing_starts() {
    let world = World::new();
    let folder = world.path("nowhere");
    let command = ["sleep".into(), "1000".into()];
    let new = window("w", &folder, &command, "task");
    let refused = world.tmux().new_session(&new, "s").unwrap_err();
    assert_eq!(refused.code, Code::NotFound);
    assert_eq!(world.sessions(), Vec::<String>::new());
    let pane = world.session("other");
    let refused = world.tmux().new_window(&pane, &new).unwrap_err();
    assert_eq!(refused.code, Code::NotFound);
    assert_eq!(world.tmux().panes().unwrap().len(), 1);
}

#[test]
fn a_command_line_that_tmux_refuses_leaves_nothing() {
    let world = World::new();
    world.session("other");
    let command = ["sleep".into(), "x".repeat(20_000).into()];
    let new = window("w", std::path::Path::new("/"), &command, "task");
    let refused = world.tmux().new_session(&new, "s").unwrap_err();
    assert!(refused.message.contains("too long"), "{refused}");
    assert_eq!(world.sessions(), ["other"]);
}

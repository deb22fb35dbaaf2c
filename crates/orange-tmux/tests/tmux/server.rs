//! Which server, what it inherits, and what becomes of a call when there is none or it does not answer.

use crate::world::World;
use orange_sys::Code;
use orange_tmux::{Server, Tmux};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[test]
fn a_setting_names_a_server() {
    assert_eq!(Server::from_setting(""), Server::Default);
    assert_eq!(Server::from_setting(" default "), Server::Default);
    assert_eq!(Server::from_setting("work"), Server::Named("work".into()));
    assert_eq!(
        Server::from_setting("/run/x"),
        Server::Socket("/run/x".into())
    );
}

#[test]
fn no_server_is_no_error() {
    let world = World::new();
    for socket in ["s", "stale"] {
        let tmux = Tmux::at(&world.path(socket)).in_environment(world.environment());
        assert_eq!(tmux.panes().unwrap(), []);
        assert_eq!(tmux.session_of("task", |_| true).unwrap(), None);
        assert_eq!(tmux.prefix_key(), None);
        // A socket that nobody listens at.
        let stale = world.path("stale");
        let _ = std::os::unix::net::UnixListener::bind(stale);
    }
    assert!(!world.socket().exists(), "asking starts no server");
}

#[test]
fn a_server_without_a_session_has_nothing() {
    let world = World::new();
    let pane = world.session("task");
    world.user(&["set-option", "-g", "exit-empty", "off"]);
    let tmux = world.tmux();
    tmux.kill_session(&pane).unwrap();
    assert_eq!(tmux.panes().unwrap(), []);
    assert_eq!(tmux.session_of("task", |_| true).unwrap(), None);
    assert!(!tmux.is_there(&pane).unwrap());
    assert!(!tmux.has_session(&pane).unwrap());
    tmux.kill_session(&pane).unwrap();
    tmux.kill_window(&pane).unwrap();
    for refused in [
        tmux.paste(&pane, "hello"),
        tmux.press(&pane, "Enter"),
        tmux.capture(&pane, None).map(drop),
        tmux.attach(&pane, None).map(drop),
    ] {
        assert_eq!(refused.unwrap_err().code, Code::NotFound);
    }
    assert_eq!(world.user(&["list-buffers"]), "");
    let again = world.session("task");
    assert_eq!(again.server_pid, pane.server_pid);
    assert_ne!(again.pane, pane.pane);
}

#[test]
fn a_socket_that_cannot_be_used_is_an_error() {
    let world = World::new();
    let tmux = Tmux::at(&world.path(&"x".repeat(120))).in_environment(world.environment());
    let error = tmux.panes().unwrap_err();
    assert!(error.message.contains("too long"), "{error}");
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    let world = World::new();
    let pane = world.session("task");
    let server = Pid::from_raw(i32::try_from(pane.server_pid).unwrap()).unwrap();
    kill_process(server, Signal::STOP).unwrap();
    let tmux = world.tmux().timeout(Duration::from_millis(300));
    let errors = [
        tmux.panes().unwrap_err(),
        tmux.capture(&pane, None).unwrap_err(),
        tmux.paste(&pane, &"x".repeat(500_000)).unwrap_err(),
        tmux.kill_session(&pane).unwrap_err(),
    ];
    kill_process(server, Signal::CONT).unwrap();
    for error in errors {
        assert!(
            error.message.contains("did not answer within 0.3 s"),
            "{error}"
        );
        assert!(error.hint.is_some());
    }
}

#[test]
fn without_tmux_it_says_how_to_get_it() {
    let world = World::new();
    let empty = world.path("bin");
    fs::create_dir(&empty).unwrap();
    let tmux = Tmux::at(&world.socket()).in_environment([("PATH".into(), empty.clone().into())]);
    for error in [tmux.version().unwrap_err(), tmux.panes().unwrap_err()] {
        assert!(error.message.contains("cannot start tmux"), "{error}");
        assert!(
            error
                .hint
                .unwrap()
                .words()
                .unwrap()
                .contains("apt install tmux")
        );
    }
    for (says, version) in [
        ("tmux 3.1c", None),
        ("tmux 3.3a", Some("3.3a")),
        ("tmux master", Some("master")),
    ] {
        let program = empty.join("tmux");
        let written = empty.join("new");
        fs::write(&written, format!("#!/bin/sh\necho {says}\n")).unwrap();
        fs::set_permissions(&written, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(&written, &program).unwrap();
        let answer = tmux.version();
        assert_eq!(answer.as_deref().ok(), version, "{says}");
        if let Err(error) = answer {
            assert!(error.message.contains("3.1c is too old"), "{error}");
            assert!(error.hint.is_some());
        }
    }
    assert!(world.tmux().version().is_ok());
}

/// Set for the process that this test starts of itself: only a process of its own can have variables to leave out.
const SECOND: &str = "TMUX_TEST_SECOND";

#[test]
fn nothing_of_the_callers_run_gets_into_a_server() {
    if let Some(session) = std::env::var_os(SECOND) {
        return second_process(&session);
    }
    let (world, other) = (World::new(), World::new());
    let there = other.session("there");
    let inside = format!("{},{},0", other.socket().display(), there.server_pid);
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "server::nothing_of_the_callers_run_gets_into_a_server",
        ])
        .env_clear()
        .envs(world.environment())
        .envs([
            ("ORANGE_TASK_ID", "T"),
            ("ORANGE_RUN_ID", "R"),
            ("ORANGE_", "x"),
        ])
        .envs([
            ("TMUX", inside.as_str()),
            ("TMUX_PANE", &there.pane),
            ("KEPT", "yes"),
        ])
        .env(SECOND, "from-inside")
        .current_dir(world.path(""))
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(other.sessions(), ["there"]);

    let socket = &default_socket(&world);
    let tmux = Tmux::at(socket).in_environment(world.environment());
    let panes = tmux.panes().unwrap();
    assert_eq!(panes.len(), 1);
    assert_eq!(panes[0].pane.session_name, "from-inside");
    assert_eq!(&panes[0].pane.socket, socket);
    let asked = Command::new("tmux")
        .arg("-S")
        .arg(socket)
        .args(["show-environment", "-g"])
        .output();
    let environment = String::from_utf8(asked.unwrap().stdout).unwrap();
    let server = panes[0].pane.server_pid;
    let folder = fs::read_link(format!("/proc/{server}/cwd")).unwrap();
    tmux.kill_session(&panes[0].pane).unwrap();
    assert!(environment.contains("KEPT=yes"), "{environment}");
    for name in ["ORANGE_", "TMUX=", "TMUX_PANE="] {
        let found = environment.lines().any(|line| line.starts_with(name));
        assert!(!found, "{name} in {environment}");
    }
    // A server that stays in a slot would occupy it.
    assert_eq!(folder, Path::new("/"));
}

fn default_socket(world: &World) -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    world.path(&format!("tmux-{user}/default"))
}

fn second_process(session: &OsString) {
    let command = ["sleep".into(), "1000".into()];
    let new = crate::world::window("worker", Path::new("/"), &command, "task");
    let tmux = Tmux::new(Server::Default);
    tmux.new_session(&new, session.to_str().unwrap())
        .unwrap()
        .unwrap();
}

#[test]
fn variables_that_were_handed_over_are_left_out_too() {
    let world = World::new();
    let mut environment = world.environment();
    environment.push(("ORANGE_TASK_ID".into(), "T".into()));
    environment.push(("TMUX".into(), "/nowhere,1,0".into()));
    let tmux = Tmux::new(Server::Named("work".into())).in_environment(environment);
    let command = ["sleep".into(), "1000".into()];
    let new = crate::world::window("worker", Path::new("/"), &command, "task");
    let pane = tmux.new_session(&new, "s").unwrap().unwrap();
    let variables = fs::read(format!("/proc/{}/environ", tmux.panes().unwrap()[0].pid)).unwrap();
    tmux.kill_session(&pane).unwrap();
    let user = rustix::process::getuid().as_raw();
    assert_eq!(pane.socket, world.path(&format!("tmux-{user}/work")));
    assert!(!String::from_utf8_lossy(&variables).contains("ORANGE_"));
}

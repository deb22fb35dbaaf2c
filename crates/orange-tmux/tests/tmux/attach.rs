//! A user's terminal on its way to a pane. The terminal is a pane of another server.

use crate::world::World;
use orange_sys::Code;
use orange_tmux::{Attach, Inside, Pane};

/// What the user's shell would start.
fn typed(attach: &Attach) -> Vec<&str> {
    let words = attach.arguments.iter().map(|word| word.to_str().unwrap());
    ["env", "-u", "TMUX", "tmux"]
        .into_iter()
        .chain(words)
        .collect()
}

fn shown(world: &World) -> String {
    world.user(&["list-clients", "-F", "#{client_session} #{pane_id}"])
}

fn attached(world: &World, terminal: &World, pane: &Pane) -> Pane {
    let attach = world.tmux().attach(pane, None).unwrap();
    assert!(!attach.switches);
    let client = terminal.run("terminal", &typed(&attach));
    let expected = format!("{} {}", pane.session_name, pane.pane);
    world.wait("the terminal is there", || shown(world) == expected);
    client
}

fn inside(pane: &Pane) -> Inside {
    let tmux = format!("{},{},0", pane.socket.display(), pane.server_pid);
    Inside::parse(&tmux, Some(&pane.pane)).unwrap()
}

#[test]
fn outside_of_tmux_one_attaches_and_is_told_how_to_detach() {
    let (world, terminal) = (World::new(), World::new());
    let worker = world.session("task");
    let review = world.add_window(&worker, "review-1");
    world.user(&["set-option", "-g", "prefix", "C-x"]);
    world.user(&["split-window", "-t", &review.pane, "sleep 1000"]);
    // The window of the pane shows, and the pane is the active one.
    let client = attached(&world, &terminal, &review);
    terminal.wait_for_screen(&client, "to come back: C-x d");
    terminal.tmux().press(&client, "C-x").unwrap();
    terminal.tmux().press(&client, "d").unwrap();
    world.wait("it has detached", || shown(&world).is_empty());
}

#[test]
fn inside_the_same_server_the_terminal_switches_and_can_switch_back() {
    let (world, terminal) = (World::new(), World::new());
    let (home, task) = (world.session("home"), world.session("task"));
    let client = attached(&world, &terminal, &home);
    let attach = world.tmux().attach(&task, Some(&inside(&home))).unwrap();
    assert!(attach.switches);
    assert_eq!(attach.way_back, "to go back: C-b L");
    assert!(attach.command().status().unwrap().success());
    assert_eq!(shown(&world), format!("task {}", task.pane));
    terminal.wait_for_screen(&client, "to go back: C-b L");
    terminal.tmux().press(&client, "C-b").unwrap();
    terminal.tmux().press(&client, "L").unwrap();
    world.wait("it is back", || {
        shown(&world) == format!("home {}", home.pane)
    });
}

#[test]
fn of_two_terminals_the_one_that_shows_the_callers_session_goes() {
    let (world, one, two) = (World::new(), World::new(), World::new());
    let (first, second, task) = (
        world.session("first"),
        world.session("second"),
        world.session("task"),
    );
    attached(&world, &one, &first);
    let attach = world.tmux().attach(&second, None).unwrap();
    two.run("terminal", &typed(&attach));
    world.wait("both are there", || shown(&world).lines().count() == 2);
    let attach = world.tmux().attach(&task, Some(&inside(&first))).unwrap();
    assert!(attach.command().status().unwrap().success());
    let mut sessions: Vec<String> = shown(&world).lines().map(str::to_owned).collect();
    sessions.sort();
    assert_eq!(
        sessions,
        [
            format!("second {}", second.pane),
            format!("task {}", task.pane)
        ]
    );
}

#[test]
fn inside_another_server_one_is_told_what_to_type() {
    let (world, other) = (World::new(), World::new());
    let (task, here) = (world.session("task"), other.session("here"));
    let refused = world
        .tmux()
        .attach(&task, Some(&inside(&here)))
        .unwrap_err();
    assert_eq!(refused.code, Code::Refused);
    let hint = refused.hint.unwrap().words().unwrap();
    let line = format!(
        "TMUX= tmux -S '{}' attach -t '$0'",
        world.socket().display()
    );
    assert!(hint.contains(&line), "{hint}");
    // A server that was started again at the same place is another one.
    let before = Inside {
        server_pid: task.server_pid + 1,
        ..inside(&task)
    };
    let refused = world.tmux().attach(&task, Some(&before)).unwrap_err();
    assert_eq!(refused.code, Code::Refused);
    // The line does what it says, from a shell inside that other server.
    let client = other.run("shell", &["sh", "-c", &format!("{line}; exec sleep 1000")]);
    world.wait("the terminal is there", || {
        shown(&world) == format!("task {}", task.pane)
    });
    assert!(other.tmux().is_there(&client).unwrap());
}

#[test]
fn without_a_terminal_there_is_nothing_to_switch() {
    let world = World::new();
    let (home, task) = (world.session("home"), world.session("task"));
    let refused = world
        .tmux()
        .attach(&task, Some(&inside(&home)))
        .unwrap_err();
    assert_eq!(refused.code, Code::NotFound);
    assert!(refused.message.contains("no terminal"), "{refused}");
}

#[test]
fn the_way_back_is_told_with_the_users_own_keys() {
    let world = World::new();
    let task = world.session("task");
    let way_back = || world.tmux().attach(&task, None).unwrap().way_back;
    assert_eq!(world.tmux().prefix_key().as_deref(), Some("C-b"));
    assert_eq!(way_back(), "to come back: C-b d");
    world.user(&["unbind-key", "d"]);
    assert_eq!(way_back(), "to come back: tmux detach-client");
    world.user(&["bind-key", "-r", "\"", "detach-client"]);
    assert_eq!(way_back(), "to come back: C-b \"");
    world.user(&["bind-key", "d", "detach-client"]);
    world.user(&["set-option", "-g", "prefix", "%"]);
    assert_eq!(way_back(), "to come back: % d");
    world.user(&["set-option", "-g", "prefix", "None"]);
    assert_eq!(world.tmux().prefix_key(), None);
    assert_eq!(way_back(), "to come back: tmux detach-client");
}

#[test]
fn a_pane_that_the_user_moved_is_found() {
    let (world, terminal) = (World::new(), World::new());
    let worker = world.session("task");
    world.add_window(&worker, "review-1");
    let mine = world.session("mine");
    world.user(&["join-pane", "-d", "-s", &worker.pane, "-t", &mine.pane]);
    let attach = world.tmux().attach(&worker, None).unwrap();
    terminal.run("terminal", &typed(&attach));
    let expected = format!("mine {}", worker.pane);
    world.wait("the terminal is there", || shown(&world) == expected);
}

//! Whose session it is, and that ending one ends no other.

use crate::world::{World, window};
use orange_sys::Code;
use orange_tmux::Pane;
use std::fs;

#[test]
fn the_users_own_session_of_that_name_is_left_alone() {
    let world = World::new();
    world.user(&["new-session", "-d", "-s", "shop/x", "sleep 1000"]);
    let command = ["sleep".into(), "1000".into()];
    let new = window("worker", std::path::Path::new("/"), &command, "task");
    let tmux = world.tmux();
    assert_eq!(tmux.new_session(&new, "shop/x").unwrap(), None);
    assert_eq!(tmux.session_of("task", |_| true).unwrap(), None);
    let panes = tmux.panes().unwrap();
    assert_eq!(panes.len(), 1);
    assert_eq!((&panes[0].task_id, &panes[0].run_id), (&None, &None));
    // Nor is a session that has it as the beginning of its name mistaken for it.
    assert!(tmux.new_session(&new, "shop").unwrap().is_some());
    assert_eq!(world.sessions(), ["shop", "shop/x"]);
}

#[test]
fn ending_a_session_leaves_one_whose_name_begins_the_same() {
    let world = World::new();
    let (a, ab) = (world.session("a"), world.session("ab"));
    let tmux = world.tmux();
    tmux.kill_session(&a).unwrap();
    assert!(!tmux.is_there(&a).unwrap());
    // tmux -t a would now mean ab.
    tmux.kill_session(&a).unwrap();
    tmux.kill_window(&a).unwrap();
    assert_eq!(world.sessions(), ["ab"]);
    assert_eq!(
        tmux.rename_session(&a, "c").unwrap_err().code,
        Code::NotFound
    );
    assert!(tmux.is_there(&ab).unwrap());
    // With the last one the server ends; that is fine too, and twice.
    tmux.kill_session(&ab).unwrap();
    tmux.kill_session(&ab).unwrap();
    tmux.kill_window(&ab).unwrap();
    assert!(!tmux.is_there(&ab).unwrap());
    assert_eq!(tmux.session_of("ab", |_| true).unwrap(), None);
}

#[test]
fn ending_a_window_leaves_one_whose_name_begins_the_same() {
    let world = World::new();
    let worker = world.session("a");
    let (one, ten) = (
        world.add_window(&worker, "review-1"),
        world.add_window(&worker, "review-10"),
    );
    let tmux = world.tmux();
    tmux.kill_window(&one).unwrap();
    tmux.kill_window(&one).unwrap();
    assert!(!tmux.is_there(&one).unwrap());
    assert!(tmux.is_there(&ten).unwrap());
    assert!(tmux.is_there(&worker).unwrap());
}

#[test]
fn a_new_window_does_not_take_the_users_eyes_off_theirs() {
    let world = World::new();
    let worker = world.session("a");
    let review = world.add_window(&worker, "review-1");
    assert_eq!(
        world.user(&["display-message", "-p", "-t", "=a:", "#{pane_id}"]),
        worker.pane
    );
    let info = world.pane(&review).unwrap();
    assert_eq!(info.run_id.as_deref(), Some("review-1"));
    assert_eq!(info.task_id.as_deref(), Some("a"));
    assert_eq!(info.window_name, "review-1");
    assert_eq!(world.pane(&worker).unwrap().run_id.as_deref(), Some("a"));
}

#[test]
fn a_pane_that_the_user_moved_away_is_still_ended() {
    let world = World::new();
    let worker = world.session("a");
    world.user(&["new-session", "-d", "-s", "mine", "sleep 1000"]);
    let mine = world.user(&["display-message", "-p", "-t", "=mine:", "#{pane_id}"]);
    let review = world.add_window(&worker, "review-1");
    world.user(&["join-pane", "-s", &review.pane, "-t", &mine]);
    world.tmux().kill_window(&review).unwrap();
    assert!(world.pane(&review).is_none());
    assert_eq!(world.sessions(), ["a", "mine"]);
}

/// The server is killed and started again, and gives the same ids to something else.
fn restarted(world: &World) -> (Pane, Pane) {
    let old = world.session("task");
    world.user(&["kill-server"]);
    let new = world.session("innocent");
    assert_ne!(old.server_pid, new.server_pid);
    assert_eq!(
        (&old.session, &old.window, &old.pane),
        (&new.session, &new.window, &new.pane)
    );
    (old, new)
}

#[test]
fn ids_of_a_server_that_was_started_again_are_somebody_elses() {
    let world = World::new();
    let (old, new) = restarted(&world);
    let tmux = world.tmux();
    assert!(!tmux.is_there(&old).unwrap());
    assert!(!tmux.has_session(&old).unwrap());
    for refused in [
        tmux.paste(&old, "rm -rf /\n"),
        tmux.paste(&old, ""),
        tmux.press(&old, "Enter"),
        tmux.capture(&old, None).map(drop),
        tmux.rename_session(&old, "other").map(drop),
        tmux.attach(&old, None).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.code, Code::NotFound);
        assert!(error.message.contains("task"), "{error}");
    }
    let command = ["sleep".into(), "1000".into()];
    let window = window("w", std::path::Path::new("/"), &command, "task");
    assert_eq!(
        tmux.new_window(&old, &window).unwrap_err().code,
        Code::NotFound
    );
    tmux.kill_window(&old).unwrap();
    tmux.kill_session(&old).unwrap();
    assert_eq!(world.user(&["list-buffers"]), "");
    assert!(tmux.is_there(&new).unwrap());
    assert_eq!(tmux.panes().unwrap().len(), 1);
    assert_eq!(tmux.capture(&new, None).unwrap(), "");
}

#[test]
fn an_id_that_is_none_goes_nowhere() {
    let world = World::new();
    let pane = world.session("task");
    let damaged = [
        Pane {
            pane: "%0 ; kill-server".into(),
            ..pane.clone()
        },
        Pane {
            window: "@".into(),
            ..pane.clone()
        },
        Pane {
            session: "task".into(),
            ..pane.clone()
        },
    ];
    for damaged in damaged {
        let refused = world.tmux().kill_window(&damaged).unwrap_err();
        assert_eq!(refused.code, Code::Damaged);
    }
    assert!(world.tmux().is_there(&pane).unwrap());
}

#[test]
fn hooks_and_options_of_the_user_do_not_lead_astray() {
    let world = World::new();
    let config = "set-option -g destroy-unattached on\n\
        set-option -g base-index 5\n\
        set-option -g renumber-windows on\n\
        set-hook -g after-new-session 'split-window \"sleep 1000\"'\n\
        set-hook -g after-new-window 'split-window \"sleep 1000\"'\n";
    fs::write(world.path(".tmux.conf"), config).unwrap();
    let worker = world.session("task");
    let review = world.add_window(&worker, "review-1");
    let panes = world.tmux().panes().unwrap();
    assert_eq!(panes.len(), 4);
    for info in panes {
        let run = info.run_id.as_deref();
        match &info.pane.pane {
            id if *id == worker.pane => assert_eq!(run, Some("task")),
            id if *id == review.pane => assert_eq!(run, Some("review-1")),
            _ => assert_eq!(run, None),
        }
        assert_eq!(info.task_id.as_deref(), Some("task"));
    }
}

#[test]
fn a_program_that_ends_at_once_is_no_error() {
    let world = World::new();
    let keep = world.session("keep");
    for n in 0..20 {
        let name = format!("short-{n}");
        let pane = world.run(&name, &["sh", "-c", "exit 3"]);
        world.wait("it is gone", || !world.tmux().is_there(&pane).unwrap());
    }
    let no_program = world.run("none", &["/no/such/program", "x"]);
    world.wait("it is gone", || {
        !world.tmux().is_there(&no_program).unwrap()
    });
    assert_eq!(world.pane(&keep).unwrap().run_id.as_deref(), Some("keep"));
    assert_eq!(world.sessions(), ["keep"]);
}

#[test]
fn a_pane_in_two_sessions_is_listed_once() {
    let world = World::new();
    let pane = world.session("task");
    world.user(&["new-session", "-d", "-t", "=task", "-s", "a-group"]);
    let panes = world.tmux().panes().unwrap();
    assert_eq!(panes.len(), 1);
    assert_eq!(panes[0].pane, pane);
    assert_eq!(panes[0].task_id.as_deref(), Some("task"));
}

#[test]
fn a_name_that_is_taken_is_not_given_twice() {
    let world = World::new();
    let (a, b) = (world.session("a"), world.session("b"));
    let tmux = world.tmux();
    assert!(!tmux.rename_session(&a, "b").unwrap());
    assert!(tmux.rename_session(&b, "c.d").unwrap());
    assert_eq!(
        tmux.session_of("b", |_| true)
            .unwrap()
            .unwrap()
            .session_name,
        "c_d"
    );
    assert!(tmux.rename_session(&b, "c.d").unwrap());
    assert_eq!(world.sessions(), ["a", "c_d"]);
}

#[test]
fn of_many_who_want_a_name_at_once_one_gets_it() {
    let world = World::new();
    // The first of them starts the server, too.
    let panes: Vec<Option<Pane>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let tmux = world.tmux();
                scope.spawn(move || {
                    let command = ["sleep".into(), "1000".into()];
                    let task = format!("task-{n}");
                    let new = window("w", std::path::Path::new("/"), &command, &task);
                    tmux.new_session(&new, "shop/x").unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|all| all.join().unwrap()).collect()
    });
    let winners: Vec<usize> = (0..8).filter(|n| panes[*n].is_some()).collect();
    assert_eq!(winners.len(), 1);
    let all = world.tmux().panes().unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].task_id, Some(format!("task-{}", winners[0])));
    assert_eq!(all[0].run_id, all[0].task_id);
}

#[test]
fn a_configuration_with_errors_and_sessions_of_its_own_is_no_obstacle() {
    let world = World::new();
    let config = "set-option -g no-such-option on\n\
        new-session -d -s mine 'sleep 1000'\n";
    fs::write(world.path(".tmux.conf"), config).unwrap();
    let worker = world.session("task");
    assert_eq!(world.sessions(), ["mine", "task"]);
    let info = world.pane(&worker).unwrap();
    assert_eq!(info.run_id.as_deref(), Some("task"));
    world.tmux().kill_session(&worker).unwrap();
    assert_eq!(world.sessions(), ["mine"]);
}

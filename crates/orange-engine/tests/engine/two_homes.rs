//! Two homes in one process, each used by a thread of its own, as a server does: nothing of one call reaches another.

use crate::home::TestHome;
use crate::merges::{Merges, plain};
use orange_engine::Caller;
use orange_engine::verbs::merge;
use std::fs;
use std::path::Path;
use std::sync::{Barrier, Mutex};
use std::thread;

/// Notes of programs that may lock something in a repository are kept in the home for which they run.
#[test]
fn notes_are_kept_in_the_home_of_their_call() {
    let homes = [TestHome::new(), TestHome::new()];
    for (home, other) in [(&homes[0], &homes[1]), (&homes[1], &homes[0])] {
        let own = home.root().display().to_string();
        let other = other.root().display().to_string();
        // The second command is started when the other home is in use too.
        let meet = format!("touch {own}/began\nuntil [ -e {other}/began ]; do sleep 0.01; done\n");
        let meet = home.write("meet.sh", meet);
        let look = home.write(
            "look.sh",
            format!("cat {own}/home/.git-calls/* >{own}/seen\n"),
        );
        let setup = format!(
            "workspace:\n  setup: [sh {}, sh {}]\n",
            meet.display(),
            look.display()
        );
        fs::write(home.folder().join("config.yaml"), setup).unwrap();
    }
    thread::scope(|scope| {
        for home in &homes {
            scope.spawn(|| home.started("login"));
        }
    });
    for home in &homes {
        let seen = fs::read_to_string(home.root().join("seen")).unwrap();
        let common = home.shop().join(".git").display().to_string();
        let notes: Vec<&str> = seen.lines().filter(|line| line.contains("words")).collect();
        assert_eq!(notes.len(), 1, "{seen}");
        assert!(notes[0].contains(&common), "{common}: {seen}");
    }
}

static HEARD: [Mutex<Vec<String>>; 2] = [const { Mutex::new(Vec::new()) }; 2];

/// Notes what is told, and has the git end that is waited for.
fn hear(which: usize, text: &str) {
    HEARD[which].lock().unwrap().push(text.to_owned());
    let lock = text.rsplit(' ').next().unwrap();
    fs::remove_file(Path::new(lock)).unwrap();
}

#[test]
fn a_wait_is_told_to_whoever_waits() {
    let says: [fn(&str); 2] = [|text| hear(0, text), |text| hear(1, text)];
    let homes = [Merges::new(), Merges::new()];
    let tasks = homes
        .each_ref()
        .map(|home| home.work("login", &[("login", "form")]));
    let both = Barrier::new(2);
    thread::scope(|scope| {
        for (which, say) in says.into_iter().enumerate() {
            let (home, task, both) = (&homes[which], &tasks[which], &both);
            scope.spawn(move || {
                home.call(Caller::Human, |call| {
                    let call = call.saying(say);
                    both.wait();
                    fs::write(home.shop().join(".git/index.lock"), "").unwrap();
                    merge::merge(&call, task.place.clone(), &plain()).map(drop)
                })
                .ok();
            });
        }
    });
    for (which, home) in homes.iter().enumerate() {
        let heard = HEARD[which].lock().unwrap();
        let lock = home.shop().join(".git/index.lock");
        let expected = format!("waits for another git to release {}", lock.display());
        assert_eq!(*heard, [expected], "home {which}");
        assert!(home.is_done(&tasks[which]));
    }
}

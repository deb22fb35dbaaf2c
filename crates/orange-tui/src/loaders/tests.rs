//! What runs beside the dashboard: nothing slow or broken there ends or holds up the rest.

use super::*;

#[test]
fn a_task_that_takes_long_holds_up_no_other() {
    let (looks_at, looked_at) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let looks = TaskLooks::new(move |folder: &str| {
        looks_at.send(folder.to_owned()).unwrap();
        if folder.starts_with("slow") {
            let _ = locked(&released).recv();
        }
    });
    looks.ask("slow".to_owned());
    assert_eq!(looked_at.recv().unwrap(), "slow");
    looks.ask("other".to_owned());
    assert_eq!(looked_at.recv().unwrap(), "other");
    // However often it is asked for meanwhile, it is looked at once more.
    looks.ask("slow".to_owned());
    looks.ask("slow".to_owned());
    release.send(()).unwrap();
    assert_eq!(looked_at.recv().unwrap(), "slow");
    release.send(()).unwrap();
    while !locked(&looks.running).now.is_empty() {
        thread::yield_now();
    }
    assert!(looked_at.try_recv().is_err());
}

#[test]
fn where_all_places_are_taken_the_newest_is_next() {
    let (looks_at, looked_at) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let looks = TaskLooks::new(move |folder: &str| {
        looks_at.send(folder.to_owned()).unwrap();
        let _ = locked(&released).recv();
    });
    for number in 0..MOST_LOOKS {
        looks.ask(number.to_string());
        looked_at.recv().unwrap();
    }
    looks.ask("passed over".to_owned());
    looks.ask("newest".to_owned());
    release.send(()).unwrap();
    assert_eq!(looked_at.recv().unwrap(), "newest");
}

#[test]
fn a_fault_in_a_look_is_not_the_last_of_it() {
    let (looks_at, looked_at) = channel();
    let looks = TaskLooks::new(move |folder: &str| {
        looks_at.send(folder.to_owned()).unwrap();
        assert!(folder != "broken", "a fault");
    });
    looks.ask("broken".to_owned());
    assert_eq!(looked_at.recv().unwrap(), "broken");
    while !locked(&looks.running).now.is_empty() {
        thread::yield_now();
    }
    looks.ask("broken".to_owned());
    assert_eq!(looked_at.recv().unwrap(), "broken");
}

#[test]
fn news_wait_as_one_until_they_are_heard() {
    let (tell, told) = channel();
    let news = NewsFlag::default();
    for _ in 0..100 {
        assert!(news.tell(&tell));
    }
    assert_eq!(told.try_iter().count(), 1);
    news.heard();
    assert!(news.tell(&tell));
    assert_eq!(told.try_iter().count(), 1);
}

#[test]
fn a_monitor_that_broke_is_not_said_to_be_here() {
    assert_eq!(state(|| Ok(Tick::default())), "monitor here");
    assert_eq!(state(|| panic!("a fault")), "monitor failed");
}

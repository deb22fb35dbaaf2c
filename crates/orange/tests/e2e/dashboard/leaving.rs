//! To an agent's window and back, and every way in which a terminal changes hands.

use super::{begin, begin_at, dashboard_process, is_dashboard};
use crate::agents::Agents;
use crate::looker::Looker;

/// Check 6, outside of tmux.
#[test]
fn who_detaches_is_back_at_the_same_task_and_reads_what_became_of_it() {
    let env = Agents::new();
    env.orange(["new", "Another one", "--no-spawn"]).ok();
    let script = "worker:\n  - say: Here I am.\n  - wait for: {file: ROOT/go}\n  - plan: \"APPROACH: a link\"\n  - status: working\n  - hang\n";
    let task = env.start("Log out", script);
    let looker = begin(&env, "dashboard", "TASK-002");
    looker.press(&["g"]);
    while !looker.selected().contains("TASK-002") {
        looker.press(&["j"]);
        looker.until_selected("TASK-002");
    }
    looker.until_shown("⏎ attach");
    looker.press(&["Enter"]);
    looker.until_shown("Here I am.");
    env.allow("go");
    env.until_status(&task, "working");
    looker.press(&["C-b"]);
    looker.press(&["d"]);
    looker.until_shown("back from TASK-002: planning → working");
    looker.until_selected("TASK-002");
    looker.until_given_back(false);
}

/// Check 6, inside.
#[test]
fn inside_tmux_another_session_shows_and_the_dashboard_stays() {
    let env = Agents::new();
    let task = env.start("Log out", "worker:\n  - say: Here I am.\n  - hang\n");
    let looker = Looker::inside_tmux(&env);
    begin_at(&env, &looker, "dashboard", "TASK-001");
    looker.until_shown("⏎ attach");
    looker.press_outside(&["Enter"]);
    env.until("the agent's window is seen", || {
        looker.screen().contains("Here I am.")
    });
    // The way back is told in the window itself.
    env.until("the way back", || looker.screen().contains("C-b L"));
    looker.until_shown("to go back: C-b L");
    looker.press_outside(&["C-b"]);
    looker.press_outside(&["L"]);
    env.until("the dashboard is seen", || {
        looker.screen().contains("back from TASK-001")
    });
    looker.until_selected("TASK-001");
    assert_eq!(env.status(&task), "planning");
}

/// Check 7, with check 7's frame: what is drawn after `fg` is what was drawn before.
#[test]
fn stopped_and_gone_on_with_it_shows_the_same() {
    let env = Agents::new();
    env.orange(["new", "Log out", "--no-spawn"]).ok();
    let looker = begin(&env, "dashboard", "Log out");
    looker.press(&["v"]);
    looker.until_shown("1 Timeline");
    looker.until_shown("created the task");
    looker.until_shown("monitor here");
    let ages = without_digits(looker.shows());
    looker.press(&["C-z"]);
    looker.until_shown("Stopped");
    looker.until_given_back(true);
    looker.type_line("fg");
    looker.until_given_back(false);
    env.until("the same frame", || without_digits(looker.shows()) == ages);
}

/// A frame without its times.
fn without_digits(frame: String) -> String {
    frame
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
        .collect()
}

/// Check 7.
#[test]
fn signals_and_faults_give_the_terminal_back() {
    let env = Agents::new();
    env.orange(["new", "Log out", "--no-spawn"]).ok();
    let looker = begin(&env, "dashboard", "Log out");
    env.kill(dashboard_process(&env), "-TERM");
    looker.until_given_back(true);
    looker.type_line("echo ended with $?");
    looker.until_shown("ended with 0");
    let point = "dashboard.key";
    looker.type_line(&format!(
        "clear; ORANGE_CRASH_AT=panic:{point} '{}' dashboard",
        crate::run::program().display()
    ));
    looker.until_given_back(false);
    looker.until_shown("Log out");
    looker.press(&["j"]);
    looker.until_given_back(true);
    looker.until_shown("panicked at");
    looker.type_line("echo ended with $?");
    looker.until_shown("ended with 101");
}

/// The terminal is closed: nobody hears it any more, and the process ends.
#[test]
fn it_ends_with_its_terminal() {
    let env = Agents::new();
    env.orange(["new", "Log out", "--no-spawn"]).ok();
    let _looker = begin(&env, "dashboard", "Log out");
    dashboard_process(&env);
    assert!(env.tmux(&["kill-session", "-t", "looker"]).status.success());
    env.until("the dashboard ends", || {
        let processes = env.processes().into_iter();
        processes.filter(|(_, line)| is_dashboard(line)).count() == 0
    });
}

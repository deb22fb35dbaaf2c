//! `task peek --follow`: a terminal with a shell that controls jobs gets it back whatever ends or stops the view; a
//! flood of lines loses none of them silently.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::looker::Looker;
use crate::run::program;
use crate::running::Running;

/// Follows what a task's agent prints.
fn follow(looker: &Looker<'_>, task: &TestTask) {
    let program = program();
    looker.type_line(&format!("{} task peek {} -f", program.display(), task.id));
    looker.until_shown("Here I am.");
    looker.until_shown("q ends this view");
    looker.until_given_back(false);
}

#[test]
fn the_terminal_is_given_back_at_every_way_out_and_taken_again() {
    let env = Agents::new();
    let task = env.start("Look at me", "worker:\n  - say: Here I am.\n  - hang\n");
    let looker = Looker::begin(&env);
    follow(&looker, &task);
    looker.press(&["C-z"]);
    looker.until_shown("Stopped");
    looker.until_given_back(true);
    looker.type_line("fg");
    looker.until_given_back(false);
    looker.until_shown("Here I am.");
    looker.press(&["q"]);
    looker.until_given_back(true);
    looker.type_line("echo ended with $?");
    looker.until_shown("ended with 0");
    for (key, code) in [("C-c", 130), ("C-\\", 131)] {
        follow(&looker, &task);
        looker.press(&[key]);
        looker.until_given_back(true);
        looker.type_line("echo ended with $?");
        looker.until_shown(&format!("ended with {code}"));
    }
    // Stopped by force, and gone on with: everything is taken and drawn again.
    follow(&looker, &task);
    let number = env.processes().into_iter();
    let mut number = number.filter(|(_, line)| line.contains(" task peek "));
    let (number, _) = number.next().expect("the view");
    env.kill(number, "-STOP");
    looker.until_shown("Stopped");
    looker.type_line("fg");
    looker.until_given_back(false);
    env.kill(number, "-TERM");
    looker.until_given_back(true);
    looker.type_line("echo ended with $?");
    looker.until_shown("ended with 143");
}

#[test]
fn where_no_shell_could_go_on_with_it_a_stop_is_ignored() {
    let env = Agents::new();
    let task = env.start("Look at me", "worker:\n  - say: Here I am.\n  - hang\n");
    let looker = Looker::begin(&env);
    let program = program();
    looker.type_line(&format!(
        "exec {} task peek {} -f",
        program.display(),
        task.id
    ));
    looker.until_shown("q ends this view");
    looker.press(&["C-z"]);
    looker.press(&["q"]);
    env.until("it ends", || {
        !env.windows().iter().any(|one| one.starts_with("looker:"))
    });
}

/// An agent that prints so many numbered lines once it may.
fn flood(lines: u32) -> (Agents, TestTask) {
    let env = Agents::configured("harness:\n  mine: [/bin/sh, ROOT/mine.sh]\n");
    let script = format!(
        "echo ready\nuntil test -e ROOT/go; do sleep 0.05; done\nseq 1 {lines}\necho over\nuntil test -e ROOT/end; do sleep 0.05; done\n"
    );
    env.write(
        "mine.sh",
        script.replace("ROOT", env.root().to_str().unwrap()),
    );
    let task = env.create(["Flood", "--harness", "mine"]);
    (env, task)
}

/// What is printed of it, up to its end.
fn followed(env: &Agents, task: &TestTask) -> Vec<String> {
    let mut view = Running::start(env.call(["task", "peek", &task.id, "--follow"]));
    view.until_printed("ready");
    env.allow("go");
    view.until_printed("over");
    view.interrupt();
    view.wait();
    let printed = view.printed();
    let flood = printed.lines().skip_while(|line| *line != "ready").skip(1);
    let lines: Vec<&str> = flood.take_while(|line| *line != "over").collect();
    // A line that was caught half written stands there twice. No number begins the one after it.
    let halves = lines.windows(2).map(|pair| pair[1].starts_with(pair[0]));
    let halves = halves.chain([false]);
    let whole = lines.iter().zip(halves).filter(|(_, is_half)| !is_half);
    whole.map(|(line, _)| (*line).to_owned()).collect()
}

#[test]
fn more_lines_than_one_look_shows_are_read_from_the_history() {
    let (env, task) = flood(1800);
    let all: Vec<String> = (1..=1800).map(|number| number.to_string()).collect();
    assert_eq!(followed(&env, &task), all);
    env.allow("end");
}

#[test]
fn lines_that_a_window_does_not_keep_are_missed_with_a_word() {
    let (env, task) = flood(50_000);
    let printed = followed(&env, &task);
    let mut next = 1;
    let mut gaps = 0;
    for line in &printed {
        match line.parse::<u32>() {
            Ok(number) => {
                assert!(
                    number == next || gaps > 0 && next == 0,
                    "{number} instead of {next}"
                );
                next = number + 1;
            }
            Err(_) => {
                assert_eq!(
                    line,
                    "… lines are missing here: more came than the window keeps"
                );
                gaps += 1;
                next = 0;
            }
        }
    }
    assert_eq!(next, 50_001);
    env.allow("end");
}

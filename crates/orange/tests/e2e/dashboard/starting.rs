//! Where `orange` is started without more: in a project, in a repository that is none yet, elsewhere, without a terminal.

use super::begin_at;
use crate::agents::Agents;
use crate::looker::Looker;
use crate::run::program;

#[test]
fn in_a_repository_that_is_no_project_it_offers_to_register_it() {
    let env = Agents::new();
    env.orange(["new", "Log out", "--no-spawn"]).ok();
    let blog = env.init_repository("blog");
    let looker = Looker::begin(&env);
    looker.type_line(&format!("cd '{}'", blog.display()));
    let program = program().display().to_string();
    looker.type_line(&program);
    looker.until_shown("register the repository");
    // No shows all projects.
    looker.type_line("n");
    looker.until_given_back(false);
    looker.until_shown("all projects");
    looker.until_shown("Log out");
    assert_eq!(
        env.say(&["project", "list"])
            .ok()
            .stdout
            .matches("blog")
            .count(),
        0
    );
    looker.press(&["q"]);
    looker.until_given_back(true);
    looker.type_line("clear");
    looker.type_line(&program);
    looker.until_shown("register the repository");
    looker.type_line("y");
    looker.until_given_back(false);
    looker.until_shown("no tasks yet");
    env.say(&["project", "list"]).ok().says("blog");
    looker.press(&["q"]);
    looker.until_given_back(true);
    // Once it is one, nothing is asked.
    looker.type_line("clear");
    looker.type_line(&program);
    looker.until_given_back(false);
    looker.until_shown("no tasks yet");
}

#[test]
fn with_all_projects_nothing_is_asked() {
    let env = Agents::new();
    env.orange(["new", "Log out", "--no-spawn"]).ok();
    let blog = env.init_repository("blog");
    let looker = Looker::begin(&env);
    looker.type_line(&format!(
        "cd '{}' && '{}' dashboard --all-projects",
        blog.display(),
        program().display()
    ));
    looker.until_given_back(false);
    looker.until_shown("all projects");
    looker.until_shown("Log out");
    looker.press(&["q"]);
    looker.until_given_back(true);
    begin_at(&env, &looker, "dashboard", "shop");
}

#[test]
fn without_a_terminal_it_prints_its_help() {
    let env = Agents::new();
    let blog = env.init_repository("blog");
    let bare: [&str; 0] = [];
    let run = env.call(bare).at(&blog).run().ok();
    assert!(run.stdout.contains("Usage: orange"), "{run}");
    assert_eq!(run.stderr, "");
    assert_eq!(
        env.say(&["project", "list"])
            .ok()
            .stdout
            .matches("blog")
            .count(),
        0
    );
}

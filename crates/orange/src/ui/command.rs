//! Actions as the commands that carry them out, and texts that name them.

use orange_core::naming::shell_word;
use orange_core::text::{Text, TextPart};
use orange_core::{Action, Parameter, TaskName};
use orange_engine::views::Spelling;
use std::sync::OnceLock;

/// Finds the project that the person is in; asked once there is a task to name.
type Finder = Box<dyn Fn() -> Option<String> + Send + Sync>;
static FINDER: OnceLock<Finder> = OnceLock::new();
static HERE: OnceLock<Option<String>> = OnceLock::new();
static READER: OnceLock<Reader> = OnceLock::new();

/// For whom commands are spelled.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reader {
    /// `orange merge 3`, as the documents have it.
    Person,
    /// `orange task merge 3`: what its own permissions are about.
    Agent,
}

/// From now on tasks of the project that it finds are named without it.
pub(crate) fn set_here(finder: Finder, reader: Reader) {
    let _ = FINDER.set(finder);
    let _ = READER.set(reader);
}

fn here() -> Option<&'static str> {
    let find = || FINDER.get().and_then(|find| find());
    HERE.get_or_init(find).as_deref()
}

/// What a person types for an action, where they are.
pub(crate) fn command(action: &Action) -> String {
    command_for(reader(), here(), action)
}

/// As this front end writes.
pub(crate) const SPELLING: Spelling = Spelling {
    text: spelled,
    action: command,
};

fn reader() -> Reader {
    READER.get().copied().unwrap_or(Reader::Person)
}

/// The word `task` is left out for a person: every verb works without it.
fn command_for(reader: Reader, here: Option<&str>, action: &Action) -> String {
    let line = command_in(here, action);
    match line.strip_prefix("orange task ") {
        Some(verb) if reader == Reader::Person => match verb.strip_prefix("list") {
            Some(options) => format!("orange ls{options}"),
            None => format!("orange {verb}"),
        },
        _ => line,
    }
}

/// A task as it is named where the person is.
pub(crate) fn task_name(task: &TaskName) -> String {
    task.seen_from(here()).to_owned()
}

/// The whole command in a folder of that project; None: anywhere.
fn command_in(here: Option<&str>, action: &Action) -> String {
    let named = |task: &TaskName| word(task.seen_from(here));
    // A text that begins like an option is none.
    let text = |text: &Option<String>| match text.as_deref() {
        Some(text) if text.starts_with('-') => format!("-- {}", quoted_text(text)),
        Some(text) => quoted_text(text),
        None => "TEXT".to_owned(),
    };
    match action {
        Action::AddProject { path, name } => {
            let path = path.as_deref().map_or("PATH".to_owned(), word);
            format!("orange project add {path}{}", option(" --name", name))
        }
        Action::AnswerQuestion { task } => format!("orange task answer {}", named(task)),
        Action::AnswerInWords { task } => format!("orange task answer {} TEXT", named(task)),
        Action::Approve { task } => format!("orange task approve {}", named(task)),
        Action::Attach { task } => format!("orange task attach {}", named(task)),
        Action::BranchAt { repository, branch } => {
            format!("git -C {} branch {} COMMIT", word(repository), word(branch))
        }
        Action::Cancel { task, children } => {
            format!(
                "orange task cancel {}{}",
                named(task),
                flag(*children, " --with-children")
            )
        }
        Action::Check {} => "orange doctor".to_owned(),
        Action::ChooseWeight { task } => {
            format!("orange task update {} --weight WEIGHT", named(task))
        }
        Action::CleanPools {} => "orange workspace gc --all".to_owned(),
        Action::CleanUp {} => "orange gc".to_owned(),
        Action::CommitEmpty { repository } => {
            format!("git -C {} commit --allow-empty -m start", word(repository))
        }
        Action::Complete { task } => format!("orange task complete {}", named(task)),
        Action::CreateChild {} => "orange task create --parent TASK".to_owned(),
        Action::CreateFrom { task, work, text } => {
            let summary = text
                .as_deref()
                .map(|text| format!(" --summary={}", quoted_text(text)))
                .unwrap_or_default();
            format!(
                "orange task create --from {}{}{summary}",
                named(task),
                flag(*work, " --with-work")
            )
        }
        Action::Delete { task } => format!("orange task delete {}", named(task)),
        Action::Diff { task } => format!("orange task diff {}", named(task)),
        Action::EditSettings {} => "orange config edit".to_owned(),
        Action::EditTaskFile { task } => {
            format!(
                "${{EDITOR:-vi}} \"$(orange path {} --task)/TASK.md\"",
                named(task)
            )
        }
        Action::EnlargePool { project, size } => {
            let size = size.map_or("N".to_owned(), |size| size.to_string());
            format!("orange project update {project} --pool-size {size}")
        }
        Action::Explain { task } => format!("orange task why {}", named(task)),
        Action::ExplainFields {} => "orange task update --help".to_owned(),
        Action::ExplainSearch {} => "orange search --help".to_owned(),
        Action::FetchAll {} => "git fetch --unshallow".to_owned(),
        Action::KillSession { session } => {
            format!(
                "tmux kill-session -t {}",
                shell_word(&format!("={session}"))
            )
        }
        Action::LeaveBranch { checkout } => {
            format!("git -C {} switch --detach", word(checkout))
        }
        Action::ListDeleted {} => "orange task restore".to_owned(),
        Action::ListHarnesses {} => "orange harness list".to_owned(),
        Action::ListPermissions {} => "orange permissions list".to_owned(),
        Action::ListRescues { task } => format!("orange task rescue list {}", named(task)),
        Action::ListSessions {} => "tmux ls".to_owned(),
        Action::ListSettings {} => "orange config show".to_owned(),
        Action::ListTasks {} => "orange task list --all".to_owned(),
        Action::Log {} => "orange log".to_owned(),
        Action::Merge {
            task,
            force,
            strategy,
            push,
            message,
        } => {
            let strategy = option(" --strategy", strategy);
            let push = match push {
                Some(true) => " --push",
                Some(false) => " --no-push",
                None => "",
            };
            let message = (message.as_deref())
                .map(|text| format!(" --message={}", quoted_text(text)))
                .unwrap_or_default();
            let force = flag(*force, " --force");
            let task = named(task);
            format!("orange task merge {task}{strategy}{push}{message}{force}")
        }
        Action::MergeBranch { branch } => format!("git merge {}", word(branch)),
        Action::MoveProject { project } => format!("orange project update {project} --path PATH"),
        Action::MoveTo { task, status } => {
            format!("orange task update {} --status {status}", named(task))
        }
        Action::NameBranch { task } => format!("orange task update {} --branch NAME", named(task)),
        Action::Pull {} => "git pull".to_owned(),
        Action::Reject { task } => format!("orange task reject {} --reason TEXT", named(task)),
        Action::RebaseOnto { branch } => format!("git rebase {}", word(branch)),
        Action::RemoveBlocker { task, blocker } => {
            let task = task.as_ref().map_or("TASK".to_owned(), named);
            let blocker = name(blocker, "TASK");
            format!("orange task update {task} --remove-blocker {blocker}")
        }
        Action::RemoveBranch {} => "git branch -d NAME".to_owned(),
        Action::RemoveFile { path } => format!("rm {}", shell_word(path)),
        Action::RemoveProject { project } => format!("orange project remove {project}"),
        Action::Repair {} => "orange doctor --repair".to_owned(),
        Action::ReplaceBlocker { task, blocker, by } => {
            let task = named(task);
            format!("orange task update {task} --remove-blocker {blocker} --add-blocker {by}")
        }
        Action::RequestChanges { task, text: asked } => {
            format!(
                "orange task request-changes {} {}",
                named(task),
                text(asked)
            )
        }
        Action::ImportTestResults { task } => {
            format!("orange task test-results import {} FILE", named(task))
        }
        Action::ResetPlan { task } => format!("orange task plan reset {}", named(task)),
        Action::Pause { task } => format!("orange task pause {}", named(task)),
        Action::Resolve { task } => format!("orange task resolve {} --message TEXT", named(task)),
        Action::Respawn { task, message } => {
            format!(
                "orange task respawn {}{}",
                named(task),
                flag(*message, " --message TEXT")
            )
        }
        Action::RespawnWith { task, text } => {
            let text = quoted_text(text);
            let task = named(task);
            format!("orange task respawn {task} --role worker --message {text}")
        }
        Action::Restore { task } => format!("orange task restore {}", named(task)),
        Action::Resume { task, force } => {
            let force = flag(*force, " --force");
            format!("orange task resume {}{force}", named(task))
        }
        Action::Retry { task } => format!("orange task retry {}", named(task)),
        Action::RetryHooks { task } => format!("orange task retry-hooks {}", named(task)),
        Action::Rewind { task } => format!("orange task rewind {} --to PHASE", named(task)),
        Action::Run { task, force } => {
            format!(
                "orange task run {}{}",
                named(task),
                flag(*force, " --force")
            )
        }
        Action::Send {
            task,
            role,
            text: said,
        } => {
            let role = option(" --role", &role.map(|role| role.to_string()));
            format!("orange task send {}{role} {}", named(task), text(said))
        }
        Action::SetDefaultBranch { project } => {
            format!("orange project update {project} --default-branch NAME")
        }
        Action::SetHarness { task } => format!("orange task update {} --harness NAME", named(task)),
        Action::SetPermissions { project, mode } => {
            let mode = name(mode, "MODE");
            format!("orange project update {project} --permissions {mode}")
        }
        Action::SetPrefix { project, prefix } => {
            format!(
                "orange project update {project} --prefix {}",
                name(prefix, "PREFIX")
            )
        }
        Action::SetSetting { key, value } => {
            format!("orange config set {key} {}", word(value))
        }
        Action::SetSpec { task } => format!("orange task spec set {} FILE", named(task)),
        Action::SetSummary { task } => format!("orange task update {} --summary TEXT", named(task)),
        Action::SetTarget { task } => {
            format!("orange task update {} --target-branch BRANCH", named(task))
        }
        Action::Shell { task } => format!("orange task shell {}", named(task)),
        Action::Show { task, history } => {
            let history = flag(*history, " --history");
            format!("orange task show {}{history}", named(task))
        }
        Action::ShowPlan { task } => format!("orange task plan show {}", named(task)),
        Action::ShowRescue { task, rescue } => {
            format!("orange task rescue show {} {rescue}", named(task))
        }
        Action::ShowSetting { key } => format!("orange config get {key}"),
        Action::ShowSpec { task } => format!("orange task spec show {}", named(task)),
        Action::Spawn { task, force } => {
            format!(
                "orange task spawn {}{}",
                named(task),
                flag(*force, " --force")
            )
        }
        Action::StartReady {} => "orange run --ready".to_owned(),
        Action::StashFile { worktree, path } => {
            let (worktree, path) = (shell_word(worktree), shell_word(path));
            format!("git -C {worktree} stash push --all -- {path}")
        }
        Action::Switch { branch, anew } => {
            let anew = flag(*anew, "--force-create ");
            format!("git switch {anew}{}", word(branch))
        }
        Action::TakeBranch { task } => format!("orange task update {} --branch", named(task)),
        Action::TaskFolder { task } => format!("orange task path {} --task", named(task)),
        Action::Transcript { task } => format!("orange task transcript {}", named(task)),
        Action::Trust { project, at } => {
            let at = option(" --at", &at.as_deref().map(word));
            format!("orange project trust {project}{at}")
        }
        Action::UnsetSetting { key } => format!("orange config unset {}", name(key, "KEY")),
        Action::Untrack { task, path } => {
            let (task, path) = (named(task), word(path));
            format!("orange task exec {task} -- git rm --cached {path}")
        }
        Action::Verify { task } => format!("orange task verify {}", named(task)),
        Action::Watch {} => "orange watch".to_owned(),
    }
}

fn name<'a>(given: &'a Option<String>, placeholder: &'a str) -> &'a str {
    given.as_deref().unwrap_or(placeholder)
}

/// The text if it is so.
pub(crate) fn flag(given: bool, option: &'static str) -> &'static str {
    if given { option } else { "" }
}

/// An option with its value, or a value alone, where there is one.
fn option(name: &str, value: &Option<String>) -> String {
    value
        .as_ref()
        .map_or_else(String::new, |value| format!("{name} {value}"))
}

/// In quotes where a shell would find something in it.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/:-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        shell_word(text)
    }
}

/// An argument that somebody typed, as it can be typed again: an option with its value stays one word.
pub(crate) fn argument(text: &str) -> String {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && word(name) == name && !value.is_empty() => {
            format!("{name}={}", word(value))
        }
        _ if text.contains(' ') => quoted_text(text),
        _ => word(text),
    }
}

/// In double quotes where a shell finds nothing in it.
fn quoted_text(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/');
    if text.chars().all(is_plain) {
        format!("\"{text}\"")
    } else {
        shell_word(text)
    }
}

/// A parameter as the option that takes it.
fn parameter_option(parameter: Parameter, value: Option<&str>) -> String {
    let value = match (parameter, value) {
        (_, Some(value)) => format!(" {}", argument(value)),
        // What it takes is not said by its name.
        (Parameter::Harness | Parameter::ToBranch, None) => " NAME".to_owned(),
        (_, None) => String::new(),
    };
    format!("--{parameter}{value}")
}

/// A text for a person: actions as commands, parameters as options, times as this place's clock shows them.
pub(crate) fn spelled(text: &Text) -> String {
    spelled_in(reader(), here(), text)
}

/// The same for a text that is kept or sent, and may be read anywhere: a task is named with its project.
pub(crate) fn spelled_anywhere(text: &Text) -> String {
    spelled_in(Reader::Person, None, text)
}

fn spelled_in(reader: Reader, here: Option<&str>, text: &Text) -> String {
    text.spelled(|part| match part {
        TextPart::Words(words) => words.clone(),
        TextPart::Action(action) => format!("`{}`", command_for(reader, here, action)),
        TextPart::Parameter { parameter, value } => parameter_option(*parameter, value.as_deref()),
        TextPart::Time(time) => super::time::time_of_day(*time),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn task() -> TaskName {
        TaskName::referred_to("shop", "TASK-001")
    }

    /// What a shell takes each word of a command line for.
    fn words(action: &Action) -> Vec<String> {
        shlex::split(&command_in(Some("shop"), action)).unwrap()
    }

    #[test]
    fn the_word_task_is_left_out_for_a_person() {
        let spelled = |reader, action| command_for(reader, Some("shop"), &action);
        for (action, person, agent) in [
            (
                Action::explain(task()),
                "orange why TASK-001",
                "orange task why TASK-001",
            ),
            (
                Action::list_tasks(),
                "orange ls --all",
                "orange task list --all",
            ),
            (Action::watch(), "orange watch", "orange watch"),
        ] {
            assert_eq!(spelled(Reader::Person, action.clone()), person);
            assert_eq!(spelled(Reader::Agent, action), agent);
        }
    }

    #[test]
    fn a_task_of_another_project_is_named_with_it() {
        let explain = Action::explain(task());
        for (here, command) in [
            (Some("shop"), "orange task why TASK-001"),
            (Some("web"), "orange task why shop:TASK-001"),
            (None, "orange task why shop:TASK-001"),
        ] {
            assert_eq!(command_in(here, &explain), command);
        }
    }

    #[test]
    fn names_with_blanks_and_quotes_are_one_word() {
        let odd = "a b'c;d";
        let cases = [
            Action::add_project(Some(odd.to_owned()), "shop".to_owned()),
            Action::branch_at(odd, odd),
            Action::commit_empty(odd),
            Action::leave_branch(odd),
            Action::merge_branch(odd),
            Action::rebase_onto(odd),
            Action::stash_file(odd, odd),
            Action::switch(odd, true),
            Action::untrack(task(), odd),
        ];
        for action in cases {
            let words = words(&action);
            assert!(words.contains(&odd.to_owned()), "{action:?}: {words:?}");
        }
        let session = words(&Action::kill_session(odd));
        assert_eq!(session.last().unwrap(), "=a b'c;d");
    }

    #[test]
    fn a_merge_is_advised_as_it_was_asked_for() {
        let merge = |strategy: Option<&str>, push, message: Option<&str>| {
            let [strategy, message] = [strategy, message].map(|text| text.map(str::to_owned));
            words(&Action::merge(task(), true, strategy, push, message))[3..].join(" ")
        };
        assert_eq!(merge(None, None, None), "TASK-001 --force");
        assert_eq!(
            merge(Some("rebase"), false.into(), Some("it's -x")),
            "TASK-001 --strategy rebase --no-push --message=it's -x --force"
        );
    }

    #[test]
    fn a_parameter_is_an_option() {
        let spelled = |parameter, value| parameter_option(parameter, value);
        assert_eq!(spelled(Parameter::WithWork, None), "--with-work");
        assert_eq!(spelled(Parameter::ToBranch, None), "--to-branch NAME");
        assert_eq!(
            spelled(Parameter::Message, Some("squashed into main")),
            "--message \"squashed into main\""
        );
    }

    #[test]
    fn a_text_is_never_an_option() {
        let send = |text: &str| words(&Action::send(task(), None, text.to_owned()));
        let end = |words: &[String]| words[words.len() - 2..].join(" ");
        assert_eq!(end(&send("-x it's")), "-- -x it's");
        assert_eq!(end(&send("bigger")), "TASK-001 bigger");
        let from = Action::create_from(task(), false, "bigger".to_owned());
        assert_eq!(words(&from).last().unwrap(), "--summary=bigger");
    }
}

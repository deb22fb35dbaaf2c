//! Actions as the commands that carry them out.

use orange_core::action::Action;
use orange_core::naming::shell_word;

/// What a person types for an action.
pub(crate) fn command(action: &Action) -> String {
    match action {
        Action::AddProject { name } => format!("orange project add PATH --name {name}"),
        Action::AnswerQuestion { task } => format!("orange task answer {task}"),
        Action::Attach { task } => format!("orange task attach {task}"),
        Action::BranchAt { repository, branch } => {
            format!("git -C {repository} branch {branch} COMMIT")
        }
        Action::CommitEmpty { repository } => {
            format!("git -C {repository} commit --allow-empty -m start")
        }
        Action::Complete { task } => format!("orange task complete {task}"),
        Action::CreateFrom { task } => format!("orange task create --from {task}"),
        Action::EditTaskFile { task } => {
            format!("${{EDITOR:-vi}} \"$(orange task path {task} --task)/TASK.md\"")
        }
        Action::EnlargePool { project, size } => {
            format!("orange project update {project} --pool-size {size}")
        }
        Action::Explain { task } => format!("orange task why {task}"),
        Action::ListDeleted => "orange task restore".to_owned(),
        Action::Merge { task } => format!("orange task merge {task}"),
        Action::MoveTo { task, status } => format!("orange task update {task} --status {status}"),
        Action::RemoveBlocker { task, blocker } => {
            format!("orange task update {task} --remove-blocker {blocker}")
        }
        Action::Repair => "orange doctor --repair".to_owned(),
        Action::RequestChanges { task, text } => {
            let text = text.as_deref().map_or("TEXT".into(), quoted_text);
            format!("orange task request-changes {task} {text}")
        }
        Action::Resolve { task } => format!("orange task resolve {task} --message TEXT"),
        Action::Respawn { task, with_message } => {
            let message = if *with_message { " --message TEXT" } else { "" };
            format!("orange task respawn {task}{message}")
        }
        Action::RetryHooks { task } => format!("orange task retry-hooks {task}"),
        Action::Send { task } => format!("orange task send {task} TEXT"),
        Action::Shell { task } => format!("orange task shell {task}"),
        Action::Spawn { task, force } => {
            let force = if *force { " --force" } else { "" };
            format!("orange task spawn {task}{force}")
        }
        Action::StashFile { worktree, path } => format!(
            "git -C {} stash push --all -- {}",
            shell_word(worktree),
            shell_word(path)
        ),
        Action::Trust { project, at } => {
            let at = at.as_deref().map(|at| format!(" --at {}", shell_word(at)));
            format!("orange project trust {project}{}", at.unwrap_or_default())
        }
        Action::Verify { task } => format!("orange task verify {task}"),
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

/// An action inside a sentence.
pub(crate) fn quoted_command(action: &Action) -> String {
    format!("`{}`", command(action))
}

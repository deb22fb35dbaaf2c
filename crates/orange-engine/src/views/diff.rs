//! What a task changed: which two states of the work are compared, and how that is shown.

use crate::call::Call;
use crate::error::{Code, Error, Result, err};
use crate::git::diff::{self, DiffShape, FileChange, Sides, Sink};
use crate::git::diff_stat::spans;
use crate::git::rescue::refs::empty_tree;
use crate::git::{self, short};
use crate::store::seen::{BranchLook, Seen};
use crate::views::diff_since;
use crate::views::diff_stat::merged;
use crate::views::task::TaskView;
use crate::views::workspace_state;
use crate::{rules, seal_checks, workspaces};
use orange_core::evidence::Evidence;
use orange_core::history::Event;
use orange_core::history::payload::TaskMerged;
use orange_core::id::Key;
use orange_core::task::Task;
use orange_core::{Action, Parameter, Text, text};
use serde::Serialize;
use std::ffi::OsString;
use std::path::Path;

/// Which part of a task's work is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffOf {
    /// All that its branch has and its target has not; of one that is merged, what came into the target.
    Work,
    /// What came since a person last looked at all of it.
    SinceSeen,
    /// What came since the agent was last told what to do.
    LastTurn,
    /// What came after the last review.
    SinceReview,
    /// What is not committed in its worktree.
    Uncommitted,
}

/// What a comparison with what a person saw is called.
pub const LAST_SEEN: &str = "what you last saw";
/// What a comparison with the start of a turn is called.
pub const LAST_TURN: &str = "the last turn";

/// Two states of a task's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    pub sides: Sides,
    /// The older one: a commit, or none where there is no history in common.
    pub base: Option<String>,
    /// The newer one; None: files that are not committed.
    pub head: Option<String>,
    /// What the older one is, for a person: `main`, `the review`.
    pub against: String,
    /// Commits between them.
    pub commits: Option<u64>,
    /// Whoever has seen this has seen all of the work up to `head`, as far as they had not seen it before.
    pub is_rest: bool,
    /// What a person should know before reading it.
    pub notes: Vec<String>,
    /// Why there is nothing to see.
    pub nothing: Option<Text>,
}

/// A task's changes, file by file.
#[derive(Debug, Serialize)]
pub struct DiffView<'a> {
    task: DiffTask<'a>,
    diff: Diff<'a>,
}

#[derive(Debug, Serialize)]
struct DiffTask<'a> {
    id: &'a str,
    key: Option<Key>,
    project: &'a str,
    branch: &'a str,
}

#[derive(Debug, Serialize)]
struct Diff<'a> {
    against: &'a str,
    base: &'a Option<String>,
    head: &'a Option<String>,
    commits: Option<u64>,
    files: &'a [FileChange],
    totals: Totals,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Totals {
    files: usize,
    added: u64,
    deleted: u64,
}

impl<'a> DiffView<'a> {
    /// `spell`: how the front end shows a text.
    pub fn of(
        task: &'a Task,
        comparison: &'a Comparison,
        files: &'a [FileChange],
        spell: fn(&Text) -> String,
    ) -> DiffView<'a> {
        let notes = comparison.notes.iter().cloned();
        DiffView {
            task: DiffTask {
                id: &task.id,
                key: task.key,
                project: &task.project,
                branch: &task.branch,
            },
            diff: Diff {
                against: &comparison.against,
                base: &comparison.base,
                head: &comparison.head,
                commits: comparison.commits,
                totals: Totals {
                    files: files.len(),
                    added: files.iter().map(|file| file.added).sum(),
                    deleted: files.iter().map(|file| file.deleted).sum(),
                },
                files,
                notes: notes
                    .chain(comparison.nothing.as_ref().map(spell))
                    .collect(),
            },
        }
    }
}

pub fn comparison(call: &Call, view: &TaskView, of: DiffOf) -> Result<Comparison> {
    let task = &view.task;
    if of == DiffOf::Uncommitted {
        return uncommitted_work(call, task);
    }
    let repository = workspaces::repository_of(call, task, &task.project)?;
    match of {
        DiffOf::Work | DiffOf::Uncommitted => all_work(call, &repository, view),
        DiffOf::SinceSeen => {
            let last = Seen::read(&view.place).last;
            diff_since::since_seen(call, &repository, view, last.as_ref())
        }
        DiffOf::LastTurn => diff_since::last_turn(call, &repository, view),
        DiffOf::SinceReview => {
            // A review that somebody else wrote into the journal would hide what came before it.
            let sealed = seal_checks::check_seals(call, &task.id, &view.history);
            diff_since::since_review(&repository, view, sealed.evidence(&view.history))
        }
    }
}

/// What came since a certain look: a front end that shows changes for a while compares with what was seen before it began.
pub fn since_look(call: &Call, view: &TaskView, look: Option<&BranchLook>) -> Result<Comparison> {
    let repository = workspaces::repository_of(call, &view.task, &view.task.project)?;
    diff_since::since_seen(call, &repository, view, look)
}

/// All that the task changed.
pub(super) fn all_work(call: &Call, repository: &Path, view: &TaskView) -> Result<Comparison> {
    let found = match merged(&view.task, &view.history) {
        Some(event) => merged_work(repository, &view.task, event),
        None => own_work(call, repository, view),
    };
    found.map(|comparison| Comparison {
        is_rest: true,
        ..comparison
    })
}

/// Git's own diff, handed over piece by piece.
pub fn diff(
    comparison: &Comparison,
    shape: DiffShape,
    files: &[OsString],
    sink: &mut Sink<'_>,
) -> Result<()> {
    let shown = diff::show(&comparison.sides, shape, files, sink);
    shown.map_err(|error| about_paths(error, files))
}

/// The files that differ.
pub fn diff_files(comparison: &Comparison, files: &[OsString]) -> Result<Vec<FileChange>> {
    let found = diff::files(&comparison.sides, files);
    found.map_err(|error| about_paths(error, files))
}

fn uncommitted_work(call: &Call, task: &Task) -> Result<Comparison> {
    let folder = workspace_state::workspace_folder(call, task)?;
    Ok(Comparison {
        base: git::commit_of(&folder, "HEAD")?,
        sides: Sides::Worktree(folder),
        head: None,
        against: "its last commit".to_owned(),
        commits: None,
        is_rest: false,
        notes: Vec::new(),
        nothing: None,
    })
}

fn own_work(call: &Call, repository: &Path, view: &TaskView) -> Result<Comparison> {
    let task = &view.task;
    let (head, notes) = head(repository, view)?;
    // A project that is not registered any more has told nobody else.
    let default = match call.project_of(&task.project) {
        Some(project) => project.default_branch,
        None => git::default_branch(repository)?,
    };
    let target = task.target(&default);
    let targets = rules::tips(repository, target)?;
    if targets.is_empty() {
        return Err(err!(
            NotFound,
            "there is no branch {target} in {} to compare with",
            repository.display()
        )
        .hint(text!(
            "say where the work goes: {}",
            Action::set_target(task.name())
        )));
    }
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let mut comparison = compared(repository, &head, &targets, target)?;
    comparison.notes.splice(0..0, notes);
    if comparison.commits == Some(0) {
        let uncommitted = match task.workspace {
            Some(_) => text!(
                "; {} shows what lies in its worktree",
                Parameter::Uncommitted
            ),
            None => Text::default(),
        };
        comparison.nothing = Some(if task.status.is_over() {
            text!("all of {} is in {target}", &task.branch)
        } else {
            text!(
                "{} has no commits of its own yet{}",
                &task.branch,
                uncommitted
            )
        });
    }
    Ok(comparison)
}

fn about_paths(error: Error, files: &[OsString]) -> Error {
    match files {
        [] => error,
        _ => error.hint(
            "paths are those of the repository, from its root: `src/main.rs`, `docs`, `*.md`",
        ),
    }
}

/// A head against what it left.
fn compared(repository: &Path, head: &str, targets: &[&str], against: &str) -> Result<Comparison> {
    let mut spans = spans(repository, &[head], targets, None)?.into_iter();
    let span = spans
        .next()
        .unwrap_or_else(|| Err(err!(Failed, "git rev-list: it said nothing")))?;
    let mut notes = Vec::new();
    let from = match &span.base {
        Some(base) => base.clone(),
        None => {
            notes.push(format!(
                "it shares no history with {against}: all that it holds counts as new"
            ));
            empty_tree(repository)?
        }
    };
    Ok(Comparison {
        sides: Sides::Commits {
            repository: repository.to_owned(),
            from,
            to: head.to_owned(),
        },
        base: span.base,
        head: Some(head.to_owned()),
        against: against.to_owned(),
        commits: Some(u64::from(span.commits)),
        is_rest: false,
        notes,
        nothing: None,
    })
}

/// Where the branch is. One that is gone may have been noted when it was handed over or reviewed.
pub(super) fn head(repository: &Path, view: &TaskView) -> Result<(String, Vec<String>)> {
    let (task, evidence) = (&view.task, Evidence::of(&view.history));
    let branch = format!("refs/heads/{}", task.branch);
    if let Some(head) = git::commit_of(repository, &branch)? {
        return Ok((head, Vec::new()));
    }
    let verdict = evidence.verdict.map(|verdict| verdict.said);
    let said = [
        evidence.handoff,
        verdict,
        evidence.reviewing,
        evidence.review,
    ];
    let noted = said.into_iter().flatten();
    let noted = noted.filter(|said| said.head.is_some());
    let last = noted.max_by_key(|said| said.at).and_then(|said| said.head);
    let (branch, folder) = (&task.branch, repository.display());
    let gone = format!("there is no branch {branch} in {folder}");
    let Some(last) = last else {
        let label = task.label();
        let hint = if task.has_started() {
            text!(
                "if it has another name now: {}; {} shows what was saved",
                Action::name_branch(task.name()),
                Action::list_rescues(task.name())
            )
        } else {
            text!(
                "{label} has not begun; {} starts it",
                crate::execution::how_to_start(task)
            )
        };
        return Err(Error::new(Code::NotFound, gone).hint(hint));
    };
    match git::commit_of(repository, &last)? {
        Some(head) => {
            let at = short(&head);
            let note =
                format!("the branch {branch} is gone; this is its work as it was noted, at {at}");
            Ok((head, vec![note]))
        }
        None => Err(err!(
            NotFound,
            "{gone}, and its last noted commit {} is gone too",
            short(&last)
        )
        .hint("a clone that still has it can bring it back: fetch from there, or push it here")),
    }
}

/// What a merge brought into the target, as it was recorded.
fn merged_work(repository: &Path, task: &Task, event: &Event) -> Result<Comparison> {
    let merge = TaskMerged::of(event).unwrap_or_default();
    let there = |commit: Option<&str>| match commit {
        Some(id) => git::commit_of(repository, id),
        None => Ok(None),
    };
    let target = merge.target.unwrap_or("its target");
    if let (Some(head), Some(base)) = (there(merge.head)?, there(merge.onto)?) {
        return compared(repository, &head, &[&base], target);
    }
    // The branch and what it held may be gone; what landed is not.
    let Some(commit) = there(merge.commit)? else {
        return Err(err!(
            NotFound,
            "the commits of {} are not in {} any more",
            task.label(),
            repository.display()
        )
        .hint(format!("fetch {target}, into which it was merged")));
    };
    let mut comparison = match git::commit_of(repository, &format!("{commit}^1"))? {
        Some(before) => compared(repository, &commit, &[&before], target)?,
        None => compared(repository, &commit, &[], target)?,
    };
    comparison.notes.push(format!(
        "its own commits are gone; this is {}, which brought them into {target}",
        short(&commit)
    ));
    Ok(comparison)
}

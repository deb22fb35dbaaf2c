//! How much tasks' branches change, whether they conflict with their targets, what came after their reviews. Branches are read from git's files at every look; git itself is started only for
//! those that moved since, or whose target did, and for all of them at once. So nothing is stale, nothing has to be
//! told when a branch moves, and a look at which nothing moved starts no process.

use crate::call::Call;
use crate::error::Result;
use crate::git::branches::Branches;
use crate::git::conflicts::{Trial, trial_merges};
use crate::git::diff_stat::{Size, Span, sizes, spans};
use crate::index::list::{ListedTask, Listing, TaskFilter};
use crate::index::{DiffStat, Index, KeptStat};
use crate::projects::Project;
use crate::views::list;
use orange_core::evidence::Evidence;
use orange_core::history::payload::TaskMerged;
use orange_core::history::{Event, EventType, History};
use orange_core::task::{Status, Task};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A list shows what is known by then; a repository that hangs or is huge must not hold it up. What git said until
/// then is remembered, so that the next look gets further.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How many files in conflict are remembered of a branch.
const MOST_FILES: usize = 100;

/// A branch and what it is compared with, as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tips {
    project: String,
    branch: String,
    head: String,
    /// Where the target is: here, and as the remote has it.
    targets: Vec<String>,
    /// The commit that a review passed.
    reviewed: Option<String>,
}

/// The branches of all projects, each project's read when first asked for.
struct KnownBranches {
    projects: HashMap<String, Project>,
    repositories: RefCell<HashMap<String, RepositoryBranches>>,
}

struct RepositoryBranches {
    branches: Branches,
    /// Where the targets are that were asked for.
    targets: HashMap<String, Vec<String>>,
}

impl KnownBranches {
    fn of(projects: Vec<Project>) -> KnownBranches {
        let named = |project: Project| (project.name.clone(), project);
        KnownBranches {
            projects: projects.into_iter().map(named).collect(),
            repositories: RefCell::default(),
        }
    }

    fn tips(&self, project: &str, branch: &str, target: Option<&str>) -> Option<Tips> {
        let known = self.projects.get(project)?;
        let mut all = self.repositories.borrow_mut();
        if !all.contains_key(project) {
            let repository = RepositoryBranches {
                branches: Branches::of(&known.path, TIMEOUT),
                targets: HashMap::new(),
            };
            all.insert(project.to_owned(), repository);
        }
        let RepositoryBranches { branches, targets } = all.get_mut(project)?;
        let head = branches.commit(&format!("refs/heads/{branch}"))?;
        let target = target.unwrap_or(&known.default_branch);
        if !targets.contains_key(target) {
            targets.insert(target.to_owned(), tips_of(branches, target));
        }
        let targets = targets.get(target).filter(|tips| !tips.is_empty())?.clone();
        Some(Tips {
            project: project.to_owned(),
            branch: branch.to_owned(),
            head,
            targets,
            reviewed: None,
        })
    }
}

impl Tips {
    fn reviewed_at(self, reviewed: Option<String>) -> Tips {
        Tips { reviewed, ..self }
    }
}

/// Where a target is, here and as the remote has it. Both count: what either has is nobody's own any more.
fn tips_of(branches: &Branches, target: &str) -> Vec<String> {
    let places = ["heads", "remotes/origin"].map(|place| format!("refs/{place}/{target}"));
    let tips = places.iter().filter_map(|place| branches.commit(place));
    let mut tips: Vec<String> = tips.collect();
    tips.dedup();
    tips
}

/// What is known of a branch without git.
struct KnownStat {
    stat: Option<DiffStat>,
    /// Git has to be asked about it.
    open: Option<Tips>,
}

fn look(index: &Index, tips: Tips) -> KnownStat {
    if tips.targets.contains(&tips.head) {
        // As it was made: nobody need be asked.
        let stat = DiffStat {
            base: Some(tips.head.clone()),
            head: tips.head,
            conflicts: Some(Vec::new()),
            since_review: tips.reviewed.map(|_| 0),
            ..DiffStat::default()
        };
        return KnownStat {
            stat: Some(stat),
            open: None,
        };
    }
    let kept = index.diff_stat(&tips.project, &tips.branch);
    let is_same = |kept: &KeptStat| {
        kept.stat.head == tips.head
            && kept.targets == tips.targets
            && kept.reviewed == tips.reviewed
    };
    let kept = kept.filter(is_same);
    let is_whole = kept.as_ref().is_some_and(|kept| kept.tried);
    KnownStat {
        stat: kept.map(|kept| kept.stat),
        open: (!is_whole).then_some(tips),
    }
}

/// A list whose active tasks tell how much they change. It is made from what is remembered, and once more if
/// that was not enough.
pub(crate) fn list_with_diff<T>(
    call: &Call,
    filter: &TaskFilter,
    show: impl Fn(Listing) -> T,
) -> Result<T> {
    // A list does not need the registry; without it nobody knows where the branches are.
    let known = KnownBranches::of(call.projects().unwrap_or_default());
    let (shown, moved) = list::ask_index(call, |index, outside| {
        index.fresh_list(filter, outside, |mut listing| {
            let moved = fill(&known, index, &mut listing.rows);
            (show(listing), moved)
        })
    })?;
    if moved.is_empty() {
        return Ok(shown);
    }
    measure_branches(call, &known, moved);
    list::ask_index(call, |index, outside| {
        let mut listing = index.list(filter, outside)?;
        fill(&known, index, &mut listing.rows);
        Ok(show(listing))
    })
}

/// How much a task changes, and against which branch: its own as it is, or what was merged of it. None for one
/// that has not begun, and where that cannot be told.
pub fn diff_stat(call: &Call, task: &Task, history: &History) -> Option<(DiffStat, String)> {
    let known = KnownBranches::of(call.projects().ok()?);
    let default = &known.projects.get(&task.project)?.default_branch;
    let mut target = task.target(default).to_owned();
    let tips = match merged(task, history) {
        Some(event) => {
            let merge = TaskMerged::of(event)?;
            target = merge.target.map_or(target, str::to_owned);
            Tips {
                project: task.project.clone(),
                branch: task.branch.clone(),
                head: merge.head?.to_owned(),
                targets: vec![merge.onto?.to_owned()],
                reviewed: None,
            }
        }
        None if !task.has_started() => return None,
        None => {
            let tips = known.tips(&task.project, &task.branch, Some(&target))?;
            let review = Evidence::of(history).review;
            tips.reviewed_at(review.and_then(|review| review.head))
        }
    };
    let KnownStat { stat, open } = look(call.index().ok()?, tips);
    let asked = open.and_then(|tips| measure_branches(call, &known, vec![tips]).pop());
    let stat = asked.map(|kept| kept.stat).or(stat)?;
    Some((stat, target))
}

/// Asks git about branches that moved, and remembers what it says.
fn measure_branches(call: &Call, known: &KnownBranches, moved: Vec<Tips>) -> Vec<KeptStat> {
    let until = Instant::now() + TIMEOUT;
    let mut groups: BTreeMap<(PathBuf, Vec<String>), Vec<Tips>> = BTreeMap::new();
    for tips in moved {
        if let Some(project) = known.projects.get(&tips.project) {
            let group = (project.path.clone(), tips.targets.clone());
            groups.entry(group).or_default().push(tips);
        }
    }
    let mut measured = Vec::new();
    for ((repository, targets), tips) in groups {
        match measure_group(call, &repository, &targets, tips, until) {
            Ok(stats) => measured.extend(stats),
            Err(error) => {
                tracing::warn!(%error, repository = %repository.display(), "branches were not compared");
            }
        }
    }
    if let Ok(index) = call.index() {
        index.keep_diff_stats(&measured);
    }
    measured
}

fn measure_group(
    call: &Call,
    repository: &Path,
    targets: &[String],
    tips: Vec<Tips>,
    until: Instant,
) -> Result<Vec<KeptStat>> {
    let heads: Vec<&str> = tips.iter().map(|tips| tips.head.as_str()).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let spans = spans(repository, &heads, &targets, Some(until))?;
    let mut found: Vec<(&Tips, Span, Option<Size>)> = Vec::new();
    for (tips, span) in tips.iter().zip(spans) {
        let Ok(span) = span else { continue };
        let size = match span.commits {
            0 => Some(Size::default()),
            // The target moved, the branch did not: what it changes is the same.
            _ => {
                let kept = call.index()?.diff_stat(&tips.project, &tips.branch);
                let kept = kept.map(|kept| kept.stat);
                let kept = kept.filter(|kept| kept.head == tips.head && kept.base == span.base);
                kept.map(|kept| Size {
                    files: kept.files,
                    added: kept.added,
                    deleted: kept.deleted,
                })
            }
        };
        found.push((tips, span, size));
    }
    let open = found.iter().filter(|(_, _, size)| size.is_none());
    let open: Vec<(Option<&str>, &str)> = open
        .map(|(tips, span, _)| (span.base.as_deref(), tips.head.as_str()))
        .collect();
    let mut sizes = sizes(repository, &open, Some(until))?.into_iter();
    let mut tried = try_merges(call, repository, &targets, &found, until).into_iter();
    let stat = |(tips, span, size): (&Tips, Span, Option<Size>)| {
        let tried = tried.next().flatten();
        let is_tried = tried.is_some();
        let size = size.or_else(|| sizes.next().flatten())?;
        let TriedMerge { files, with } = tried.unwrap_or_default();
        Some(KeptStat {
            project: tips.project.clone(),
            branch: tips.branch.clone(),
            targets: tips.targets.clone(),
            reviewed: tips.reviewed.clone(),
            tried: is_tried,
            stat: DiffStat {
                since_review: since_review(repository, tips, &span, until),
                conflicts: files,
                conflicts_with: with,
                base: span.base,
                head: tips.head.clone(),
                commits: span.commits,
                files: size.files,
                added: size.added,
                deleted: size.deleted,
            },
        })
    };
    Ok(found.into_iter().filter_map(stat).collect())
}

/// The files in which a branch conflicts with its target, if that is known, and the commit of the target.
#[derive(Default)]
struct TriedMerge {
    files: Option<Vec<String>>,
    with: Option<String>,
}

/// Tries to merge every branch into each of its targets. None for one that git did not come to: the next look tries it.
fn try_merges(
    call: &Call,
    repository: &Path,
    targets: &[&str],
    found: &[(&Tips, Span, Option<Size>)],
    until: Instant,
) -> Vec<Option<TriedMerge>> {
    // Without a commit in common git refuses, for all that follow too. A target that has not moved on is merged cleanly.
    let targets_of = |span: &Span| {
        let base = span.base.clone().filter(|_| span.commits > 0);
        let has_moved = move |target: &&str| base.as_ref().is_some_and(|base| base != target);
        targets.iter().copied().filter(has_moved)
    };
    let pairs: Vec<(&str, &str)> = found
        .iter()
        .flat_map(|(tips, span, _)| targets_of(span).map(|target| (target, tips.head.as_str())))
        .collect();
    let tried = if pairs.is_empty() {
        Ok(Vec::new())
    } else {
        call.store.with_scratch_folder("merges", |scratch| {
            trial_merges(repository, &pairs, scratch, until)
        })
    };
    let tried = tried.unwrap_or_else(|error| {
        tracing::warn!(%error, repository = %repository.display(), "merges were not tried");
        vec![Trial::Failed; pairs.len()]
    });
    let mut tried = tried.into_iter();
    let merge = |(_, span, _): &(&Tips, Span, Option<Size>)| {
        let mut merge = TriedMerge {
            files: span.base.as_ref().map(|_| Vec::new()),
            with: None,
        };
        let mut is_whole = true;
        for (target, trial) in targets_of(span).zip(&mut tried) {
            match trial {
                Trial::NotReached => is_whole = false,
                _ if merge.with.is_some() => {}
                Trial::Failed => merge.files = None,
                Trial::Files(files) if files.is_empty() => {}
                Trial::Files(mut files) => {
                    files.truncate(MOST_FILES);
                    merge.files = Some(files);
                    merge.with = Some(target.to_owned());
                }
            }
        }
        is_whole.then_some(merge)
    };
    found.iter().map(merge).collect()
}

/// How many commits of a branch its review has not seen. A branch that was rewritten has only such.
fn since_review(repository: &Path, tips: &Tips, span: &Span, until: Instant) -> Option<u32> {
    let reviewed = tips.reviewed.as_deref()?;
    if reviewed == tips.head || span.commits == 0 {
        return Some(0);
    }
    let mut known: Vec<&str> = tips.targets.iter().map(String::as_str).collect();
    known.push(reviewed);
    let spans = spans(repository, &[&tips.head], &known, Some(until)).ok()?;
    Some(spans.into_iter().next()?.ok()?.commits)
}

/// What is remembered of the active tasks of a list. Gives those about which git has to be asked.
fn fill(known: &KnownBranches, index: &Index, rows: &mut [ListedTask]) -> Vec<Tips> {
    let mut moved = Vec::new();
    for row in rows {
        let status: Option<Status> = row.status.parse().ok();
        if !status.is_some_and(Status::is_active) || row.damaged.is_some() {
            continue;
        }
        let Some(tips) = known.tips(&row.project, &row.branch, row.target.as_deref()) else {
            continue;
        };
        let tips = tips.reviewed_at(row.reviewed.clone());
        let looked = look(index, tips);
        row.diff = looked.stat.map(Box::new);
        moved.extend(looked.open);
    }
    moved
}

/// How the task's work came into its target, if Orange brought it there.
pub(crate) fn merged<'h>(task: &Task, history: &'h History) -> Option<&'h Event> {
    let merged = |event: &&Event| event.kind == EventType::TaskMerged;
    let event = history.events.iter().rfind(merged)?;
    task.status.is_terminal().then_some(event)
}

//! Rescues that are past their time, by the time that is written in them, and the copies that belong to them. A ref goes
//! before its copies: it must never speak of something that is not there.

use crate::call::Call;
use crate::error::{Result, plain};
use crate::maintenance::every_task;
use crate::maintenance::gc::{self, ExpiryKind, Item, Swept, remove_folder};
use crate::projects::Project;
use crate::rescue::{self, RAW, Rescue};
use crate::store::history_in;
use crate::store::locks::Lock;
use crate::trash::{self, task_folders};
use crate::{disk, settings};
use orange_core::history::payload::EarlierWork;
use orange_core::machine;
use orange_sys::crash_points::crash_point;
use orange_sys::listing;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Another home may use the same repository and keep its rescues for longer than this one: what belongs to a task that
/// is not known here is kept for at least so many days.
const OF_STRANGERS: u32 = 30;

/// Plain copies of what git cannot hold, beside a rescue's ref.
struct RescueCopy {
    task_id: String,
    name: String,
    /// None: of a task that is not there.
    project: Option<String>,
    path: PathBuf,
}

/// Task and name of rescues.
type Names = Vec<(String, String)>;

/// What the refs of all repositories say.
#[derive(Default)]
struct Refs {
    /// Task and name of those that stay.
    kept: HashSet<(String, String)>,
    /// Those that are past their time.
    old: HashSet<(String, String)>,
    /// The projects whose repository was looked at.
    read: HashSet<String>,
    /// There is one that was not.
    unread: bool,
}

/// Of one project, or of all.
pub(crate) fn sweep_rescues(call: &Call, only: Option<&str>, remove: bool) -> Result<Swept> {
    let days = settings::config(call)?.rescue.keep_days;
    let mut swept = Swept::new(ExpiryKind::Rescues, days);
    let copies = copies(call)?;
    let mut refs = Refs::default();
    for project in call.projects()? {
        if only.is_some_and(|only| only != project.name) {
            refs.unread = true;
            continue;
        }
        let all = rescue::list(&project.path, None);
        let unseen = all.is_err();
        let outcome =
            all.and_then(|all| sweep_repository(call, &project, all, &copies, remove, &mut swept));
        match outcome {
            Ok((old, kept)) => {
                refs.read.insert(project.name);
                refs.old.extend(old);
                refs.kept.extend(kept);
            }
            Err(error) => {
                refs.unread = true;
                // A repository that is elsewhere for a while keeps its rescues.
                let is_there = project.path.is_dir();
                let name = format!("rescues of project {}", project.name);
                let left = swept.stays(name, error.message);
                (left.failed, left.unseen) = (is_there, unseen && is_there);
            }
        }
    }
    if remove {
        crash_point("gc.rescues_forgotten");
    }
    sweep_copies(call, &copies.all, &refs, remove, &mut swept);
    Ok(swept)
}

/// Forgets the old rescues of a repository. Gives them, and those that stay.
fn sweep_repository(
    call: &Call,
    project: &Project,
    mut all: Vec<Rescue>,
    copies: &Copies,
    remove: bool,
    swept: &mut Swept,
) -> Result<(Names, Names)> {
    let own = gc::so_many_days_ago(call, swept.keep_days);
    let of_strangers = gc::so_many_days_ago(call, swept.keep_days.max(OF_STRANGERS));
    let is_old = |rescue: &Rescue| {
        let id = &rescue.task_id;
        // Slots have the same names in every home.
        let is_known = copies.known.contains(id);
        rescue.note.time < if is_known { own } else { of_strangers }
    };
    let needed = if all.iter().any(&is_old) {
        tasks_whose_work_is_needed(call)?
    } else {
        HashSet::new()
    };
    let is_old = |rescue: &Rescue| is_old(rescue) && !needed.contains(&rescue.task_id);
    let mut turn = None;
    if remove && all.iter().any(&is_old) {
        // Two at once take turns, and the second finds nothing to do.
        turn = Some(call.store.lock(Lock::Rescues)?);
        all = rescue::list(&project.path, None)?;
    }
    let (old, kept): (Vec<Rescue>, Vec<Rescue>) = all.into_iter().partition(&is_old);
    if turn.is_some() {
        rescue::forget(&call.site(&project.path), &old)?;
    }
    for rescue in &old {
        let belongs =
            |copy: &&RescueCopy| copy.task_id == rescue.task_id && copy.name == rescue.name;
        let copies = copies.all.iter().filter(belongs);
        let bytes = copies.map(|copy| disk::used(&copy.path));
        swept.items.push(Item {
            bytes: bytes.sum(),
            name: format!("{} {} {}", project.name, rescue.task_id, rescue.name),
            time: rescue.note.time,
        });
    }
    let named = |rescue: Rescue| (rescue.task_id, rescue.name);
    let (old, kept) = (old.into_iter(), kept.into_iter());
    Ok((old.map(named).collect(), kept.map(named).collect()))
}

/// The tasks whose work another one goes on with as soon as it starts (`--with-work`).
fn tasks_whose_work_is_needed(call: &Call) -> Result<HashSet<String>> {
    let listed = every_task(call)?.into_iter();
    let mut folders: Vec<PathBuf> = listed
        .map(|task| call.store.place(&task.folder).path)
        .collect();
    // One that was deleted can be restored.
    folders.extend(task_folders(&call.store.trash()));
    let mut needed = HashSet::new();
    for folder in folders {
        // An unreadable journal is an error: the task may need these rescues. A folder without a journal needs none.
        let history = history_in(&folder)?;
        let is_over =
            machine::fold(history.own(), u64::MAX).is_ok_and(|task| task.status.is_terminal());
        let work = EarlierWork::of(&history).filter(|_| !is_over);
        needed.extend(
            work.filter(|work| !work.is_brought(&history))
                .map(|work| work.task_id),
        );
    }
    Ok(needed)
}

/// Copies whose ref is gone: forgotten just now, or by a process that was killed before it came to them.
fn sweep_copies(call: &Call, copies: &[RescueCopy], refs: &Refs, remove: bool, swept: &mut Swept) {
    let limit = gc::so_many_days_ago(call, swept.keep_days);
    for copy in copies.iter().filter(|_| remove) {
        let looked = match &copy.project {
            Some(project) => refs.read.contains(project),
            None => !refs.unread,
        };
        let is_old = rescue::time_of(&copy.name).is_some_and(|time| time < limit);
        let rescue = (copy.task_id.clone(), copy.name.clone());
        let abandoned = looked && is_old && !refs.kept.contains(&rescue);
        if !abandoned && !refs.old.contains(&rescue) {
            continue;
        }
        if let Err(error) = remove_folder(&copy.path) {
            let name = copy.path.display().to_string();
            swept.stays(name, plain(&error)).failed = true;
        }
    }
}

/// Where the copies lie that belong to rescues.
pub(crate) fn rescue_copies(call: &Call) -> Result<Vec<PathBuf>> {
    let all = copies(call)?.all;
    Ok(all.into_iter().map(|copy| copy.path).collect())
}

/// All copies there are, and the tasks that this home knows.
fn copies(call: &Call) -> Result<Copies> {
    let mut found = Copies::default();
    for task in every_task(call)? {
        let folder = call.store.place(&task.folder).path.join(RAW);
        found.add(&task.id, Some(&task.project), &folder);
        found.known.insert(task.id);
    }
    for folder in task_folders(&call.store.trash()) {
        if let Some(task) = trash::task_in(&folder) {
            found.add(&task.id, Some(&task.project), &folder.join(RAW));
            found.known.insert(task.id);
        }
    }
    let strays = call.store.workspaces().join(rescue::STRAYS);
    for folder in listing::entries(&strays) {
        let id = folder.file_name().unwrap_or_default().to_string_lossy();
        found.add(&id, None, &folder);
    }
    Ok(found)
}

#[derive(Default)]
struct Copies {
    all: Vec<RescueCopy>,
    known: HashSet<String>,
}

impl Copies {
    fn add(&mut self, task_id: &str, project: Option<&str>, folder: &Path) {
        for path in listing::folders(folder) {
            if let Some(name) = path.file_name().and_then(OsStr::to_str) {
                self.all.push(RescueCopy {
                    task_id: task_id.to_owned(),
                    name: name.to_owned(),
                    project: project.map(str::to_owned),
                    path,
                });
            }
        }
    }
}

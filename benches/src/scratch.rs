//! Where the benchmark works: a memory file system for large homes, the disk of the target folder for what
//! waits for fsync. Both folders go away at the end, and those of a benchmark that was killed at the next start.

use crate::fixture::Home;
use crate::{Result, note};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const PREFIX: &str = "orange-bench-";
/// What the homes need, with room to spare.
const WANTED_BYTES: u64 = 3 << 30;

pub(crate) struct Scratch {
    pub(crate) memory: PathBuf,
    pub(crate) disk: PathBuf,
    /// The program that is measured.
    pub(crate) orange: PathBuf,
    pub(crate) itself: PathBuf,
    homes: RefCell<BTreeMap<usize, Rc<Home>>>,
}

/// A copy, as an installation makes one: what a linker wrote piece by piece takes longer to load.
fn installed(program: &Path, folder: &Path) -> Result<PathBuf> {
    let copy = folder.join(program.file_name().ok_or("no program")?);
    fs::copy(program, &copy)?;
    Ok(copy)
}

impl Scratch {
    pub(crate) fn new() -> Result<Scratch> {
        let itself = std::env::current_exe()?;
        let build = itself.parent().ok_or("no target folder")?;
        let orange = build.join("orange");
        if !orange.is_file() {
            return Err("build Orange first: cargo build --release --locked".into());
        }
        let target = build.parent().ok_or("no target folder")?;
        let shm = Path::new("/dev/shm");
        let roomy =
            rustix::fs::statvfs(shm).is_ok_and(|stat| stat.f_bavail * stat.f_frsize > WANTED_BYTES);
        let memory = if file_system(shm) == "tmpfs" && roomy && sweep(shm).is_ok() {
            fresh(shm)?
        } else {
            note("no roomy memory file system at /dev/shm: large homes are on a disk");
            fresh(&std::env::temp_dir())?
        };
        sweep(target)?;
        let disk = fresh(target)?;
        Ok(Scratch {
            memory,
            orange: installed(&orange, &disk)?,
            itself: installed(&itself, &disk)?,
            disk,
            homes: RefCell::default(),
        })
    }

    /// A home with so many tasks in memory, its index up to date; made when first asked for.
    pub(crate) fn home(&self, tasks: usize) -> Result<Rc<Home>> {
        if let Some(home) = self.homes.borrow().get(&tasks) {
            return Ok(Rc::clone(home));
        }
        let home = Rc::new(Home::create(&self.memory.join(tasks.to_string()), tasks)?);
        home.settle(self)?;
        self.homes.borrow_mut().insert(tasks, Rc::clone(&home));
        Ok(home)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for folder in [&self.memory, &self.disk] {
            if let Err(error) = fs::remove_dir_all(folder) {
                note(&format!("could not remove {}: {error}", folder.display()));
            }
        }
    }
}

fn fresh(parent: &Path) -> Result<PathBuf> {
    let folder = parent.join(format!("{PREFIX}{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Removes what benchmarks that are not running any more left behind.
fn sweep(parent: &Path) -> Result<()> {
    for entry in fs::read_dir(parent)?.flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw)
            && rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// The name of the file system a folder is on.
pub(crate) fn file_system(folder: &Path) -> &'static str {
    const NAMES: &[(i64, &str)] = &[
        (0x0102_1994, "tmpfs"),
        (0xEF53, "ext4"),
        (0x9123_683E, "btrfs"),
        (0x5846_5342, "xfs"),
        (0x794C_7630, "overlay"),
        (0x2FC1_2FC1, "zfs"),
    ];
    let Ok(stat) = rustix::fs::statfs(folder) else {
        return "unknown";
    };
    #[allow(
        clippy::unnecessary_cast,
        reason = "the type differs between platforms"
    )]
    let kind = stat.f_type as i64;
    NAMES
        .iter()
        .find(|(number, _)| *number == kind)
        .map_or("another", |(_, name)| name)
}

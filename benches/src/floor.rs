//! The floors: processes that do the least that could do the job, and nothing of the job itself.

use crate::Result;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["stat", tasks] => stat(Path::new(tasks)),
        ["read", tasks, threads] => read(Path::new(tasks), threads.parse()?),
        ["costs", home] => crate::cost::read(Path::new(home)),
        ["change", folder, in_flight, file, appends @ ..] => {
            let appends = appends
                .iter()
                .map(|bytes| bytes.parse())
                .collect::<std::result::Result<_, _>>()?;
            let writes = Writes {
                file: file.parse()?,
                appends,
            };
            change(Path::new(folder), Path::new(in_flight), &writes)
        }
        _ => Err(
            "usage: orange-bench floor stat TASKS, read TASKS THREADS, costs HOME, or change FOLDER IN_FLIGHT BYTES…".into(),
        ),
    }
}

/// Reads the folders' names and stats every TASK.md, in one thread.
fn stat(tasks: &Path) -> Result<()> {
    let mut found = 0;
    for project in fs::read_dir(tasks)? {
        let project = project?.path();
        let root = rustix::fs::openat(
            CWD,
            &project,
            OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        for task in fs::read_dir(&project)? {
            let mut path = task?.file_name();
            path.push("/TASK.md");
            found +=
                usize::from(rustix::fs::statat(&root, &path, AtFlags::SYMLINK_NOFOLLOW).is_ok());
        }
    }
    writeln!(std::io::stdout(), "{found}")?;
    Ok(())
}

/// Reads every TASK.md and every history.jsonl into memory.
fn read(tasks: &Path, threads: usize) -> Result<()> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for project in fs::read_dir(tasks)? {
        for task in fs::read_dir(project?.path())? {
            folders.push(task?.path());
        }
    }
    let part = folders.len().div_ceil(threads).max(1);
    let bytes: usize = std::thread::scope(|scope| {
        let parts: Vec<_> = folders
            .chunks(part)
            .map(|part| scope.spawn(|| read_part(part)))
            .collect();
        parts.into_iter().map(|part| part.join().unwrap_or(0)).sum()
    });
    writeln!(std::io::stdout(), "{bytes}")?;
    Ok(())
}

fn read_part(folders: &[PathBuf]) -> usize {
    let mut buffer = Vec::new();
    let mut bytes = 0;
    for folder in folders {
        for name in ["TASK.md", "history.jsonl"] {
            buffer.clear();
            let read =
                File::open(folder.join(name)).and_then(|mut file| file.read_to_end(&mut buffer));
            bytes += read.unwrap_or(0);
        }
    }
    bytes
}

/// How much a status change writes.
#[derive(Debug, Clone)]
pub(crate) struct Writes {
    /// The new TASK.md.
    pub(crate) file: usize,
    /// One block of lines for the change, and one for its hooks if it has any.
    pub(crate) appends: Vec<usize>,
}

/// The durable writes of one status change: mark and fsync of its folder, journal and fdatasync, new file and
/// fsync, both renames, fsync of the folder, the journal again for hooks. Nothing is read, checked or indexed.
pub(crate) fn change(folder: &Path, in_flight: &Path, writes: &Writes) -> Result<()> {
    let mark = in_flight.join("a-mark-of-the-floor");
    fs::write(&mark, "bench/a-task-of-twenty-one")?;
    File::open(in_flight)?.sync_all()?;
    let filler = vec![
        b'x';
        writes
            .file
            .max(writes.appends.iter().copied().max().unwrap_or(0))
    ];
    let mut appends = writes.appends.iter();
    let append = |bytes: usize| -> Result<()> {
        let mut journal = OpenOptions::new()
            .append(true)
            .open(folder.join("history.jsonl"))?;
        journal.write_all(&filler[..bytes])?;
        Ok(journal.sync_data()?)
    };
    append(appends.next().copied().unwrap_or(0))?;
    let (part, temp) = (
        folder.join(".TASK.md.floor.part"),
        folder.join(".TASK.md.floor"),
    );
    let mut file = File::create(&part)?;
    file.write_all(&filler[..writes.file])?;
    file.sync_all()?;
    fs::rename(&part, &temp)?;
    rustix::fs::renameat_with(
        CWD,
        &temp,
        CWD,
        folder.join("TASK.md"),
        RenameFlags::EXCHANGE,
    )?;
    File::open(folder)?.sync_all()?;
    fs::remove_file(&temp)?;
    for bytes in appends {
        append(*bytes)?;
    }
    Ok(fs::remove_file(&mark)?)
}

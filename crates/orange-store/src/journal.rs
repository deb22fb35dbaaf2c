//! The append-only journal: whole lines, durable when `append` returns, and a torn tail is never mistaken for a line.

use super::{private, replace};
use orange_sys::crash_points::crash_point;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Start of the names under which torn tails are kept, next to the journal.
const TORN_PREFIX: &str = "history.torn-";

/// The same for lines that are no events.
const UNREADABLE_PREFIX: &str = "history.unreadable-";

/// A journal as it lies on disk.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JournalBytes {
    /// The complete lines, each with its newline.
    pub text: Vec<u8>,
    /// What follows them: the rest of a write that a crash cut short (or one that is under way right now).
    pub torn: Option<Vec<u8>>,
    /// Length of the whole file, torn tail included.
    pub len: u64,
}

/// Reads the journal without changing anything; a missing file is an empty journal.
pub fn read(path: &Path) -> io::Result<JournalBytes> {
    match private::unless_gone(open(path, OpenOptions::new().read(true)))? {
        Some(mut file) => split(&mut file),
        None => Ok(JournalBytes::default()),
    }
}

/// Appends the lines durably, all or none, and returns the journal's new length; the caller holds the task's lock.
pub fn append(path: &Path, lines: &[String]) -> io::Result<u64> {
    let block = block_of(lines)?;
    let mut options = private::options();
    let mut file = open(path, options.read(true).append(true).create(true))?;
    let old = split(&mut file)?;
    if old.len == 0 {
        // New, or made by a process that died before its name was durable.
        sync_folder(path)?;
    }
    let old_len = old.text.len() as u64;
    if let Some(torn) = &old.torn {
        set_aside(path, TORN_PREFIX, torn)?;
        file.set_len(old_len)?;
        file.sync_data()?;
    }
    if let Err(error) = write_and_sync(&mut file, &block) {
        undo(&file, path, old_len);
        return Err(error);
    }
    crash_point("journal.synced");
    Ok(old_len + block.len() as u64)
}

/// Takes lines, counted from 1, out of the journal, durably, and keeps them in a file beside it. Gives that file's name and
/// the journal's new length; the caller holds the task's lock.
pub fn take_out(path: &Path, numbers: &[usize]) -> io::Result<(String, u64)> {
    let old = read(path)?;
    let (mut kept, mut taken) = (Vec::new(), Vec::new());
    for (index, line) in old.text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let is_taken = numbers.contains(&(index + 1));
        let part = if is_taken { &mut taken } else { &mut kept };
        part.extend_from_slice(line);
    }
    let new_len = kept.len() as u64;
    kept.extend(old.torn.unwrap_or_default());
    let aside = set_aside(path, UNREADABLE_PREFIX, &taken)?;
    replace::write_atomic(path, &kept)?;
    Ok((aside, new_len))
}

fn block_of(lines: &[String]) -> io::Result<Vec<u8>> {
    let mut block = Vec::new();
    for line in lines {
        if line.is_empty() || line.bytes().any(|byte| byte == b'\n' || byte == 0) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a journal line must be one non-empty line",
            ));
        }
        block.extend_from_slice(line.as_bytes());
        block.push(b'\n');
    }
    Ok(block)
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Non-blocking, so that a pipe put in the journal's place is refused instead of waited for.
    let file = options
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} is not a regular file", path.display()),
        ))
    }
}

fn split(file: &mut File) -> io::Result<JournalBytes> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let len = text.len() as u64;
    let torn = text.split_off(complete_len(&text));
    Ok(JournalBytes {
        text,
        torn: (!torn.is_empty()).then_some(torn),
        len,
    })
}

/// Length of the part that consists of whole lines.
fn complete_len(bytes: &[u8]) -> usize {
    let mut end = after_last_newline(bytes);
    // After a power loss a block may come back as zeros while a later one, with the newline, was written.
    while end > 0 {
        let start = after_last_newline(&bytes[..end - 1]);
        if !bytes[start..end].contains(&0) {
            break;
        }
        end = start;
    }
    end
}

fn after_last_newline(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1)
}

/// Keeps a part of the journal in a file of its own, durably, before it is cut off. Gives the file's name.
fn set_aside(path: &Path, prefix: &str, part: &[u8]) -> io::Result<String> {
    for number in 1_u32.. {
        let name = format!("{prefix}{number}");
        let aside = path.with_file_name(&name);
        let mut file = match private::options().write(true).create_new(true).open(&aside) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        if let Err(error) = file.write_all(part).and_then(|()| file.sync_all()) {
            let _ = std::fs::remove_file(&aside);
            return Err(error);
        }
        tracing::warn!(aside = %aside.display(), bytes = part.len(), "set a part of a journal aside");
        sync_folder(path)?;
        return Ok(name);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn write_and_sync(file: &mut File, block: &[u8]) -> io::Result<()> {
    // One write in practice; after a short one the next attempt brings the real error (disk full, limit).
    file.write_all(block)?;
    crash_point("journal.appended");
    file.sync_data()
}

/// Takes back what a failed append may have left. If that fails too, the next append finds the torn tail.
fn undo(file: &File, path: &Path, old_len: u64) {
    if let Err(error) = file.set_len(old_len).and_then(|()| file.sync_data()) {
        tracing::error!(%error, path = %path.display(), "cannot take back a failed journal append");
    }
}

pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(private::folder_of(path))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    fn journal() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        (dir, path)
    }

    #[test]
    fn what_was_appended_is_read() {
        let (dir, path) = journal();
        assert_eq!(read(&path).unwrap(), JournalBytes::default());
        assert_eq!(
            append(&path, &lines(&["{\"a\":1}", "{\"b\":2}"])).unwrap(),
            16
        );
        assert_eq!(append(&path, &lines(&["{}"])).unwrap(), 19);
        let bytes = read(&path).unwrap();
        assert_eq!(bytes.text, b"{\"a\":1}\n{\"b\":2}\n{}\n");
        assert_eq!((bytes.torn, bytes.len), (None, 19));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(append(&path, &[]).unwrap(), 19);
        for bad in ["", "a\nb", "a\0"] {
            assert!(append(&path, &lines(&[bad])).is_err());
        }
        assert_eq!(read(&path).unwrap().len, 19);
    }

    #[test]
    fn cut_at_every_byte_it_reads_whole_lines_and_append_keeps_both() {
        let whole = "{\"n\":1}\n{\"text\":\"ä€\"}\n{\"n\":3}\n".as_bytes();
        for cut in 0..=whole.len() {
            let (dir, path) = journal();
            fs::write(&path, &whole[..cut]).unwrap();
            let complete = after_last_newline(&whole[..cut]);
            let before = read(&path).unwrap();
            assert_eq!(before.text, &whole[..complete]);
            assert_eq!(
                before.torn.as_deref().unwrap_or_default(),
                &whole[complete..cut]
            );
            assert_eq!(before.len, cut as u64);
            assert_eq!(append(&path, &lines(&["{}"])).unwrap(), complete as u64 + 3);
            let after = read(&path).unwrap();
            assert_eq!(after.text, [&whole[..complete], b"{}\n"].concat());
            assert_eq!(after.torn, None);
            let aside = fs::read(dir.path().join("history.torn-1")).ok();
            assert_eq!(aside, before.torn);
        }
    }

    #[test]
    fn zeros_at_the_end_are_torn_and_earlier_torn_files_stay() {
        let (dir, path) = journal();
        for (number, tail) in ["\0\0\0\0", "\0\0\0x\"}\n", "{}\0\n\0\n", "{\"half"]
            .iter()
            .enumerate()
        {
            fs::write(&path, format!("{{}}\n{tail}")).unwrap();
            let bytes = read(&path).unwrap();
            assert_eq!(bytes.text, b"{}\n", "{tail:?}");
            assert_eq!(bytes.torn.as_deref(), Some(tail.as_bytes()));
            append(&path, &lines(&["{}"])).unwrap();
            let aside = dir.path().join(format!("{TORN_PREFIX}{}", number + 1));
            assert_eq!(fs::read(aside).unwrap(), tail.as_bytes());
        }
        assert_eq!(fs::read(&path).unwrap(), b"{}\n{}\n");
    }

    #[test]
    fn lines_are_taken_out_and_kept() {
        let (dir, path) = journal();
        fs::write(&path, "{\"a\":1}\nno\n{\"b\":2}\n\u{ff}? \n{\"half").unwrap();
        let (name, len) = take_out(&path, &[2, 4]).unwrap();
        assert_eq!((name.as_str(), len), ("history.unreadable-1", 16));
        assert_eq!(fs::read(&path).unwrap(), b"{\"a\":1}\n{\"b\":2}\n{\"half");
        let kept = fs::read(dir.path().join(&name)).unwrap();
        assert_eq!(kept, "no\n\u{ff}? \n".as_bytes());
        let (name, _) = take_out(&path, &[1]).unwrap();
        assert_eq!(name, "history.unreadable-2");
    }

    #[test]
    fn a_link_or_folder_in_its_place_is_refused() {
        let (dir, path) = journal();
        fs::create_dir(&path).unwrap();
        assert!(append(&path, &lines(&["{}"])).is_err() && read(&path).is_err());
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
        assert!(append(&path, &lines(&["{}"])).is_err() && read(&path).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }

    /// Not a test by itself: runs under a file size limit set by `a_full_disk_takes_everything_back`.
    #[test]
    fn child_with_a_size_limit() {
        let Some(path) = std::env::var_os("ORANGE_TEST_JOURNAL") else {
            return;
        };
        let error = append(Path::new(&path), &lines(&["{}", &"x".repeat(5000)])).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_full_disk_takes_everything_back() {
        let (_dir, path) = journal();
        append(&path, &lines(&["{\"kept\":true}"])).unwrap();
        let before = fs::read(&path).unwrap();
        let name = format!(
            "{}::child_with_a_size_limit",
            module_path!().split_once("::").unwrap().1
        );
        // A size limit makes the kernel write what still fits and then fail, exactly like a full disk.
        let status = Command::new("sh")
            .args([
                "-c",
                "trap '' XFSZ; ulimit -f 2; exec \"$0\" --exact \"$1\" --nocapture",
            ])
            .arg(std::env::current_exe().unwrap())
            .arg(name)
            .env("ORANGE_TEST_JOURNAL", &path)
            .status()
            .unwrap();
        assert!(status.success());
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    proptest! {
        #[test]
        fn any_bytes_split_without_loss(bytes in prop::collection::vec(prop::sample::select(b"ab{\n\0".to_vec()), 0..40)) {
            let complete = complete_len(&bytes);
            prop_assert!(complete == 0 || bytes[complete - 1] == b'\n');
            let rest = &bytes[complete..];
            prop_assert!(rest.split_inclusive(|&b| b == b'\n').all(|line| line.contains(&0) || !line.ends_with(b"\n")) );
        }
    }
}

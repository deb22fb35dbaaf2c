//! Whether other users can open the home, and making it private again: homes of older versions have the modes that the
//! user's umask gave them.

use crate::error::IoContext;
use crate::maintenance::doctor::home::{is_own, others_write};
use crate::rescue::{RAW, STRAYS};
use crate::store::private::{OTHERS, are_modes_kept_in};
use crate::views::doctor::DoctorReport;
use orange_sys::listing;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Says so on one line, whatever number of files it is about. Returns whether a repair of it concerns all of them.
pub(crate) fn check_access(home: &Path, report: &mut DoctorReport) -> bool {
    // The folder that a link leads to.
    let Ok(about) = fs::metadata(home) else {
        return false;
    };
    let mode = about.mode() & 0o7777;
    let path = home.display().to_string();
    let own_group = rustix::process::getegid().as_raw();
    let writes = others_write(&about, own_group);
    if mode & OTHERS == 0 {
        return false;
    }
    if !are_modes_kept_in(home, crate::store::replace::PROBE).unwrap_or(true) {
        report.note(format!(
                "{path} is on a file system that keeps no access rights: whoever can open it can read your tasks"
            ));
        return true;
    }
    if mode & 0o007 == 0 && !writes {
        // Somebody may share it with a group on purpose.
        report.note(format!(
                "the group of {path} can open it (its mode is {mode:o}); if that is not what you want, give it the mode 700"
            ));
        return false;
    }
    let verb = if writes { "write to" } else { "open" };
    let problem = format!("other users can {verb} it (its mode is {mode:o})");
    let how = "makes it private (mode 700), and Orange's own files in it; taking only the rights of all others from it \
               instead leaves it to its group";
    report.repair(&path, problem, how, || {
        let changed = make_private(home).doing("change", home)?;
        let mode = fs::metadata(home).map_or(0, |about| about.mode() & 0o7777);
        Ok(format!(
            "its mode is {mode:o}; {changed} files and folders in it are private too"
        ))
    });
    true
}

/// Takes the rights of others from the home and from what Orange made in it. Returns how many of the latter changed.
fn make_private(home: &Path) -> io::Result<usize> {
    close(home)?;
    let mut changed = 0;
    let mut open = listing::entries(home);
    open.retain(|path| is_own(path));
    while let Some(path) = open.pop() {
        let Ok(about) = fs::symlink_metadata(&path) else {
            continue;
        };
        let is_content = is_content(home, &path);
        // What a link leads to is not Orange's. Whatever cannot be changed is behind the home's own mode.
        let is_plain = about.is_dir() || about.is_file();
        if is_plain && !is_content && about.mode() & OTHERS != 0 && close(&path).is_ok() {
            changed += 1;
        }
        if about.is_dir() && !is_content {
            open.extend(listing::entries(&path));
        }
    }
    Ok(changed)
}

/// The content of worktrees, and copies of it: their modes are a part of what they are.
fn is_content(home: &Path, path: &Path) -> bool {
    let Some(parent) = path.parent() else {
        return false;
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let pool = home.join("workspaces");
    let is_in_slot = parent == pool && !name.starts_with('.');
    let is_of_task = parent.with_file_name("history.jsonl").exists();
    let is_copy = parent.ends_with(RAW) && is_of_task || parent == pool.join(STRAYS);
    is_in_slot || is_copy
}

fn close(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.mode() & 0o7777;
    fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS))
}

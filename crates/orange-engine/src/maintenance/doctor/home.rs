//! The home: whether it can be used, what kind of file system it is on, who else could write there, and what is in it that
//! is not Orange's.

use crate::call::Call;
use crate::error::{IoContext, err, plain};
use crate::maintenance::doctor::disk::is_slot_name;
use crate::maintenance::doctor::{self, access};
use crate::store::private::OTHERS;
use crate::store::replace;
use crate::views::doctor::{DoctorReport, FileSystem};
use crate::{home_record, recovery};
use orange_core::{Action, text};
use orange_sys::listing;
use std::collections::BTreeSet;
use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// With less than this, commands begin to fail.
const LITTLE: u64 = 200_000_000;

/// What Orange makes in its home. Names that end in `*` are the beginning of some.
const OWN: &[&str] = &[
    "classify",
    "config.yaml",
    "environments",
    "exports",
    "feed.jsonl*",
    "harness",
    "in-flight",
    "index.db*",
    "orange.db*",
    "orange.log*",
    "projects.json*",
    "queue.taken",
    "queue.wanted",
    "runs",
    "starting",
    "tasks",
    "trash",
    "verify",
    "versions",
    "workspaces",
    // Locks, and files in the making.
    ".*",
];

/// Says whether there is a home to look at.
pub(crate) fn check_home(call: &Call, report: &mut DoctorReport) -> bool {
    let home = call.store.home().to_owned();
    let path = home.display().to_string();
    match fs::metadata(&home) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            report.fine(format!("{path} is not there yet; your first task makes it"));
            return false;
        }
        Ok(about) if !about.is_dir() => {
            let how = "move it away, or set ORANGE_HOME to a folder";
            report.by_hand(path, "is not a folder", how);
            return false;
        }
        Ok(_) | Err(_) => {}
    }
    if let Err(error) = fs::read_dir(&home) {
        let problem = format!("cannot be read: {}", plain(&error));
        let how = "make it yours, or set ORANGE_HOME to a folder that is";
        report.by_hand(path, problem, how);
        return false;
    }
    check_file_system(&home, report);
    check_place(call, report);
    check_permissions(call, &home, report);
    report_foreign_files(call, &home, report);
    true
}

/// Whether the home is where it was recorded. The first command that changes something sees to that.
fn check_place(call: &Call, report: &mut DoctorReport) {
    let Some(old) = home_record::moved_from(call) else {
        return;
    };
    let old = old.display();
    let problem =
        format!("was moved: it was at {old}, and git still looks for its workspaces there");
    let how = "records the new path and tells git where the workspaces are";
    report.repair(
        call.store.home().display().to_string(),
        problem,
        how,
        || {
            recovery::claim_home(call)?;
            match home_record::moved_from(call) {
                None => Ok("recorded"),
                Some(_) => Err(err!(Failed, "its path could not be recorded")),
            }
        },
    );
}

fn check_file_system(home: &Path, report: &mut DoctorReport) {
    let (Ok(about), Ok(kind)) = (rustix::fs::statvfs(home), rustix::fs::statfs(home)) else {
        return;
    };
    let path = home.display().to_string();
    let read_only = about.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY);
    let free_bytes = about.f_bavail.saturating_mul(about.f_frsize);
    #[allow(clippy::unnecessary_cast, reason = "its type differs between machines")]
    let kind = kind.f_type as u64 & 0xffff_ffff;
    let safe_edits = !read_only && replace::is_exact_in(home).unwrap_or(false);
    if read_only {
        let how = "mount it writable; until then tasks can be looked at, not changed";
        report.by_hand(&path, "is on a file system that is read-only", how);
    } else if free_bytes < LITTLE {
        let megabytes = free_bytes / 1_000_000;
        let problem = format!("only {megabytes} MB are free on its disk");
        let (some, others) = (Action::clean_up(), Action::clean_pools());
        let how = text!("{} and {} remove what is not needed", some, others);
        report.by_hand(&path, problem, how);
    } else if !safe_edits {
        report.note(
                "files cannot be exchanged in one step here: what an editor saves in the same instant as Orange may be lost",
            );
    }
    let (name, is_network) = name_of(kind);
    if is_network {
        report.note(format!(
            "{path} is on a network file system: use it from one machine at a time",
        ));
    }
    report.file_system = Some(FileSystem {
        path: home.to_owned(),
        kind: name,
        free_bytes,
        read_only,
        safe_edits,
    });
}

/// Whoever can write here can have commands run in your name.
fn check_permissions(call: &Call, home: &Path, report: &mut DoctorReport) {
    let is_open = access::check_access(home, report);
    let mut looked_at = vec![home.to_owned()];
    let inside = listing::entries(home).into_iter();
    looked_at.extend(inside.filter(|path| is_own(path)));
    looked_at.extend(listing::entries(call.store.tasks()));
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let mut strangers = BTreeSet::new();
    for path in looked_at {
        let Ok(about) = fs::symlink_metadata(&path) else {
            continue;
        };
        if about.uid() != user.as_raw() {
            strangers.insert((about.uid(), path.clone()));
        }
        if is_open || about.is_symlink() || !others_write(&about, group.as_raw()) {
            continue;
        }
        let mode = about.mode() & 0o7777;
        let private = mode & !OTHERS;
        let problem = format!("other users can write to it (its mode is {mode:o})");
        let how = format!("takes that away (mode {private:o})");
        report.repair(path.display().to_string(), problem, how, || {
            let changed = fs::set_permissions(&path, Permissions::from_mode(private));
            changed.doing("change", &path)?;
            Ok(format!("its mode is {private:o}"))
        });
    }
    let Some((owner, first)) = strangers.first() else {
        return;
    };
    let first = first.display();
    if user.is_root() {
        report.note(format!(
            "you are root, and {first} belongs to user {owner}: what you make here is not theirs"
        ))
    } else {
        report.by_hand(
            first.to_string(),
            format!("belongs to another user (number {owner})"),
            format!("make {} and all that is in it yours", home.display()),
        );
    }
}

fn report_foreign_files(call: &Call, home: &Path, report: &mut DoctorReport) {
    let mut foreign = Vec::new();
    for path in listing::entries(home) {
        if !is_own(&path) {
            foreign.extend(path.file_name().map(|name| name.to_string_lossy().into()));
        }
    }
    for path in listing::entries(&call.store.workspaces()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with('.') && !is_slot_name(&name) {
            foreign.push(format!("workspaces/{name}"));
        }
    }
    if !foreign.is_empty() {
        let shown = doctor::some_of(&foreign);
        report.note(format!("not Orange's, and left alone: {shown}"));
    }
}

pub(crate) fn is_own(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    OWN.iter().any(|own| match own.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *own,
    })
}

/// A group of one's own is nobody else; many systems give every user one.
pub(crate) fn others_write(about: &Metadata, own_group: u32) -> bool {
    let by_all = about.mode() & 0o002 != 0;
    by_all || (about.mode() & 0o020 != 0 && about.gid() != own_group)
}

/// The name of a file system, and whether it is one of a network.
fn name_of(kind: u64) -> (String, bool) {
    let (name, is_network) = match kind {
        0xef53 => ("ext4", false),
        0x9123_683e => ("btrfs", false),
        0x5846_5342 => ("xfs", false),
        0x0102_1994 => ("tmpfs", false),
        0x794c_7630 => ("overlay", false),
        0x2fc1_2fc1 => ("zfs", false),
        0xf2f5_2010 => ("f2fs", false),
        0x6573_5546 => ("fuse", false),
        0x6969 => ("nfs", true),
        0xff53_4d42 | 0xfe53_4d42 => ("smb", true),
        0x00c3_6400 => ("ceph", true),
        0x0102_1997 => ("9p", true),
        0x5346_414f => ("afs", true),
        0x0bd0_0bd0 => ("lustre", true),
        other => return (format!("file system {other:#x}"), false),
    };
    (name.to_owned(), is_network)
}

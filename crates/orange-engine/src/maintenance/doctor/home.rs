//! The home: whether it can be used, what kind of file system it is on, who else could write there, and what is in it that
//! is not Orange's.

use crate::call::Call;
use crate::error::{IoContext, err, plain};
use crate::maintenance::doctor::disk::is_slot_name;
use crate::maintenance::doctor::{self, access};
use crate::store::private::OTHERS;
use crate::store::replace;
use crate::views::doctor::{FileSystem, Report};
use crate::{home_record, recovery};
use orange_core::{Action, text};
use std::collections::BTreeSet;
use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// With less than this, commands begin to fail.
const LITTLE: u64 = 200_000_000;

/// What Orange makes in its home. Names that end in `*` are the beginning of some.
const OWN: &[&str] = &[
    "config.yaml",
    "environments",
    "exports",
    "harness",
    "in-flight",
    "index.db*",
    "orange.db*",
    "orange.log*",
    "projects.json*",
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
pub(crate) fn check_home(call: &Call, report: &mut Report, repair: bool) -> bool {
    let home = call.store.home().to_owned();
    let path = home.display().to_string();
    match fs::metadata(&home) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            report.fine(format!("{path} is not there yet; your first task makes it"));
            return false;
        }
        Ok(about) if !about.is_dir() => {
            report
                .add(path, "is not a folder")
                .by_hand("move it away, or set ORANGE_HOME to a folder");
            return false;
        }
        Ok(_) | Err(_) => {}
    }
    if let Err(error) = fs::read_dir(&home) {
        report
            .add(path, format!("cannot be read: {}", plain(&error)))
            .by_hand("make it yours, or set ORANGE_HOME to a folder that is");
        return false;
    }
    check_file_system(call, &home, report);
    check_place(call, report, repair);
    check_permissions(call, &home, report, repair);
    report_foreign_files(call, &home, report);
    true
}

/// Whether the home is where it was recorded. The first command that changes something sees to that.
fn check_place(call: &Call, report: &mut Report, repair: bool) {
    let Some(old) = home_record::moved_from(call) else {
        return;
    };
    let finding = report.add(
        call.store.home().display().to_string(),
        format!(
            "was moved: it was at {}, and git still looks for its workspaces there",
            old.display()
        ),
    );
    finding.repair("records the new path and tells git where the workspaces are");
    if repair {
        let claimed = recovery::claim_home(call);
        finding.done(claimed.and_then(|()| match home_record::moved_from(call) {
            None => Ok("recorded".to_owned()),
            Some(_) => Err(err!(Failed, "its path could not be recorded")),
        }));
    }
}

fn check_file_system(_call: &Call, home: &Path, report: &mut Report) {
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
        report
            .add(&path, "is on a file system that is read-only")
            .by_hand("mount it writable; until then tasks can be looked at, not changed");
    } else if free_bytes < LITTLE {
        let megabytes = free_bytes / 1_000_000;
        report
            .add(&path, format!("only {megabytes} MB are free on its disk"))
            .by_hand(text!(
                "{} and {} remove what is not needed",
                Action::clean_up(),
                Action::clean_pools()
            ));
    } else if !safe_edits {
        report.note(
                "files cannot be exchanged in one step here: what an editor saves in the same instant as Orange may be lost",
            );
    }
    if NETWORK.contains(&kind) {
        report.note(format!(
            "{path} is on a network file system: use it from one machine at a time",
        ));
    }
    report.file_system = Some(FileSystem {
        path: home.to_owned(),
        kind: name_of(kind),
        free_bytes,
        read_only,
        safe_edits,
    });
}

/// Whoever can write here can have commands run in your name.
fn check_permissions(call: &Call, home: &Path, report: &mut Report, repair: bool) {
    let is_open = access::check_access(call, home, report, repair);
    let mut looked_at = vec![home.to_owned()];
    looked_at.extend(entries(home).into_iter().filter(|path| is_own(path)));
    looked_at.extend(entries(call.store.tasks()));
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
        let finding = report.add(
            path.display().to_string(),
            format!("other users can write to it (its mode is {mode:o})"),
        );
        let private = mode & !OTHERS;
        finding.repair(format!("takes that away (mode {private:o})"));
        if repair {
            let changed = fs::set_permissions(&path, Permissions::from_mode(private));
            let done = changed.map(|()| format!("its mode is {private:o}"));
            finding.done(done.doing("change", &path));
        }
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
        report
            .add(
                first.to_string(),
                format!("belongs to another user (number {owner})"),
            )
            .by_hand(format!("`sudo chown -R $(id -u) {}`", home.display()))
    }
}

fn report_foreign_files(call: &Call, home: &Path, report: &mut Report) {
    let names = entries(home).into_iter().filter(|path| !is_own(path));
    let names = names.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let mut foreign: Vec<String> = names.collect();
    for path in entries(&call.store.workspaces()) {
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

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// A group of one's own is nobody else; many systems give every user one.
pub(crate) fn others_write(about: &Metadata, own_group: u32) -> bool {
    let by_all = about.mode() & 0o002 != 0;
    by_all || (about.mode() & 0o020 != 0 && about.gid() != own_group)
}

/// nfs, cifs, smb, ceph, afs, 9p, lustre.
const NETWORK: &[u64] = &[
    0x6969,
    0xff53_4d42,
    0xfe53_4d42,
    0x00c3_6400,
    0x5346_414f,
    0x0102_1997,
    0x0bd0_0bd0,
];

fn name_of(kind: u64) -> String {
    let name = match kind {
        0xef53 => "ext4",
        0x9123_683e => "btrfs",
        0x5846_5342 => "xfs",
        0x0102_1994 => "tmpfs",
        0x794c_7630 => "overlay",
        0x2fc1_2fc1 => "zfs",
        0xf2f5_2010 => "f2fs",
        0x6969 => "nfs",
        0xff53_4d42 | 0xfe53_4d42 => "smb",
        0x00c3_6400 => "ceph",
        0x0102_1997 => "9p",
        0x6573_5546 => "fuse",
        other => return format!("file system {other:#x}"),
    };
    name.to_owned()
}

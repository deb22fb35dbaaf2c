//! Tells whether anybody has a file open for writing: by a kernel lease, or more weakly by watching its stamp.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant};

/// Without leases, a file that has not changed for this long counts as let go.
const QUIET: Duration = Duration::from_millis(50);
const FIRST_NAP: Duration = Duration::from_micros(200);
const LONGEST_NAP: Duration = Duration::from_millis(4);

/// A limited time to wait for writers to finish, in growing naps.
pub(super) struct Deadline {
    until: Instant,
    nap: Duration,
}

impl Deadline {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            until: Instant::now() + limit,
            nap: FIRST_NAP,
        }
    }

    /// Sleeps a little; false when the time is over.
    pub(super) fn nap(&mut self) -> bool {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::sleep(self.nap.min(left));
        self.nap = (self.nap * 2).min(LONGEST_NAP);
        true
    }
}

/// Holds off writers of a file that nobody had open for writing when it was claimed.
pub(super) struct FileClaim<'a> {
    file: &'a File,
    proof: Proof,
}

enum Proof {
    /// The kernel lets a writer's open wait until we let go.
    Lease,
    /// The file system gives no leases, so a write can only be noticed afterwards.
    Stamp(LeaseStamp),
}

#[derive(PartialEq, Eq)]
struct LeaseStamp {
    size: u64,
    modified: (i64, i64),
}

impl<'a> FileClaim<'a> {
    /// Claims a file open for reading; `None` if somebody has it open for writing.
    pub(super) fn take(file: &'a File) -> io::Result<Option<Self>> {
        let proof = Proof::Lease;
        match kernel::take(file)? {
            LeaseAnswer::Granted => Ok(Some(Self { file, proof })),
            LeaseAnswer::WriterOpen => Ok(None),
            LeaseAnswer::Unsupported => Self::by_stamp(file),
        }
    }

    /// The weaker claim where there are no leases: nobody has written to the file for a moment.
    pub(super) fn by_stamp(file: &'a File) -> io::Result<Option<Self>> {
        let before = file.metadata()?;
        let age = before.modified().ok().and_then(|at| at.elapsed().ok());
        if age.is_none_or(|age| age < QUIET) {
            thread::sleep(QUIET);
        }
        let stamp = LeaseStamp::of(&file.metadata()?);
        let quiet = stamp == LeaseStamp::of(&before);
        let proof = Proof::Stamp(stamp);
        Ok(quiet.then_some(Self { file, proof }))
    }

    /// True if nobody has written or tried to open it for writing since.
    pub(super) fn intact(&self) -> io::Result<bool> {
        match &self.proof {
            Proof::Lease => kernel::intact(self.file),
            Proof::Stamp(stamp) => Ok(*stamp == LeaseStamp::of(&self.file.metadata()?)),
        }
    }
}

impl Drop for FileClaim<'_> {
    fn drop(&mut self) {
        // Explicitly: closing is not enough while a child forked a moment ago shares the descriptor.
        if matches!(self.proof, Proof::Lease) {
            kernel::release(self.file);
        }
    }
}

impl LeaseStamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
        }
    }
}

/// Waits until no process has a file open for writing; false if one still has after `limit`. The file must have a name that
/// nobody else opens, or a writer could come right after the answer.
pub fn is_let_go(file: &File, limit: Duration) -> io::Result<bool> {
    let mut deadline = Deadline::new(limit);
    loop {
        if FileClaim::take(file)?.is_some() {
            return Ok(true);
        }
        if !deadline.nap() {
            return Ok(false);
        }
    }
}

/// Does this file system give leases? Nobody else has the file.
pub(super) fn is_given(file: &File) -> bool {
    let given = matches!(kernel::take(file), Ok(LeaseAnswer::Granted));
    kernel::release(file);
    given
}

/// What the kernel says to a wish for a lease.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux has leases")
)]
enum LeaseAnswer {
    Granted,
    WriterOpen,
    Unsupported,
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::sync::Once;

    use super::LeaseAnswer;
    use libc::c_int;

    pub(super) fn take(file: &File) -> io::Result<LeaseAnswer> {
        survive_sigio();
        let Err(error) = fcntl(file, libc::F_SETLEASE, libc::F_RDLCK) else {
            return Ok(LeaseAnswer::Granted);
        };
        match error.raw_os_error() {
            Some(libc::EAGAIN) => Ok(LeaseAnswer::WriterOpen),
            // Not on this file system, switched off, or a file of another user.
            Some(libc::EINVAL | libc::EACCES | libc::EPERM | libc::ENOSYS | libc::EOPNOTSUPP) => {
                Ok(LeaseAnswer::Unsupported)
            }
            _ => Err(error),
        }
    }

    /// A lease that a writer is waiting for already reads as the type it is to become.
    pub(super) fn intact(file: &File) -> io::Result<bool> {
        Ok(fcntl(file, libc::F_GETLEASE, 0)? == libc::F_RDLCK)
    }

    pub(super) fn release(file: &File) {
        // Fails only if the kernel has already taken the lease away.
        let _ = fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
    }

    #[allow(unsafe_code)]
    fn fcntl(file: &File, command: c_int, argument: c_int) -> io::Result<c_int> {
        // SAFETY: the descriptor is open during the call, and the lease commands take and give integers only.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
            -1 => Err(io::Error::last_os_error()),
            value => Ok(value),
        }
    }

    extern "C" fn ignore(_signal: c_int) {}

    /// A writer that has to wait for our lease makes the kernel send SIGIO, which kills by default.
    #[allow(unsafe_code)]
    fn survive_sigio() {
        static ONCE: Once = Once::new();
        // SAFETY: an all-zero sigaction is a valid value, the pointers are to locals, and the handler does nothing.
        ONCE.call_once(|| unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(libc::SIGIO, std::ptr::null(), &mut action) == 0;
            if known && action.sa_sigaction == libc::SIG_DFL {
                // A handler instead of SIG_IGN: programs we start would inherit the latter.
                action.sa_sigaction = ignore as *const () as libc::sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                libc::sigaction(libc::SIGIO, &action, std::ptr::null_mut());
            }
        });
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use super::LeaseAnswer;
    use std::fs::File;
    use std::io;

    pub(super) fn take(_file: &File) -> io::Result<LeaseAnswer> {
        Ok(LeaseAnswer::Unsupported)
    }

    pub(super) fn intact(_file: &File) -> io::Result<bool> {
        Ok(true)
    }

    pub(super) fn release(_file: &File) {}
}

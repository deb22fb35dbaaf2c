//! Waiting for another git that is at work in the same repository.

use super::Said;
use crate::error::Result;
use std::time::{Duration, Instant};

/// Runs git again while another git holds a lock that it wants, for five seconds at most. Git itself waits for the lock of
/// a branch, but not for that of HEAD.
pub(crate) fn past_locks(run: impl Fn() -> Result<Said>) -> Result<Said> {
    const LONGEST: Duration = Duration::from_secs(5);
    const PAUSE: Duration = Duration::from_millis(20);
    let deadline = Instant::now() + LONGEST;
    loop {
        let said = run()?;
        let is_locked = !said.success && said.stderr.contains(".lock': File exists");
        if !is_locked || Instant::now() >= deadline {
            return Ok(said);
        }
        std::thread::sleep(PAUSE);
    }
}

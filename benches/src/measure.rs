//! Timing. What is compared runs in turns, so that a busy moment of the machine hits both sides.

use crate::Result;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a command to its end and says how long it took. Its output goes to a file, as `orange ls > file` does.
pub(crate) fn run(command: &mut Command) -> Result<Duration> {
    command
        .stdin(Stdio::null())
        .stdout(output_file()?)
        .stderr(Stdio::piped());
    let start = Instant::now();
    let child = command.spawn()?;
    let output = child.wait_with_output()?;
    let took = start.elapsed();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} failed: {said}").into());
    }
    Ok(took)
}

/// A nameless file, in memory where the system offers that.
fn output_file() -> Result<Stdio> {
    #[cfg(target_os = "linux")]
    let file = rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC)?;
    #[cfg(not(target_os = "linux"))]
    let file = std::fs::File::options().write(true).open("/dev/null")?;
    Ok(Stdio::from(std::fs::File::from(file)))
}

/// The times of one thing.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn of(times: Vec<Duration>) -> Times {
        Times(times)
    }

    /// At least so many of a hundred are as fast.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let at = (sorted.len() * percent).div_ceil(100);
        let last = sorted.get(at.saturating_sub(1));
        last.copied().unwrap_or_default()
    }

    /// For what computes: whatever is slower than this was disturbed.
    pub(crate) fn best(&self) -> Duration {
        self.0.iter().min().copied().unwrap_or_default()
    }

    /// For what waits for a disk, which has no undisturbed time.
    pub(crate) fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    /// How many times the other's time it usually is, round by round: a disk may be slow for many rounds.
    pub(crate) fn ratio_to(&self, other: &Times) -> f64 {
        let rounds = self.0.iter().zip(&other.0);
        let mut ratios: Vec<f64> = rounds
            .map(|(ours, theirs)| ours.as_secs_f64() / theirs.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or_default()
    }
}

/// One side of a comparison: gets the number of the round, gives the time it took.
pub(crate) type Side<'a> = Box<dyn FnMut(usize) -> Result<Duration> + 'a>;

/// Runs all sides in turns. The first round warms caches and does not count.
pub(crate) fn in_turns<const N: usize>(
    rounds: usize,
    mut sides: [Side<'_>; N],
) -> Result<[Times; N]> {
    let mut times = [(); N].map(|()| Times(Vec::with_capacity(rounds)));
    for round in 0..=rounds {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            let took = side(round)?;
            if round > 0 {
                times.0.push(took);
            }
        }
    }
    Ok(times)
}

pub(crate) fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

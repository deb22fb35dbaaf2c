//! One commit checked: prepared, the commands run with a time limit, everything ended that they started. Results are
//! kept per commit and commands, so that nothing is run twice; after a failure the base is checked as well.

use crate::call::Call;
use crate::checks::request;
use crate::database::Database;
use crate::error::{IoContext, Result};
use crate::git::Site;
use crate::git::merge_base;
use crate::person_environment::PersonEnvironment;
use crate::projects::Project;
use crate::rules::Rules;
use crate::runs;
use crate::seal::SealKey;
use crate::store::make_folder;
use crate::store::replace::write_atomic;
use crate::workspaces::commands::{self, CommandEnd, CommandFailed, group, output};
use crate::workspaces::setup::surroundings_of_check;
use crate::workspaces::verify_slot::{self, VerifySlot};
use orange_core::verification::percentage::last_percentage;
use orange_core::verification::{CheckOutcome, CheckResult, OnBase, lines};
use orange_sys::crash_points::crash_point;
use orange_sys::file_end::file_end;
use rustix::process::{WaitOptions, wait};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How many results are kept; the oldest go.
const MOST_RESULTS: usize = 200;

/// How much of a log is searched for failures. Logs are not longer than about this.
const LOG_BYTES: u64 = 12 * 1024 * 1024;

/// So many bytes at the end of a log are searched for a percentage.
const LOG_END: u64 = 256 * 1024;

/// How often a running check is asked whether anybody still wants it.
const LOOK: Duration = Duration::from_millis(250);

/// What commands printed that measure something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// The last percentage, as it was printed.
    pub(crate) percentage: Option<String>,
}

impl Measured {
    fn in_log(log: &Path) -> Measured {
        let text = file_end(log, LOG_END).unwrap_or_default();
        Measured {
            percentage: last_percentage(&text).map(str::to_owned),
        }
    }
}

/// What is kept of a check.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptCheck {
    commit: String,
    result: CheckResult,
    /// Lines that look like a failure.
    failures: Vec<String>,
    /// What a check that passed has measured. Read from the log when it ended: whatever is appended later does not count. None: nobody
    /// looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
    /// How long its commands were given.
    #[serde(default)]
    limits: Option<CheckLimits>,
    /// Over all of the above, and the name of the file: only what Orange wrote counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
}

impl KeptCheck {
    fn sealed_with(&self, key: &SealKey, file: &Path) -> String {
        let plain = KeptCheck {
            seal: None,
            ..self.clone()
        };
        let content = serde_json::to_vec(&plain).unwrap_or_default();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        key.of_file("check result", &name, &content)
    }

    fn of(commit: &str, result: CheckResult, limits: CheckLimits, log: &Path) -> KeptCheck {
        KeptCheck {
            commit: commit.to_owned(),
            failures: if result.failed() {
                failures_in(log)
            } else {
                Vec::new()
            },
            measured: result.passed().then(|| Measured::in_log(log)),
            limits: Some(limits),
            result,
            seal: None,
        }
    }

    fn with_measured(self) -> (CheckResult, Measured) {
        (self.result, self.measured.unwrap_or_default())
    }

    /// For the next time; what did not run is tried again.
    fn keep(&self, file: &Path, key: &SealKey) -> Result<()> {
        if self.result.outcome == CheckOutcome::NotRun {
            return Ok(());
        }
        let sealed = KeptCheck {
            seal: Some(self.sealed_with(key, file)),
            ..self.clone()
        };
        let text = serde_json::to_vec(&sealed).unwrap_or_default();
        write_atomic(file, &text).doing("write", file)?;
        crash_point("verify.ran");
        Ok(())
    }

    /// What was found out before; None if it was not Orange that wrote it down.
    fn read(file: &Path, key: &SealKey) -> Option<KeptCheck> {
        let mut known: KeptCheck = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        let is_ours = known.seal.as_ref() == Some(&known.sealed_with(key, file));
        known.result.cached = true;
        is_ours.then_some(known)
    }
}

/// For each command of the setup, and of the check itself.
type CheckLimits = (Duration, Duration);

/// What a check needs to know.
pub(crate) struct Check<'a> {
    pub(crate) project: &'a Project,
    pub(crate) rules: &'a Rules,
    /// The branch that the work goes to.
    pub(crate) target: &'a str,
    /// Whatever is known already.
    pub(crate) again: bool,
    /// What the commands run in.
    pub(crate) person: &'a PersonEnvironment,
    /// Nobody knows who started the task; that is only the usual.
    pub(crate) minimal: bool,
    /// Does anybody still want the result?
    pub(crate) wanted: &'a (dyn Fn() -> bool + Sync),
}

/// A slot in which somebody works, checked as it is.
pub(crate) struct InSlot<'a> {
    pub(crate) folder: &'a Site,
    pub(crate) name: &'a str,
}

/// Runs the commands of a check in the slot that has the commit, without its setup. What is known of the same commit there counts,
/// and nothing that was found out elsewhere. None when nobody wants the result any more.
pub(crate) fn check_in_slot(
    call: &Call,
    check: &Check<'_>,
    commit: &str,
    slot: &InSlot<'_>,
) -> Result<Option<(CheckResult, Measured)>> {
    let file = result_file(call, check, commit, "slot");
    let limits = (check.rules.timeout, check.rules.verify_timeout);
    let key = call.with_database(Database::seal_key)?;
    let reuse = if check.again {
        Reuse::Nothing
    } else {
        Reuse::Measured
    };
    let known =
        KeptCheck::read(&file, &key).filter(|known| reuse.takes(known, limits, check.minimal));
    if let Some(known) = known {
        return Ok(Some(known.with_measured()));
    }
    let log = file.with_extension("log");
    group::end_left(&log);
    if let Some(parent) = file.parent() {
        make_folder(parent).doing("create", parent)?;
    }
    let _ = fs::remove_file(&log);
    let Some(result) = run(check, slot, &[], &log) else {
        return Ok(None);
    };
    let known = KeptCheck::of(commit, result, limits, &log);
    known.keep(&file, &key)?;
    forget_old_results(call);
    Ok(Some(known.with_measured()))
}

/// The same where commits are checked that were handed over, after the setup, with nothing else around it.
pub(crate) fn check_clean(
    call: &Call,
    check: &Check<'_>,
    commit: &str,
) -> Result<Option<(CheckResult, Measured)>> {
    let known = checked(call, check, commit, Reuse::Measured)?;
    Ok(known.map(KeptCheck::with_measured))
}

/// Checks a commit, and after a failure what it started from. None when nobody wants the result any more.
pub(crate) fn check(call: &Call, check: &Check<'_>, commit: &str) -> Result<Option<CheckResult>> {
    // Where the base passed is known; its failure may have been chance, like the one that is looked at again.
    let (reuse, reuse_of_base) = if check.again {
        (Reuse::Nothing, Reuse::Passed)
    } else {
        (Reuse::All, Reuse::All)
    };
    let Some(known) = checked(call, check, commit, reuse)? else {
        return Ok(None);
    };
    let mut result = known.result;
    if !result.failed() {
        return Ok(Some(result));
    }
    let base = merge_base(&check.project.path, commit, check.target)?;
    let Some(base) = base.filter(|base| base != commit) else {
        return Ok(Some(result));
    };
    let (on_base, failures) = match checked(call, check, &base, reuse_of_base) {
        Ok(None) => return Ok(None),
        Ok(Some(known)) => (known.result, known.failures),
        Err(error) => (CheckResult::not_run(error.to_string()), Vec::new()),
    };
    let (known, new) = if on_base.failed() {
        lines::told_apart(&known.failures, &failures)
    } else {
        (Vec::new(), Vec::new())
    };
    result.base = Some(OnBase {
        commit: base,
        branch: check.target.to_owned(),
        outcome: on_base.outcome,
        reason: on_base.reason,
        known,
        new,
    });
    Ok(Some(result))
}

/// What is known of a commit, found out if need be.
fn checked(
    call: &Call,
    check: &Check<'_>,
    commit: &str,
    reuse: Reuse,
) -> Result<Option<KeptCheck>> {
    let file = result_file(call, check, commit, "");
    let limits = (check.rules.timeout, check.rules.verify_timeout);
    let key = call.with_database(Database::seal_key)?;
    let known =
        || KeptCheck::read(&file, &key).filter(|known| reuse.takes(known, limits, check.minimal));
    if let Some(known) = known() {
        return Ok(Some(known));
    }
    let Some(slot) = verify_slot::take_verify_slot(call, check.project, check.wanted)? else {
        return Ok(None);
    };
    // Another task may have had the same commit checked meanwhile.
    if let Some(known) = known() {
        return Ok(Some(known));
    }
    if !(check.wanted)() {
        return Ok(None);
    }
    let log = file.with_extension("log");
    // It may live in the worktree without its mark.
    group::end_left(&log);
    verify_slot::prepare_check(call, check.project, &slot, commit, check.rules)?;
    crash_point("verify.prepared");
    if let Some(parent) = file.parent() {
        make_folder(parent).doing("create", parent)?;
    }
    let _ = fs::remove_file(&log);
    let in_slot = InSlot {
        folder: &call.site(&slot.folder),
        name: &slot.name,
    };
    let result = run(check, &in_slot, &check.rules.setup, &log);
    let known = result.map(|result| KeptCheck::of(commit, result, limits, &log));
    if let Some(known) = &known {
        known.keep(&file, &key)?;
    }
    verify_slot::park_check(call, check.project, &slot, check.rules, check.person, &log);
    drop(slot);
    forget_old_results(call);
    Ok(known)
}

/// The same commit of a project with the same commands comes to the same, in a clean worktree or in a slot each (`place`). Two clones check it each for itself: at
/// the same time perhaps, and with files of their own.
fn result_file(call: &Call, check: &Check<'_>, commit: &str, place: &str) -> PathBuf {
    let rules = check.rules;
    let project = vec![check.project.name.clone()];
    let mut hash = Sha256::new();
    for list in [&project, &rules.setup, &rules.verify, &rules.copy] {
        hash.update((list.len() as u64).to_be_bytes());
        for command in list {
            hash.update((command.len() as u64).to_be_bytes());
            hash.update(command.as_bytes());
        }
    }
    hash.update(place.as_bytes());
    let digest = hash.finalize();
    let words = digest.iter().take(6).map(|byte| format!("{byte:02x}"));
    let words: String = words.collect();
    let results = request::folder(&call.store).join("results");
    results.join(format!("{commit}-{words}.json"))
}

fn forget_old_results(call: &Call) {
    let results = request::folder(&call.store).join("results");
    let entries = fs::read_dir(results).into_iter().flatten().flatten();
    let mut all: Vec<(std::time::SystemTime, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    all.sort();
    let surplus = all.len().saturating_sub(MOST_RESULTS);
    for (_, path) in all.into_iter().take(surplus) {
        for old in [path.with_extension("log"), path] {
            let _ = fs::remove_file(old);
        }
    }
}

/// Which results from before count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reuse {
    All,
    /// All of which it is known what they measured.
    Measured,
    Passed,
    Nothing,
}

impl Reuse {
    fn takes(self, known: &KeptCheck, limits: CheckLimits, minimal: bool) -> bool {
        if known.result.minimal_environment && !minimal {
            return false;
        }
        // Time that was not enough says nothing about more of it.
        let same_time =
            known.result.outcome != CheckOutcome::TimedOut || known.limits == Some(limits);
        match self {
            Reuse::All => same_time,
            Reuse::Measured => same_time && (known.measured.is_some() || !known.result.passed()),
            Reuse::Passed => known.result.passed(),
            Reuse::Nothing => false,
        }
    }
}

/// Runs the commands in the worktree; None when nobody wanted to wait for their end.
fn run(check: &Check<'_>, slot: &InSlot<'_>, setup: &[String], log: &Path) -> Option<CheckResult> {
    let env = surroundings_of_check(check.project, (slot.name, slot.folder), check.person);
    // What detaches itself becomes a child of this process, and is ended like the rest.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let began = Instant::now();
    let over = AtomicBool::new(false);
    let unwanted = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut looked = Instant::now();
            while !over.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(10));
                if looked.elapsed() >= LOOK {
                    looked = Instant::now();
                    if !(check.wanted)() {
                        unwanted.store(true, Ordering::Release);
                        // Also what gave up its environment. The process that waits for it reaps it.
                        runs::end_tree(std::process::id(), || {});
                        VerifySlot::end_processes(slot.folder);
                    }
                }
            }
        });
        let run = |list: &[String], timeout| commands::run(slot.folder, list, timeout, &env, log);
        let outcome = run(setup, check.rules.timeout)
            .and_then(|()| run(&check.rules.verify, check.rules.verify_timeout));
        over.store(true, Ordering::Release);
        outcome
    });
    let seconds = began.elapsed().as_secs_f64();
    end_everything(slot.folder);
    if unwanted.load(Ordering::Acquire) {
        return None;
    }
    let base = CheckResult {
        outcome: CheckOutcome::Passed,
        reason: String::new(),
        command: check.rules.verify.last().cloned(),
        seconds: Some((seconds * 10.0).round() / 10.0),
        log: Some(log.display().to_string()),
        minimal_environment: check.minimal,
        ..CheckResult::not_run("")
    };
    Some(match outcome {
        Ok(()) => base,
        Err(failed) => with_failure(base, failed),
    })
}

fn with_failure(base: CheckResult, failed: CommandFailed) -> CheckResult {
    CheckResult {
        outcome: match failed.end {
            CommandEnd::TimedOut(_) => CheckOutcome::TimedOut,
            CommandEnd::NotStarted(_) => CheckOutcome::NotRun,
            CommandEnd::Exit(_) | CommandEnd::Signal(_) => CheckOutcome::Failed,
        },
        exit_code: match failed.end {
            CommandEnd::Exit(code) => Some(code),
            CommandEnd::Signal(_) | CommandEnd::TimedOut(_) | CommandEnd::NotStarted(_) => None,
        },
        reason: failed.end.to_string(),
        command: Some(failed.command),
        tail: failed.tail,
        ..base
    }
}

/// Whatever the commands started, in whichever session it is by now.
fn end_everything(folder: &Path) {
    // This process runs the check and nothing else, so every child that ended is one of the check's.
    let reap = || while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {};
    runs::end_tree(std::process::id(), reap);
    VerifySlot::end_processes(folder);
}

fn failures_in(log: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = fs::File::open(log).and_then(|file| file.take(LOG_BYTES).read_to_end(&mut bytes));
    if let Err(error) = read {
        tracing::warn!(%error, "the log of a check cannot be read");
    }
    let text = String::from_utf8_lossy(&bytes);
    let shown: Vec<String> = text.lines().map(output::shown).collect();
    // Lines that tell which command ran, and how it ended, are Orange's own.
    let own = |line: &&String| line.starts_with("$ ") || line.starts_with("> ");
    let output: Vec<String> = shown.iter().filter(|line| !own(line)).cloned().collect();
    lines::failures(&output.join("\n"))
}

//! Transcripts: what was said to an agent and what it said, a file for each iteration, written as it comes. Its head and what came
//! of the iteration are written when that is over; nothing holds a transcript in memory.

use crate::error::{IoContext, Result};
use crate::git::checkpoint;
use crate::headless::Said;
use crate::phases::executor::Executor;
use crate::store::{TRANSCRIPTS as FOLDER, make_folder, private};
use orange_core::task::Task;
use orange_core::work::execution::{Execution, Iteration, IterationKind, Outcome};
use orange_core::work::tokens::Tokens;
use orange_core::work::transcript::{self, ChangedFile, Header};
use orange_core::work::verdict::Decision;
use orange_core::workflow::PhaseStatus;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The transcript of one iteration.
pub(super) struct Transcript {
    path: PathBuf,
}

impl Transcript {
    pub(super) fn of(this: &Executor<'_>, phase: &str, iteration: u32) -> Transcript {
        let position = this.plan.position(phase).map_or(0, |at| at + 1);
        let name = transcript::file_name(position, phase, iteration);
        Transcript {
            path: this.place.path.join(FOLDER).join(name),
        }
    }

    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Writes what is known before the turn. A file that cannot be written keeps no agent from its work; it is said.
    pub(super) fn begin(
        &self,
        task: &Task,
        iteration: &Iteration,
        prompt: &str,
    ) -> Result<Writing> {
        let folder = self.path.parent().unwrap_or(&self.path);
        make_folder(folder).doing("create", folder)?;
        let mut writing = Writing {
            file: match private::create_anew(&self.path) {
                Ok(file) => Some(BufWriter::new(file)),
                Err(error) => {
                    failed(&self.path, &error);
                    None
                }
            },
            path: self.path.clone(),
            last: None,
        };
        writing.write(&head(task, iteration, PhaseStatus::Running).to_string());
        writing.write(&transcript::before_prompt());
        writing.write(prompt);
        writing.write(transcript::end_of_text(prompt.bytes().last()));
        writing.write(&transcript::before_response());
        writing.last = None;
        writing.flush();
        Ok(writing)
    }

    /// Writes what came of the iteration. Where nothing was written of the turn, there is nothing to complete.
    pub(super) fn complete(&self, this: &Executor<'_>, execution: &Execution, turn: &Iteration) {
        if !self.path.is_file() {
            return;
        }
        let next = self.path.with_extension("md.new");
        if let Err(error) = self.try_complete(this, execution, turn, &next) {
            failed(&self.path, &error);
            // Half of it is of no use to anybody, and takes room.
            let _ = fs::remove_file(&next);
        }
    }

    fn try_complete(
        &self,
        this: &Executor<'_>,
        execution: &Execution,
        turn: &Iteration,
        next: &Path,
    ) -> io::Result<()> {
        let status = execution.status(&turn.phase);
        let mut said = BufReader::new(File::open(&self.path)?);
        let mut out = BufWriter::new(private::create_anew(next)?);
        write!(out, "{}", head(&this.task, turn, status))?;
        skip_head(&mut said)?;
        let copied = copy_text(&mut said, &mut out)?;
        out.write_all(transcript::end_of_text(copied).as_bytes())?;
        let complete = in_words(turn, status);
        out.write_all(transcript::completion(&turn.checks, &complete).as_bytes())?;
        if let Some(rescue) = &turn.rescue {
            out.write_all(transcript::taken_back(rescue).as_bytes())?;
        }
        let files = changed_files(this, execution, turn);
        out.write_all(transcript::files_changed(&files).as_bytes())?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?;
        fs::rename(next, &self.path)
    }
}

/// What a transcript is written through while its agent works.
pub(super) struct Writing {
    /// None once it cannot be written.
    file: Option<BufWriter<File>>,
    path: PathBuf,
    last: Option<u8>,
}

impl Writing {
    /// Takes what the agent says or does; whoever follows the file sees it at once.
    pub(super) fn hear(&mut self, said: Said<'_>) {
        match said {
            Said::Text(text) => {
                self.new_paragraph();
                self.write(text);
                self.write(transcript::end_of_text(text.bytes().last()));
            }
            Said::Tool { name, on } => {
                self.new_paragraph();
                self.write(&format!("> {name}: {on}\n"));
            }
            Said::Other(text) => self.write(text),
            Said::Used { .. } => return,
        }
        self.flush();
    }

    fn new_paragraph(&mut self) {
        match self.last {
            None => {}
            Some(b'\n') => self.write("\n"),
            Some(_) => self.write("\n\n"),
        }
    }

    fn write(&mut self, text: &str) {
        let Some(file) = &mut self.file else {
            return;
        };
        match file.write_all(text.as_bytes()) {
            Ok(()) => self.last = text.bytes().last().or(self.last),
            Err(error) => {
                failed(&self.path, &error);
                self.file = None;
            }
        }
    }

    fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.flush()
        {
            failed(&self.path, &error);
            self.file = None;
        }
    }

    pub(super) fn finish(mut self) {
        self.flush();
    }
}

fn failed(path: &Path, error: &io::Error) {
    tracing::error!(%error, path = %path.display(), "a transcript is not complete");
}

fn head<'a>(task: &'a Task, turn: &'a Iteration, status: PhaseStatus) -> Head<'a> {
    Head { task, turn, status }
}

struct Head<'a> {
    task: &'a Task,
    turn: &'a Iteration,
    status: PhaseStatus,
}

impl std::fmt::Display for Head<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tokens = Tokens::from(self.turn.usage).total_tokens();
        let header = Header {
            task: &self.task.label(),
            phase: &self.turn.phase,
            iteration: self.turn.iteration,
            kind: self.turn.kind,
            timestamp: self.turn.started_at,
            duration: self.turn.duration(),
            tokens: (tokens > 0).then_some(tokens),
            status: self.status,
        };
        header.fmt(f)
    }
}

/// Reads up to the rule behind the head.
fn skip_head(said: &mut impl BufRead) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        let before = said.fill_buf()?;
        if before.is_empty() || before.starts_with(b"\n---\n") {
            return Ok(());
        }
        line.clear();
        said.read_until(b'\n', &mut line)?;
    }
}

/// Copies the rest; its last byte.
fn copy_text(said: &mut impl BufRead, out: &mut impl Write) -> io::Result<Option<u8>> {
    let mut last = None;
    loop {
        let piece = said.fill_buf()?;
        if piece.is_empty() {
            return Ok(last);
        }
        out.write_all(piece)?;
        last = piece.last().copied();
        let length = piece.len();
        said.consume(length);
    }
}

fn in_words(turn: &Iteration, status: PhaseStatus) -> String {
    let error = || turn.error.clone().unwrap_or_default();
    if turn.kind == IterationKind::Judge && turn.outcome.is_some_and(Outcome::has_result) {
        return judged(turn);
    }
    match (status, turn.outcome) {
        (PhaseStatus::Completed, _) => "yes".to_owned(),
        (PhaseStatus::Blocked, Some(Outcome::Blocked)) => "no (waiting for an answer)".to_owned(),
        (PhaseStatus::Blocked, _) => "yes (waiting at its gate)".to_owned(),
        (PhaseStatus::Failed, _) => "no (the phase failed)".to_owned(),
        (PhaseStatus::Running, Some(Outcome::Completed)) => "yes (its judge is asked)".to_owned(),
        (_, Some(Outcome::TimedOut | Outcome::Failed | Outcome::Service)) => {
            format!("no ({})", error())
        }
        (_, Some(Outcome::Interrupted)) => "no (interrupted)".to_owned(),
        _ => "no (continuing to next iteration)".to_owned(),
    }
}

/// What a judge's run means for its phase.
fn judged(run: &Iteration) -> String {
    match run.judgement() {
        Some(judgement) => match judgement.decision {
            Decision::Approved => format!("yes (approved by the judge: {})", judgement.reason),
            Decision::Rejected => format!("no (rejected by the judge: {})", judgement.reason),
            Decision::Blocked => format!("left to a person ({})", judgement.reason),
        },
        None => {
            let why = run.error.as_deref().unwrap_or("the judge gave no decision");
            format!("left to a person ({why})")
        }
    }
}

/// What the iteration changed, as git says: from the commit of the one before.
fn changed_files(this: &Executor<'_>, execution: &Execution, turn: &Iteration) -> Vec<ChangedFile> {
    let mut before = execution.iterations.iter();
    let before = before
        .by_ref()
        .take_while(|known| known.phase != turn.phase || known.iteration != turn.iteration)
        .filter_map(|known| known.head.clone())
        .last();
    let from = before.or_else(|| this.base.clone());
    let (Some(from), Some(head)) = (from, &turn.head) else {
        return Vec::new();
    };
    match checkpoint::changed_files(&this.slot, &from, head) {
        Ok(files) => files,
        Err(error) => {
            tracing::warn!(%error, "nobody knows which files an iteration changed");
            Vec::new()
        }
    }
}

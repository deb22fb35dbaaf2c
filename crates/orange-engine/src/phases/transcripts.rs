//! Transcripts: what was said to an agent and what it said, a file for each iteration, written as it comes. Its head and what came
//! of the iteration are written when that is over; nothing holds a transcript in memory.

use crate::error::plain;
use crate::execution;
use crate::git::checkpoint;
use crate::headless::AgentOutput;
use crate::phases::executor::Executor;
use crate::store::{TRANSCRIPTS as FOLDER, make_folder, private};
use orange_core::naming::cut_at;
use orange_core::task::Task;
use orange_core::work::execution::{Execution, Iteration, IterationKind, IterationOutcome};
use orange_core::work::tokens::Tokens;
use orange_core::work::transcript::{self, ChangedFileRow, Header};
use orange_core::work::verdict::JudgeDecision;
use orange_core::workflow::PhaseStatus;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// So much is written of what is said in one iteration: an agent must not fill the disk.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// So much is read at once where the end of a text is looked for.
const PIECE: usize = 64 * 1024;

/// The transcript of one iteration.
pub(super) struct TurnTranscript {
    path: PathBuf,
}

impl TurnTranscript {
    pub(super) fn of(this: &Executor<'_>, phase: &str, iteration: u32) -> TurnTranscript {
        let position = this.plan.position(phase).map_or(0, |at| at + 1);
        let name = transcript::file_name(position, phase, iteration);
        TurnTranscript {
            path: this.place.path.join(FOLDER).join(name),
        }
    }

    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Writes what is known before the turn. A file that cannot be written keeps no agent from its work; why it cannot is
    /// returned too.
    pub(super) fn begin(
        &self,
        task: &Task,
        iteration: &Iteration,
        prompt: &str,
    ) -> (Writing, Option<String>) {
        let folder = self.path.parent().unwrap_or(&self.path);
        let file = make_folder(folder).and_then(|()| private::create_anew(&self.path));
        let problem = file.as_ref().err().map(|error| {
            failed(&self.path, error);
            format!("{}: {}", self.path.display(), plain(error))
        });
        let mut writing = Writing {
            file: file.ok().map(BufWriter::new),
            path: self.path.clone(),
            last: None,
            room: MOST_BYTES,
        };
        writing.write(&head(task, iteration, PhaseStatus::Running).to_string());
        writing.write(&transcript::before_prompt());
        writing.write(prompt);
        writing.write(transcript::end_of_text(prompt.bytes().last()));
        writing.write(&transcript::before_response());
        writing.last = None;
        writing.flush();
        (writing, problem)
    }

    /// Whether it was begun, and what came of its iteration is not written yet.
    fn is_open(&self) -> bool {
        File::open(&self.path).is_ok_and(|file| !is_complete(&file).unwrap_or(true))
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
        let file = File::open(&self.path)?;
        let end = end_of_response(&file)?;
        let mut said = BufReader::new(file.take(end));
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
    /// So many bytes may still be written.
    room: u64,
}

impl Writing {
    /// Takes what the agent says or does; whoever follows the file sees it at once.
    pub(super) fn hear(&mut self, said: AgentOutput<'_>) {
        match said {
            AgentOutput::Text(text) => {
                self.new_paragraph();
                self.write(text);
                self.write(transcript::end_of_text(text.bytes().last()));
            }
            AgentOutput::Tool { name, on } => {
                self.new_paragraph();
                self.write(&format!("> {name}: {on}\n"));
            }
            AgentOutput::Other(text) => self.write(text),
            AgentOutput::Used { .. } => return,
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
        if self.room == 0 {
            return;
        }
        let (text, note) = match usize::try_from(self.room) {
            Ok(room) if text.len() > room => (cut_at(text, room), transcript::CUT_OFF),
            _ => (text, ""),
        };
        self.room = match note {
            "" => self.room.saturating_sub(text.len() as u64),
            _ => 0,
        };
        let written = file.write_all(text.as_bytes());
        match written.and_then(|()| file.write_all(note.as_bytes())) {
            Ok(()) => self.last = text.bytes().chain(note.bytes()).last().or(self.last),
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

/// Completes the transcripts of iterations that are over, where their executor did not come to it.
pub(super) fn complete_ended(this: &Executor<'_>) {
    let execution = match execution::execution(this.call, &this.task) {
        Ok(execution) => execution,
        Err(error) => {
            tracing::warn!(%error, "nobody knows which transcripts are to be completed");
            return;
        }
    };
    let ended = execution.iterations.iter().filter(|turn| !turn.is_open());
    for turn in ended {
        let Some(name) = &turn.transcript else {
            continue;
        };
        let transcript = TurnTranscript {
            path: this.place.path.join(FOLDER).join(name),
        };
        if transcript.is_open() {
            transcript.complete(this, &execution, turn);
        }
    }
}

fn failed(path: &Path, error: &io::Error) {
    tracing::error!(%error, path = %path.display(), "a transcript is not complete");
}

fn head<'a>(task: &'a Task, turn: &'a Iteration, status: PhaseStatus) -> TranscriptHead<'a> {
    TranscriptHead { task, turn, status }
}

struct TranscriptHead<'a> {
    task: &'a Task,
    turn: &'a Iteration,
    status: PhaseStatus,
}

impl std::fmt::Display for TranscriptHead<'_> {
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

/// Whether what came of the iteration is written: its head is replaced then.
fn is_complete(file: &File) -> io::Result<bool> {
    let mut start = vec![0; PIECE];
    let count = file.read_at(&mut start, 0)?;
    let start = String::from_utf8_lossy(start.get(..count).unwrap_or_default());
    Ok(!transcript::is_open_head(&start))
}

/// Where the text of the response ends: what came of the iteration may be written already, by an executor that was killed before
/// it could say so.
fn end_of_response(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    if !is_complete(file)? {
        return Ok(length);
    }
    let mark = transcript::COMPLETION.as_bytes();
    let mut piece = vec![0; PIECE];
    let mut end = length;
    // From the end, because an agent may have written the same. A mark may lie across two pieces.
    while end > 0 {
        let start = end.saturating_sub(PIECE as u64);
        let wanted = usize::try_from(end - start).unwrap_or(PIECE);
        let room = piece.get_mut(..wanted).unwrap_or_default();
        file.read_exact_at(room, start)?;
        if let Some(at) = room.windows(mark.len()).rposition(|part| part == mark) {
            return Ok(start + at as u64);
        }
        if start == 0 {
            break;
        }
        end = start + mark.len() as u64 - 1;
    }
    Ok(length)
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

/// Whether an iteration completed its phase, and why not.
pub(super) fn in_words(turn: &Iteration, status: PhaseStatus) -> String {
    let error = || turn.error.clone().unwrap_or_default();
    if turn.kind == IterationKind::Judge && turn.outcome.is_some_and(IterationOutcome::has_result) {
        return judged(turn);
    }
    match (status, turn.outcome) {
        (PhaseStatus::Completed, _) => "yes".to_owned(),
        (PhaseStatus::Blocked, Some(IterationOutcome::Blocked)) => {
            "no (waiting for an answer)".to_owned()
        }
        (PhaseStatus::Blocked, _) => "yes (waiting at its gate)".to_owned(),
        (PhaseStatus::Failed, _) => "no (the phase failed)".to_owned(),
        (PhaseStatus::Running, Some(IterationOutcome::Completed)) => {
            "yes (its judge is asked)".to_owned()
        }
        (
            _,
            Some(IterationOutcome::TimedOut | IterationOutcome::Failed | IterationOutcome::Service),
        ) => {
            format!("no ({})", error())
        }
        (_, Some(IterationOutcome::Interrupted)) => "no (interrupted)".to_owned(),
        _ => "no (continuing to next iteration)".to_owned(),
    }
}

/// What a judge's run means for its phase.
fn judged(run: &Iteration) -> String {
    match run.judgement() {
        Some(judgement) => match judgement.decision {
            JudgeDecision::Approved => format!("yes (approved by the judge: {})", judgement.reason),
            JudgeDecision::Rejected => format!("no (rejected by the judge: {})", judgement.reason),
            JudgeDecision::Blocked => format!("left to a person ({})", judgement.reason),
        },
        None => {
            let why = run.error.as_deref().unwrap_or("the judge gave no decision");
            format!("left to a person ({why})")
        }
    }
}

/// What the iteration changed, as git says: from the commit of the one before.
fn changed_files(
    this: &Executor<'_>,
    execution: &Execution,
    turn: &Iteration,
) -> Vec<ChangedFileRow> {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn writing(path: &Path, room: u64) -> Writing {
        Writing {
            file: Some(BufWriter::new(File::create(path).unwrap())),
            path: path.to_owned(),
            last: None,
            room,
        }
    }

    #[test]
    fn a_transcript_that_is_as_long_as_it_may_be_says_so_once() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("01-implement-001.md");
        let mut writing = writing(&path, 10);
        writing.hear(AgentOutput::Text("12345"));
        for more in ["äöü", "more", "and more"] {
            writing.hear(AgentOutput::Other(more));
        }
        writing.finish();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("12345\näö{}", transcript::CUT_OFF));
    }

    #[test]
    fn what_came_of_an_iteration_ends_its_response() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("01-implement-001.md");
        let completion = transcript::completion(&[], "yes");
        let end_of = |text: &str| {
            fs::write(&path, text).unwrap();
            end_of_response(&File::open(&path).unwrap()).unwrap()
        };
        let said = "x".repeat(3 * PIECE);
        // An agent may write anything, and a mark lies where it lies.
        for more in 0..40 {
            let said = format!(
                "# T\n\n**Duration**: 1s\n\n---\n\n{completion}{said}{}",
                "y".repeat(more)
            );
            let files = "z\n".repeat((PIECE - completion.len()) / 2);
            let whole = format!("{said}{completion}{files}");
            assert_eq!(end_of(&whole), said.len() as u64, "{more}");
        }
        let open = format!("# T\n\n**Duration**: -\n\n---\n\n{completion}{said}");
        assert_eq!(end_of(&open), open.len() as u64);
    }
}

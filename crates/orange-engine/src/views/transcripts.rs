//! The transcripts of a phased task: which there are, and their text, also while it is written. A transcript may have any
//! size; nothing here holds one in memory.

use crate::access;
use crate::call::Call;
use crate::error::{IoContext, Result, err};
use crate::execution;
use crate::execution::is_phased;
use crate::sessions;
use crate::settings;
use crate::store::Place;
use crate::store::TRANSCRIPTS as FOLDER;
use crate::store::private::unless_gone;
use crate::views::task;
use orange_core::task::Task;
use orange_core::usage::Usage;
use orange_core::work::execution::{Iteration, IterationKind, IterationOutcome};
use orange_core::work::state_json;
use orange_core::work::tokens::Tokens;
use orange_core::work::transcript::of_file_name;
use orange_core::workflow::Role;
use orange_core::{Action, Timestamp, text};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// So much is read at once.
const PIECE: usize = 64 * 1024;

/// Behind a head of at most this length stands its rule.
const LONGEST_HEAD: usize = 16 * 1024;
const RULE: &[u8] = b"\n---\n";

/// A piece of a transcript that is followed.
#[derive(Debug, Serialize)]
pub struct TranscriptPiece<'a> {
    pub transcript: &'a str,
    pub text: &'a str,
}

/// Which transcripts are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedTranscripts {
    pub phase: Option<String>,
    pub iteration: Option<u32>,
}

/// What was said in one iteration of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// Of its file.
    pub name: String,
    pub phase: String,
    pub iteration: u32,
    /// What orange.db knows of the iteration; None: nothing any more.
    pub about: Option<Box<Iteration>>,
    pub bytes: u64,
    pub path: PathBuf,
}

impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct TranscriptKeys<'a> {
            name: &'a str,
            phase: &'a str,
            iteration: u32,
            attempt: Option<u32>,
            kind: Option<IterationKind>,
            started_at: Option<Timestamp>,
            ended_at: Option<Timestamp>,
            outcome: Option<IterationOutcome>,
            tokens: Option<Tokens>,
            cost: Option<serde_json::Value>,
            bytes: u64,
            path: &'a Path,
        }
        let about = self.about.as_deref();
        let keys = TranscriptKeys {
            name: &self.name,
            phase: &self.phase,
            iteration: self.iteration,
            attempt: about.map(|about| about.attempt),
            kind: about.map(|about| about.kind),
            started_at: about.map(|about| about.started_at),
            ended_at: about.and_then(|about| about.ended_at),
            outcome: about.and_then(|about| about.outcome),
            tokens: about.map(|about| Tokens::from(about.usage)),
            cost: about.map(|about| state_json::cost(about.usage)),
            bytes: self.bytes,
            path: &self.path,
        };
        keys.serialize(to)
    }
}

impl Transcript {
    /// What its iteration used.
    pub fn usage(&self) -> Usage {
        self.about
            .as_ref()
            .map(|about| about.usage)
            .unwrap_or_default()
    }
}

impl WantedTranscripts {
    fn wants(&self, phase: &str, iteration: u32) -> bool {
        self.phase.as_deref().is_none_or(|wanted| wanted == phase)
            && self.iteration.is_none_or(|wanted| wanted == iteration)
    }
}

/// The transcripts of a task that are wanted, in the order in which their iterations began.
pub fn transcripts(
    call: &Call,
    place: Place,
    wanted: &WantedTranscripts,
) -> Result<(Task, Vec<Transcript>)> {
    access::not_for_a_judge(call, "read transcripts")?;
    let task = task::view(call, place.clone())?.task;
    is_phased(&task)?;
    let label = task.label();
    let found = found(call, &place, &task)?;
    let is_none = found.is_empty();
    let phases: BTreeSet<String> = found.iter().map(|one| one.phase.clone()).collect();
    let found: Vec<Transcript> = found
        .into_iter()
        .filter(|one| wanted.wants(&one.phase, one.iteration))
        .collect();
    if is_none || !found.is_empty() {
        return Ok((task, found));
    }
    let which = match (&wanted.phase, wanted.iteration) {
        (Some(phase), Some(iteration)) => format!("of iteration {iteration} of {phase}"),
        (Some(phase), None) => format!("of phase {phase}"),
        (None, iteration) => format!("of iteration {}", iteration.unwrap_or_default()),
    };
    let phases = phases.into_iter().collect::<Vec<_>>().join(", ");
    Err(
        err!(NotFound, "{label} has no transcript {which}").hint(text!(
            "there are some of {phases}; {} lists them",
            Action::transcript(task.name())
        )),
    )
}

fn found(call: &Call, place: &Place, task: &Task) -> Result<Vec<Transcript>> {
    let mut rows = execution::execution(call, task)?.iterations;
    // Transcripts are there to read also without settings.
    if let Ok(config) = settings::config(call) {
        for row in &mut rows {
            let priced = config.prices.priced(row.model.as_deref(), row.usage);
            row.usage = priced.usage;
        }
    }
    let mut found: Vec<(usize, Transcript)> = Vec::new();
    for name in names(place)? {
        let Some((phase, iteration)) = of_file_name(&name) else {
            continue;
        };
        let path = place.path.join(FOLDER).join(&name);
        let Some(file) = unless_gone(fs::metadata(&path)).doing("read", &path)? else {
            continue;
        };
        let row = rows
            .iter()
            .position(|row| row.transcript.as_deref() == Some(&name));
        let about = row.and_then(|at| rows.get(at)).cloned().map(Box::new);
        found.push((
            row.unwrap_or(usize::MAX),
            Transcript {
                phase: phase.to_owned(),
                iteration,
                about,
                bytes: file.len(),
                path,
                name,
            },
        ));
    }
    found.sort_by(|(one, a), (other, b)| (one, &a.name).cmp(&(other, &b.name)));
    Ok(found
        .into_iter()
        .map(|(_, transcript)| transcript)
        .collect())
}

/// The names of the files that are transcripts.
fn names(place: &Place) -> Result<BTreeSet<String>> {
    let folder = place.path.join(FOLDER);
    let Some(entries) = unless_gone(fs::read_dir(&folder)).doing("read", &folder)? else {
        return Ok(BTreeSet::new());
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry.doing("read", &folder)?.file_name();
        names.extend(
            name.into_string()
                .ok()
                .filter(|name| of_file_name(name).is_some()),
        );
    }
    Ok(names)
}

/// Gives the whole of a transcript in pieces, until `each` says that nobody reads on.
pub fn read(transcript: &Transcript, each: &mut dyn FnMut(&[u8]) -> bool) -> Result<()> {
    let mut reading = TranscriptReading::of(&transcript.path);
    reading.read_on(each).doing("read", &transcript.path)?;
    Ok(())
}

/// A transcript that may be written on, and that is replaced when its iteration is over, by a file with a longer head and
/// the same text behind it.
struct TranscriptReading {
    path: PathBuf,
    /// Device and number of the file, and the length of its head.
    file: Option<((u64, u64), u64)>,
    /// How much behind the head was read.
    at: u64,
}

impl TranscriptReading {
    fn of(path: &Path) -> TranscriptReading {
        TranscriptReading {
            path: path.to_owned(),
            file: None,
            at: 0,
        }
    }

    /// Gives what is new. False: nobody reads on.
    fn read_on(&mut self, each: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
        let Some(file) = unless_gone(File::open(&self.path))? else {
            return Ok(true);
        };
        let now = file.metadata()?;
        let identity = (now.dev(), now.ino());
        let mut piece = vec![0; PIECE];
        let head = match self.file {
            Some((known, head)) if known == identity => head,
            known => {
                let Some(head) = head_of(&file)? else {
                    // It has just been begun.
                    return Ok(true);
                };
                if known.is_none() && !give(&file, 0..head, &mut piece, each)? {
                    return Ok(false);
                }
                self.file = Some((identity, head));
                head
            }
        };
        if now.len() < head + self.at {
            // The turn began anew.
            self.at = 0;
        }
        loop {
            let count = file.read_at(&mut piece, head + self.at)?;
            if count == 0 {
                return Ok(true);
            }
            self.at += count as u64;
            if !each(piece.get(..count).unwrap_or_default()) {
                return Ok(false);
            }
        }
    }
}

fn give(
    file: &File,
    range: std::ops::Range<u64>,
    piece: &mut [u8],
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> io::Result<bool> {
    let mut at = range.start;
    while at < range.end {
        let most = usize::try_from(range.end - at).unwrap_or(usize::MAX);
        let most = most.min(piece.len());
        let room = piece.get_mut(..most).unwrap_or_default();
        let count = file.read_at(room, at)?;
        if count == 0 {
            break;
        }
        at += count as u64;
        if !each(room.get(..count).unwrap_or_default()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How long the head is; None: it is not written yet. Another program's file has none.
fn head_of(file: &File) -> io::Result<Option<u64>> {
    let mut start = vec![0; LONGEST_HEAD];
    let mut length = 0;
    while length < start.len() {
        let count = file.read_at(start.get_mut(length..).unwrap_or_default(), length as u64)?;
        if count == 0 {
            break;
        }
        length += count;
    }
    let start = start.get(..length).unwrap_or_default();
    let rule = start.windows(RULE.len()).position(|part| part == RULE);
    Ok(match rule {
        Some(at) => Some(at as u64),
        None if length == LONGEST_HEAD => Some(0),
        None => None,
    })
}

/// What a follower has to tell.
#[derive(Debug)]
pub enum TranscriptNews<'a> {
    /// The next transcript begins.
    Begins(&'a str),
    Text(&'a [u8]),
}

/// Follows the transcripts of a task while its executor works, from the beginning of the newest one.
pub struct TranscriptFollower<'c> {
    call: &'c Call,
    place: Place,
    wanted: WantedTranscripts,
    /// The executor's run; None: nobody works.
    run: Option<String>,
    reading: Option<TranscriptReading>,
    seen: BTreeSet<String>,
}

impl<'c> TranscriptFollower<'c> {
    pub fn new(
        call: &'c Call,
        place: Place,
        wanted: WantedTranscripts,
    ) -> Result<TranscriptFollower<'c>> {
        access::not_for_a_judge(call, "read transcripts")?;
        let view = task::view(call, place.clone())?;
        is_phased(&view.task)?;
        let run = sessions::live_run(call, &view.history, Role::Executor).map(|run| run.id);
        let mut follower = TranscriptFollower {
            run,
            reading: None,
            seen: names(&place)?,
            call,
            place,
            wanted,
        };
        let all = found(call, &follower.place, &view.task)?;
        let mut newest_first = all.iter().rev();
        let wanted = |one: &&Transcript| follower.wanted.wants(&one.phase, one.iteration);
        if let Some(newest) = newest_first.find(wanted) {
            follower.seen.remove(&newest.name);
        }
        Ok(follower)
    }

    /// Whether somebody writes.
    pub fn is_at_work(&self) -> bool {
        let run = self.run.as_ref();
        run.is_some_and(|run| sessions::run_folder(self.call, run).is_alive())
    }

    /// Gives what is new. False: nobody reads on, or nothing more comes.
    pub fn news(&mut self, each: &mut dyn FnMut(TranscriptNews<'_>) -> bool) -> Result<bool> {
        // Asked first: what is written until then is read below.
        let is_at_work = self.is_at_work();
        let new = self.new_names()?;
        let goes_on = new.is_empty() || self.wanted.iteration.is_none() || self.reading.is_none();
        if !self.read_on(each)? {
            return Ok(false);
        }
        for name in new {
            let wants = of_file_name(&name)
                .is_some_and(|(phase, iteration)| self.wanted.wants(phase, iteration));
            if wants {
                self.reading = Some(TranscriptReading::of(
                    &self.place.path.join(FOLDER).join(&name),
                ));
                if !each(TranscriptNews::Begins(&name)) || !self.read_on(each)? {
                    return Ok(false);
                }
            }
            self.seen.insert(name);
        }
        Ok(is_at_work && goes_on)
    }

    fn read_on(&mut self, each: &mut dyn FnMut(TranscriptNews<'_>) -> bool) -> Result<bool> {
        let Some(reading) = &mut self.reading else {
            return Ok(true);
        };
        let path = reading.path.clone();
        let given = reading.read_on(&mut |bytes| each(TranscriptNews::Text(bytes)));
        given.doing("read", &path)
    }

    /// Those that have come, the oldest first.
    fn new_names(&self) -> Result<Vec<String>> {
        let all = names(&self.place)?;
        let folder = self.place.path.join(FOLDER);
        let mut new: Vec<_> = all
            .into_iter()
            .filter(|name| !self.seen.contains(name))
            .map(|name| {
                let made = fs::metadata(folder.join(&name)).and_then(|file| file.modified());
                (made.ok(), name)
            })
            .collect();
        new.sort();
        Ok(new.into_iter().map(|(_, name)| name).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn said(reading: &mut TranscriptReading) -> String {
        let mut said = Vec::new();
        let each = &mut |piece: &[u8]| {
            said.extend_from_slice(piece);
            true
        };
        assert!(reading.read_on(each).unwrap());
        String::from_utf8(said).unwrap()
    }

    #[test]
    fn a_replaced_file_repeats_nothing() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("01-implement-001.md");
        let mut reading = TranscriptReading::of(&path);
        assert_eq!(said(&mut reading), "");
        fs::write(&path, "# T\n\n**Tokens").unwrap();
        assert_eq!(said(&mut reading), "");
        fs::write(&path, "# T\n\n**Tokens**: -\n\n---\n\n## Prompt\n").unwrap();
        assert_eq!(
            said(&mut reading),
            "# T\n\n**Tokens**: -\n\n---\n\n## Prompt\n"
        );
        let next = path.with_extension("md.new");
        fs::write(
            &next,
            "# T\n\n**Tokens**: 123456\n\n---\n\n## Prompt\nmore\n",
        )
        .unwrap();
        fs::rename(&next, &path).unwrap();
        assert_eq!(said(&mut reading), "more\n");
        assert_eq!(said(&mut reading), "");
    }

    #[test]
    fn a_turn_that_begins_anew_is_read_again() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("01-implement-001.md");
        let mut reading = TranscriptReading::of(&path);
        fs::write(&path, "# T\n\n---\nlong text\n").unwrap();
        assert_eq!(said(&mut reading), "# T\n\n---\nlong text\n");
        fs::write(&path, "# T\n\n---\nb\n").unwrap();
        assert_eq!(said(&mut reading), "\n---\nb\n");
    }

    #[test]
    fn whoever_stops_reading_is_given_nothing_more() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("01-implement-001.md");
        fs::write(&path, format!("# T\n\n---\n{}", "x".repeat(3 * PIECE))).unwrap();
        let mut count = 0;
        let each = &mut |_: &[u8]| {
            count += 1;
            count < 3
        };
        assert!(!TranscriptReading::of(&path).read_on(each).unwrap());
        assert_eq!(count, 3);
    }
}

//! Texts that others wrote into TASK.md while a command replaced it: merged into its body, or kept beside it and told.

use crate::effects::messages;
use crate::error::{Error, IoContext, Result};
use crate::store::replace::{self, Replacement, Theirs};
use crate::tx::TaskTx;
use crate::tx::write_reconciled::MOST_MERGES;
use orange_core::attention::unmerged;
use orange_core::body_merge::merge_bodies;
use orange_core::history::payload::AttentionNote;
use orange_core::history::{Event, Payload};
use orange_core::task_file::{TaskFile, salvage_body};
use std::collections::HashMap;
use std::path::Path;

/// How the names of texts begin that could not be merged.
const KEPT: &str = "TASK.md.conflict-";

/// One replacement of TASK.md that somebody else's write came into.
pub(crate) struct Race<'r> {
    /// What the file held before.
    pub(super) in_place: Option<&'r [u8]>,
    /// What `new` was made of: `in_place`, or a text of somebody else's.
    pub(super) found: Option<&'r [u8]>,
    pub(super) new: &'r [u8],
}

impl Race<'_> {
    /// Whether `new` has text that was not in the file before. Otherwise it differs only by what the journal says,
    /// which is written into any text again.
    fn has_text_of_its_own(&self) -> bool {
        self.in_place.map(body_of) != self.found.map(body_of)
    }

    /// Their text with ours; None if both changed the same lines.
    fn merge(&self, mut theirs: TaskFile) -> Option<Vec<u8>> {
        let (base, ours) = (body_of(self.in_place?)?, body_of(self.new)?);
        let body = merge_bodies(&base, &ours, theirs.body())?;
        theirs.set_body(&body);
        Some(theirs.text().as_bytes().to_vec())
    }
}

impl TaskTx<'_> {
    /// The text to go on with when `new` is in place and `theirs` was written into the file before it; None if theirs is
    /// no text to go on with.
    pub(super) fn merge_overtaken(
        &mut self,
        race: &Race<'_>,
        theirs: &Theirs,
    ) -> Result<Option<Vec<u8>>> {
        let Ok(file) = TaskFile::parse(theirs.bytes()) else {
            // It was cut off in the middle.
            if !covers(&salvage_body(race.new), theirs.bytes()) {
                self.keep_text(theirs.bytes())?;
            }
            return Ok(None);
        };
        if !race.has_text_of_its_own() {
            return Ok(Some(theirs.bytes().to_vec()));
        }
        if let Some(merged) = race.merge(file) {
            return Ok(Some(merged));
        }
        if !covers(&salvage_body(theirs.bytes()), race.new) {
            self.keep_text(race.new)?;
        }
        Ok(Some(theirs.bytes().to_vec()))
    }

    /// The text to go on with when the file changed before `new` could be put in place; None if it is what the file holds.
    pub(super) fn merge_stale(
        &mut self,
        race: &Race<'_>,
        now: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>> {
        if !race.has_text_of_its_own() {
            return Ok(None);
        }
        let file = now.and_then(|now| TaskFile::parse(now).ok());
        if let Some(merged) = file.and_then(|file| race.merge(file)) {
            return Ok(Some(merged));
        }
        if !covers(&salvage_body(now.unwrap_or_default()), race.new) {
            self.keep_text(race.new)?;
        }
        Ok(None)
    }

    /// Takes over what people wrote into files that earlier replacements had swapped out.
    pub(super) fn merge_leftovers(&mut self) -> Result<()> {
        let target = self.place.task_file();
        if self.snapshot.stamp.is_none() || !target.is_file() {
            return Ok(());
        }
        for _ in 0..MOST_MERGES {
            let left = replace::settle_leftovers(&target).doing("read", &target)?;
            self.writer_open = left.writer_open > 0;
            if left.written.is_empty() {
                return Ok(());
            }
            let mut removed = true;
            for theirs in left.written {
                removed &= self.merge_leftover(theirs)?;
            }
            if !removed {
                break;
            }
        }
        // Somebody keeps writing, or a file cannot be removed: the next command looks again.
        self.writer_open = true;
        Ok(())
    }

    /// Returns false if the file could not be removed although its text is safe.
    fn merge_leftover(&mut self, mut theirs: Theirs) -> Result<bool> {
        let target = self.place.task_file();
        let write_error = |error| Error::io("write", &target, &error);
        let current = self.content()?.unwrap_or_default();
        match leftover_in(&current, &theirs) {
            Leftover::Known => {}
            Leftover::Unmergeable => self.keep_text(theirs.bytes())?,
            Leftover::Merged(new) => {
                self.mark()?;
                if !covers(&salvage_body(&new), &current) {
                    // Theirs came between, and what is in place has text that is in neither.
                    self.keep_text(&current)?;
                }
                theirs.note_merge(&new).map_err(write_error)?;
                let outcome =
                    replace::replace(&target, Some(&current), &new).map_err(write_error)?;
                if matches!(outcome, Replacement::Stale) {
                    return Ok(true);
                }
            }
        }
        Ok(discard(theirs))
    }

    /// Keeps a text beside TASK.md that could not be merged into it.
    pub(crate) fn keep_text(&self, bytes: &[u8]) -> Result<()> {
        if bytes.iter().all(|byte| *byte == 0) {
            // A writer that died right after emptying the file wrote nothing.
            return Ok(());
        }
        let kept = kept_texts(&self.place.path);
        let same = |name: &String| {
            std::fs::read(self.place.path.join(name)).is_ok_and(|text| text == bytes)
        };
        if kept.iter().any(same) {
            return Ok(());
        }
        let name = format!("{KEPT}{}", self.call.file_stamp());
        let aside = self.place.path.join(&name);
        replace::write_atomic(&aside, bytes).doing("write", &aside)?;
        self.call.notice(format!(
            "{}: two writers changed TASK.md at once; the other text is kept as {name}",
            self.place.folder()
        ));
        Ok(())
    }

    /// Journals that a person is to look at the texts that were kept, until they removed them.
    pub(crate) fn note_kept_texts(&mut self) -> Result<()> {
        let kept = kept_texts(&self.place.path);
        let told = unmerged(&self.snapshot.history);
        let new = kept.iter().filter(|name| !told.contains(&name.as_str()));
        let raised = new.map(|name| {
            let why = format!(
                "two writers changed TASK.md at once; {name} beside it has the other text: take over what is missing, then delete that file"
            );
            messages::attention_event(self.call, about(name), why)
        });
        let gone = told
            .iter()
            .filter(|name| !kept.iter().any(|file| file == *name));
        let cleared = gone.map(|name| {
            Event::of(Payload::AttentionCleared(about(name)), self.call.now())
                .by("engine")
                .because(format!("{name} is gone"))
        });
        let events: Vec<Event> = raised.chain(cleared).collect();
        if events.is_empty() {
            return Ok(());
        }
        self.mark()?;
        self.unindexed = true;
        self.append(events)
    }
}

/// What a swapped-out file means for what is in place now.
enum Leftover {
    /// It is in there.
    Known,
    /// This has both.
    Merged(Vec<u8>),
    Unmergeable,
}

fn leftover_in(current: &[u8], theirs: &Theirs) -> Leftover {
    let known = theirs.known_part(current);
    if known == Some(theirs.bytes().len()) {
        return Leftover::Known;
    }
    let base = known.and_then(|length| theirs.bytes().get(..length));
    if let (Some(base), Ok(file)) = (base, TaskFile::parse(theirs.bytes()))
        && TaskFile::parse(base).is_ok()
        && let Ok(mut merged) = TaskFile::parse(current)
        && let Some(base) = body_of(base)
        && let Some(body) = merge_bodies(&base, merged.body(), file.body())
    {
        merged.set_body(&body);
        return Leftover::Merged(merged.text().as_bytes().to_vec());
    }
    let usable = theirs.was_replaced_by(current) && TaskFile::parse(theirs.bytes()).is_ok();
    if usable || continues(current, theirs) {
        Leftover::Merged(theirs.bytes().to_vec())
    } else {
        Leftover::Unmergeable
    }
}

/// The texts beside TASK.md that could not be merged, by their names.
pub(crate) fn kept_texts(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut kept: Vec<String> = names.filter(|name| name.starts_with(KEPT)).collect();
    kept.sort_unstable();
    kept
}

/// Removes a swapped-out file whose text is safe elsewhere; false if that fails.
fn discard(theirs: Theirs) -> bool {
    let discarded = theirs.discard();
    if let Err(error) = &discarded {
        tracing::warn!(%error, "a swapped-out TASK.md could not be removed");
    }
    discarded.is_ok()
}

pub(crate) fn discard_all(pending: &mut Vec<Theirs>) {
    for theirs in pending.drain(..) {
        discard(theirs);
    }
}

fn body_of(bytes: &[u8]) -> Option<String> {
    TaskFile::parse(bytes)
        .ok()
        .map(|file| file.body().to_owned())
}

/// Whether a body has every line of a text, as often, but for headings, which Orange may have renamed.
fn covers(body: &str, text: &[u8]) -> bool {
    let mut there: HashMap<&str, usize> = HashMap::new();
    for line in body.lines() {
        *there.entry(line).or_default() += 1;
    }
    let text = salvage_body(text);
    let mut wanted = text
        .lines()
        .filter(|line| !line.starts_with("## ") && !line.trim().is_empty());
    wanted.all(|line| match there.get_mut(line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        Some(_) | None => false,
    })
}

/// Whether the body in place is only the beginning of theirs: it was taken while they were writing.
fn continues(in_place: &[u8], theirs: &Theirs) -> bool {
    match (body_of(in_place), body_of(theirs.bytes())) {
        (Some(half), Some(whole)) => whole.starts_with(&half),
        (Some(_) | None, Some(_) | None) => false,
    }
}

/// A note about a text that is kept beside TASK.md.
fn about(kept: &str) -> AttentionNote<'_> {
    AttentionNote {
        kept: Some(kept),
        ..AttentionNote::default()
    }
}

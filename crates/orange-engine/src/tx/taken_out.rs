//! Lines that `doctor --repair` takes out of a journal: those that are no events, and those that Orange did not write.

use crate::error::{IoContext, Result};
use crate::seal_checks;
use crate::store::journal;
use crate::tx::TaskTx;
use orange_core::history::History;

impl TaskTx<'_> {
    /// For `doctor --repair`: lines of the journal that are no events are kept in a file beside it, whose name is given.
    pub(crate) fn take_out_bad_lines(&mut self) -> Result<Option<String>> {
        let bad = &self.snapshot.history.bad_lines;
        let numbers: Vec<usize> = bad.iter().map(|bad| bad.line).collect();
        self.take_out(&numbers)
    }

    /// Takes lines that Orange did not write out of the journal, and puts back what they had changed.
    pub(crate) fn take_out_foreign_lines(&mut self) -> Result<Option<String>> {
        let path = self.place.journal();
        let text = journal::read(&path).doing("read", &path)?;
        let mut places = 0..;
        let mut numbers = Vec::new();
        for (index, line) in text.text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            // A line without an event has no place among the events.
            let has_event = !History::parse(line).events.is_empty();
            let mut place = || places.next().unwrap_or(usize::MAX);
            if has_event && self.sealed.is_foreign(place()) {
                numbers.push(index + 1);
            }
        }
        let name = self.take_out(&numbers)?;
        // The witness is noted with the shorter journal first: it has lost nothing.
        self.index()?;
        self.write_reconciled()?;
        Ok(name)
    }

    fn take_out(&mut self, numbers: &[usize]) -> Result<Option<String>> {
        if numbers.is_empty() {
            return Ok(None);
        }
        let path = self.place.journal();
        self.mark()?;
        let (name, length) = journal::take_out(&path, numbers).doing("write", &path)?;
        let left = journal::read(&path).doing("read", &path)?;
        self.snapshot.history = History::parse(&left.text);
        self.sealed = seal_checks::drop_unsealed(self.call, &mut self.snapshot.history);
        self.seals = self.sealed.seals.clone();
        self.opened_at = self.opened_at.min(self.snapshot.history.events.len());
        self.snapshot.journal_bytes = length;
        self.unindexed = true;
        Ok(Some(name))
    }
}

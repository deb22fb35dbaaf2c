//! What agents cost: starting one, noticing its end, watching over many, and a whole task from creation to review.

mod lifecycle;
mod many;
mod real;
mod stage;
mod starting;

use crate::Result;
use crate::report::Row;
use crate::scratch::Scratch;

pub(crate) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    let mut rows = starting::spawn(scratch)?;
    rows.extend(starting::create(scratch)?);
    rows.extend(starting::exit(scratch)?);
    rows.extend(lifecycle::rows(scratch)?);
    rows.extend(many::rows(scratch)?);
    Ok(rows)
}

/// The same with real agent CLIs, where they are installed.
pub(crate) fn harnesses(scratch: &Scratch) -> Result<Vec<Row>> {
    real::rows(scratch)
}

//! What agents cost: starting one, noticing its end, watching over many, and a whole task from creation to review.

mod executor;
mod gate;
mod lifecycle;
mod many;
mod real;
pub(crate) mod stage;
mod starting;

use crate::Result;
use crate::report::Row;
use crate::scratch::Scratch;

type Measure = fn(&Scratch) -> Result<Vec<Row>>;

pub(crate) const ROWS: [(&str, Measure); 7] = [
    ("spawn", starting::spawn),
    ("create", starting::create),
    ("exit", starting::exit),
    ("lifecycle", lifecycle::rows),
    ("executor", executor::rows),
    ("gate", gate::rows),
    ("monitor", many::rows),
];

/// The same with real agent CLIs, where they are installed.
pub(crate) fn harnesses(scratch: &Scratch) -> Result<Vec<Row>> {
    real::rows(scratch)
}

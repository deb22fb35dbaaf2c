//! Looking after a home: doctor, gc and the workspaces that nobody needs. Read `doctor.rs` first.

pub mod doctor;
pub mod gc;
pub mod workspaces;

use crate::call::Call;
use crate::error::Result;
use crate::index::list::{Filter, Listed};
use crate::views::list;

/// Every task that is not deleted, those that are over too.
fn every_task(call: &Call) -> Result<Vec<Listed>> {
    let filter = Filter {
        all: true,
        ..Filter::default()
    };
    list::listed(call, &filter)
}

//! Looking after a home: doctor, gc and the workspaces that nobody needs. Read `doctor.rs` first.

pub mod doctor;
pub mod gc;
pub mod workspaces;

use crate::call::Call;
use crate::error::Result;
use crate::index::list::{ListedTask, TaskFilter};
use crate::views::list;

/// Every task that is not deleted, those that are over too.
fn every_task(call: &Call) -> Result<Vec<ListedTask>> {
    let filter = TaskFilter {
        all: true,
        ..TaskFilter::default()
    };
    list::listed(call, &filter)
}

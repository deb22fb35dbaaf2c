//! One turn of an agent without a terminal.

use crate::access;
use crate::call::Call;
use crate::error::Result;
use crate::headless::{self, Turn, TurnRequest};
use crate::sessions::programs;
use crate::settings::harness::find_harness;
use crate::settings::models;
use orange_core::workflow::Role;
use std::sync::atomic::AtomicBool;

/// Runs one turn to its end, or until `stop` says so. A turn that failed is a [`Turn`] as well, as far as it came.
pub fn headless(call: &Call, mut request: TurnRequest, stop: &AtomicBool) -> Result<Turn> {
    access::people_only(call, "start agents")?;
    let harness = find_harness(call, &request.harness)?
        .filter(|found| found.adapter.supports().headless)
        .ok_or_else(|| headless::cannot(&request.harness))?;
    headless::check(&request)?;
    request.choice = models::with_settings(call, request.choice, Role::Worker, &harness)?;
    let program = programs::fit_program(call, &harness)?;
    headless::take_turn(&harness, &program, &request, &programs::probe(call), stop)
}

//! An event on a line of its own, with whose it is: `watch` prints one for everything that happens.

use orange_core::history::Event;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct EventLine<'a> {
    pub project: &'a str,
    /// Its label.
    pub task: &'a str,
    pub event: &'a Event,
}

//! What the crates share that touch the world: errors, time limits, the order of locks, crash points, the environment of
//! programs, processes, folders and private files. It starts no program and opens no file of the home.

pub mod crash_points;
pub mod environment;
pub mod error;
pub mod file_end;
pub mod listing;
pub mod lock_order;
pub mod private;
pub mod process;
pub mod programs;
pub mod time_limit;

pub use error::{Code, Error, IoContext, Result};

//! Looking after a home: doctor, gc and the workspaces that nobody needs. Read `doctor.rs` first.

pub mod doctor;
pub mod gc;
pub mod workspaces;

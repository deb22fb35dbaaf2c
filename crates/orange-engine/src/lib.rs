//! The half of Orange that touches the world: files, locks, SQLite, git. Front ends call [`Engine`];
//! nothing here prints or reads the user's environment.

pub mod database;
pub mod disk;
pub mod doctor;
mod effects;
pub mod engine;
pub mod error;
pub mod git;
pub mod index;
pub mod locked;
pub mod occupants;
pub mod projects;
pub mod recovery;
pub mod rescue;
pub mod store;
pub mod workspaces;

pub use engine::{Caller, Engine, Settings};
pub use error::{Code, Error, Result};

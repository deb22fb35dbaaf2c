//! The half of Orange that touches the world: files, locks, SQLite, git, tmux. Front ends call [`Engine`];
//! nothing here prints or reads the user's environment.

pub mod disk;
pub mod doctor;
mod effects;
pub mod engine;
pub mod event_log;
pub mod gc;
mod home;
pub mod home_record;
pub mod monitor;
mod notify;
pub mod prompt;
pub mod recovery;
pub mod rescue;
pub mod sessions;
pub mod tx;
mod verify;
pub mod views;
pub mod workspaces;

pub use engine::{Caller, Engine, Settings};
pub use home::Home;
pub use orange_agents::{
    agent_run, errand, harness, headless, occupants, person_environment, runs,
};
pub(crate) use orange_agents::{screen_tail, versions};
pub use orange_git as git;
pub use orange_store as store;
pub(crate) use orange_store::seal;
pub use orange_store::{database, index, projects};
pub use orange_sys::{Code, Error, Result};
pub use orange_sys::{crash_points, error};
pub use orange_tmux as tmux;

//! What happens: verbs that change tasks, views that show them, and what runs in the background. Front ends make a [`Call`] and
//! pass it to the functions of `verbs/` and `views/`; nothing here prints or reads the user's environment. Read `verbs.rs` first.

pub mod access;
pub mod allow_rules;
pub mod background;
mod budget;
pub mod call;
pub mod checks;
mod costs;
pub mod disk;
mod effects;
pub mod event_log;
mod execution;
pub mod facts;
mod field_checks;
pub mod find;
mod home;
pub mod home_record;
mod keys;
pub mod maintenance;
pub mod phases;
pub mod prompt;
pub mod recovery;
pub mod rescue;
pub mod rules;
pub mod seal_checks;
pub mod sessions;
pub mod settings;
pub mod started_by;
mod test_results;
pub mod trash;
pub mod tx;
pub mod verbs;
pub mod views;
pub mod workspaces;

pub use call::{Call, Caller, Settings};
pub use home::Home;
pub use orange_agents::{
    agent_run, errand, executor_run, harness, headless, occupants, person_environment, runs,
};
pub(crate) use orange_agents::{logins, screen_tail, versions};
pub use orange_git as git;
pub use orange_store as store;
pub(crate) use orange_store::seal;
pub use orange_store::{database, index, projects};
pub use orange_sys::{Code, Error, IoContext, Result, err};
pub use orange_sys::{crash_points, error};
pub use orange_tmux as tmux;

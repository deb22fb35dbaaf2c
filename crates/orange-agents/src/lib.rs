//! Agents: a folder for each agent CLI (`harness/`), the folder of a run (`runs/`), the process beside an agent
//! (`agent_run/`), turns without a terminal, and errands. Read `harness/kind.rs` and `runs.rs` first. The engine calls it;
//! it knows nothing of workflows.

pub mod agent_run;
pub mod errand;
pub mod executor_run;
pub mod harness;
pub mod headless;
pub mod home_paths;
pub mod logins;
pub mod marks;
pub mod occupants;
pub mod person_environment;
pub mod runs;
pub mod screen_tail;
pub mod versions;

pub(crate) use orange_git as git;
pub(crate) use orange_store as store;
pub(crate) use orange_store::{database, seal};
pub(crate) use orange_sys::error;
pub(crate) use orange_tmux as tmux;

//! The terminal dashboard: a front end over the engine's verbs and views. Inputs (keys, news, results) change the state in
//! `app`, `draw` shows it, `runtime` carries out what follows. Nothing is computed here that a view does not have. Read
//! `app.rs` first.

pub mod app;
pub mod draw;
pub mod keymap;
mod loaders;
mod runtime;
mod terminal;
pub mod theme;
pub mod verbs;

pub use runtime::{DashboardOptions, run};

//! What a slot gets besides its checkout, with real repositories, files and processes.

mod commands;
mod files;
mod rules;
mod trust;
mod world;

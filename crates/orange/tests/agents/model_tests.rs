//! The scripted model itself, asked by hand over real sockets.

mod anthropic;
mod client;
mod faults;
mod openai;
mod scripts;

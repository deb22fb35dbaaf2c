//! How an errand knows that Orange started it: its standard input is a pipe that holds the errand's own words. An agent
//! that types `orange errand …` has no such pipe. This prevents accidents; an agent that means harm runs as the same user.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, PipeReader, Write};

/// Far below what a pipe always takes without a reader.
const LONGEST: usize = 1024;

/// Returns the standard input for an errand with these words.
pub(super) fn issue(words: &[&str]) -> io::Result<PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(&text_of(words))?;
    Ok(reader)
}

/// Returns whether standard input holds the pass for these words, and replaces it by /dev/null. Never waits.
pub fn present(words: &[&str]) -> bool {
    let input = io::stdin();
    let is_pipe = rustix::fs::fstat(&input)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_fifo());
    if !is_pipe {
        return false;
    }
    let mut watched = [PollFd::new(&input, PollFlags::IN)];
    let at_once = Timespec::default();
    // The pass was written before the errand was started: it is there, and whole.
    if !poll(&mut watched, Some(&at_once)).is_ok_and(|ready| ready > 0) {
        return false;
    }
    let mut text = [0; LONGEST + 1];
    let read = rustix::io::read(&input, &mut text);
    if let Ok(nothing) = File::open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(nothing);
    }
    read.is_ok_and(|length| text.get(..length) == Some(&text_of(words)))
}

fn text_of(words: &[&str]) -> Vec<u8> {
    let mut text = format!("orange errand 1\n{}\n", words.join("\n")).into_bytes();
    text.truncate(LONGEST);
    text
}

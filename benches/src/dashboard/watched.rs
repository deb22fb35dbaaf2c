//! A program on a terminal of its own (`script` makes it), whose output is read as it comes.

use crate::Result;
use std::collections::VecDeque;
use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longer than anything here takes.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Clock ticks of Linux in a second, as /proc counts.
const TICKS: u64 = 100;

pub(super) struct Watched {
    child: Child,
    output: Receiver<(Instant, Vec<u8>)>,
    /// The last of what came, so that a text is found that came in two pieces.
    seen: VecDeque<u8>,
}

fn on_a_terminal(command: &Command, (columns, rows): (u16, u16)) -> Command {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| format!("'{}'", word.display())).collect();
    let line = format!("stty cols {columns} rows {rows}; exec {}", words.join(" "));
    let mut script = Command::new("script");
    script.args(["-qefc", &line, "/dev/null"]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        script.current_dir(folder);
    }
    script.env("SHELL", "/bin/sh").env("TERM", "xterm-256color");
    script.env_remove("TMUX").env_remove("TMUX_PANE");
    script.stderr(Stdio::null());
    script
}

impl Watched {
    pub(super) fn start(command: &Command, size: (u16, u16)) -> Result<Watched> {
        let mut script = on_a_terminal(command, size);
        let mut child = script
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut stdout = child.stdout.take().ok_or("no output")?;
        let (tell, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = vec![0; 1 << 16];
            while let Ok(count @ 1..) = stdout.read(&mut bytes) {
                let piece = bytes.get(..count).unwrap_or_default().to_vec();
                if tell.send((Instant::now(), piece)).is_err() {
                    return;
                }
            }
        });
        Ok(Watched {
            child,
            output,
            seen: VecDeque::new(),
        })
    }

    /// The same terminal for a program that ends; how long it took.
    pub(super) fn until_end(command: &mut Command) -> Result<Duration> {
        let mut script = on_a_terminal(command, (200, 50));
        let start = Instant::now();
        let output = script.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(format!("{command:?} failed").into());
        }
        Ok(start.elapsed())
    }

    /// Reads until a text came; when.
    pub(super) fn until(&mut self, text: &str) -> Result<Instant> {
        let deadline = Instant::now() + TIMEOUT;
        let wanted = text.as_bytes();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok((at, piece)) = self.output.recv_timeout(left) else {
                return Err(format!("waited in vain for {text:?}").into());
            };
            self.seen.extend(piece);
            let seen = self.seen.make_contiguous();
            if seen.windows(wanted.len()).any(|window| window == wanted) {
                return Ok(at);
            }
            let extra = self.seen.len().saturating_sub(wanted.len());
            self.seen.drain(..extra);
        }
    }

    /// From a key until a text that its frame has.
    pub(super) fn press(&mut self, key: &str, shows: &str) -> Result<Duration> {
        self.seen.clear();
        while self.output.try_recv().is_ok() {}
        let mut stdin = self.child.stdin.as_ref().ok_or("no input")?;
        let start = Instant::now();
        stdin.write_all(key.as_bytes())?;
        stdin.flush()?;
        Ok(self.until(shows)?.saturating_duration_since(start))
    }

    /// Lets what comes at the start be over.
    pub(super) fn settle(&mut self) {
        self.watch_for(Duration::from_secs(3));
    }

    pub(super) fn watch_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            let _ = self.output.recv_timeout(left);
        }
    }

    /// The program itself, below `script`.
    fn pid(&self) -> Result<u32> {
        let own = self.child.id();
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"))?;
        let first = children.split_whitespace().next().ok_or("it has ended")?;
        Ok(first.parse()?)
    }

    /// What it has in memory, in bytes.
    pub(super) fn memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()?))?;
        let mut lines = status.lines();
        let resident = lines.find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = resident.and_then(|rest| rest.split_whitespace().next());
        Ok(kilobytes.ok_or("no VmRSS")?.parse::<u64>()? * 1024)
    }

    /// What it and its children that ended have used of a processor.
    pub(super) fn processor_time(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid()?))?;
        let (_, fields) = stat.rsplit_once(") ").ok_or("no stat")?;
        // utime, stime, cutime and cstime; the state is the first field here.
        let used = fields.split(' ').skip(11).take(4);
        let ticks: u64 = used.map(|field| field.parse().unwrap_or(0)).sum();
        Ok(Duration::from_millis(ticks * 1000 / TICKS))
    }

    pub(super) fn quit(mut self) -> Result<()> {
        if let Some(mut stdin) = self.child.stdin.take() {
            stdin.write_all(b"q")?;
            stdin.flush()?;
            // Open until it has ended: the end of the input ends `script`.
            self.child.wait()?;
        }
        Ok(())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

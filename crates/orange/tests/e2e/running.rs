//! A command that goes on, and what it has printed so far.

use crate::run::Call;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Ended with the test.
pub(crate) struct Running {
    child: Child,
    lines: Arc<Mutex<String>>,
}

impl Running {
    pub(crate) fn start(call: Call<'_>) -> Running {
        let mut child = call.spawn();
        let lines = Arc::new(Mutex::new(String::new()));
        collect(child.stdout.take().unwrap(), lines.clone());
        collect(child.stderr.take().unwrap(), lines.clone());
        Running { child, lines }
    }

    /// Standard output and standard error, as they came.
    pub(crate) fn printed(&self) -> String {
        self.lines.lock().unwrap().clone()
    }

    #[track_caller]
    pub(crate) fn until_printed(&self, text: &str) {
        self.until(text, |printed| printed.contains(text));
    }

    #[track_caller]
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&str) -> bool) {
        // Generous: only a test that fails waits so long.
        let deadline = Instant::now() + Duration::from_secs(60);
        while !holds(&self.printed()) {
            let printed = self.printed();
            assert!(Instant::now() < deadline, "no {what:?} in\n{printed}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn interrupt(&self) {
        let pid = self.child.id().to_string();
        let status = std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status();
        assert!(status.unwrap().success());
    }

    /// How it ended, once it did by itself.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

fn collect(from: impl Read + Send + 'static, lines: Arc<Mutex<String>>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            lines.lock().unwrap().push_str(&format!("{line}\n"));
        }
    });
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! Steps that start other programs.

use super::super::agent::{SimAgent, StepResult, StepStop};
use super::super::program::{self, EndedProgram, ShellProgram};
use serde_json::json;
use std::time::Duration;

/// Between two looks at a program.
const LOOK: Duration = Duration::from_millis(2);
/// So much of a program's output is shown.
const SHOWN_LINES: usize = 10;

impl SimAgent {
    /// Runs a program to its end and says if it did not have the expected exit code, if one is expected.
    pub(super) fn command(&mut self, program: ShellProgram, expected: Option<i32>) -> StepResult {
        let ended = self.wait_while(program)?;
        self.show_output(&ended);
        if expected.is_none() || ended.code() == expected {
            return Ok(());
        }
        let reason = format!("{}: {}", ended.how(), ended.telling_line());
        Err(StepStop::Failed(
            reason.trim_end_matches([':', ' ']).to_owned(),
        ))
    }

    /// Listens while a program runs; Escape ends the program too.
    pub(super) fn wait_while(&mut self, program: ShellProgram) -> Result<EndedProgram, StepStop> {
        let mut running = program.start()?;
        loop {
            if let Some(ended) = running.ended()? {
                return Ok(ended);
            }
            if let Err(stop) = self.pump(LOOK) {
                running.kill();
                return Err(stop);
            }
        }
    }

    fn show_output(&self, ended: &EndedProgram) {
        let lines: Vec<&str> = ended.output.lines().collect();
        let from = lines.len().saturating_sub(SHOWN_LINES);
        for line in lines.get(from..).unwrap_or_default() {
            let line: String = line.chars().take(400).collect();
            self.show(&format!("  {line}"));
        }
    }

    pub(super) fn commit(
        &mut self,
        message: &str,
        empty: bool,
        expected: Option<i32>,
    ) -> StepResult {
        self.command(program::git(["add", "-A"]), expected)?;
        let mut arguments = vec!["commit", "-q", "-m", message];
        if empty {
            arguments.push("--allow-empty");
        }
        self.command(program::git(arguments), expected)
    }

    pub(super) fn current_branch(&self) -> Option<String> {
        let running = program::git(["branch", "--show-current"]).start().ok()?;
        let ended = running
            .wait()
            .ok()
            .filter(|ended| ended.code() == Some(0))?;
        let branch = ended.output.trim();
        (!branch.is_empty()).then(|| branch.to_owned())
    }

    /// Something in the background that shares the agent's process group.
    pub(super) fn child(&mut self, line: &str) -> StepResult {
        let program = program::shell(line, &self.variables());
        let child = program.start_beside()?;
        self.events.write("child", &json!({"child": child.id()}));
        self.children.push(child);
        Ok(())
    }

    /// Something that leaves the agent behind.
    pub(super) fn daemon(&mut self, line: &str, clear_env: bool) -> StepResult {
        let number = program::detach(line, &self.variables(), clear_env)?;
        self.events.write("daemon", &json!({"daemon": number}));
        Ok(())
    }
}

//! The words of a phased execution that are also words of statuses: where a phase stands, what an iteration came to, and
//! what an agent says at the end of a turn.

use crate::choice;

choice! {
    /// Where a phase stands.
    #[derive(Default)]
    pub enum PhaseStatus ("status of a phase") {
        #[default]
        Pending = "pending",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Paused = "paused",
        Interrupted = "interrupted",
        Skipped = "skipped",
        Blocked = "blocked",
    }
}

impl PhaseStatus {
    /// Whether the plan goes on behind such a phase.
    pub fn is_over(self) -> bool {
        matches!(self, PhaseStatus::Completed | PhaseStatus::Skipped)
    }
}

choice! {
    /// What an iteration came to. An open one has none.
    pub enum IterationOutcome ("outcome of an iteration") {
        /// The agent said that the phase is complete, and every criterion that could be checked passed.
        Completed = "completed",
        /// The phase goes on with another iteration.
        Continue = "continue",
        /// The agent needs an answer.
        Blocked = "blocked",
        /// The turn ran out of time.
        TimedOut = "timed out",
        /// The agent ended with an error of its own.
        Failed = "failed",
        /// The service failed, or a limit was reached: it counts as no iteration.
        Service = "service",
        /// The executor was stopped or killed in the middle.
        Interrupted = "interrupted",
    }
}

impl IterationOutcome {
    /// What a turn came to whose agent ended by itself and gave this answer.
    pub fn of_answer(status: AnswerStatus) -> IterationOutcome {
        match status {
            AnswerStatus::Complete => IterationOutcome::Completed,
            AnswerStatus::Continue => IterationOutcome::Continue,
            AnswerStatus::Blocked => IterationOutcome::Blocked,
        }
    }

    /// Whether it uses up one of the iterations that a phase may have: a question waits for a person, a failure of the
    /// service and a killed executor are not the agent's fault.
    pub fn counts(self) -> bool {
        match self {
            IterationOutcome::Completed
            | IterationOutcome::Continue
            | IterationOutcome::TimedOut
            | IterationOutcome::Failed => true,
            IterationOutcome::Blocked
            | IterationOutcome::Service
            | IterationOutcome::Interrupted => false,
        }
    }

    /// Whether the turn came to an end: what it left can be looked at.
    pub fn has_result(self) -> bool {
        !matches!(
            self,
            IterationOutcome::Service | IterationOutcome::Interrupted
        )
    }
}

choice! {
    /// What an agent says of its phase at the end of a turn.
    #[derive(Default)]
    pub enum AnswerStatus ("status of an answer") {
        Complete = "complete",
        #[default]
        Continue = "continue",
        Blocked = "blocked",
    }
}

//! The types of events and what each carries beside the members that all events have. Every key of the journal stands in
//! this file; all other code reads and writes the fields of these structs.
//!
//! A field that is absent, or whose value this version cannot read, is `None`. Keys that no struct names stay in the event.

mod declare;
mod values;

use super::Event;
use crate::Timestamp;
use crate::allow_rule::{RuleKind, Scope};
use crate::config::Permissions;
use crate::gate::Verdict;
use crate::merge::Strategy;
use crate::runs::State;
use crate::task::{FieldMap, Status, Weight};
use crate::timeline::EventWeight;
use crate::usage::Usage;
use crate::verification::CheckResult;
use crate::work::execution::{IterationKind, IterationOutcome, PhaseStatus};
use crate::work::phase_gate::PhaseGateKind;
use crate::work::test_results::Figures;
use crate::workflow::{Obstacle, Role};
use declare::events;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
pub use values::{ConflictNote, EarlierWork, HunkNote};

/// What can be written into an event.
pub trait Details {
    fn write(self, event: &mut Event);
}

events! {
    plain {
        TaskDeleted = "task.deleted" task Story,
        TaskRestored = "task.restored" task Story,
        HookSkipped = "hook.skipped" hook Detail,
        TransitionFinished = "transition.finished" task Detail,
        FrontmatterRebuilt = "frontmatter.rebuilt" file Trouble,
    }

    TaskCreated: TaskCreated = "task.created" task Story {
        /// Hooks that the event itself carried out.
        applied: Vec<&'e str>,
        /// [`super::FORMAT`] of the program that wrote it.
        format: u32,
        task_id: &'e str,
        project: &'e str,
        branch: &'e str,
        /// The mark of the Context section.
        context: &'e str,
        /// What it goes on with.
        work: EarlierWork,
        /// The id of the task on whose branch it is based.
        upon: &'e str,
        head: &'e str,
    }

    /// A task whose fields come from its TASK.md.
    TaskFound:
        TaskAdopted = "task.adopted" task Story,
        JournalRecovered = "journal.recovered" file Trouble
    {
        format: u32,
        /// How much of the journal was lost, if that is known: `all`.
        lost: &'e str,
        /// What its review said when it was adopted.
        verdict: Verdict,
        context: &'e str,
    }

    /// A move that was made: by somebody, or by the exit rules when an agent had ended (`auto.advanced`); or one that waits for
    /// the end of a check.
    StatusMoved:
        StatusChanged = "status.changed" task Story,
        AutoAdvanced = "auto.advanced" task Story,
        StatusDeferred = "status.deferred" task Story
    {
        verdict: Verdict,
        applied: Vec<&'e str>,
        /// What a person asked for.
        message: &'e str,
        /// How many crashes caused it.
        crashes: u32,
        /// The check that caused it: `newly failed`.
        check: &'e str,
        /// Where a move that waits will go.
        wish: Status,
        /// The commit that it speaks of.
        head: &'e str,
        /// Where the branch was at the verdict, if not at `head`.
        branch_at: &'e str,
        /// The reviewer's run.
        run: &'e str,
        /// Who wrote the Review section.
        written_by: &'e str,
        /// The mark of the Review section ([`crate::review`]).
        review: &'e str,
    }

    /// That a review began, or what it came to, for readers of the journal that know no moves. The move that it belongs to has
    /// the evidence; both have the same `transition`.
    ReviewNote:
        ReviewStarted = "review.started" task Story,
        ReviewPassed = "review.passed" task Story,
        ReviewFailed = "review.failed" task Story
    {
        round: u32,
        /// What an older program calls the round.
        attempt: u32,
        /// The commit that it speaks of.
        head: &'e str,
        /// The reviewer's run.
        run: &'e str,
    }

    /// What became of a hook, or what changed without one: a slot that an agent needed is journalled as an update.
    HookEnded:
        HookCompleted = "hook.completed" hook Detail,
        HookFailed = "hook.failed" hook Trouble,
        TaskUpdated = "task.updated" task Story
    {
        /// `file`: the frontmatter was edited by hand.
        source: &'e str,
        slot: &'e str,
        /// The number of the lease on the slot.
        epoch: u64,
        /// The commit whose rules of the repository apply to the task.
        rules_commit: &'e str,
        /// Where its branch starts: the name and the commit.
        base: &'e str,
        base_commit: &'e str,
        /// The ref of the rescue whose files were put into the slot.
        brought: &'e str,
        /// The ref of the rescue that was made when the slot was given back.
        rescue: &'e str,
        /// Why the slot is not used again.
        retired: &'e str,
        /// What a person has to remove before the hook can be carried out.
        obstacle: Obstacle,
    }

    FieldsRestored: FieldsRestored = "fields.restored" file Trouble {
        /// The values that were put back, as the file had them.
        found: Cow<'e, FieldMap>,
    }

    ContextChanged: ContextChanged = "context.changed" file Story {
        context: &'e str,
        gone: bool,
    }

    AgentSpawned: AgentSpawned = "agent.spawned" agent Story {
        run: &'e str,
        role: Role,
        harness: &'e str,
        prompt: &'e str,
        /// What was asked for, where it was.
        model: &'e str,
        effort: &'e str,
        /// Its `run-agent` seals how it ended.
        seals_end: bool,
        conversation: &'e str,
        resumed: bool,
        permissions: Permissions,
        workspace: &'e str,
        /// The mark of the Review section when a reviewer started.
        review_before: &'e str,
        tmux_session: &'e str,
        /// What older programs call `tmux_session`.
        session: &'e str,
        pane: &'e str,
        /// Another program started it, before the task was adopted.
        adopted: bool,
    }

    AgentEnded:
        AgentExited = "agent.exited" agent Story,
        AgentCrashed = "agent.crashed" agent Trouble,
        AgentStopped = "agent.stopped" agent Story
    {
        run: &'e str,
        role: Role,
        conversation: &'e str,
        transcript: &'e str,
        usage: Usage,
        /// The mark of the Review section when a reviewer ended.
        review: &'e str,
        /// The status in which it crashed, and how often that has happened there.
        status: Status,
        crash_count: u32,
        /// How it ended, in a word of an older program.
        outcome: &'e str,
    }

    AgentNudged: AgentNudged = "agent.nudged" agent Story {
        run: &'e str,
        role: Role,
        turn: &'e str,
    }

    AgentState: AgentState = "agent.state" agent Detail {
        run: &'e str,
        role: Role,
        state: State,
        since: Timestamp,
        /// When its usage limit ends.
        until: Timestamp,
        /// When it is told to go on.
        again: Timestamp,
    }

    AgentAnswered: AgentAnswered = "agent.answered" agent Story {
        run: &'e str,
        role: Role,
        question: &'e str,
        /// When it was asked: the turn of the event that told of the question, if one did.
        answers: &'e str,
        /// The number of the rule that allowed it.
        rule: u32,
    }

    /// What agents may do without asking again.
    PermissionNote:
        PermissionAdded = "permission.added" task Story,
        PermissionRemoved = "permission.removed" task Story
    {
        /// Its number.
        rule: u32,
        scope: Scope,
        harness: &'e str,
        tool: &'e str,
        kind: RuleKind,
        pattern: &'e str,
        /// Where a command runs, in the worktree.
        folder: &'e str,
    }

    /// What an agent is told, and what became of that. Earlier versions wrote `message.sent`, with `text`.
    MessageNote:
        Message = "message" message Story,
        MessageSent = "message.sent" message Story,
        MessageDelivered = "message.delivered" message Detail,
        MessageFailed = "message.failed" message Trouble
    {
        /// Its id.
        message: &'e str,
        run: &'e str,
        /// Whom it is for; `by` says who told it.
        role: Role,
        content: &'e str,
        text: &'e str,
        turn: &'e str,
    }

    AttentionNote:
        AttentionRaised = "attention.raised" task Trouble,
        AttentionCleared = "attention.cleared" task Story
    {
        run: &'e str,
        role: Role,
        /// The agent's turn, limit or start that it is about; each is told of once.
        turn: &'e str,
        question: &'e str,
        /// The file with a text that could not be merged into TASK.md.
        kept: &'e str,
        /// The run that crashed and could not be followed by another one.
        after: &'e str,
        /// A move that waited and is not made.
        wish: Status,
    }

    MergeAttempt:
        MergeStarted = "merge.started" merge Detail,
        MergeStopped = "merge.stopped" merge Trouble
    {
        target: &'e str,
        /// Where the target was.
        onto: &'e str,
        commit: &'e str,
        head: &'e str,
        strategy: Strategy,
        commits: usize,
        push: bool,
        force: bool,
        /// How many files conflict; `conflicts` may have fewer.
        files: usize,
        conflicts: Vec<ConflictNote>,
    }

    TaskMerged: TaskMerged = "task.merged" merge Story {
        commit: &'e str,
        onto: &'e str,
        target: &'e str,
        strategy: Strategy,
        commits: usize,
        pushed: bool,
        head: &'e str,
    }

    VerifyStarted: VerifyStarted = "verify.started" check Detail {
        head: &'e str,
        command: &'e str,
    }

    TaskVerified: TaskVerified = "task.verified" check Story {
        result: CheckResult,
        head: &'e str,
    }

    PlanWritten: PlanWritten = "plan.written" task Story {
        weight: Weight,
        phases: Vec<Cow<'e, str>>,
        /// A person wrote it.
        edited: bool,
    }

    SpecSaved: SpecSaved = "spec.saved" task Story {
        /// Where it comes from, in the word of its row.
        source: &'e str,
        bytes: usize,
        /// A hash of its text.
        mark: &'e str,
    }

    /// Where a phase of the plan stands now.
    PhaseChanged: PhaseChanged = "phase.changed" task Story {
        phase: &'e str,
        /// Its status, which is not that of the task.
        state: PhaseStatus,
        attempt: u32,
        /// The commit it ended at.
        head: &'e str,
    }

    IterationNote:
        IterationStarted = "iteration.started" agent Detail,
        IterationEnded = "iteration.ended" agent Story
    {
        phase: &'e str,
        iteration: u32,
        attempt: u32,
        kind: IterationKind,
        run: &'e str,
        harness: &'e str,
        /// That answered last; else the one that was asked for.
        model: &'e str,
        conversation: &'e str,
        outcome: IterationOutcome,
        usage: Usage,
        /// The commit that was made after it.
        head: &'e str,
        summary: &'e str,
        /// The rescue that holds what it changed, taken back.
        rescue: &'e str,
    }

    /// Whether a person lets the task go on although a budget is spent.
    BudgetForced: BudgetForced = "budget.forced" task Story {
        forced: bool,
        /// The budgets that are spent, in words.
        spent: Cow<'e, str>,
    }

    GateDecided: GateDecided = "gate.decided" task Story {
        phase: &'e str,
        gate_type: PhaseGateKind,
        attempt: u32,
        approved: bool,
    }

    TaskRewound: TaskRewound = "task.rewound" task Story {
        phase: &'e str,
        /// Where the branch is now.
        head: &'e str,
        /// The ref under which the work since then is kept.
        rescue: &'e str,
    }

    /// Test results that were taken in, or a report that could not be.
    TestResults:
        TestResultsImported = "test_results.imported" task Story,
        TestResultsRefused = "test_results.refused" task Trouble
    {
        /// The name of the import.
        import: &'e str,
        /// Where the report was: a file or a folder, or `found` in the task's own.
        source: &'e str,
        figures: Figures,
    }

    /// An MCP server that the agent of a turn should have had.
    McpServerFailed: McpServerFailed = "mcp_server.failed" agent Trouble {
        server: &'e str,
        phase: &'e str,
        iteration: u32,
    }

    RescueRestored: RescueRestored = "rescue.restored" task Story {
        rescue: &'e str,
        /// Where it was restored to: one of both.
        branch: &'e str,
        workspace: &'e str,
    }
}

impl EventType {
    /// Its word in the journal.
    pub fn as_str(&self) -> &str {
        self.columns().0
    }

    /// Whether an agent is told something.
    pub fn is_message(&self) -> bool {
        matches!(self, EventType::Message | EventType::MessageSent)
    }

    /// The component of the log that tells of it.
    pub fn component(&self) -> &'static str {
        self.columns().1
    }

    /// How much it matters, unless what it carries decides.
    pub(crate) fn weight(&self) -> EventWeight {
        self.columns().2
    }
}

impl<'e> AgentSpawned<'e> {
    /// The name of the tmux session that it runs in.
    pub fn in_session(&self) -> Option<&'e str> {
        self.tmux_session.or(self.session)
    }
}

impl<'e> MessageNote<'e> {
    /// What the agent is told.
    pub fn words(&self) -> Option<&'e str> {
        self.content.or(self.text)
    }
}

/// Reads what events of several types have in common without a look at the rest.
macro_rules! common {
    ($($(#[$about:meta])* $field:ident: $type:ty),+ $(,)?) => {
        impl<'e> Event {
            $(
                $(#[$about])*
                pub fn $field(&'e self) -> Option<$type> {
                    Deserialize::deserialize(self.details.get(stringify!($field))?).ok()
                }
            )+
        }
    };
}

common! {
    run: &'e str,
    role: Role,
    /// The commit that it speaks of.
    head: &'e str,
    /// The mark of the Context section.
    context: &'e str,
    /// What it is about that is told of once: a turn of an agent, a limit, a start.
    turn: &'e str,
    /// The id of a message; of a status change the text that goes with it.
    message: &'e str,
    question: &'e str,
    kept: &'e str,
    wish: Status,
}

impl Event {
    /// Whether the task moved from one status to another. The `auto.advanced` of an older program, from before the task was
    /// adopted, changes nothing.
    pub fn is_move(&self) -> bool {
        let is_own = self.revision.is_some();
        self.kind == EventType::StatusChanged || self.kind == EventType::AutoAdvanced && is_own
    }

    /// Adds details to an event that has the type for them.
    #[must_use]
    pub fn with(mut self, details: impl Details) -> Event {
        details.write(&mut self);
        self
    }

    /// An event that speaks of a commit.
    #[must_use]
    pub fn with_head(mut self, head: &str) -> Event {
        self.put("head", Some(head));
        self
    }

    /// An event of which nobody knows which commit it speaks of.
    #[must_use]
    pub fn without_head(mut self) -> Event {
        self.details.remove("head");
        self
    }

    fn put(&mut self, name: &str, value: Option<impl Serialize>) {
        if let Some(value) = value
            && let Ok(value) = serde_json::to_value(value)
        {
            self.details.insert(name.to_owned(), value);
        }
    }

    /// Everything that it carries, for code that passes it on as it is.
    pub fn details(&self) -> &Map<String, Value> {
        &self.details
    }

    /// What a person may have written, of an unknown type everything: for the search.
    pub fn texts(&self) -> impl Iterator<Item = &Value> {
        const TEXTS: &[&str] = &["content", "text", "command", "conflicts"];
        let all = matches!(self.kind, EventType::RescueRestored | EventType::Other(_));
        let details = self.details.iter();
        let wanted = details.filter(move |(name, _)| all || TEXTS.contains(&name.as_str()));
        wanted.map(|(_, value)| value)
    }

    /// What an event of an unknown type most likely says.
    pub fn foreign_text(&self) -> Option<&str> {
        let names = ["message", "text", "summary", "content"];
        let mut texts = names.iter().map(|name| self.details.get(*name)?.as_str());
        texts.find_map(|text| text)
    }
}

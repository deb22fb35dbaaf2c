//! What is going to happen to each task: decided by the seed before anything runs.

use crate::chance::Chance;
use crate::phased;
use crate::scripts::VARIANTS;
use crate::world::PROJECTS;

/// What the driver kills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// The harness's process.
    Agent,
    /// The `run-agent` beside it.
    RunAgent,
    /// The tmux window it is in.
    Window,
    /// The task's whole session.
    Session,
    /// Errands of any task.
    Errands,
    /// The monitor.
    Monitor,
    /// The tmux server.
    Server,
    /// Every process of the home, as when the machine goes down.
    Everything,
}

/// One kill: as soon as a task's journal has this event for the nth time.
#[derive(Debug, Clone)]
pub(crate) struct Kill {
    pub(crate) event: &'static str,
    pub(crate) nth: usize,
    pub(crate) target: Target,
}

/// How a task ends once its work is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Merged,
    Resolved,
    Cancelled,
    /// Cancelled at once when this status is reached.
    CancelledEarly,
}

/// Everything that is decided about one task.
pub(crate) struct TaskPlan {
    pub(crate) variant: &'static str,
    /// Where the agent's own `orange task complete` dies.
    pub(crate) agent_dies: Option<String>,
    pub(crate) kills: Vec<Kill>,
    pub(crate) changes_requested: bool,
    pub(crate) ending: Ending,
    pub(crate) project: &'static str,
    /// Where the driver's commands about this task die, one after the other.
    pub(crate) commands_die: Chance,
}

/// Events at which something is killed; `a>b` is a change of status, `spawned:ROLE` an agent's start.
const EVENTS: &[&str] = &[
    "spawned:worker",
    "spawned:worker",
    "pending>planning",
    "planning>working",
    "working>agent-review",
    "spawned:reviewer",
    "agent-review>reviewing",
    "message",
    "agent.crashed",
    "agent.exited",
    "agent.nudged",
];

const POINTS: &[&str] = &[
    "marked",
    "reserved",
    "journal.appended",
    "journal.synced",
    "commit.journalled",
    "commit.written",
    "hook.before",
    "hook.after",
    "hooks.journalled",
    "unmark.before",
    "pool.written",
    "acquire.worktree",
    "acquire.checked-out",
    "acquire.linked",
    "acquire.set-up",
    "spawn.written",
    "spawn.opened",
    "spawn.started",
    "release.saved",
    "release.detached",
    "release.reset",
    "release.parked",
    "rescue.tree",
    "rescue.saved",
    "replace.temp_written",
    "replace.exchanged",
    "replace.before_unlink",
    "exit.advanced",
    "exit.counted",
    "merge.started",
    "merge.moved",
    "forward.merged",
];

const CREATION: &[&str] = &[
    "create.marked",
    "create.written",
    "create.journalled",
    "create.renamed",
];

impl TaskPlan {
    pub(crate) fn new(seed: u64, number: usize) -> TaskPlan {
        let mut chance = Chance::part(seed, number as u64 + 1);
        // Each way to go wrong comes by, in an order that the seed chooses.
        let offset = Chance::new(seed).below(VARIANTS.len());
        let variant = match phased::variant(offset, number) {
            Some(variant) => variant,
            None => VARIANTS[(offset + number) % VARIANTS.len()],
        };
        let events = if phased::is_phased(variant) {
            phased::EVENTS
        } else {
            EVENTS
        };
        let mut kills = Vec::new();
        while kills.len() < 3 && chance.percent(70) {
            kills.push(Kill {
                event: chance.pick(events),
                nth: 1 + chance.below(2),
                target: target(&mut chance),
            });
        }
        TaskPlan {
            variant,
            agent_dies: chance.percent(60).then(|| crash_point(&mut chance)),
            kills,
            changes_requested: chance.percent(25),
            ending: match chance.below(10) {
                0..4 => Ending::Merged,
                4..6 => Ending::Resolved,
                6..9 => Ending::Cancelled,
                _ => Ending::CancelledEarly,
            },
            project: chance.pick(&PROJECTS),
            commands_die: Chance::part(seed, number as u64 + 1_000_001),
        }
    }
}

fn target(chance: &mut Chance) -> Target {
    match chance.below(20) {
        0..5 => Target::Agent,
        5..9 => Target::RunAgent,
        9..12 => Target::Window,
        12..14 => Target::Session,
        14..16 => Target::Errands,
        16 => Target::Monitor,
        17..19 => Target::Server,
        _ => Target::Everything,
    }
}

/// A point and which of its hits: by name, or the nth of any name.
pub(crate) fn crash_point(chance: &mut Chance) -> String {
    if chance.percent(50) {
        format!("{}:{}", chance.pick(POINTS), 1 + chance.below(2))
    } else {
        format!("*:{}", 1 + chance.below(60))
    }
}

/// The same for commands about a phased task.
pub(crate) fn phased_point(chance: &mut Chance) -> String {
    if chance.percent(40) {
        chance.pick(phased::POINTS).to_owned()
    } else {
        crash_point(chance)
    }
}

/// The same for the command that creates a task.
pub(crate) fn creation_point(chance: &mut Chance) -> String {
    if chance.percent(30) {
        chance.pick(CREATION).to_owned()
    } else {
        crash_point(chance)
    }
}

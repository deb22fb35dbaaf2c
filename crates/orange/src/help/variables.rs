//! Every variable of the environment that means something, for the topic `environment` and for orange(1).

use orange_core::config::{Config, Setting};

/// What the user may set.
pub(crate) const READ: &str = "\
ORANGE_HOME        the home; ~/orange unless set
ORANGE_LOG_LEVEL   for orange.log: off, error, warn, info, debug or trace
ORANGE_SIM_SCRIPT  the script of the scripted agent
ORANGE_SIM_LOG     where it writes its events
NO_COLOR           no colours, whatever the terminal can
VISUAL, EDITOR     what `orange open` and `orange config edit` start
SHELL              what `orange shell` starts
GIT_PAGER, PAGER   what long texts are read with on a terminal";

/// What agents are given.
pub(crate) const OF_AGENTS: &str = "\
ORANGE_TASK_ID    the task that it works on
ORANGE_ROLE       worker, reviewer or executor
ORANGE_RUN_ID     the run; `orange signal` needs it
ORANGE_HOME       the home of its task
ORANGE_PHASE      in a turn of a phased task: the phase
ORANGE_ITERATION  which turn of that phase it is
ORANGE_ATTEMPT    how often that phase has begun";

/// What the commands of `workspace.setup`, `workspace.teardown` and `verify.command` are given.
pub(crate) const OF_COMMANDS: &str = "\
ORANGE_PROJECT     the project
ORANGE_REPOSITORY  your checkout of it
ORANGE_WORKSPACE   the slot they run in
ORANGE_TASK_KEY    the task's key
ORANGE_BRANCH      its branch
ORANGE_VERIFYING   set while a commit is checked";

/// What `notify.command` is given.
pub(crate) const OF_NOTICES: &str = "\
ORANGE_NOTIFY_MESSAGE  what needs you, in a sentence
ORANGE_NOTIFY_TASK     the task's key
ORANGE_NOTIFY_ID       its id
ORANGE_NOTIFY_PROJECT  its project
ORANGE_NOTIFY_BRANCH   its branch
ORANGE_NOTIFY_SUMMARY  its summary
ORANGE_NOTIFY_STATUS   its status
ORANGE_NOTIFY_REASON   what it asks, or what happened
ORANGE_NOTIFY_ANSWER   the command that answers, or says more
ORANGE_NOTIFY_EVENT    what was journalled, such as attention.raised
ORANGE_NOTIFY_TIME     when";

/// What settings can be overridden with: key and variable.
pub(crate) fn of_settings() -> impl Iterator<Item = (&'static str, String)> {
    // `harness.NAME` stands for any.
    let plain = Setting::all().iter().filter(|one| !one.is_of_names());
    plain.map(|one| (one.key, Config::variable(one.key)))
}

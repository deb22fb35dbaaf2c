//! What lies where, for the topic `files` and for orange(1).

/// Below the home, unless it says otherwise.
pub(crate) const FILES: &str = "\
~/orange/                                the home; ORANGE_HOME overrides
~/orange/config.yaml                     your settings; may be missing
~/orange/projects.json                   the repositories you registered
~/orange/tasks/PROJECT/ID/TASK.md        what people and agents write
~/orange/tasks/PROJECT/ID/history.jsonl  its journal: every event
~/orange/tasks/PROJECT/ID/screens/       the last screens of its agents
~/orange/tasks/PROJECT/ID/transcripts/   what was said in the turns of a phased task
~/orange/workspaces/PROJECT--N/          slots: git worktrees
~/orange/runs/                           agents that are running
~/orange/verify/                         checks: results and logs
~/orange/environments/                   your variables for the checks of tasks that are not over; private
~/orange/trash/                          deleted tasks
~/orange/orange.log                      what happened, as JSON lines
~/orange/orange.db                       counters of keys, your consents and permissions; private
~/orange/index.db                        a cache; may be deleted
~/orange/feed.jsonl                      which tasks changed last; may be deleted
~/orange/in-flight/                      changes that are under way
~/orange/starting/                       tasks that are being started
~/orange/versions/                       versions of programs, and who was logged in
~/orange/harness/                        files that agents are given
REPOSITORY/.orange/config.yaml           the repository's own settings
REPOSITORY/.orange/prompts/NAME.md       its own prompts
REPOSITORY/.worktreeinclude              ignored files that slots get";

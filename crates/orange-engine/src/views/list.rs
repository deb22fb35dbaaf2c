//! Lists of tasks, straight from the index.

use crate::call::Call;
use crate::costs;
use crate::error::Result;
use crate::index::list::{AwaitedTask, ListFacts, ListedTask, Listing, PhaseProgress, TaskFilter};
use crate::index::{DiffStat, Index};
use crate::runs::{Doing, State};
use crate::sessions::lost_workspace::lost_workspaces;
use crate::sessions::{self, LiveAgent, LiveAgents, SessionState};
use crate::settings;
use crate::trash;
use crate::views::agents::activity;
use crate::views::{diff_stat, phased, search};
use orange_core::choice;
use orange_core::exit::{is_expected, role_of};
use orange_core::task::Status;
use orange_core::usage::Usage;
use orange_core::verification::CheckState;
use orange_core::workflow::{Role, StatusInfo};
use serde::Serialize;
use std::cell::OnceCell;

/// A task in a list: beside its own fields, what others and its agents make of it.
#[derive(Debug, Serialize)]
pub struct TaskRow<'a> {
    #[serde(skip)]
    pub listed: &'a ListedTask,
    /// None for a word that this program does not know.
    #[serde(skip)]
    pub status: Option<Status>,
    damaged: Option<&'a str>,
    attention: Option<&'a str>,
    needs_me: bool,
    checks_failed: bool,
    pub checks: Option<Checks>,
    /// What its agents used so far.
    pub usage: Option<Usage>,
    waits_for: &'a [AwaitedTask],
    pub session: SessionState,
    agents: Vec<ListedAgent<'a>>,
    diff: Option<&'a DiffStat>,
    /// How far the phase is that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<PhaseProgress>,
}

choice! {
    /// How the last check of a task stands, seen from where its branch is now.
    pub enum Checks ("state of checks") {
        Running = "running",
        Passed = "passed",
        /// It passed on an earlier commit.
        Stale = "stale",
        Failed = "failed",
        FailedOnBase = "failed-on-base",
    }
}

impl Checks {
    fn of(listed: &ListedTask) -> Option<Checks> {
        let check = listed.check.as_ref()?;
        let head = listed.diff.as_ref().map(|diff| &diff.head);
        let is_older = head.is_some() && check.head.is_some() && check.head.as_ref() != head;
        Some(match check.state {
            CheckState::Running => Checks::Running,
            CheckState::Passed if is_older => Checks::Stale,
            CheckState::Passed => Checks::Passed,
            CheckState::Failed => Checks::Failed,
            CheckState::FailedOnBase => Checks::FailedOnBase,
        })
    }
}

/// An agent that is alive.
#[derive(Debug, Serialize)]
struct ListedAgent<'a> {
    role: Role,
    harness: &'a str,
    #[serde(flatten, serialize_with = "activity")]
    doing: Option<Doing>,
}

impl<'a> TaskRow<'a> {
    pub fn of(listed: &'a ListedTask, live: &'a LiveAgents) -> TaskRow<'a> {
        let status: Option<Status> = listed.status.parse().ok();
        let agent = |agent: &'a LiveAgent| {
            let expected = status.is_some_and(|status| is_expected(status, agent.role));
            let doing = agent.doing.clone();
            ListedAgent {
                role: agent.role,
                harness: &agent.harness,
                doing: doing.map(|doing| doing.expected(expected)),
            }
        };
        let checks = Checks::of(listed).filter(|_| !status.is_some_and(Status::is_terminal));
        TaskRow {
            status,
            damaged: listed.damaged.as_deref(),
            attention: listed.attention.as_deref(),
            needs_me: listed.needs_me,
            checks_failed: checks == Some(Checks::Failed),
            checks,
            usage: listed
                .cost
                .or_else(|| listed.spending.total(|run| live.usage(&listed.folder, run))),
            waits_for: &listed.waits_for,
            session: live.session(&listed.folder, status, listed.has_session),
            agents: live.of(&listed.folder).iter().map(agent).collect(),
            diff: listed.diff.as_deref(),
            progress: listed.progress,
            listed,
        }
    }

    /// The columns of where it stands.
    pub fn info(&self) -> Option<&'static StatusInfo> {
        self.listed.info()
    }

    /// What the agent does that the task waits for, where that is not what it should.
    pub fn halted(&self) -> Option<&Doing> {
        let role = role_of(self.status?);
        let mut of_role = self.agents.iter().filter(|agent| agent.role == role);
        let doing = of_role.next()?.doing.as_ref()?;
        match doing.state {
            State::Starting | State::Working | State::Running | State::Finished => None,
            State::AsksPermission
            | State::WaitsForInput
            | State::Idle
            | State::Failed
            | State::Waiting => Some(doing),
        }
    }

    /// Appends the row with all fields of its task, which are JSON already: building values of thousands of them would
    /// only cost time.
    fn write_json(&self, text: &mut String) {
        let rest = serde_json::to_string(self).unwrap_or_default();
        let fields = &self.listed.fields;
        // Both are objects: they are joined at their braces.
        text.push_str(fields.strip_suffix('}').unwrap_or(fields));
        text.push(',');
        text.push_str(rest.strip_prefix('{').unwrap_or(&rest));
    }
}

/// A list with all fields of every task ([`TaskFilter::with_fields`]), as JSON.
pub fn list_json(rows: &[ListedTask], live: &LiveAgents) -> String {
    let mut text = String::from("{\"tasks\":[");
    for (position, row) in rows.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        TaskRow::of(row, live).write_json(&mut text);
    }
    text.push_str("]}");
    text
}

/// Tasks that were over before this second have left lists, as the settings say.
pub fn over_since(call: &Call) -> Result<i64> {
    const SECONDS_OF_A_DAY: i64 = 24 * 60 * 60;
    let days = settings::config(call)?.list.keep_days;
    Ok(call.now().as_second() - i64::from(days) * SECONDS_OF_A_DAY)
}

pub fn list(call: &Call, filter: &TaskFilter) -> Result<Vec<ListedTask>> {
    list_as(call, filter, |listing| listing.rows)
}

/// What `show` makes of the tasks a filter lets through; it may be called twice.
pub fn list_as<T>(call: &Call, filter: &TaskFilter, show: impl Fn(Listing) -> T) -> Result<T> {
    refuse_unknown(call, &filter.projects)?;
    let looked_up = search::look_up(call, filter);
    let filter = looked_up.as_ref().unwrap_or(filter);
    let show = |mut listing: Listing| {
        phased::note_progress(call, &mut listing.rows);
        if let Err(error) = costs::note_costs(call, &mut listing.rows) {
            tracing::debug!(%error, "a list shows tokens without their prices");
        }
        show(listing)
    };
    if !filter.with_diff {
        return ask_index(call, |index, outside| {
            index.fresh_list(filter, outside, show)
        });
    }
    diff_stat::list_with_diff(call, filter, show)
}

/// Refuses a project that is neither registered nor has tasks.
pub(crate) fn refuse_unknown(call: &Call, projects: &[String]) -> Result<()> {
    for project in projects {
        let registry = call.projects()?;
        if let Err(unknown) = crate::projects::named(&registry, project)
            && !call.fresh_index()?.project_names()?.contains(project)
        {
            return Err(unknown);
        }
    }
    Ok(())
}

/// The rows of the index as it is.
pub(crate) fn listed(call: &Call, filter: &TaskFilter) -> Result<Vec<ListedTask>> {
    ask_index(call, |index, outside| Ok(index.list(filter, outside)?.rows))
}

/// Asks the index something for which it has to know what it does not see itself: deleted tasks, agents, workspaces.
pub(crate) fn ask_index<T>(
    call: &Call,
    question: impl FnOnce(&Index, &ListFacts<'_>) -> Result<T>,
) -> Result<T> {
    let live = OnceCell::new();
    let live = || live.get_or_init(|| sessions::live_and_adopted_agents(call));
    let outside = ListFacts {
        deleted: &|project, number| trash::over_in_trash(call, project, number),
        is_left: &|row| row.has_session && live().is_left(row),
        lost: &lost_workspaces(call),
    };
    question(call.index()?, &outside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, sessions};
    use orange_core::task::Task;
    use serde_json::json;

    /// A row as it is serialized from a whole task.
    #[derive(Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        task: &'a Task,
        #[serde(flatten)]
        row: &'a TaskRow<'a>,
    }

    #[test]
    fn joined_rows_equal_serialized_ones() {
        let home = tempfile::tempdir().unwrap();
        let texts = [
            "id: one\nkey: TASK-001\nproject: shop\nstatus: done\nbranch: b\nsummary: 'a \"word\" {of} it'\ntags: [a, b]",
            "id: two\nkey: TASK-002\nproject: shop\nstatus: pending\nbranch: c\nblocked_by: [TASK-009]",
            "id: three\nstatus: nowhere\nsummary: [",
        ];
        for (number, text) in texts.iter().enumerate() {
            let folder = home.path().join(format!("tasks/shop/{number}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("TASK.md"), format!("---\n{text}\n---\n")).unwrap();
        }
        let call = Call::new(Settings::at(home.path().to_owned()));
        let filter = TaskFilter {
            all: true,
            with_fields: true,
            ..TaskFilter::default()
        };
        let mut live = sessions::live_agents(&call);
        live.add(
            "shop/1",
            LiveAgent {
                run: crate::runs::RunFolder::new(home.path(), "run"),
                role: Role::Worker,
                harness: "sim".to_owned(),
                doing: None,
            },
        );
        let mut rows = list(&call, &filter).unwrap();
        assert_eq!(rows.len(), texts.len());
        rows[0].diff = Some(Box::default());
        let serialized = rows.iter().map(|row| {
            let task = call.store.survey(&row.folder).task;
            let row = TaskRow::of(row, &live);
            serde_json::to_string(&Whole {
                task: &task,
                row: &row,
            })
            .unwrap()
        });
        let serialized: Vec<String> = serialized.collect();
        let joined = list_json(&rows, &live);
        assert_eq!(joined, format!("{{\"tasks\":[{}]}}", serialized.join(",")));
        let value: serde_json::Value = serde_json::from_str(&joined).unwrap();
        let all = value["tasks"].as_array().unwrap();
        let two = all.iter().find(|task| task["id"] == "two").unwrap();
        assert_eq!(two["agents"][0]["state"], json!(null));
        assert_eq!(two["waits_for"], json!(["TASK-009 (no such task)"]));
    }
}

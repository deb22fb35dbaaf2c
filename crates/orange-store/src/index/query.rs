//! Questions to the index: one task by any of its names, its links, who holds a slot.

use super::{Index, answers};
use orange_core::TaskName;
use orange_core::id::{Key, Prefix, StoredReference, stored_reference};
use orange_core::task::Status;
use orange_sys::error::Result;
use rusqlite::{Row, ToSql, params};

/// Enough of a task to name it and find its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundTask {
    pub folder: String,
    pub id: String,
    pub project: String,
    pub key: Option<Key>,
    pub branch: String,
    pub status: String,
    pub summary: String,
}

impl FoundTask {
    pub fn name(&self) -> TaskName {
        TaskName::new(&self.project, self.key, &self.id)
    }

    /// Its key if it has one, else its id.
    pub fn label(&self) -> String {
        let key = self.key.map(|key| key.to_string());
        key.unwrap_or_else(|| self.id.clone())
    }

    /// How a task of that project names it.
    pub fn reference_in(&self, project: &str) -> String {
        let key = self
            .key
            .map(|key| stored_reference(project, &self.project, key));
        key.unwrap_or_else(|| self.id.clone())
    }

    /// False for a task that is done or cancelled.
    pub fn is_live(&self) -> bool {
        !self.status.parse().is_ok_and(Status::is_terminal)
    }
}

const FOUND: &str =
    "tasks.folder, tasks.id, tasks.project, tasks.key_number, tasks.key_prefix, tasks.branch,
     tasks.status, tasks.summary";

fn found(row: &Row<'_>) -> rusqlite::Result<FoundTask> {
    Ok(FoundTask {
        folder: row.get(0)?,
        id: row.get(1)?,
        project: row.get(2)?,
        key: key_at(row, 3)?,
        branch: row.get(5)?,
        status: row.get(6)?,
        summary: row.get(7)?,
    })
}

/// The key of which the number is in this column and the prefix in the next.
pub(super) fn key_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Key>> {
    let number: Option<u32> = row.get(column)?;
    let prefix = prefix_at(row, column + 1)?;
    Ok(number.map(|number| Key {
        number,
        prefix: prefix.unwrap_or_default(),
    }))
}

pub(super) fn prefix_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Prefix>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    Ok(text.and_then(|text| text.parse().ok()))
}

impl Index {
    pub fn by_number(&self, project: &str, number: u32) -> Result<Option<FoundTask>> {
        Ok(self.all_by_number(project, number)?.into_iter().next())
    }

    /// A copied folder claims the key of the original: then there is more than one.
    pub fn all_by_number(&self, project: &str, number: u32) -> Result<Vec<FoundTask>> {
        self.many(
            "tasks WHERE project = ?1 AND key_number = ?2 ORDER BY folder",
            params![project, number],
        )
    }

    /// Tasks of any project with that number, whatever their prefix.
    pub fn by_number_anywhere(&self, number: u32) -> Result<Vec<FoundTask>> {
        let mut found = Vec::new();
        for project in self.project_names()? {
            found.extend(self.all_by_number(&project, number)?);
        }
        Ok(found)
    }

    /// Has a task of the project a key with that prefix? It may have been the project's before.
    pub fn has_prefix(&self, project: &str, prefix: Prefix) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM tasks WHERE project = ?1 AND key_prefix = ?2)";
        let parameters = [project, prefix.as_str()];
        self.ask(|connection| connection.query_row(sql, parameters, |row| row.get(0)))
    }

    /// Tasks whose id begins so; an exact match stands alone.
    pub fn by_id_prefix(&self, prefix: &str) -> Result<Vec<FoundTask>> {
        let mut rows = self.many(
            "tasks WHERE id >= ?1 AND id < ?2 ORDER BY id, folder LIMIT 20",
            params![prefix, format!("{prefix}\u{10FFFF}")],
        )?;
        if rows.iter().any(|row| row.id == prefix) {
            rows.retain(|row| row.id == prefix);
        }
        Ok(rows)
    }

    /// Every task of that branch, live ones first.
    pub fn by_branch(&self, project: &str, branch: &str) -> Result<Vec<FoundTask>> {
        let mut rows = self.many(
            "tasks WHERE project = ?1 AND branch = ?2 ORDER BY folder",
            params![project, branch],
        )?;
        rows.sort_by_key(|row| is_over(&row.status));
        Ok(rows)
    }

    /// The live tasks that claim a slot: one, unless something went wrong.
    pub fn by_workspace(&self, project: &str, workspace: &str) -> Result<Vec<FoundTask>> {
        let mut rows = self.many(
            "tasks WHERE project = ?1 AND workspace = ?2 ORDER BY folder",
            params![project, workspace],
        )?;
        rows.retain(|row| !is_over(&row.status));
        Ok(rows)
    }

    /// Tasks that hold a slot of the project.
    pub fn slot_holders(&self, project: &str) -> Result<Vec<FoundTask>> {
        let mut rows = self.many(
            "tasks INDEXED BY idx_tasks_workspace
                 WHERE project = ?1 AND workspace IS NOT NULL ORDER BY key_number, folder",
            params![project],
        )?;
        rows.retain(|row| row.status.parse().is_ok_and(Status::is_active));
        Ok(rows)
    }

    pub fn children_of(&self, project: &str, number: u32) -> Result<Vec<FoundTask>> {
        self.many(
            "tasks WHERE parent_project = ?1 AND parent_key = ?2
                 ORDER BY key_number, folder",
            params![project, number],
        )
    }

    /// Tasks that have this one among their `blocked_by`.
    pub fn waiting_for(&self, project: &str, number: u32) -> Result<Vec<FoundTask>> {
        self.many(
            "links JOIN tasks ON tasks.number = links.task
                 WHERE kind = 'blocked_by' AND target_project = ?1 AND target_key = ?2
                 ORDER BY key_number, folder",
            params![project, number],
        )
    }

    /// Tasks of which the text names this one. Only the whole key is a name: many words look like one, such as UTF-8.
    pub fn mentioning(&self, project: &str, key: Key) -> Result<Vec<FoundTask>> {
        self.many(
            "links JOIN tasks ON tasks.number = links.task
                 WHERE kind = 'mentions' AND target_project = ?1 AND target_key = ?2 AND target_prefix = ?3
                 ORDER BY key_number, folder",
            params![project, key.number, key.prefix.as_str()],
        )
    }

    /// The `blocked_by` of a task, with the keys that those tasks have.
    pub fn blockers_of(&self, project: &str, number: u32) -> Result<Vec<StoredReference>> {
        let sql =
            "SELECT DISTINCT target_project, target_key, coalesce(target.key_prefix, target_prefix)
             FROM tasks JOIN links ON links.task = tasks.number
             LEFT JOIN tasks AS target
               ON target.project = target_project AND target.key_number = target_key
             WHERE tasks.project = ?1 AND tasks.key_number = ?2 AND kind = 'blocked_by'";
        self.ask(|connection| {
            answers(connection, sql, params![project, number], |row| {
                Ok(StoredReference {
                    project: row.get(0)?,
                    number: row.get(1)?,
                    prefix: prefix_at(row, 2)?,
                })
            })
        })
    }

    /// Projects that have tasks, registered or not.
    pub fn project_names(&self) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT project FROM tasks ORDER BY project";
        self.ask(|connection| answers(connection, sql, [], |row| row.get(0)))
    }

    /// The tasks that somebody is most likely to speak of; not all, where there are thousands.
    pub fn newest(&self) -> Result<Vec<FoundTask>> {
        self.many("tasks ORDER BY updated_at DESC LIMIT 1000", params![])
    }

    /// Tasks without a key, oldest first.
    pub fn keyless(&self, project: &str) -> Result<Vec<FoundTask>> {
        self.many(
            "tasks WHERE project = ?1 AND key_number IS NULL
                 ORDER BY created_at, id",
            params![project],
        )
    }

    pub fn highest_key(&self, project: &str) -> Result<u32> {
        let sql = "SELECT coalesce(max(key_number), 0) FROM tasks WHERE project = ?1";
        self.ask(|connection| connection.query_row(sql, [project], |row| row.get(0)))
    }

    /// Ids and keys that more than one folder claims.
    pub fn doubles(&self) -> Result<Vec<(String, Vec<String>)>> {
        const IDS: &str = "SELECT 'id ' || id, group_concat(folder, char(10)) FROM tasks
             GROUP BY id HAVING count(*) > 1";
        const KEYS: &str =
            "SELECT 'key ' || project || ':' || min(key_prefix) || printf('-%03d', key_number),
                    group_concat(folder, char(10)) FROM tasks WHERE key_number IS NOT NULL
             GROUP BY project, key_number HAVING count(*) > 1";
        let mut all = Vec::new();
        for sql in [IDS, KEYS] {
            let rows: Vec<(String, String)> = self.ask(|connection| {
                answers(connection, sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            })?;
            all.extend(rows.into_iter().map(|(name, folders)| {
                let mut folders: Vec<String> = folders.lines().map(str::to_owned).collect();
                folders.sort();
                (name, folders)
            }));
        }
        Ok(all)
    }

    /// The tasks of which SQL goes on so after FROM.
    fn many(&self, from: &str, parameters: &[&dyn ToSql]) -> Result<Vec<FoundTask>> {
        let sql = format!("SELECT {FOUND} FROM {from}");
        self.ask(|connection| answers(connection, &sql, parameters, found))
    }
}

pub(super) fn is_over(status: &str) -> bool {
    status.parse().is_ok_and(Status::is_terminal)
}

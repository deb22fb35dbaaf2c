//! What agents may do without asking again, by a person's word. A rule of a task has an event in its journal: a row is
//! marked until that is written, and whoever locks the task writes what is still marked.

use super::{Database, explain};
use orange_core::Timestamp;
use orange_core::allow_rule::AllowRule;
use orange_sys::error::Result;
use rusqlite::types::Type;
use rusqlite::{Params, Row, params};

/// A rule as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRule {
    /// What people call it.
    pub number: u32,
    pub project: String,
    /// The id of the task that it is for; None: all tasks of the project.
    pub task: Option<String>,
    pub rule: AllowRule,
    pub added_by: String,
    pub added_at: Timestamp,
    /// It counts no more; the row is there until that is journalled.
    pub removed_at: Option<Timestamp>,
}

/// A rule that is not stored yet.
#[derive(Debug, Clone, Copy)]
pub struct NewRule<'a> {
    pub project: &'a str,
    pub task: Option<&'a str>,
    pub rule: &'a AllowRule,
    pub added_by: &'a str,
    pub added_at: Timestamp,
}

const COLUMNS: &str =
    "id, project, task_id, harness, tool, kind, pattern, folder, added_by, added_at, removed_at";

impl Database {
    /// Stores a rule; one of a task is marked as not journalled.
    pub fn add_rule(&mut self, new: &NewRule<'_>) -> Result<u32> {
        let sql = "INSERT INTO permissions
             (project, task_id, harness, tool, kind, pattern, folder, added_by, added_at, journalled)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING id";
        let rule = new.rule;
        let values = params![
            new.project,
            new.task,
            rule.harness,
            rule.tool,
            rule.kind.as_str(),
            rule.pattern,
            rule.folder,
            new.added_by,
            new.added_at.to_string(),
            new.task.is_none(),
        ];
        let number = self.connection.query_row(sql, values, |row| row.get(0));
        number.map_err(|error| explain(&self.path, error))
    }

    /// The rules that count for a project, or with a task's id for that task: its own, and its project's.
    pub fn rules_for(&self, project: &str, task: Option<&str>) -> Result<Vec<StoredRule>> {
        self.rules(
            "project = ?1 AND removed_at IS NULL AND (?2 IS NULL OR task_id IS NULL OR task_id = ?2)",
            params![project, task],
        )
    }

    /// Every rule that counts.
    pub fn all_rules(&self) -> Result<Vec<StoredRule>> {
        self.rules("removed_at IS NULL", [])
    }

    /// The rule of this number, if it counts.
    pub fn rule(&self, number: u32) -> Result<Option<StoredRule>> {
        let found = self.rules("id = ?1 AND removed_at IS NULL", [number])?;
        Ok(found.into_iter().next())
    }

    /// What a task's journal does not say yet.
    pub fn unjournalled_rules(&self, task: &str) -> Result<Vec<StoredRule>> {
        self.rules("task_id = ?1 AND journalled = 0", [task])
    }

    pub fn note_rule_journalled(&mut self, number: u32) -> Result<()> {
        let sql = "UPDATE permissions SET journalled = 1 WHERE id = ?1";
        self.execute(sql, [number]).map(drop)
    }

    /// From now on it counts no more; the row waits for its event. False if somebody else was quicker.
    pub fn end_rule(&mut self, number: u32, now: Timestamp) -> Result<bool> {
        let sql = "UPDATE permissions SET removed_at = ?2, journalled = 0 WHERE id = ?1 AND removed_at IS NULL";
        Ok(self.execute(sql, params![number, now.to_string()])? > 0)
    }

    /// False if it was not there.
    pub fn delete_rule(&mut self, number: u32) -> Result<bool> {
        Ok(self.execute("DELETE FROM permissions WHERE id = ?1", [number])? > 0)
    }

    pub fn forget_rules_of_task(&mut self, task: &str) -> Result<usize> {
        self.execute("DELETE FROM permissions WHERE task_id = ?1", [task])
    }

    /// Those for all its tasks; a task's own stay with the task.
    pub fn forget_rules_of_project(&mut self, project: &str) -> Result<usize> {
        let sql = "DELETE FROM permissions WHERE project = ?1 AND task_id IS NULL";
        self.execute(sql, [project])
    }

    fn rules(&self, filter: &str, values: impl Params) -> Result<Vec<StoredRule>> {
        let sql = format!("SELECT {COLUMNS} FROM permissions WHERE {filter} ORDER BY id");
        let read = || {
            let mut statement = self.connection.prepare(&sql)?;
            let rows = statement.query_map(values, stored)?;
            rows.collect::<rusqlite::Result<Vec<Option<StoredRule>>>>()
        };
        let rows = read().map_err(|error| explain(&self.path, error))?;
        Ok(rows.into_iter().flatten().collect())
    }
}

/// None for a kind of rule that this version does not know: it allows nothing.
fn stored(row: &Row<'_>) -> rusqlite::Result<Option<StoredRule>> {
    let kind: String = row.get(5)?;
    let Ok(kind) = kind.parse() else {
        return Ok(None);
    };
    let removed: Option<String> = row.get(10)?;
    Ok(Some(StoredRule {
        number: row.get(0)?,
        project: row.get(1)?,
        task: row.get(2)?,
        rule: AllowRule {
            harness: row.get(3)?,
            tool: row.get(4)?,
            kind,
            pattern: row.get(6)?,
            folder: row.get(7)?,
        },
        added_by: row.get(8)?,
        added_at: time(9, &row.get::<_, String>(9)?)?,
        removed_at: removed.map(|text| time(10, &text)).transpose()?,
    }))
}

fn time(column: usize, text: &str) -> rusqlite::Result<Timestamp> {
    text.parse().map_err(|error: jiff::Error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::allow_rule::PermissionRequest;

    fn rule(command: &str) -> AllowRule {
        let request = PermissionRequest::Command {
            command: command.to_owned(),
            folder: String::new(),
        };
        AllowRule::exact("claude", "Bash", &request).unwrap()
    }

    fn add(database: &mut Database, task: Option<&str>, command: &str) -> u32 {
        let new = NewRule {
            project: "shop",
            task,
            rule: &rule(command),
            added_by: "tester",
            added_at: Timestamp::UNIX_EPOCH,
        };
        database.add_rule(&new).unwrap()
    }

    fn numbers(rules: Vec<StoredRule>) -> Vec<u32> {
        rules.into_iter().map(|rule| rule.number).collect()
    }

    #[test]
    fn a_task_has_its_own_rules_and_its_projects() {
        let home = tempfile::tempdir().unwrap();
        let mut database = Database::open(home.path()).unwrap();
        let own = add(&mut database, Some("t1"), "a");
        let other = add(&mut database, Some("t2"), "b");
        let all = add(&mut database, None, "c");
        let of = |database: &Database, task| numbers(database.rules_for("shop", task).unwrap());
        assert_eq!(of(&database, Some("t1")), [own, all]);
        assert_eq!(of(&database, None), [own, other, all]);
        assert_eq!(numbers(database.rules_for("else", None).unwrap()), [0; 0]);
        assert_eq!(database.rule(own).unwrap().unwrap().rule, rule("a"));
        database.forget_rules_of_project("shop").unwrap();
        database.forget_rules_of_task("t2").unwrap();
        assert_eq!(numbers(database.all_rules().unwrap()), [own]);
    }

    #[test]
    fn a_rule_of_a_task_is_marked_until_its_journal_has_it() {
        let home = tempfile::tempdir().unwrap();
        let mut database = Database::open(home.path()).unwrap();
        let own = add(&mut database, Some("t1"), "a");
        add(&mut database, None, "b");
        let marked = |database: &Database| numbers(database.unjournalled_rules("t1").unwrap());
        assert_eq!(marked(&database), [own]);
        database.note_rule_journalled(own).unwrap();
        assert_eq!(marked(&database), [0; 0]);
        assert!(database.end_rule(own, Timestamp::UNIX_EPOCH).unwrap());
        assert!(!database.end_rule(own, Timestamp::UNIX_EPOCH).unwrap());
        assert_eq!(database.rule(own).unwrap(), None);
        assert_eq!(marked(&database), [own]);
        assert!(database.delete_rule(own).unwrap());
        // Numbers are not given twice: a journal may name them.
        assert!(add(&mut database, Some("t1"), "a") > own);
    }

    #[test]
    fn a_kind_of_rule_that_is_not_known_allows_nothing() {
        let home = tempfile::tempdir().unwrap();
        let mut database = Database::open(home.path()).unwrap();
        let own = add(&mut database, Some("t1"), "a");
        let sql = "UPDATE permissions SET kind = 'everything' WHERE id = ?1";
        database.execute(sql, [own]).unwrap();
        assert_eq!(database.all_rules().unwrap(), []);
    }
}

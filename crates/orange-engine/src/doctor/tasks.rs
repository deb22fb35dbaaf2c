//! Tasks: files that are damaged, folders that claim the same task, dependencies that lead nowhere or in a circle.

use super::{Report, task_of};
use crate::engine::Engine;
use crate::error::Result;
use crate::index::list::{Filter, Listed};
use orange_core::id::read_stored;
use orange_core::naming::counted;
use orange_core::task::Task;

impl Engine {
    pub(super) fn check_tasks(&mut self, report: &mut Report, repair: bool) -> Result<()> {
        let all = Filter {
            all: true,
            ..Filter::default()
        };
        // Every folder is read: the index looks only at TASK.md, and a journal may be damaged too.
        self.fresh_index()?.reread()?;
        let tasks = self.listed(&all)?;
        report.tasks = tasks.len();
        for task in &tasks {
            let subject = task.key.map_or(task.folder.clone(), |key| {
                format!("{}:{key} ({})", task.project, task.folder)
            });
            let place = self.store.place(&task.folder);
            if let Some(reason) = &task.damaged {
                let finding = report.add(&subject, reason);
                let is_there = place.task_file().symlink_metadata().is_ok();
                finding.repair(match is_there {
                    true => "keeps the damaged file beside it and rebuilds TASK.md from history.jsonl; the body is kept as far as it can be read",
                    false => "writes TASK.md again from history.jsonl, without the body, which went with it",
                });
                if repair {
                    let outcome = self.lock_for_repair(place.clone()).map(|locked| {
                        format!("rebuilt; {} is {}", locked.task.label(), locked.task.status)
                    });
                    finding.done(outcome);
                }
            }
            if let Some(attention) = lost_lines(task) {
                let finding = report.add(&subject, attention);
                finding.repair("takes it out of history.jsonl and keeps it in a file beside it; the task works without it already");
                if repair {
                    let outcome = self.lock_for_repair(place).and_then(|mut locked| {
                        let name = locked.take_out_bad_lines(self)?;
                        Ok(name.map_or_else(
                            || "it is in order".to_owned(),
                            |name| format!("set aside as {name}"),
                        ))
                    });
                    finding.done(outcome);
                }
            }
        }
        for (what, folders) in self.index()?.doubles()? {
            report
                .add(what, format!("is claimed by {}", folders.join(" and ")))
                .repair("by hand: move one of the folders out of tasks/");
        }
        let of = match report.projects {
            // That projects.json cannot be read has been said.
            0 => String::new(),
            count => format!(" of {}", counted(count, "project")),
        };
        let is_found = |task: &&Listed| task.damaged.is_some() || lost_lines(task).is_some();
        let damaged = tasks.iter().filter(is_found).count();
        match (tasks.len(), damaged) {
            (0, _) => report.fine("no tasks yet"),
            (all, 0) => report.fine(format!("{}{of}", counted(all, "task"))),
            (all, damaged) if damaged == all => {}
            (all, damaged) => report.fine(match all - damaged {
                1 => "the other task is sound".to_owned(),
                sound => format!("the other {sound} tasks are sound"),
            }),
        }
        Ok(())
    }

    /// Dependencies on tasks that do not exist, and cycles made by hand.
    pub(super) fn check_links(&mut self, report: &mut Report) -> Result<()> {
        let all = Filter {
            with_fields: true,
            ..Filter::default()
        };
        let mut cycles_seen: Vec<Vec<String>> = Vec::new();
        for row in self.listed(&all)? {
            let task: Task = task_of(&row.fields);
            let Some(key) = row.key else { continue };
            for reference in &task.blocked_by {
                let known = match read_stored(&row.project, reference) {
                    Some((project, blocker)) => {
                        if let Some(mut cycle) =
                            self.cycle_through(&row.project, key, &project, blocker)?
                        {
                            cycle.pop();
                            cycle.sort();
                            if !cycles_seen.contains(&cycle) {
                                report
                                    .add(
                                        format!("{}:{key}", row.project),
                                        format!("waits for itself: {}", cycle.join(", ")),
                                    )
                                    .repair("by hand: `orange task update --remove-blocker`");
                                cycles_seen.push(cycle);
                            }
                        }
                        self.index()?.by_key(&project, blocker)?.is_some()
                    }
                    None => false,
                };
                if !known {
                    report
                        .add(
                            format!("{}:{key}", row.project),
                            format!("waits for {reference}, which does not exist"),
                        )
                        .repair(format!(
                            "by hand: `orange task update {key} --remove-blocker {reference}`"
                        ));
                }
            }
        }
        Ok(())
    }
}

/// What its journal lost, in words. A cancelled dependency, say, is a state and no damage.
fn lost_lines(task: &Listed) -> Option<&String> {
    let attention = task.attention.as_ref();
    attention.filter(|text| text.contains(".jsonl"))
}

//! A task made of what is left when neither its file nor its journal can be used as they are. Nothing is guessed: what
//! cannot be read is left to a person.

use super::{
    Broken, FieldProblem, Reconciled, TaskFolder, adoption, foreign_status, node_value, whole,
};
use crate::Timestamp;
use crate::task::{BadValue, Field, Task};
use crate::task_file::front_start;
use crate::yaml::Node;

/// What a task cannot do without and nothing but a person could know.
const NEEDED: &[Field] = &[Field::Status, Field::Branch];

/// Why a task cannot be rebuilt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub broken: Broken,
    /// What cannot be known, each in words.
    pub missing: Vec<String>,
}

/// Neither a usable file nor a usable journal: what single lines of the file and the folder still say becomes the task.
pub fn last_resort(
    bytes: &[u8],
    broken: Broken,
    folder: TaskFolder<'_>,
    now: Timestamp,
) -> Result<Reconciled, Unknown> {
    let unknown = |missing: Vec<String>| Unknown {
        broken: broken.clone(),
        missing,
    };
    let mut found = salvage_fields(bytes);
    let task = &mut found.task;
    task.id = folder.name.replace('/', "-");
    task.project = folder.project.to_owned();
    if let Some(error) = foreign_status(task) {
        found.problems.push(FieldProblem { line: 0, error });
    }
    let missing = NEEDED.iter().filter(|field| !found.fields.contains(*field));
    let mut missing: Vec<String> = missing
        .filter(|field| !found.problems.iter().any(|it| it.error.field == **field))
        .map(|field| format!("no line says its {}", field.name()))
        .collect();
    missing.extend(found.problems.iter().map(|problem| match problem.line {
        0 => problem.error.to_string(),
        line => format!("line {line}: {}", problem.error),
    }));
    if !missing.is_empty() {
        return Err(unknown(missing));
    }
    if !found.fields.contains(&Field::CreatedAt) {
        task.created_at = folder.modified;
    }
    if !found.fields.contains(&Field::UpdatedAt) {
        task.updated_at = task.created_at.max(folder.modified);
    }
    let event = adoption(task, now).because(broken.to_string());
    let rebuilt = whole(event, true).map_err(|error| unknown(vec![error.to_string()]))?;
    Ok(Reconciled {
        broken: Some(broken),
        ..rebuilt
    })
}

#[derive(Default)]
struct Salvaged {
    task: Task,
    /// The fields that lines say.
    fields: Vec<Field>,
    problems: Vec<FieldProblem>,
}

/// What the lines of a broken frontmatter still say, each with those that continue it. A field that cannot be read, or that
/// is said twice and differently, cannot be known.
fn salvage_fields(bytes: &[u8]) -> Salvaged {
    let text = String::from_utf8_lossy(bytes);
    let mut found = Salvaged::default();
    let Some(start) = front_start(&text) else {
        return found;
    };
    let before = text[..start].lines().count();
    let front: Vec<&str> = text[start..]
        .lines()
        .take_while(|line| line.trim_end() != "---")
        .collect();
    for (index, line) in front.iter().enumerate() {
        let Some(field) = named(line) else {
            continue;
        };
        let later = front.get(index + 1..).unwrap_or_default();
        let continued = later
            .iter()
            .take_while(|line| line.starts_with([' ', '\t', '-']))
            .count();
        let entry = front.get(index..=index + continued).unwrap_or_default();
        if let Err(reason) = found.take(field, &entry.join("\n")) {
            let error = BadValue { field, reason };
            let line = before + index + 1;
            found.problems.push(FieldProblem { line, error });
        }
    }
    found
}

/// The field whose line this is.
fn named(line: &str) -> Option<Field> {
    let (name, _) = line.split_once(':')?;
    Field::from_name(name.trim_matches(['"', '\'']))
}

impl Salvaged {
    fn take(&mut self, field: Field, entry: &str) -> Result<(), String> {
        let unreadable = || "its value cannot be read".to_owned();
        let read = crate::yaml::read(entry, 0..entry.len()).map_err(|_| unreadable())?;
        let Some(Node::Mapping { entries, .. }) = read else {
            return Err(unreadable());
        };
        let entry = entries.first().ok_or_else(unreadable)?;
        let value = node_value(&entry.value, field.shape());
        let mut task = self.task.clone();
        task.set(field, value).map_err(|error| error.reason)?;
        if self.fields.contains(&field) && !task.same(&self.task, field) {
            return Err("is said twice, and differently".to_owned());
        }
        self.task = task;
        self.fields.push(field);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Status;
    use crate::task_file::Damage;

    fn rebuilt(text: &str) -> Result<Task, Vec<String>> {
        let folder = TaskFolder {
            name: "abc",
            project: "shop",
            modified: Timestamp::UNIX_EPOCH,
            journal_shrunk: &|| None,
        };
        let broken = Broken::File(Damage::NoFrontmatter);
        let outcome = last_resort(text.as_bytes(), broken, folder, Timestamp::UNIX_EPOCH);
        outcome.map(|done| done.task).map_err(|left| left.missing)
    }

    #[test]
    fn what_single_lines_say_is_taken() {
        let text = "\n---\nstatus: working\nbranch: b\n[\ntags:\n  - x\ncreated_at: 2026-11-03\n---\nbody\n";
        let task = rebuilt(text).unwrap();
        assert_eq!((task.status, task.branch.as_str()), (Status::Working, "b"));
        assert_eq!(task.created_at.to_string(), "2026-11-03T00:00:00Z");
        assert_eq!(task.tags, ["x"]);
    }

    #[test]
    fn what_no_line_says_is_not_guessed() {
        assert_eq!(
            rebuilt("only prose\n").unwrap_err(),
            ["no line says its status", "no line says its branch"]
        );
        assert_eq!(
            rebuilt("---\nstatus: lost\nbranch: [b\n")
                .unwrap_err()
                .len(),
            2
        );
        let twice = "---\nstatus: working\n=======\nstatus: done\nbranch: b\n---\n";
        assert_eq!(
            rebuilt(twice).unwrap_err(),
            ["line 4: status: is said twice, and differently"]
        );
    }
}

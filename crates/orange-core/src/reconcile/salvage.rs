//! A task made of what is left when neither its file nor its journal can be used as they are.

use super::{
    Broken, Folder, Reconciled, adoption, fill_adopted, foreign_status, node_value, read_fields,
    whole,
};
use crate::Timestamp;
use crate::task::{Field, Task};
use crate::task_file::TaskFile;
use crate::yaml::Node;

/// Neither a usable file nor a usable journal: what single lines and the folder still say becomes the task.
pub fn last_resort(
    file: Option<&TaskFile>,
    bytes: &[u8],
    broken: Broken,
    folder: Folder<'_>,
    now: Timestamp,
) -> Result<Reconciled, Broken> {
    let mut task = match file {
        Some(file) => readable(file, folder),
        None => {
            let mut task = salvage_fields(bytes);
            task.id = folder.name.replace('/', "-");
            task.project = folder.project.to_owned();
            if task.branch.is_empty() {
                task.branch = match folder.name.contains('/') {
                    true => folder.name.to_owned(),
                    false => format!("orange-tasks/{}", task.id),
                };
            }
            if task.created_at == Timestamp::UNIX_EPOCH {
                task.created_at = now;
            }
            task.updated_at = now;
            task
        }
    };
    if foreign_status(&task).is_some() {
        task.status = Task::default().status;
    }
    let event = adoption(&task, now).because(broken.to_string());
    Ok(Reconciled {
        broken: Some(broken),
        ..whole(event, true)?
    })
}

/// What a file without a journal still tells when some of its values cannot be used.
fn readable(file: &TaskFile, folder: Folder<'_>) -> Task {
    let (mut task, _) = read_fields(file, folder);
    fill_adopted(&mut task, file, folder);
    task
}

/// What single lines of a broken frontmatter still say.
fn salvage_fields(bytes: &[u8]) -> Task {
    let text = String::from_utf8_lossy(bytes);
    let mut task = Task::default();
    let front = text
        .lines()
        .skip(1)
        .take_while(|line| line.trim_end() != "---");
    for line in front {
        if let Ok(Some(Node::Mapping { entries, .. })) = crate::yaml::read(line, 0..line.len())
            && let Some(entry) = entries.first()
            && let Some(field) = Field::from_name(&entry.key)
        {
            // A value that cannot be used is what made the file unreadable; the default stands.
            let _ = task.set(field, node_value(&entry.value, field.shape()));
        }
    }
    task
}

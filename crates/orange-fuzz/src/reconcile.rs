//! TASK.md against its journal: the answer is the fold of the journal with the new events, it can be written down,
//! and then there is nothing left to say. The bytes are both files, with a line `%%` between them.

use orange_core::Timestamp;
use orange_core::artifact;
use orange_core::history::History;
use orange_core::machine;
use orange_core::reconcile::{Broken, Reconciled, TaskFolder, differing_fields, last_resort};
use orange_core::task::Task;
use orange_core::task_file::{TaskFile, TaskFileEditError, salvage_body};
use serde_json::Value;

const BETWEEN: &[u8] = b"\n%%\n";

pub fn reconcile(bytes: &[u8]) {
    let at = bytes.windows(BETWEEN.len()).position(|w| w == BETWEEN);
    let (file, journal) = match at {
        Some(at) => (&bytes[..=at], &bytes[at + BETWEEN.len()..]),
        None => (bytes, &[][..]),
    };
    for shrunk in [false, true] {
        check(file, journal, shrunk);
    }
}

/// A journal that lost events beside a file that lost its frontmatter is put right by two commands.
const MOST_COMMANDS: usize = 3;

fn check(bytes: &[u8], journal: &[u8], shrunk: bool) {
    let mut file = TaskFile::parse(bytes).map_err(Broken::File);
    let mut history = History::parse(journal);
    let mut bytes = bytes.to_owned();
    let mut shrunk = shrunk;
    for _ in 0..MOST_COMMANDS {
        let truth = match decide(&file, &history, shrunk) {
            Ok(truth) => truth,
            // A readable file without a journal: a person has to mend the value that cannot be used.
            Err(_) if file.is_ok() => return,
            Err(broken) => match last_resort(&bytes, broken, folder(&|| Some(shrunk)), now()) {
                Ok(truth) => truth,
                Err(_) => return,
            },
        };
        // A person has to mend that value first.
        if matches!(truth.broken, Some(Broken::Value { .. })) && !truth.unadopted {
            return assert!(truth.events.is_empty());
        }
        history.events.extend(truth.events.iter().cloned());
        let folded = machine::fold(history.own(), u64::MAX);
        assert_eq!(folded.as_ref(), Ok(&truth.task));
        let Some(written) = written(&file, &bytes, &truth) else {
            return;
        };
        assert_eq!(differing_fields(&written, &truth.task), []);
        if truth.events.is_empty() && !truth.rewrite && truth.broken.is_none() {
            return;
        }
        bytes = written.text().as_bytes().to_owned();
        file = Ok(written);
        shrunk = false;
    }
    let again = decide(&file, &history, shrunk);
    is_settled(&again, &file);
}

/// There is nothing left to say.
fn is_settled(again: &Result<Reconciled, Broken>, file: &Result<TaskFile, Broken>) {
    let settled = again.as_ref().is_ok_and(|again| {
        again.events.is_empty() && !again.rewrite && again.broken.is_none() && !again.unadopted
    });
    assert!(settled, "{again:?} of {file:?}");
}

/// The file as the engine would write it; None if it would be too large.
fn written(file: &Result<TaskFile, Broken>, bytes: &[u8], truth: &Reconciled) -> Option<TaskFile> {
    let (mut new, body) = match (file, &truth.broken) {
        (Ok(file), None | Some(Broken::Value { .. })) => (file.clone(), file.body().to_owned()),
        (Ok(_) | Err(_), _) => {
            let body = salvage_body(bytes);
            (TaskFile::create(&[], &body), body)
        }
    };
    match new.edit(&changes(&new, &truth.task)) {
        Ok(()) => {}
        Err(error) => {
            assert!(
                matches!(error, TaskFileEditError::TooLarge { .. }),
                "{error}"
            );
            return None;
        }
    }
    assert_eq!(new.body(), body);
    for section in &truth.archive {
        if let Some(body) = artifact::archive(new.body(), &section.section, &section.note()) {
            new.set_body(&body);
        }
    }
    for section in &truth.append {
        let body = artifact::append_section(
            new.body(),
            &artifact::embedded_section(&section.section, &section.text),
        );
        new.set_body(&body);
    }
    Some(new)
}

fn changes(file: &TaskFile, task: &Task) -> Vec<(&'static str, Option<Value>)> {
    differing_fields(file, task)
        .into_iter()
        .map(|field| (field.name(), Some(task.get(field))))
        .collect()
}

fn decide(
    file: &Result<TaskFile, Broken>,
    history: &History,
    shrunk: bool,
) -> Result<Reconciled, Broken> {
    let file = file.as_ref().map_err(Clone::clone);
    let mut refuse = |_, _: &_| None;
    orange_core::reconcile::reconcile(file, history, folder(&|| Some(shrunk)), now(), &mut refuse)
}

fn folder(journal_shrunk: &dyn Fn() -> Option<bool>) -> TaskFolder<'_> {
    TaskFolder {
        name: "feature/cart",
        project: "shop",
        modified: now(),
        journal_shrunk,
    }
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap_or_default()
}

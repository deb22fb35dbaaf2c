//! Reads what a task changed: the list of files, and the lines of one file at a time. Notes what was seen of it.

use super::newest;
use crate::app::{Effect, Input};
use orange_engine::git::diff::FileChange;
use orange_engine::verbs::seen;
use orange_engine::views::changes::{self, Visit};
use orange_engine::views::diff::{Comparison, DiffOf};
use orange_engine::views::patch;
use orange_engine::{Call, Error};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Where effects about changes go.
pub(crate) struct ChangesLoader {
    lists: Sender<(String, DiffOf, Visit)>,
    patches: Sender<(u64, Arc<Comparison>, Box<FileChange>)>,
    /// The patch that was asked for last: a git that reads another one is ended.
    wanted: Arc<AtomicU64>,
    notes: Sender<Effect>,
}

impl ChangesLoader {
    pub(crate) fn new(call: &Call, tell: &Sender<Input>) -> ChangesLoader {
        let wanted = Arc::new(AtomicU64::new(0));
        ChangesLoader {
            lists: lists(call.clone(), tell.clone()),
            patches: patches(tell.clone(), Arc::clone(&wanted)),
            wanted,
            notes: notes(call.clone(), tell.clone()),
        }
    }

    /// Errors are ignored: a thread ends with the program only.
    pub(crate) fn carry_out(&self, effect: Effect) {
        match effect {
            Effect::LoadChanges { folder, of, visit } => {
                let _ = self.lists.send((folder, of, visit));
            }
            Effect::LoadPatch {
                ticket,
                comparison,
                file,
            } => {
                self.wanted.store(ticket, Ordering::SeqCst);
                let _ = self.patches.send((ticket, comparison, file));
            }
            effect => {
                let _ = self.notes.send(effect);
            }
        }
    }
}

fn lists(call: Call, tell: Sender<Input>) -> Sender<(String, DiffOf, Visit)> {
    newest(move |(folder, of, visit): (String, DiffOf, Visit)| {
        let loaded = changes::changes(&call.anew(), &folder, of, &visit);
        let loaded = Box::new(loaded);
        let _ = tell.send(Input::Changes { folder, of, loaded });
    })
}

fn patches(
    tell: Sender<Input>,
    wanted: Arc<AtomicU64>,
) -> Sender<(u64, Arc<Comparison>, Box<FileChange>)> {
    newest(
        move |(ticket, comparison, file): (u64, Arc<Comparison>, Box<FileChange>)| {
            let is_wanted = || wanted.load(Ordering::SeqCst) == ticket;
            let patch = patch::file_patch(&comparison, &file, is_wanted);
            if is_wanted() {
                let patch = Box::new(patch);
                let _ = tell.send(Input::Patch { ticket, patch });
            }
        },
    )
}

/// One after the other, none left out.
fn notes(call: Call, tell: Sender<Input>) -> Sender<Effect> {
    let (asks, asked): (Sender<Effect>, Receiver<Effect>) = channel();
    thread::spawn(move || {
        while let Ok(effect) = asked.recv() {
            if let Err(error) = note(&call.anew(), effect) {
                let text = error.message;
                let _ = tell.send(Input::Refused { text, hint: None });
            }
        }
    });
    asks
}

fn note(call: &Call, effect: Effect) -> Result<(), Error> {
    match effect {
        Effect::NoteLook { folder, comparison } => {
            seen::note_look(call, &call.store().place(&folder), &comparison);
            Ok(())
        }
        Effect::MarkViewed {
            folder,
            path,
            content,
        } => {
            let place = call.store().place(&folder);
            seen::mark_viewed(call, &place, &path, content.as_deref())
        }
        _ => Ok(()),
    }
}

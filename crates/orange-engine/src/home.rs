//! A home, and what all calls on it share: the store, the index, orange.db. Cheap to clone; threads may use one at once.

use crate::database::{Database, StoredPlan};
use crate::error::Result;
use crate::index::Index;
use crate::store::Store;
use orange_core::work::plan::{BadPlan, Plan};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A home that is open. Files are opened when something needs them.
#[derive(Clone)]
pub struct Home(Arc<SharedHome>);

struct SharedHome {
    store: Store,
    index: OnceLock<Index>,
    database: Mutex<Option<Database>>,
    /// The plan that was parsed last, by its text: whoever changes a task asks for its plan several times.
    plan: Mutex<Option<(String, Plan)>>,
    /// How many names of files were made.
    stamps: AtomicU32,
}

impl Home {
    pub fn at(folder: PathBuf) -> Home {
        Home(Arc::new(SharedHome {
            store: Store::new(folder),
            index: OnceLock::new(),
            database: Mutex::new(None),
            plan: Mutex::new(None),
            stamps: AtomicU32::new(0),
        }))
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn index(&self) -> Result<&Index> {
        match self.0.index.get() {
            Some(index) => Ok(index),
            None => {
                // Two threads may open it at once; the second one's is closed again.
                let opened = Index::open(self.store())?;
                Ok(self.0.index.get_or_init(|| opened))
            }
        }
    }

    /// Uses orange.db, which only one thread does at a time. Nothing else may be waited for meanwhile.
    pub(crate) fn with_database<T>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T>,
    ) -> Result<T> {
        let mut open = self.database();
        if open.as_ref().is_some_and(Database::is_replaced) {
            *open = None;
        }
        match open.as_mut() {
            Some(database) => work(database),
            None => {
                self.store().ensure_home()?;
                work(open.insert(Database::open(self.store().home())?))
            }
        }
    }

    /// Has the next use open orange.db anew: another file was put in its place.
    pub(crate) fn close_database(&self) {
        *self.database() = None;
    }

    fn database(&self) -> std::sync::MutexGuard<'_, Option<Database>> {
        let database = &self.0.database;
        database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a stored plan says.
    pub(crate) fn parse_plan(&self, stored: &StoredPlan) -> std::result::Result<Plan, BadPlan> {
        let mut last = self.0.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = last.as_ref().filter(|(text, _)| *text == stored.yaml) {
            return Ok(plan.clone());
        }
        let plan = stored.parse()?.plan;
        *last = Some((stored.yaml.clone(), plan.clone()));
        Ok(plan)
    }

    /// A number that no other file of this process has in its name.
    pub(crate) fn next_stamp(&self) -> u32 {
        self.0.stamps.fetch_add(1, Ordering::Relaxed) + 1
    }
}

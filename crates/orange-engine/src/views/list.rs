//! Lists of tasks, straight from the index.

use crate::engine::Engine;
use crate::engine::lost_workspace::mark;
use crate::error::Result;
use crate::index::Index;
use crate::index::list::{Deleted, Filter, Listed, Listing};
use orange_core::id::Key;

impl Engine {
    pub fn list(&self, filter: &Filter) -> Result<Vec<Listed>> {
        self.list_as(filter, |listing| listing.rows)
    }

    /// What `show` makes of the tasks a filter lets through; it may be called twice.
    pub fn list_as<T>(&self, filter: &Filter, show: impl Fn(Listing) -> T) -> Result<T> {
        self.refuse_unknown(&filter.projects)?;
        let looked_up = self.look_up(filter);
        let filter = looked_up.as_ref().unwrap_or(filter);
        let lost = self.lost_workspaces();
        let show = |mut listing: Listing| {
            mark(&mut listing.rows, &lost);
            show(listing)
        };
        if !filter.with_diff {
            return self.ask_index(|index, deleted| index.fresh_list(filter, deleted, show));
        }
        self.list_with_diff(filter, show)
    }

    /// Refuses a project that is neither registered nor has tasks.
    pub(crate) fn refuse_unknown(&self, projects: &[String]) -> Result<()> {
        for project in projects {
            let registry = self.projects()?;
            if let Err(unknown) = crate::projects::named(&registry, project)
                && !self.fresh_index()?.project_names()?.contains(project)
            {
                return Err(unknown);
            }
        }
        Ok(())
    }

    /// The rows of the index as it is.
    pub(crate) fn listed(&self, filter: &Filter) -> Result<Vec<Listed>> {
        self.ask_index(|index, deleted| Ok(index.list(filter, deleted)?.rows))
    }

    /// Asks the index something for which it has to know what became of deleted tasks.
    pub(crate) fn ask_index<T>(
        &self,
        question: impl FnOnce(&Index, &Deleted<'_>) -> Result<T>,
    ) -> Result<T> {
        let deleted = |project: &str, key: Key| self.over_in_trash(project, key);
        question(self.index()?, &deleted)
    }
}

//! Looking for words in all that tasks say: summaries, bodies, histories.

use crate::access;
use crate::call::Call;
use crate::error::{Result, err};
use crate::index::list::TaskFilter;
use crate::index::search::Matches;
use crate::views::list;
use orange_core::search::Query;
use orange_core::{Action, text};

/// The tasks that have all these words, best first; of these projects, or of all.
pub fn search(call: &Call, text: &str, projects: &[String], limit: usize) -> Result<Matches> {
    access::not_for_a_judge(call, "search what was said")?;
    list::refuse_unknown(call, projects)?;
    let query = Query::parse(text);
    if query.is_empty() {
        return Err(err!(Usage, "there is nothing to look for in {text:?}: brackets, dots and the like only separate words")
            .hint(text!("name a word; {} has examples", Action::explain_search())));
    }
    call.index()?.search(&query, projects, limit)
}

/// Finds out which tasks have the words that a list is to be narrowed to. A list is shown without that as well:
/// then only what stands in it is looked at.
pub(crate) fn look_up(call: &Call, filter: &TaskFilter) -> Option<TaskFilter> {
    let query = Query::parse(filter.search.as_deref()?);
    let found = (!query.is_empty()).then(|| call.index()?.search_folders(&query))?;
    match found {
        Ok(folders) => Some(TaskFilter {
            found: folders,
            only_found: query.excludes(),
            ..filter.clone()
        }),
        Err(error) => {
            tracing::warn!(%error, "bodies and histories were not searched");
            None
        }
    }
}

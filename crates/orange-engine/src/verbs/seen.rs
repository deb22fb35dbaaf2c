//! What a person has seen of a task's changes. View state, not task state: no event, no lock, no rule reads it.

use crate::call::{Call, Caller};
use crate::error::Result;
use crate::home_record;
use crate::store::Place;
use crate::store::seen::{BranchLook, Seen};
use crate::views::Comparison;

/// Notes that the person behind the call was shown a comparison whole. What an agent looks at, nobody has seen.
pub fn note_look(call: &Call, place: &Place, shown: &Comparison) {
    let Some(head) = shown.head.clone().filter(|_| shown.is_rest) else {
        return;
    };
    let at = call.now();
    if let Err(error) = change(call, place, |seen| {
        seen.last = Some(BranchLook { head, at })
    }) {
        // It is shown again next time.
        tracing::warn!(%error, task = place.folder(), "what was seen is not noted");
    }
}

/// Notes that the person has viewed a file with this content; None: that they have not.
pub fn mark_viewed(call: &Call, place: &Place, path: &str, content: Option<&str>) -> Result<()> {
    change(call, place, |seen| match content {
        Some(content) => drop(seen.viewed.insert(path.to_owned(), content.to_owned())),
        None => drop(seen.viewed.remove(path)),
    })
}

fn change(call: &Call, place: &Place, change: impl FnOnce(&mut Seen)) -> Result<()> {
    if call.caller != Caller::Human || home_record::copied_from(call).is_some() {
        return Ok(());
    }
    Seen::change(place, change)
}

//! `orange task run --dry-run`: the plan and the first prompt.

use super::plan::to_text;
use crate::session::Session;
use crate::ui::clean_block;
use orange_engine::Result;
use orange_engine::phases::dry_run::{DryRun, dry_run};
use orange_engine::store::Place;
use orange_engine::views::{DryRunView, PlanView};

pub(super) fn run(session: &Session, place: Place, phase: Option<&str>) -> Result<()> {
    let found = dry_run(&session.call, place, phase)?;
    let next = found.phase.as_ref();
    let view = DryRunView {
        plan: PlanView::of(&found.plan),
        phase: next.map(|(phase, _)| phase.as_str()),
        iteration: next.map(|(_, iteration)| *iteration),
        prompt: found.prompt.as_deref(),
    };
    session.finish_as_it_is(view, || text(&found))
}

fn text(found: &DryRun) -> String {
    let plan = to_text(&found.plan);
    match (&found.phase, &found.prompt) {
        (None, _) => format!("{plan}\nEvery phase is over: a run would do nothing.\n"),
        (Some((phase, _)), None) => format!(
            "{plan}\nA run would begin with {phase}: what its last turn left is looked at first.\n"
        ),
        (Some((phase, iteration)), Some(prompt)) => format!(
            "{plan}\nA run would begin with iteration {iteration} of {phase}, whose agent is told:\n\n{}\n",
            clean_block(prompt.trim_end())
        ),
    }
}

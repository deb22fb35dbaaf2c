//! Evidence that Orange cannot confirm: written by an older version, under another orange.db, or by somebody else; and
//! lines of journals that somebody else wrote.

use crate::call::Call;
use crate::error::Result;
use crate::index::list::TaskFilter;
use crate::maintenance::doctor::tasks::take_out_lines;
use crate::seal_checks;
use crate::views::doctor::DoctorReport;
use crate::views::list;
use orange_core::task::Status;

/// Of evidence there is nothing to repair: a person decides when the task is merged.
pub(crate) fn check_evidence(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let active = Status::ALL.iter().filter(|status| status.is_active());
    let filter = TaskFilter {
        statuses: active.map(|status| status.as_str().to_owned()).collect(),
        ..TaskFilter::default()
    };
    for row in list::listed(call, &filter)? {
        let task = call.store.survey(&row.folder).task;
        let place = call.store.place(&row.folder);
        let history = place.history()?;
        let sealed = seal_checks::check_seals(call, &task.id, &history);
        let label = task.label();
        let fields = sealed.foreign_fields(&history);
        if !fields.is_empty() {
            let fields = fields.join(", ");
            let problem = format!(
                "history.jsonl has lines that Orange did not write, with new values of {fields}; they do not count"
            );
            let how = "takes them out and keeps them in a file beside it";
            report.repair(&label, problem, how, || {
                take_out_lines(call, place, |tx| tx.take_out_foreign_lines())
            });
            if report.repairs {
                continue;
            }
        }
        let claims = sealed.unconfirmed(&history);
        if !claims.is_empty() {
            report.note(format!(
                    "{label}: Orange cannot confirm what history.jsonl says ({}); its merge will ask you",
                    claims.join("; ")
                ));
        }
        if sealed.incomplete {
            report.note(format!(
                "{label}: history.jsonl lacks lines that Orange wrote; its merge will ask you"
            ));
        }
    }
    Ok(())
}

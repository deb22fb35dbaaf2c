//! Evidence that Orange cannot confirm: written by an older version, under another orange.db, or by somebody else; and
//! lines of journals that somebody else wrote.

use crate::call::Call;
use crate::error::Result;
use crate::index::list::Filter;
use crate::views::doctor::Report;
use crate::views::list;
use crate::{seal_checks, trash, tx};
use orange_core::task::Status;

/// Of evidence there is nothing to repair: a person decides when the task is merged.
pub(crate) fn check_evidence(call: &Call, report: &mut Report, repair: bool) -> Result<()> {
    let active = Status::ALL.iter().filter(|status| status.is_active());
    let filter = Filter {
        statuses: active.map(|status| status.as_str().to_owned()).collect(),
        ..Filter::default()
    };
    for row in list::listed(call, &filter)? {
        let task = call.store.survey(&row.folder).task;
        let history = trash::history_at(call, &call.store.place(&row.folder).path)?;
        let sealed = seal_checks::check_seals(call, &task.id, &history);
        let label = task.label();
        let fields = sealed.foreign_fields(&history);
        if !fields.is_empty() {
            let finding = report.add(
                    &label,
                    format!(
                        "history.jsonl has lines that Orange did not write, with new values of {}; they do not count",
                        fields.join(", ")
                    ),
                );
            finding.repair("takes them out and keeps them in a file beside it");
            if repair {
                let place = call.store.place(&row.folder);
                let outcome = tx::lock_for_repair(call, place).and_then(|mut tx| {
                    let name = tx.take_out_foreign_lines()?;
                    tx.commit(Vec::new()).map(drop)?;
                    Ok(name.map_or_else(
                        || "it is in order".to_owned(),
                        |name| format!("set aside as {name}"),
                    ))
                });
                finding.done(outcome);
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

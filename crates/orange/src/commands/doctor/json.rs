//! A report of `doctor` for programs.

use crate::ui::terminal_size;
use orange_engine::doctor::{DiskUse, FileSystem, Group, HarnessFound, Kept, Report, Tone};
use orange_engine::harness::probe::Login;
use serde_json::{Value, json};

pub(super) fn as_json(report: &Report) -> Value {
    json!({"doctor": {
        "tasks": report.tasks,
        "projects": report.projects,
        "copy_of": report.copy_of,
        "findings": report.findings.iter().map(finding).collect::<Vec<Value>>(),
        "groups": Group::ALL.iter().map(|group| of_group(report, *group)).collect::<Vec<Value>>(),
        "programs": report
            .programs
            .iter()
            .map(|program| json!({
                "name": program.name,
                "version": program.version,
                "oldest": program.oldest,
            }))
            .collect::<Vec<Value>>(),
        "harnesses": report.harnesses.iter().map(harness).collect::<Vec<Value>>(),
        "terminal": terminal(),
        "file_system": report.file_system.as_ref().map(file_system),
        "disk": report.disk.as_ref().map(disk),
    }})
}

/// What is fine, what a person may want to know, and what is wrong.
fn of_group(report: &Report, group: Group) -> Value {
    let remarks = |is_fine: bool| -> Vec<Value> {
        let all = report.remarks.iter();
        let wanted = all.filter(|one| one.group == group && (one.tone == Tone::Fine) == is_fine);
        wanted
            .map(|one| json!({"text": one.text, "time": one.time.map(|time| time.to_string())}))
            .collect()
    };
    let findings = report.findings.iter().filter(|one| one.group == group);
    json!({
        "group": group.name(),
        "fine": remarks(true),
        "notes": remarks(false),
        "findings": findings.map(finding).collect::<Vec<Value>>(),
    })
}

fn finding(finding: &orange_engine::doctor::Finding) -> Value {
    json!({
        "group": finding.group.name(),
        "subject": finding.subject,
        "problem": finding.problem,
        "repair": finding.repair,
        "repaired": finding.repaired,
    })
}

fn terminal() -> Value {
    match terminal_size() {
        Some((columns, rows)) => json!({"columns": columns, "rows": rows}),
        None => Value::Null,
    }
}

fn file_system(found: &FileSystem) -> Value {
    json!({
        "path": found.path,
        "kind": found.kind,
        "free_bytes": found.free_bytes,
        "read_only": found.read_only,
        "safe_edits": found.safe_edits,
    })
}

fn disk(disk: &DiskUse) -> Value {
    let kept = |kept: &Kept| {
        json!({
            "count": kept.count,
            "bytes": kept.bytes,
            "oldest": kept.oldest.map(|time| time.to_string()),
        })
    };
    let slots = disk.slots.iter();
    json!({
        "slots": slots
            .map(|slot| json!({"slot": slot.name, "bytes": slot.bytes}))
            .collect::<Vec<Value>>(),
        "rescue": kept(&disk.rescue),
        "trash": kept(&disk.trash),
        "screens": kept(&disk.screens),
        "log": kept(&disk.logs),
        "verify": kept(&disk.checks),
        "total_bytes": disk.total,
    })
}

fn harness(found: &HarnessFound) -> Value {
    let (login, detail) = match &found.login {
        Login::In(how) => ("in", how),
        Login::Out(why) => ("out", why),
        Login::Unknown(why) => ("unknown", why),
    };
    let signals = found.signals.as_ref();
    json!({
        "name": found.name,
        "installed": found.path.is_some(),
        "path": found.path,
        "install": found.install,
        "version": found.version.as_ref().ok(),
        "needed_version": found.needed.map(|needed| needed.to_string()),
        "login": login,
        "login_detail": detail,
        "note": found.note,
        "signals_work": signals.map(Result::is_ok),
    })
}

//! A report of `doctor` for people: a group after the other, what is wrong before what is fine.

use crate::ui::command::spelled;
use crate::ui::{Palette, Style, ago, clean_block, size, terminal_size};
use orange_core::naming::counted;
use orange_core::{SignedDuration, Timestamp};
use orange_engine::harness::probe::Login;
use orange_engine::views::doctor::{
    self, CheckGroup, DiskUse, DoctorFinding, DoctorReport, HarnessFound, KeptFiles, RemarkTone,
};
use std::fmt::Write;

const WIDTH: usize = 11;

pub(super) fn as_text(report: &DoctorReport, repair: bool) -> String {
    let palette = Palette::stdout();
    let mut text = String::new();
    for group in CheckGroup::ALL {
        let mut lines = Vec::new();
        let findings = report.findings.iter().filter(|one| one.group == *group);
        for finding in findings {
            lines.extend(of_finding(finding, repair, palette));
        }
        lines.extend(remarks(report, *group));
        for (number, line) in lines.iter().enumerate() {
            let name = if number == 0 { group.as_str() } else { "" };
            let name = palette.paint(Style::Dim, name);
            let _ = writeln!(text, "{name:WIDTH$}{line}");
        }
    }
    let _ = writeln!(text, "{}", verdict(report, repair));
    text
}

/// What is left is the error's to say.
fn verdict(report: &DoctorReport, repair: bool) -> String {
    let checked = match (report.tasks, report.projects) {
        (0, 0) => "nothing to check yet but this machine".to_owned(),
        (tasks, 0) => format!("checked {}", counted(tasks, "task")),
        (tasks, projects) => format!(
            "checked {} and {}",
            counted(tasks, "task"),
            counted(projects, "project")
        ),
    };
    match (report.findings.len(), report.open()) {
        (0, _) => format!("{checked}: all is well"),
        (found, 0) => format!(
            "{checked}: {} found and repaired",
            counted(found, "problem")
        ),
        (found, left) if repair && left < found => format!(
            "{checked}: {} found, {} repaired",
            counted(found, "problem"),
            found - left
        ),
        (_, _) => checked,
    }
}

fn of_finding(finding: &DoctorFinding, repair: bool, palette: Palette) -> Vec<String> {
    let what = format!(
        "{}: {}",
        clean_block(&finding.subject),
        clean_block(&finding.problem)
    );
    let how = finding.repair.as_ref().map(spelled);
    let how = how.as_deref().map(clean_block);
    match how {
        Some(done) if finding.repaired => vec![format!(
            "{} {what} → {done}",
            palette.paint(Style::Green, "+")
        )],
        Some(how) => {
            let is_told = repair || finding.by_hand;
            let verb = if is_told { "" } else { "--repair: " };
            vec![
                format!("{} {what}", palette.red("✗")),
                format!("    {verb}{how}"),
            ]
        }
        None => vec![format!("{} {what}", palette.red("✗"))],
    }
}

fn fine(text: &str) -> String {
    format!("{} {text}", Palette::stdout().paint(Style::Green, "✓"))
}

fn note(text: &str) -> String {
    format!("{} {text}", Palette::stdout().paint(Style::Yellow, "!"))
}

fn remarks(report: &DoctorReport, group: CheckGroup) -> Vec<String> {
    let mut lines = Vec::new();
    if let (CheckGroup::Home, Some(found)) = (group, &report.file_system) {
        let free = size(found.free_bytes);
        let text = format!("{} on {}, {free} free", found.path.display(), found.kind);
        lines.push(fine(&clean_block(&text)));
    }
    let all = report.remarks.iter().filter(|one| one.group == group);
    let (good, other): (Vec<_>, Vec<_>) = all.partition(|one| one.tone == RemarkTone::Fine);
    for remark in good.into_iter().chain(other) {
        let time = remark
            .time
            .map(|time| format!(" {}", ago(Timestamp::now(), time)));
        let text = format!(
            "{}{}",
            clean_block(&spelled(&remark.text)),
            time.unwrap_or_default()
        );
        lines.push(match remark.tone {
            RemarkTone::Fine => fine(&text),
            RemarkTone::Note => note(&text),
            RemarkTone::Aside => format!("  {text}"),
        });
    }
    match group {
        CheckGroup::Machine => {
            if let Some((columns, rows)) = terminal_size() {
                lines.push(terminal(columns, rows));
            }
            lines.extend(harnesses(report));
        }
        CheckGroup::Disk => lines.extend(report.disk.iter().map(|disk| fine(&disk_use(disk)))),
        _ => {}
    }
    lines
}

/// Lists are made to fit any width; below this they lose columns that matter.
const NARROW: u16 = 60;

fn terminal(columns: u16, rows: u16) -> String {
    let text = format!("terminal of {columns}×{rows}");
    if columns < NARROW {
        note(&format!("{text}: lists show more from {NARROW} columns on"))
    } else {
        fine(&text)
    }
}

/// The agent CLIs that are there, a line each, and in one line those that are not.
fn harnesses(report: &DoctorReport) -> Vec<String> {
    let all = report.harnesses.iter();
    let (here, missing): (Vec<_>, Vec<_>) = all.partition(|found| found.path.is_some());
    let mut lines = Vec::new();
    for found in here {
        lines.push(harness(found));
        if let Some(note) = &found.note {
            lines.push(format!("    {}", clean_block(note)));
        }
    }
    let missing: Vec<&str> = missing.iter().map(|found| found.name.as_str()).collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        lines.push(format!(
            "  not installed: {missing} (`orange harness list` says how to get them)"
        ));
    }
    lines
}

fn harness(found: &HarnessFound) -> String {
    let version = match (&found.version, found.needed) {
        (Ok(version), None) => version.clone(),
        (Ok(version), Some(needed)) => format!("{version}, too old: {needed} is needed"),
        (Err(why), _) => format!("version unknown ({why})"),
    };
    let login = match &found.login {
        Login::In(how) => format!("logged in ({how})"),
        Login::Out(why) => why.clone(),
        Login::Unknown(why) => format!("login unknown ({why})"),
    };
    let signals = match &found.signals {
        Some(Ok(heard)) => format!("signals work ({heard})"),
        Some(Err(silent)) => silent.clone(),
        None => "signals not tried: no agent is running".to_owned(),
    };
    let is_fine = found.needed.is_none() && !matches!(found.login, Login::Out(_));
    let used = if found.used { "; new tasks use it" } else { "" };
    let line = format!(
        "harness {}: {version}; {login}; {signals}{used}",
        found.name
    );
    if is_fine && !matches!(found.signals, Some(Err(_))) {
        fine(&clean_block(&line))
    } else {
        note(&clean_block(&line))
    }
}

/// In one line, without what is not there.
fn disk_use(disk: &DiskUse) -> String {
    let mut parts = Vec::new();
    if let Some(total) = disk.total {
        parts.push(format!("{} in all", size(total)));
    }
    let measured =
        |slot: &doctor::SlotUse| Some(format!("{} {}", clean_block(&slot.name), size(slot.bytes?)));
    let slots: Vec<String> = disk.slots.iter().filter_map(measured).collect();
    match (slots.is_empty(), disk.slots.len()) {
        (_, 0) => {}
        (true, count) => parts.push(format!("{} (--disk measures them)", counted(count, "slot"))),
        (false, _) => parts.extend(slots),
    }
    let kinds = [
        ("rescue", &disk.rescue),
        ("deleted task", &disk.trash),
        ("screen", &disk.screens),
        ("file of checks", &disk.checks),
        ("log", &disk.logs),
    ];
    let kinds = kinds.iter();
    parts.extend(kinds.filter_map(|(noun, kept)| kept_in_words(noun, kept)));
    if parts.is_empty() {
        "nothing to speak of".to_owned()
    } else {
        parts.join(", ")
    }
}

/// What is younger than this is not old enough to be spoken of.
const DAY: SignedDuration = SignedDuration::from_hours(24);

fn kept_in_words(noun: &str, kept: &KeptFiles) -> Option<String> {
    let noun = match (noun, kept.count) {
        ("file of checks", count) if count != 1 => format!("{count} files of checks"),
        (noun, count) => counted(count, noun),
    };
    let now = Timestamp::now();
    let old = kept.oldest.filter(|time| now.duration_since(*time) > DAY);
    let since = old.map(|time| {
        let since = ago(now, time);
        match kept.count {
            1 => format!("from {since}"),
            _ => format!("the oldest from {since}"),
        }
    });
    // What a rescue takes is in git, but for copies.
    let bytes = (kept.bytes > 0).then(|| size(kept.bytes));
    let about: Vec<String> = bytes.into_iter().chain(since).collect();
    match (kept.count, about.is_empty()) {
        (0, _) => None,
        (_, true) => Some(noun),
        (_, false) => Some(format!("{noun} ({})", about.join(", "))),
    }
}

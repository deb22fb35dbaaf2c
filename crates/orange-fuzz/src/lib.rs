//! What must hold for any bytes that Orange reads: one function per kind of file, which panics where it does not.
//! `fuzz/` calls them with bytes that libFuzzer makes up, `tests/corpus.rs` with those that were kept.

mod answer;
mod artifact;
mod config;
mod history;
mod plan;
mod prompt;
mod reconcile;
mod reference;
mod sim_script;
mod spec;
mod task_file;
mod test_report;
mod yaml;

pub use answer::answer;
pub use artifact::artifact;
pub use config::config;
pub use history::history;
pub use plan::plan;
pub use prompt::prompt;
pub use reconcile::reconcile;
pub use reference::reference;
pub use sim_script::sim_script;
pub use spec::spec;
pub use task_file::task_file;
pub use test_report::test_report;
pub use yaml::yaml;

/// Panics where something does not hold.
pub type Check = fn(&[u8]);

/// Every target by the name that its folder in `fuzz/corpus` has.
pub const TARGETS: &[(&str, Check)] = &[
    ("answer", answer),
    ("artifact", artifact),
    ("config", config),
    ("history", history),
    ("plan", plan),
    ("prompt", prompt),
    ("reconcile", reconcile),
    ("reference", reference),
    ("sim_script", sim_script),
    ("spec", spec),
    ("task_file", task_file),
    ("test_report", test_report),
    ("yaml", yaml),
];

/// The readers alone, for inputs so large that checking everything would take minutes.
pub const READERS: &[Check] = &[
    |bytes| drop(orange_core::task_file::TaskFile::parse(bytes)),
    |bytes| drop(orange_core::history::History::parse(bytes)),
    |bytes| drop(str::from_utf8(bytes).map(orange_core::artifact::sections)),
    |bytes| drop(str::from_utf8(bytes).map(|text| orange_core::yaml::read(text, 0..text.len()))),
    sim_script,
    |bytes| drop(str::from_utf8(bytes).map(orange_core::work::spec::SpecOutline::of)),
    |bytes| drop(str::from_utf8(bytes).map(orange_core::work::plan::Plan::parse)),
    |bytes| drop(str::from_utf8(bytes).map(orange_core::work::answer::Answer::read)),
    |bytes| drop(orange_core::work::test_results::read(bytes)),
];

/// An error about a line names one that the text has.
fn is_a_line_of(line: usize, text: &str) {
    let last = text.matches('\n').count() + 1;
    assert!((1..=last).contains(&line), "line {line} of {last}");
}

//! What `doctor` found.

use crate::disk;
use crate::harness::probe::{Login, Version};
use crate::views::as_text;
use orange_core::{Text, Timestamp, choice};
use serde::{Serialize, Serializer};
use std::fs;
use std::path::{Path, PathBuf};

choice! {
    /// What a check is about; reports are in this order.
    #[derive(Default)]
    pub enum CheckGroup ("group of checks") {
        #[default]
        Machine = "machine",
        Home = "home",
        Databases = "databases",
        Tasks = "tasks",
        Pool = "pool",
        Sessions = "sessions",
        Processes = "processes",
        Leftovers = "leftovers",
        Disk = "disk",
    }
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    pub group: CheckGroup,
    /// The file, folder or task it is about.
    pub subject: String,
    pub problem: String,
    /// What `--repair` would do, or did.
    pub repair: Option<Text>,
    /// No repair can decide.
    #[serde(skip)]
    pub by_hand: bool,
    pub repaired: bool,
}

/// Something that is fine, or that a person may want to know and need do nothing about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    #[serde(skip)]
    pub group: CheckGroup,
    pub text: Text,
    /// The time that the text ends with, if any.
    pub time: Option<Timestamp>,
    #[serde(skip)]
    pub tone: RemarkTone,
}

/// How much a remark asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkTone {
    Fine,
    /// Worth a look.
    Note,
    /// Good to know, and that is all.
    Aside,
}

/// What the check looked at, and what it found.
#[derive(Debug, Clone, Default)]
pub struct DoctorReport {
    pub tasks: usize,
    pub projects: usize,
    pub findings: Vec<DoctorFinding>,
    pub remarks: Vec<Remark>,
    /// The agent CLIs that Orange knows, as they are here.
    pub harnesses: Vec<HarnessFound>,
    /// The other programs.
    pub programs: Vec<ProgramFound>,
    /// The size of the terminal, as the front end knows it.
    pub terminal: Option<TerminalSize>,
    pub file_system: Option<FileSystem>,
    pub disk: Option<DiskUse>,
    /// The original, if this home is a copy: then nothing is repaired here.
    pub copy_of: Option<PathBuf>,
    /// What is being looked at.
    pub(crate) group: CheckGroup,
    /// Whether what can be repaired is.
    pub(crate) repairs: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct TerminalSize {
    pub columns: u16,
    pub rows: u16,
}

/// What belongs to one group: what is fine, what a person may want to know, and what is wrong.
#[derive(Serialize)]
struct OfGroup<'a> {
    group: CheckGroup,
    fine: Vec<&'a Remark>,
    notes: Vec<&'a Remark>,
    findings: Vec<&'a DoctorFinding>,
}

impl Serialize for DoctorReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct ReportKeys<'a> {
            tasks: usize,
            projects: usize,
            copy_of: Option<&'a Path>,
            findings: &'a [DoctorFinding],
            groups: Vec<OfGroup<'a>>,
            programs: &'a [ProgramFound],
            harnesses: &'a [HarnessFound],
            terminal: Option<TerminalSize>,
            file_system: &'a Option<FileSystem>,
            disk: &'a Option<DiskUse>,
        }
        let keys = ReportKeys {
            tasks: self.tasks,
            projects: self.projects,
            copy_of: self.copy_of.as_deref(),
            findings: &self.findings,
            groups: CheckGroup::ALL
                .iter()
                .map(|group| self.of_group(*group))
                .collect(),
            programs: &self.programs,
            harnesses: &self.harnesses,
            terminal: self.terminal,
            file_system: &self.file_system,
            disk: &self.disk,
        };
        keys.serialize(to)
    }
}

impl DoctorReport {
    fn of_group(&self, group: CheckGroup) -> OfGroup<'_> {
        let remarks = self.remarks.iter().filter(|one| one.group == group);
        let (fine, notes) = remarks.partition(|one| one.tone == RemarkTone::Fine);
        let findings = self.findings.iter().filter(|one| one.group == group);
        OfGroup {
            group,
            fine,
            notes,
            findings: findings.collect(),
        }
    }

    /// Is there anything left that `--repair` would see to?
    pub fn repairable(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|one| !one.repaired && !one.by_hand && one.repair.is_some())
    }

    /// What is to be read, for a front end that has its own words for actions.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut Text> {
        let repairs = self
            .findings
            .iter_mut()
            .filter_map(|one| one.repair.as_mut());
        repairs.chain(self.remarks.iter_mut().map(|one| &mut one.text))
    }

    pub fn open(&self) -> usize {
        self.findings
            .iter()
            .filter(|finding| !finding.repaired)
            .count()
    }
}

/// A folder of the pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotUse {
    #[serde(rename = "slot")]
    pub name: String,
    /// None unless it was measured.
    pub bytes: Option<u64>,
}

/// What is kept, how much there is of it and since when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KeptFiles {
    pub count: usize,
    pub bytes: u64,
    pub oldest: Option<Timestamp>,
}

/// Everything that takes disk and is not a task's own text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskUse {
    pub slots: Vec<SlotUse>,
    /// Refs, and the bytes of the copies beside them: their commits are git's.
    pub rescue: KeptFiles,
    pub trash: KeptFiles,
    pub screens: KeptFiles,
    #[serde(rename = "log")]
    pub logs: KeptFiles,
    #[serde(rename = "verify")]
    pub checks: KeptFiles,
    /// All of the home; None unless slots were measured.
    #[serde(rename = "total_bytes")]
    pub total: Option<u64>,
}

impl KeptFiles {
    /// Those that are there; `dated` is the file that tells how old one is.
    pub(crate) fn of(paths: &[PathBuf], dated: impl Fn(&Path) -> PathBuf) -> KeptFiles {
        let there: Vec<&PathBuf> = paths.iter().filter(|path| path.exists()).collect();
        let time = |path: &&PathBuf| {
            let written = fs::metadata(dated(path)).and_then(|about| about.modified());
            Timestamp::try_from(written.ok()?).ok()
        };
        KeptFiles {
            count: there.len(),
            bytes: there.iter().map(|path| disk::used(path)).sum(),
            oldest: there.iter().filter_map(time).min(),
        }
    }
}

/// A harness as it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HarnessFound {
    pub name: String,
    #[serde(flatten, serialize_with = "installed")]
    pub path: Option<PathBuf>,
    /// How to get it, where that is known.
    pub install: Option<&'static str>,
    /// What it says of its version; an error if it does not.
    #[serde(serialize_with = "if_told")]
    pub version: Result<String, String>,
    /// The version that is needed, if it is older.
    #[serde(rename = "needed_version", serialize_with = "as_text")]
    pub needed: Option<Version>,
    #[serde(flatten)]
    pub login: Login,
    /// It works on new tasks that name none.
    pub used: bool,
    /// What a person should know besides.
    pub note: Option<String>,
    /// Whether its agents are heard; None where no agent that runs now tells.
    #[serde(rename = "signals_work", serialize_with = "work")]
    pub signals: Option<Result<String, String>>,
}

type Answered = Result<String, String>;

fn installed<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct InstalledKeys<'a> {
        installed: bool,
        path: &'a Option<PathBuf>,
    }
    let installed = path.is_some();
    InstalledKeys { installed, path }.serialize(to)
}

fn if_told<S: Serializer>(told: &Answered, to: S) -> Result<S::Ok, S::Error> {
    told.as_ref().ok().serialize(to)
}

fn work<S: Serializer>(signals: &Option<Answered>, to: S) -> Result<S::Ok, S::Error> {
    signals.as_ref().map(Result::is_ok).serialize(to)
}

/// Where the home lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileSystem {
    pub path: PathBuf,
    /// `ext4`; a number where the name is not known.
    pub kind: String,
    pub free_bytes: u64,
    pub read_only: bool,
    /// Two files change names in one step, and a writer is noticed: nobody's edit of TASK.md is lost.
    pub safe_edits: bool,
}

/// A program as it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgramFound {
    pub name: &'static str,
    /// None: not installed, or it does not say.
    pub version: Option<String>,
    /// The oldest that will do, where that matters.
    pub oldest: Option<String>,
}

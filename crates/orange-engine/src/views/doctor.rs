//! What `doctor` found.

use crate::doctor::{DiskUse, FileSystem, HarnessFound, Program};
use orange_core::choice;
use orange_core::{Text, Timestamp};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

choice! {
    /// What a check is about; reports are in this order.
    #[derive(Default)]
    pub enum Group ("group of checks") {
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
pub struct Finding {
    pub group: Group,
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
    pub group: Group,
    pub text: Text,
    /// The time that the text ends with, if any.
    pub time: Option<Timestamp>,
    #[serde(skip)]
    pub tone: Tone,
}

/// How much a remark asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Fine,
    /// Worth a look.
    Note,
    /// Good to know, and that is all.
    Aside,
}

/// What the check looked at, and what it found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub tasks: usize,
    pub projects: usize,
    pub findings: Vec<Finding>,
    pub remarks: Vec<Remark>,
    /// The agent CLIs that Orange knows, as they are here.
    pub harnesses: Vec<HarnessFound>,
    /// The other programs.
    pub programs: Vec<Program>,
    /// The size of the terminal, as the front end knows it.
    pub terminal: Option<Terminal>,
    pub file_system: Option<FileSystem>,
    pub disk: Option<DiskUse>,
    /// The original, if this home is a copy: then nothing is repaired here.
    pub copy_of: Option<PathBuf>,
    /// What is being looked at.
    pub(crate) group: Group,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Terminal {
    pub columns: u16,
    pub rows: u16,
}

/// What belongs to one group: what is fine, what a person may want to know, and what is wrong.
#[derive(Serialize)]
struct OfGroup<'a> {
    group: Group,
    fine: Vec<&'a Remark>,
    notes: Vec<&'a Remark>,
    findings: Vec<&'a Finding>,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keys<'a> {
            tasks: usize,
            projects: usize,
            copy_of: Option<&'a Path>,
            findings: &'a [Finding],
            groups: Vec<OfGroup<'a>>,
            programs: &'a [Program],
            harnesses: &'a [HarnessFound],
            terminal: Option<Terminal>,
            file_system: &'a Option<FileSystem>,
            disk: &'a Option<DiskUse>,
        }
        let keys = Keys {
            tasks: self.tasks,
            projects: self.projects,
            copy_of: self.copy_of.as_deref(),
            findings: &self.findings,
            groups: Group::ALL
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

impl Report {
    fn of_group(&self, group: Group) -> OfGroup<'_> {
        let remarks = self.remarks.iter().filter(|one| one.group == group);
        let (fine, notes) = remarks.partition(|one| one.tone == Tone::Fine);
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

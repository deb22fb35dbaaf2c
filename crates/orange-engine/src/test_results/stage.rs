//! Stages an import: everything is read, checked and copied before anything of the task changes.

use super::beneath::{FoundBeneath, open_beneath, open_folder};
use super::{Digesting, REPORT, place::PlacementPlan, staging};
use crate::database::StoredResults;
use crate::error::{Error, IoContext, Result, err};
use crate::store::private;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use orange_core::work::test_results::{
    FOLDER, Figures, FileSource, NamedFile, PAGE, Parsed, ReportForm, SCREENSHOTS, TRACES, read,
};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Take, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A report is not longer, nor do the files that it names hold more.
pub(super) const LONGEST_REPORT: u64 = 256 * 1024 * 1024;
pub(super) const TOO_LONG: &str = "it is larger than 256 MiB";
const LARGEST_FILES: u64 = 1024 * 1024 * 1024;

/// What a report in a folder may be called, where that is not `report.json`.
const REPORTS: &[&str] = &[
    REPORT,
    "results.json",
    "test-results.json",
    "playwright-report.json",
];

/// Where a page beside a report may be.
const PAGES: &[&[&str]] = &[&[PAGE], &["playwright-report", PAGE], &["html", PAGE]];

/// What is imported.
pub(crate) struct ReportSource {
    report: PathBuf,
    /// Files are looked for beneath these, the first one by the ends of their paths too.
    roots: Vec<SourceRoot>,
    /// It lies where the task's own report lies.
    in_place: bool,
}

struct SourceRoot {
    path: PathBuf,
    folder: OwnedFd,
}

/// What was staged.
pub(crate) struct Staged {
    pub(crate) figures: Figures,
    /// Of the report as the task has it afterwards.
    pub(crate) digest: String,
    /// What the import brings: `screenshots/login.png`.
    pub(crate) brings: BTreeSet<String>,
    /// How many files are named that nobody has.
    pub(crate) missing: usize,
}

impl ReportSource {
    /// A report, or a folder with one.
    pub(crate) fn given(path: &Path, task: &Path) -> Result<ReportSource> {
        let real = fs::canonicalize(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => err!(NotFound, "there is no {}", path.display())
                .hint("name the JSON report of a test run, or the folder that it is in"),
            _ => Error::io("read", path, &error),
        })?;
        let report = match real.is_dir() {
            true => report_in(&real)?,
            false => real,
        };
        let folder = private::folder_of(&report).to_owned();
        let own = task.join(FOLDER);
        let in_place = fs::canonicalize(&own).is_ok_and(|own| own == folder)
            && report.file_name().is_some_and(|name| name == REPORT);
        Ok(ReportSource {
            report,
            roots: vec![SourceRoot::at(folder)?],
            in_place,
        })
    }

    /// The report that a turn left in the task's folder; it may name files in the slot.
    pub(crate) fn found(task: &Path, slot: &Path) -> Result<ReportSource> {
        let folder = task.join(FOLDER);
        let real = fs::canonicalize(&folder).doing("read", &folder)?;
        let slot = fs::canonicalize(slot).doing("read", slot)?;
        Ok(ReportSource {
            report: folder.join(REPORT),
            roots: vec![SourceRoot::at(real)?, SourceRoot::at(slot)?],
            in_place: true,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.report
    }
}

impl SourceRoot {
    fn at(path: PathBuf) -> Result<SourceRoot> {
        let folder = open_folder(&path).doing("open", &path)?;
        Ok(SourceRoot { path, folder })
    }
}

/// The report in a folder.
fn report_in(folder: &Path) -> Result<PathBuf> {
    let named = REPORTS.iter().map(|name| folder.join(name));
    if let Some(report) = named.into_iter().find(|path| path.is_file()) {
        return Ok(report);
    }
    let entries = fs::read_dir(folder).doing("read", folder)?;
    let mut others = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        (is_json && path.is_file()).then_some(path)
    });
    match (others.next(), others.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(err!(NotFound, "no test report in {}", folder.display())
            .hint("write one with `npx playwright test --reporter=json`, or name the file")),
        (Some(_), Some(_)) => Err(err!(
            Ambiguous,
            "several JSON files in {}, and none of them is {REPORT}",
            folder.display()
        )
        .hint("name the file of the report")),
    }
}

/// Reads a report and stages what the task is to have of it. What is refused leaves nothing behind.
pub(crate) fn stage(
    task: &Path,
    import: &str,
    source: &ReportSource,
    known: &StoredResults,
) -> Result<Staged> {
    let folder = staging(task, import);
    let staged = try_stage(&folder, source, known).and_then(|staged| {
        has_room(task, &staged.brings)?;
        Ok(staged)
    });
    if staged.is_err() {
        let _ = fs::remove_dir_all(&folder);
    }
    staged
}

fn try_stage(folder: &Path, source: &ReportSource, known: &StoredResults) -> Result<Staged> {
    let (mut parsed, digest) = parse(&source.report)?;
    if source.in_place && parsed.form == ReportForm::Own {
        // It is where it belongs, and so are its files; of those of an earlier import it may name some.
        let missing = missing(source, &parsed.files)?;
        let named: BTreeSet<String> = parsed.files.iter().map(place_of).collect();
        return Ok(Staged {
            figures: parsed.report.figures(),
            digest,
            brings: known.owned.intersection(&named).cloned().collect(),
            missing,
        });
    }
    for kind in ["", SCREENSHOTS, TRACES] {
        let path = folder.join(kind);
        private::make_folder(&path).doing("create", &path)?;
    }
    let mut copying = Copying {
        folder,
        left: LARGEST_FILES,
    };
    let mut brings = BTreeSet::new();
    let mut gone = BTreeSet::new();
    for file in &parsed.files {
        let place = place_of(file);
        if copying.named(source, file)? {
            brings.insert(place);
        } else {
            gone.insert(place);
        }
    }
    if copying.page(source)? {
        brings.insert(PAGE.to_owned());
    }
    let report = folder.join(REPORT);
    if parsed.form == ReportForm::Own {
        // As it is, with what this version does not know.
        let mut given = open_report(&source.report)?;
        let mut own = File::create(&report).doing("create", &report)?;
        io::copy(&mut given, &mut own).doing("copy", &source.report)?;
    } else {
        for test in parsed
            .report
            .suites
            .iter_mut()
            .flat_map(|suite| &mut suite.tests)
        {
            let is_there = |kind: &str, name: &String| !gone.contains(&format!("{kind}/{name}"));
            test.screenshots.retain(|name| is_there(SCREENSHOTS, name));
            test.trace = test.trace.take().filter(|name| is_there(TRACES, name));
        }
        let file = private::create(&report).doing("write", &report)?;
        let mut writer = BufWriter::new(file);
        let written = serde_json::to_writer_pretty(&mut writer, &parsed.report);
        written.map_err(io::Error::from).doing("write", &report)?;
        writer
            .write_all(b"\n")
            .and_then(|()| writer.flush())
            .doing("write", &report)?;
    }
    sync(&report)?;
    if fs::metadata(&report).doing("read", &report)?.len() > LONGEST_REPORT {
        let why = "what Orange keeps of it would be larger than 256 MiB";
        return Err(refused(&source.report, why));
    }
    let plan = PlacementPlan {
        owned: known.owned.clone(),
        keeps_original: source.in_place && parsed.form == ReportForm::Playwright,
    };
    plan.write(folder)?;
    let mut written = Digesting::of(File::open(&report).doing("read", &report)?);
    io::copy(&mut written, &mut io::sink()).doing("read", &report)?;
    for kind in [SCREENSHOTS, TRACES, ""] {
        sync(&folder.join(kind))?;
    }
    Ok(Staged {
        figures: parsed.report.figures(),
        digest: written.digest(),
        brings,
        missing: gone.len(),
    })
}

/// Refuses what could not be moved to its place.
fn has_room(task: &Path, brings: &BTreeSet<String>) -> Result<()> {
    let results = task.join(FOLDER);
    let folders = [SCREENSHOTS, TRACES].into_iter().filter(|kind| {
        let mut places = brings.iter().filter_map(|place| place.split_once('/'));
        places.any(|(folder, _)| folder == *kind)
    });
    for folder in folders.map(|kind| results.join(kind)) {
        is_own_folder(&folder)?;
    }
    for file in [REPORT, PAGE].map(|name| results.join(name)) {
        if fs::symlink_metadata(&file).is_ok_and(|found| found.is_dir()) {
            return Err(err!(
                Refused,
                "nothing can be imported: {} is a folder",
                file.display()
            )
            .hint("delete it or move it away; a file of the import gets its name"));
        }
    }
    Ok(())
}

/// Refuses what would lead the files elsewhere.
pub(crate) fn is_own_folder(folder: &Path) -> Result<()> {
    let what = match fs::symlink_metadata(folder) {
        Ok(found) if found.is_symlink() => "a symbolic link",
        Ok(found) if !found.is_dir() => "no folder",
        Ok(_) | Err(_) => return Ok(()),
    };
    let path = folder.display();
    Err(err!(Refused, "nothing can be imported: {path} is {what}")
        .hint("delete it or move it away; the import makes the folder"))
}

fn sync(path: &Path) -> Result<()> {
    let file = File::open(path).doing("open", path)?;
    file.sync_all().doing("sync", path)
}

/// The file of a report, which is no link and not too long.
fn open_report(path: &Path) -> Result<Take<File>> {
    let parent = private::folder_of(path);
    let name = path.file_name().and_then(|name| name.to_str());
    let folder = open_folder(parent).doing("open", parent)?;
    let file = match open_beneath(&folder, &[name.unwrap_or_default()]).doing("read", path)? {
        FoundBeneath::File(file) => file,
        FoundBeneath::Other(why) => return Err(refused(path, why)),
        FoundBeneath::Nothing => return Err(err!(NotFound, "there is no {}", path.display())),
    };
    let length = file.metadata().doing("read", path)?.len();
    if length > LONGEST_REPORT {
        return Err(refused(path, TOO_LONG));
    }
    // Somebody may go on writing it.
    Ok(file.take(LONGEST_REPORT))
}

/// A report and the digest of its file.
fn parse(path: &Path) -> Result<(Parsed, String)> {
    let file = open_report(path)?;
    let mut digesting = Digesting::of(BufReader::with_capacity(256 * 1024, file));
    let parsed = read(BufReader::new(&mut digesting));
    let parsed = parsed.map_err(|error| refused(path, &error.to_string()).because(error))?;
    Ok((parsed, digesting.digest()))
}

fn refused(path: &Path, why: &str) -> Error {
    err!(
        Refused,
        "{} cannot be imported as a test report: {why}",
        path.display()
    )
    .hint("nothing was changed; `npx playwright test --reporter=json` writes a report anew")
}

/// `screenshots/login.png`
fn place_of(file: &NamedFile) -> String {
    format!("{}/{}", file.kind.folder(), file.name)
}

fn missing(source: &ReportSource, files: &[NamedFile]) -> Result<usize> {
    let mut missing = 0;
    for file in files {
        missing += usize::from(located(source, file)?.is_none());
    }
    Ok(missing)
}

/// What is copied into the staging folder.
struct Copying<'a> {
    folder: &'a Path,
    left: u64,
}

impl Copying<'_> {
    /// Copies a file that the report names; false: nobody has it.
    fn named(&mut self, source: &ReportSource, file: &NamedFile) -> Result<bool> {
        let target = self.folder.join(place_of(file));
        if let FileSource::Body(body) = &file.source {
            let bytes = BASE64_STANDARD.decode(body.as_bytes());
            let bytes = bytes.map_err(|error| unusable(source, file, &error.to_string()))?;
            self.copy(source, &mut bytes.as_slice(), &target)?;
            return Ok(true);
        }
        match located(source, file)? {
            Some(mut from) => self.copy(source, &mut from, &target).map(|()| true),
            None => Ok(false),
        }
    }

    /// Copies the page beside the report; false: there is none.
    fn page(&mut self, source: &ReportSource) -> Result<bool> {
        let Some(root) = source.roots.first().filter(|_| !source.in_place) else {
            return Ok(false);
        };
        for parts in PAGES {
            if let FoundBeneath::File(mut page) =
                open_beneath(&root.folder, parts).doing("read", &root.path)?
            {
                self.copy(source, &mut page, &self.folder.join(PAGE))?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn copy(&mut self, source: &ReportSource, from: &mut impl Read, target: &Path) -> Result<()> {
        let mut file = private::create_anew(target).doing("write", target)?;
        // One more tells that there is more.
        let mut limited = from.take(self.left + 1);
        let copied = io::copy(&mut limited, &mut file).doing("write", target)?;
        let Some(left) = self.left.checked_sub(copied) else {
            return Err(refused(
                &source.report,
                "the files that it names hold more than 1 GiB",
            ));
        };
        self.left = left;
        file.sync_all().doing("sync", target)
    }
}

fn unusable(source: &ReportSource, file: &NamedFile, why: &str) -> Error {
    let (name, test) = (&file.name, &file.test);
    refused(&source.report, &format!("{name:?} of test {test:?}: {why}"))
}

/// A file that the report names, beneath what is imported.
fn located(source: &ReportSource, file: &NamedFile) -> Result<Option<File>> {
    let first = source.roots.first();
    let look = |root: &SourceRoot, parts: &[&str]| match open_beneath(&root.folder, parts) {
        Ok(FoundBeneath::File(found)) => Ok(Some(found)),
        Ok(FoundBeneath::Nothing) => Ok(None),
        Ok(FoundBeneath::Other(why)) => Err(unusable(source, file, why)),
        Err(error) => Err(Error::io("read", &root.path, &error)),
    };
    match &file.source {
        FileSource::Body(_) => Ok(None),
        FileSource::Beside => {
            let places: [&[&str]; 2] = [&[file.kind.folder(), &file.name], &[&file.name]];
            for parts in places {
                if let Some(found) = first.map(|root| look(root, parts)).transpose()?.flatten() {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        }
        FileSource::Path(path) => {
            let parts: Vec<&str> = path
                .split(['/', '\\'])
                .filter(|part| !part.is_empty() && *part != ".")
                .collect();
            // Where it was made, if that is here.
            for root in &source.roots {
                if let Some(inside) = Path::new(path)
                    .strip_prefix(&root.path)
                    .ok()
                    .and_then(Path::to_str)
                {
                    let inside: Vec<&str> =
                        inside.split('/').filter(|part| !part.is_empty()).collect();
                    if let Some(found) = look(root, &inside)? {
                        return Ok(Some(found));
                    }
                }
            }
            // It was made elsewhere, and copied here with what it names: as much of the path as there is.
            let Some(root) = first else {
                return Ok(None);
            };
            for start in 0..parts.len() {
                if let Some(found) = look(root, parts.get(start..).unwrap_or_default())? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        }
    }
}

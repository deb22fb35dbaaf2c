//! What `doctor` finds in the repositories themselves: the rules they come with, and what makes git show other content
//! than there is.

use crate::call::Call;
use crate::error::Result;
use crate::git::branches::refs_below;
use crate::git::worktree::common_dir_of;
use crate::maintenance::doctor::some_of;
use crate::projects::Project;
use crate::rules::{Rules, newest_base};
use crate::views::doctor::DoctorReport;
use crate::views::prompts;
use orange_core::config::WorkspaceConfig;
use orange_core::naming::counted;
use orange_core::prompt::PromptName;

/// Rules that cannot be read, or say something that means nothing, where new work starts from.
pub(crate) fn check_repositories(call: &Call, report: &mut DoctorReport) -> Result<()> {
    for project in call.projects().unwrap_or_default() {
        // A repository that is gone or empty has no rules; the former is said elsewhere.
        if !project.path.is_dir() {
            continue;
        }
        let subject = format!("project {}", project.name);
        check_replaced(&project, &subject, report);
        let Ok(commit) = newest_base(&project) else {
            continue;
        };
        match Rules::read(&project.path, &commit, &WorkspaceConfig::default()) {
            Ok(rules) => {
                for ignored in rules.ignored {
                    report.add(&subject, format!(".orange/config.yaml, {ignored}"));
                }
            }
            Err(error) => report.add_error(&subject, error),
        }
        check_prompts(call, &project, &subject, report);
    }
    Ok(())
}

/// Prompts that agents do not get although somebody wrote them.
fn check_prompts(call: &Call, project: &Project, subject: &str, report: &mut DoctorReport) {
    let prompts = match prompts::prompts(call, Some(&project.name)) {
        Ok(prompts) => prompts,
        Err(error) => {
            report.add(subject, error.message);
            return;
        }
    };
    for source in prompts.sources {
        if let Some(unusable) = source.unusable {
            let how = format!("correct it in {} and commit that", project.path.display());
            report.by_hand(subject, unusable.to_string(), how);
        }
    }
    for path in prompts.unknown {
        let known = PromptName::WORDS.join(", ");
        let problem = format!("{path} has the name of no prompt; there are {known}");
        report.add(subject, problem);
    }
}

/// Where git is told to put one object or one history in the place of another, `git diff` and `git log` of a person show
/// something else than Orange merges. They may be the user's own, so nothing is removed here.
fn check_replaced(project: &Project, subject: &str, report: &mut DoctorReport) {
    const REPLACED: &str = "refs/replace/";
    let refs = refs_below(&project.path, &[REPLACED]);
    let Some(refs) = report.checked(subject, refs) else {
        return;
    };
    let objects: Vec<String> = refs
        .iter()
        .filter_map(|name| name.strip_prefix(REPLACED).map(str::to_owned))
        .collect();
    if !objects.is_empty() {
        let path = project.path.display();
        report.by_hand(
            subject,
            format!(
                "git shows other content for {} (refs/replace): {}; Orange, its agents and its checks see and merge \
                 the real one, your own git does not",
                counted(objects.len(), "object"),
                some_of(&objects)
            ),
            format!("unless you made them, delete from {path}: {}", refs.join(", ")),
        );
    }
    let common = report.checked(subject, common_dir_of(&project.path));
    let Some(grafts) = common.flatten().map(|common| common.join("info/grafts")) else {
        return;
    };
    if std::fs::metadata(&grafts).is_ok_and(|about| about.len() > 0) {
        report.by_hand(
            subject,
            "git shows another history than there is (info/grafts); Orange, its agents and its checks see the real \
             one, your own git does not",
            format!("unless you made it, delete {}", grafts.display()),
        );
    }
}

//! `orange project …`: which repositories Orange knows.

mod trust;

use super::task::word;
use crate::completion::{branches, projects, words};
use crate::output::named;
use crate::session::Session;
use crate::ui::command::command;
use crate::ui::{Cell, Column, Style, Table};
use clap::{Args, Subcommand};
use orange_core::Action;
use orange_core::config::Permissions;
use orange_core::id::Prefix;
use orange_core::naming::counted;
use orange_engine::projects::Project;
use orange_engine::verbs::project::{self, AddProject, UpdateProject};
use orange_engine::views::{ProjectResult, ProjectView};
use orange_engine::{Result, err};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ProjectCommand {
    /// Register a repository
    #[command(
        after_help = "Examples:\n  orange project add .\n  orange project add ~/code/shop --name shop --pool-size 4\n  orange project add ~/code/shop --prefix SHOP      keys like SHOP-001"
    )]
    Add(AddArgs),
    /// List the registered repositories
    #[command(after_help = "Example:\n  orange project list --json")]
    List,
    /// Change a registered repository
    #[command(
        after_help = "Examples:\n  orange project update shop --pool-size 8\n  orange project update shop --permissions ask\n  orange project update shop --prefix API           for tasks from now on\n  orange project update shop --path ~/new/place/shop"
    )]
    Update(ProjectUpdateArgs),
    /// Look at the commands a repository comes with, and agree to them
    #[command(
        after_help = "Examples:\n  orange project trust shop\n  orange project trust shop --yes\n  orange project trust shop --revoke"
    )]
    Trust(trust::TrustArgs),
    /// Forget a repository; its tasks stay on disk
    #[command(after_help = "Example:\n  orange project remove shop")]
    Remove {
        /// The project
        #[arg(add = projects())]
        name: String,
        /// Also when it has open tasks
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// A folder inside the repository
    #[arg(default_value = ".")]
    path: PathBuf,
    /// What to call it (default: the folder's name)
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    fields: ProjectFields,
}

#[derive(Debug, Args)]
struct ProjectFields {
    /// The branch that work starts from and goes to (default: found out)
    #[arg(long, value_name = "BRANCH", add = branches())]
    default_branch: Option<String>,
    /// How many workspaces it may have at once (a new project: `workspace.pool_size`)
    #[arg(long, value_name = "N")]
    pool_size: Option<u32>,
    /// How the keys of its new tasks begin: 2 to 10 letters and digits (default: TASK)
    #[arg(long)]
    prefix: Option<Prefix>,
    /// What its tasks' agents may do without asking: full, edits or ask
    #[arg(long, value_name = "MODE", value_parser = word::<Permissions>, add = words(Permissions::WORDS))]
    permissions: Option<Permissions>,
}

#[derive(Debug, Args)]
pub(crate) struct ProjectUpdateArgs {
    /// The project
    #[arg(add = projects())]
    name: String,
    /// Where the repository lies now
    #[arg(long)]
    path: Option<PathBuf>,
    #[command(flatten)]
    fields: ProjectFields,
}

pub(crate) fn run(session: &Session, command: ProjectCommand) -> Result<()> {
    match command {
        ProjectCommand::Add(args) => {
            let added = project::add_project(
                &session.call,
                &AddProject {
                    path: session.folder.join(&args.path),
                    name: args.name,
                    default_branch: args.fields.default_branch,
                    pool_size: args.fields.pool_size,
                    prefix: args.fields.prefix,
                    permissions: args.fields.permissions,
                },
            )?;
            let text = if added.new {
                registered(&added.project, args.fields.pool_size)
            } else {
                described(&added.project, "already registered:")
            };
            told(session, &added.project, &text)
        }
        ProjectCommand::List => {
            let projects = session.call.projects()?;
            let views: Vec<ProjectView<'_>> = projects.iter().map(ProjectView::from).collect();
            session.finish(named("projects", &views), || listed(&projects))
        }
        ProjectCommand::Update(args) => {
            let fields = &args.fields;
            let nothing = fields.default_branch.is_none() && fields.pool_size.is_none();
            let nothing = nothing && fields.prefix.is_none() && fields.permissions.is_none();
            if nothing && args.path.is_none() {
                return Err(err!(Usage, "nothing to change was given").hint(
                    "say what: --path, --default-branch, --pool-size, --prefix or --permissions",
                ));
            }
            let project = project::update_project(
                &session.call,
                &args.name,
                &UpdateProject {
                    path: args.path.map(|path| session.folder.join(path)),
                    default_branch: args.fields.default_branch,
                    pool_size: args.fields.pool_size,
                    prefix: args.fields.prefix,
                    permissions: args.fields.permissions,
                },
            )?;
            one(session, &project, "updated")
        }
        ProjectCommand::Trust(args) => trust::run(session, &args),
        ProjectCommand::Remove { name, force } => {
            let project = project::remove_project(&session.call, &name, force)?;
            one(session, &project, "removed")
        }
    }
}

fn one(session: &Session, project: &Project, verb: &str) -> Result<()> {
    told(session, project, &described(project, verb))
}

fn told(session: &Session, project: &Project, text: &str) -> Result<()> {
    // One line for programs; what else a person is told is in the project.
    let message = text.lines().next().unwrap_or_default();
    let project = ProjectView::from(project);
    session.finish(ProjectResult { project, message }, || text.to_owned())
}

/// What is said of a new project; how many workspaces it has unless somebody said a number.
pub(crate) fn registered(project: &Project, pool_size: Option<u32>) -> String {
    if pool_size.is_some() {
        return described(project, "registered");
    }
    let change = command(&Action::enlarge_pool(&project.name, None));
    format!(
        "{}{}; change it with `{change}`\n",
        with_details(project, "registered", None),
        workspaces(project)
    )
}

fn described(project: &Project, verb: &str) -> String {
    with_details(project, verb, Some(workspaces(project)))
}

fn workspaces(project: &Project) -> String {
    counted(project.pool_size as usize, "workspace")
}

fn with_details(project: &Project, verb: &str, workspaces: Option<String>) -> String {
    let mut details = vec![format!("default branch {}", project.default_branch)];
    details.extend(workspaces);
    if !project.prefix.is_default() {
        details.push(format!("new keys {}-…", project.prefix));
    }
    details.extend(
        project
            .permissions
            .map(|mode| format!("permissions {mode}")),
    );
    format!(
        "{verb} project {} at {} ({})\n",
        project.name,
        project.path.display(),
        details.join(", ")
    )
}

fn listed(projects: &[Project]) -> String {
    if projects.is_empty() {
        return "no projects yet; register one with `orange project add PATH`\n".into();
    }
    let mut table = Table::new(&[
        Column::new("PROJECT"),
        Column::new("PREFIX"),
        Column::new("BRANCH"),
        Column::new("WORKSPACES"),
        Column::new("PERMISSIONS"),
        Column::new("PATH").flexible(),
    ]);
    for project in projects {
        table.row([
            Cell::new(project.name.clone(), Style::Bold),
            Cell::from(project.prefix.to_string()),
            Cell::from(project.default_branch.clone()),
            Cell::from(project.pool_size.to_string()),
            Cell::from(project.permissions.map_or("-", Permissions::as_str)),
            Cell::from(project.path.display().to_string()),
        ]);
    }
    table.to_text()
}

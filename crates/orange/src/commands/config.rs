//! `orange config …`: settings, where their values come from, and changing them.

mod edit;
mod show;

use crate::completion::{keys, keys_in_file, projects, setting_values};
use crate::output::{self, named};
use crate::session::Session;
use crate::ui::clean;
use clap::{Args, Subcommand};
use orange_core::config::{ConfigError, Setting, reference, schema};
use orange_core::{Action, text};
use orange_engine::verbs::config::{self, SettingChanged};
use orange_engine::views::settings;
use orange_engine::{Result, err};
use serde_json::Value;
use show::spoken;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ConfigCommand {
    /// List every setting, its value, and where that comes from
    #[command(
        after_help = "A dash stands for no value, ✗ for one that cannot be used: all mistakes in config.yaml are named below, and the exit code is 1. Later sources win: the default, ~/orange/config.yaml, the repository's .orange/config.yaml as committed where work starts from, variables such as ORANGE_AGENTS_HARNESS, --config.\n\nExamples:\n  orange config show\n  orange config show --project shop\n  orange config show --json"
    )]
    Show {
        /// For new work of this project (default: the one you are in)
        #[arg(long, value_name = "NAME", add = projects())]
        project: Option<String>,
    },
    /// Print the value of one setting, and nothing else
    #[command(
        after_help = "A list is printed one entry a line; no value prints nothing. A section prints the table of its settings.\n\nExamples:\n  orange config get merge.strategy\n  orange config get workspace.copy --project shop\n  orange config get agents"
    )]
    Get(GetArgs),
    /// Change one setting in ~/orange/config.yaml
    #[command(
        after_help = "Comments, order and layout of the file stay as they are. Several values make a list. For a whole team: write it into .orange/config.yaml of the repository and commit that.\n\nExamples:\n  orange config set merge.strategy rebase\n  orange config set workspace.copy .env 'certs/*.pem'\n  orange config set workspace.setup '[npm ci, make]'"
    )]
    Set(ConfigSetArgs),
    /// Take one setting out of ~/orange/config.yaml: the default counts again
    #[command(after_help = "Example:\n  orange config unset merge.strategy")]
    Unset {
        /// Such as merge.strategy
        #[arg(value_name = "KEY", add = keys_in_file())]
        key: String,
    },
    /// Open ~/orange/config.yaml in your editor
    #[command(
        after_help = "The editor is VISUAL, or else EDITOR. It gets a copy, which takes the place of the file once it can be read; until then the file stays as it was.\n\nExample:\n  orange config edit"
    )]
    Edit,
    /// Print a JSON Schema of config.yaml, for editors
    #[command(after_help = "Example:\n  orange config schema > ~/orange/config.schema.json")]
    Schema,
    /// Print docs/reference/configuration.md: every setting explained
    #[command(after_help = "Example:\n  orange config docs | less")]
    Docs,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Such as merge.strategy, or a section such as merge
    #[arg(value_name = "KEY", add = keys())]
    key: String,
    /// For new work of this project (default: the one you are in)
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigSetArgs {
    /// Such as merge.strategy
    #[arg(value_name = "KEY", add = keys())]
    key: String,
    /// The new value; several make a list
    // A number below zero is refused with what is allowed, not taken for a flag.
    #[arg(
        value_name = "VALUE",
        required_unless_present = "unset",
        allow_negative_numbers = true,
        add = setting_values()
    )]
    values: Vec<String>,
    /// The same as `orange config unset`, for those who know it from git
    #[arg(long, conflicts_with = "values", hide = true)]
    unset: bool,
}

/// What needs no home; true: that was it.
pub(crate) fn without_home(command: &ConfigCommand, as_json: bool) -> bool {
    match command {
        ConfigCommand::Schema => {
            output::print_json_text(&format!("{:#}", schema()));
        }
        ConfigCommand::Docs if as_json => {
            output::print_json(&named("docs", reference()));
        }
        ConfigCommand::Docs => output::print(&reference()),
        _ => return false,
    }
    true
}

pub(crate) fn changes(command: &ConfigCommand) -> bool {
    matches!(
        command,
        ConfigCommand::Set(_) | ConfigCommand::Unset { .. } | ConfigCommand::Edit
    )
}

pub(crate) fn run(session: &Session, command: &ConfigCommand) -> Result<()> {
    match command {
        ConfigCommand::Show { project } => show::run(session, project.as_deref(), None),
        ConfigCommand::Get(args) => get(session, args),
        ConfigCommand::Set(args) => {
            let values = (!args.unset).then_some(args.values.as_slice());
            change(session, &args.key, values)
        }
        ConfigCommand::Unset { key } => change(session, key, None),
        ConfigCommand::Edit => edit::run(session),
        ConfigCommand::Schema | ConfigCommand::Docs => Ok(()),
    }
}

fn get(session: &Session, args: &GetArgs) -> Result<()> {
    let project = args.project.as_deref();
    if Setting::of_section(&args.key).next().is_some() {
        return show::run(session, project, Some(&args.key));
    }
    config::setting(&args.key)?;
    let project = session.project(project)?;
    let view = settings::settings(&session.call, project.as_deref())?;
    let found = view.settings.into_iter().find(|one| one.key == args.key);
    let Some(found) = found else {
        return Err(err!(NotFound, "{} is not set", args.key)
            .hint(text!("{} lists the settings", Action::list_settings())));
    };
    if let Some(mistake) = &found.mistake {
        return Err(err!(Usage, "config.yaml, {mistake}").hint(text!(
            "correct it with `orange config set`, or {}",
            Action::edit_settings()
        )));
    }
    session.finish_as_it_is(named("setting", &found), || show::bare(&found.value))?;
    if !view.mistakes.is_empty() {
        let mistakes = view.mistakes;
        output::note(&ConfigError { mistakes }.to_string());
    }
    Ok(())
}

/// No values: it is taken out.
fn change(session: &Session, key: &str, values: Option<&[String]>) -> Result<()> {
    let changed = config::change_setting(&mut session.call.clone(), key, values)?;
    session.finish(named("setting", &changed), || told(&changed))?;
    if let Some(outdone) = changed.outdone {
        output::note(&format!("{outdone} says otherwise, and wins"));
    }
    if let Some(trouble) = changed.trouble {
        output::note(&trouble);
        output::note("`orange config edit` opens it");
    }
    Ok(())
}

fn told(changed: &SettingChanged) -> String {
    let key = &changed.key;
    let text = |value: &Value| clean(&spoken(value)).into_owned();
    let default = match &changed.default {
        Value::Null => String::new(),
        Value::Array(items) if items.is_empty() => String::new(),
        value => format!(" (default: {})", text(value)),
    };
    match (
        changed.before.as_ref().map(text),
        changed.after.as_ref().map(text),
    ) {
        (None, None) => format!("{key} is not set in config.yaml{default}\n"),
        (Some(was), None) => format!("{key}: {was} → not set{default}\n"),
        (Some(_), Some(is)) if changed.is_same => format!("{key} is {is} already\n"),
        (was, Some(is)) => format!("{key}: {} → {is}\n", was.as_deref().unwrap_or("not set")),
    }
}

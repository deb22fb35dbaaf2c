//! `orange config …`: settings, where their values come from, and changing them.

mod edit;
mod show;

use crate::error::{CommandError, Result};
use crate::output;
use crate::session::Session;
use crate::ui::clean;
use clap::{Args, Subcommand};
use orange_core::config::{reference, schema};
use orange_engine::{Code, Engine, Error};
use serde_json::json;
use show::{as_json, spoken};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List every setting, its value, and where that comes from
    #[command(
        after_help = "A dash stands for no value. Later sources win: the default, ~/orange/config.yaml, the repository's .orange/config.yaml as committed where work starts from, variables such as ORANGE_AGENTS_HARNESS, --config.\n\nExamples:\n  orange config show\n  orange config show --project shop\n  orange config show --json"
    )]
    Show(ShowArgs),
    /// Print the value of one setting, and nothing else
    #[command(
        after_help = "A list is printed one entry a line; no value prints nothing.\n\nExamples:\n  orange config get merge.strategy\n  orange config get workspace.copy --project shop"
    )]
    Get(GetArgs),
    /// Change one setting in ~/orange/config.yaml
    #[command(
        after_help = "Comments, order and layout of the file stay as they are. Several values make a list. For a whole team: write it into .orange/config.yaml of the repository and commit that.\n\nExamples:\n  orange config set merge.strategy rebase\n  orange config set workspace.copy .env 'certs/*.pem'\n  orange config set workspace.setup '[npm ci, make]'\n  orange config set merge.strategy --unset"
    )]
    Set(SetArgs),
    /// Open ~/orange/config.yaml in your editor
    #[command(
        after_help = "The editor is VISUAL, or else EDITOR. It gets a copy, which takes the place of the file once it can be read; until then the file stays as it was.\n\nExample:\n  orange config edit"
    )]
    Edit,
    /// Print a JSON Schema of config.yaml, for editors
    #[command(after_help = "Example:\n  orange config schema > ~/orange/config.schema.json")]
    Schema,
    /// Print docs/configuration.md: every setting explained
    #[command(after_help = "Example:\n  orange config docs | less")]
    Docs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// For new work of this project; the one you are in unless given
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Such as merge.strategy
    #[arg(value_name = "KEY")]
    key: String,
    /// For new work of this project; the one you are in unless given
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Such as merge.strategy
    #[arg(value_name = "KEY")]
    key: String,
    /// The new value; several make a list
    #[arg(value_name = "VALUE", required_unless_present = "unset")]
    values: Vec<String>,
    /// Take it out of the file: the default counts again
    #[arg(long, conflicts_with = "values")]
    unset: bool,
}

/// What needs no home; true: that was it.
pub(crate) fn without_home(command: &ConfigCommand) -> bool {
    match command {
        ConfigCommand::Schema => output::print(&format!("{:#}\n", schema())),
        ConfigCommand::Docs => output::print(&reference()),
        ConfigCommand::Show(_)
        | ConfigCommand::Get(_)
        | ConfigCommand::Set(_)
        | ConfigCommand::Edit => return false,
    }
    true
}

pub(crate) fn run(session: &mut Session, command: &ConfigCommand) -> Result<()> {
    match command {
        ConfigCommand::Show(args) => show::run(session, args.project.as_deref()),
        ConfigCommand::Get(args) => get(session, args),
        ConfigCommand::Set(args) => set(session, args),
        ConfigCommand::Edit => edit::run(session),
        ConfigCommand::Schema | ConfigCommand::Docs => Ok(()),
    }
}

fn get(session: &mut Session, args: &GetArgs) -> Result<()> {
    Engine::setting(&args.key)?;
    let project = session.project(args.project.as_deref())?;
    let view = session.engine.settings(project.as_deref())?;
    let found = view.settings.into_iter().find(|one| one.key == args.key);
    let Some(found) = found else {
        let error = Error::new(Code::NotFound, format!("{} is not set", args.key));
        return Err(CommandError(
            error.hint("`orange config show` lists the settings"),
        ));
    };
    let path = session.engine.settings_file();
    session.finish_as_it_is(
        || json!({"setting": as_json(&found, &path)}),
        || show::bare(&found.value),
    );
    Ok(())
}

fn set(session: &mut Session, args: &SetArgs) -> Result<()> {
    let values = (!args.unset).then_some(args.values.as_slice());
    let changed = session.engine.change_setting(&args.key, values)?;
    let path = session.engine.settings_file();
    session.finish(
        || {
            json!({"setting": {
                "key": changed.key,
                "before": changed.before,
                "after": changed.after,
                "file": path,
            }})
        },
        || {
            let was = changed.before.as_ref().map_or("not set".to_owned(), spoken);
            let is = changed.after.as_ref().map_or("not set".to_owned(), spoken);
            let (was, is) = (clean(&was), clean(&is));
            match was == is {
                true => format!("{} is {is} already\n", changed.key),
                false => format!("{}: {was} → {is}\n", changed.key),
            }
        },
    );
    if let Some(outdone) = changed.outdone {
        output::note(&format!("{outdone} says otherwise, and wins"));
    }
    if let Some(trouble) = changed.trouble {
        output::note(&format!("{trouble}; `orange config edit` opens it"));
    }
    Ok(())
}

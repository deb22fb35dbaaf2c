//! `orange help`: a command's help, or a topic.

use crate::cli;
use crate::completion::commands;
use crate::help::command_of;
use crate::help::topics::{self, Topic};
use crate::output;
use crate::pager::Pager;
use crate::ui::Palette;
use clap::Args;
use orange_engine::Result;
use orange_engine::git::diff::pager;
use serde_json::json;
use std::io::{IsTerminal, stdout};

/// Explain a command or a topic; without one, list them
#[derive(Debug, Args)]
#[command(after_help = "\
A word that is both, such as `workflow`, is the topic; `orange workflow --help` is the command's.

Examples:
  orange help                  commands and topics
  orange help task merge       a command
  orange help exit-codes       a topic")]
pub(crate) struct HelpArgs {
    /// A topic, or the words of a command
    #[arg(value_name = "TOPIC|COMMAND", add = commands())]
    words: Vec<String>,
}

pub(crate) fn run(args: &HelpArgs, wants_json: bool) -> Result<()> {
    let palette = Palette::stdout();
    let topic = match args.words.as_slice() {
        [word] => Topic::named(word),
        _ => None,
    };
    let text = match topic {
        Some(topic) => painted(&topic.text(), palette),
        None => {
            let mut root = cli::command();
            root.build();
            let help = command_of(&mut root, &args.words)?.render_help();
            let help = if palette.enabled && !wants_json {
                help.ansi().to_string()
            } else {
                help.to_string()
            };
            if args.words.is_empty() {
                format!("{help}\n{}", topics::listed())
            } else {
                help
            }
        }
    };
    if wants_json {
        let about = args.words.join(" ");
        let kind = if topic.is_some() { "topic" } else { "command" };
        let value = json!({"help": {kind: about, "text": text}});
        output::print_json(&value);
    } else {
        show(&text);
    }
    Ok(())
}

/// Headings stand out where there are colours; elsewhere the text is as it was written.
fn painted(text: &str, palette: Palette) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(heading) => format!("{}\n", palette.bold(heading)),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// Through the user's pager on a terminal.
fn show(text: &str) {
    let line = stdout().is_terminal().then(|| pager("help")).flatten();
    if let Some(mut pager) = line.as_deref().and_then(Pager::start) {
        pager.write(text.as_bytes());
        if pager.end() {
            return;
        }
    }
    output::print(text);
}

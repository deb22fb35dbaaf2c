//! Asks the person at the terminal what an agent wants to know: who types the command that the inbox names, answers there.

use super::{allow_always, give, shown};
use crate::output;
use crate::question::line;
use crate::session::Session;
use crate::ui::{Extent, clean, wrapped};
use orange_core::allow_rule::Scope;
use orange_core::task::Task;
use orange_engine::runs::QuestionAnswer;
use orange_engine::views::results::OpenQuestion;
use orange_engine::{Result, err};

/// What a person says to a request for permission.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Allow,
    Always,
    /// With what the agent is told.
    Deny(String),
    /// It stays open.
    Later,
}

/// One question after the other. What is typed answers the question above it and no other.
pub(super) fn about(session: &Session, task: &Task, open: &[OpenQuestion]) -> Result<()> {
    for asked in open {
        output::print(&wrapped(&shown(task, asked), Extent::stdout()));
        if !asked.question.asked.is_empty() {
            if let Some(answers) = in_words(asked)? {
                give(session, task, asked, &answer(true, String::new(), answers))?;
            }
            continue;
        }
        match permission(asked)? {
            Reply::Allow => give(session, task, asked, &answer(true, String::new(), vec![]))?,
            Reply::Always => allow_always(session, task, asked, Scope::Task, None)?,
            Reply::Deny(why) => give(session, task, asked, &answer(false, why, vec![]))?,
            Reply::Later => output::note("not answered; it stays open"),
        }
    }
    Ok(())
}

/// The person's own words to a question in TASK.md, or for a stuck task; None leaves it open.
pub(super) fn for_words() -> Result<Option<String>> {
    let typed = line("your answer (Enter alone: not now): ")?;
    if typed.is_empty() {
        output::note("not answered; it stays open");
    }
    Ok(Some(typed).filter(|typed| !typed.is_empty()))
}

fn answer(allow: bool, message: String, answers: Vec<String>) -> QuestionAnswer {
    QuestionAnswer {
        allow,
        message,
        answers,
        rule: None,
    }
}

/// An answer to each of the questions that are one request; None: one was left open, and so are all.
fn in_words(asked: &OpenQuestion) -> Result<Option<Vec<String>>> {
    let wanted = &asked.question.asked;
    let mut answers = Vec::new();
    for one in wanted {
        if wanted.len() > 1 {
            output::say(&format!("{}\n", clean(&one.question)));
        }
        let Some(typed) = for_words()? else {
            return Ok(None);
        };
        answers.push(one.option(&typed).to_owned());
    }
    Ok(Some(answers))
}

fn permission(asked: &OpenQuestion) -> Result<Reply> {
    let can_be_remembered = !asked.question.tool.is_empty();
    let prompt = if can_be_remembered {
        "allow it? y(es), a(lways), n(o) [and why] (Enter alone: not now): "
    } else {
        "allow it? y(es), n(o) [and why] (Enter alone: not now): "
    };
    let typed = line(prompt)?;
    reply(&typed, can_be_remembered).ok_or_else(|| {
        err!(Usage, "{typed:?} is no answer").hint("nothing was answered; try again")
    })
}

/// None: neither of the answers.
fn reply(typed: &str, can_be_remembered: bool) -> Option<Reply> {
    let (word, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    match (word.to_ascii_lowercase().as_str(), rest.trim()) {
        ("", _) => Some(Reply::Later),
        ("y" | "yes", "") => Some(Reply::Allow),
        ("a" | "always", "") if can_be_remembered => Some(Reply::Always),
        ("n" | "no", why) => Some(Reply::Deny(why.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_allows() {
        for (typed, expected) in [
            ("y", Some(Reply::Allow)),
            ("Yes", Some(Reply::Allow)),
            ("yes but not there", None),
            ("a", Some(Reply::Always)),
            ("n", Some(Reply::Deny(String::new()))),
            ("no use npm ci", Some(Reply::Deny("use npm ci".into()))),
            ("", Some(Reply::Later)),
            ("use npm ci", None),
        ] {
            assert_eq!(reply(typed, true), expected, "{typed}");
        }
        assert_eq!(reply("a", false), None);
    }
}

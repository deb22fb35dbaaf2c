//! Which of the words given to `new` and `task create` name the branch, and which say what is to be done.

use crate::completion::branches;
use crate::output;
use crate::ui::{clean, command};
use clap::Args;
use orange_core::naming::is_sentence;
use orange_core::task::Task;
use orange_engine::{Error, Result, err};

/// The words of `new`.
#[derive(Debug, Args)]
pub(crate) struct SummaryWords {
    /// What is to be done, with or without quotes
    #[arg(value_name = "SUMMARY")]
    words: Vec<String>,
    /// The branch (default: named after the summary)
    #[arg(long, value_name = "NAME", add = branches())]
    branch: Option<String>,
    /// What is to be done, for scripts
    #[arg(long, value_name = "TEXT", hide = true)]
    summary: Option<String>,
}

/// The words of `task create`.
#[derive(Debug, Args)]
pub(crate) struct CreateWords {
    /// The branch; a sentence alone, or a word with a capital that is no branch yet, is the summary instead
    #[arg(value_name = "BRANCH", add = branches())]
    pub(super) first: Option<String>,
    /// What is to be done, in one line
    #[arg(value_name = "SUMMARY")]
    pub(super) rest: Vec<String>,
    /// The branch, whatever it looks like; then all words are the summary
    #[arg(long, value_name = "NAME", add = branches())]
    pub(super) branch: Option<String>,
    /// The summary, where it is a single word that could be a branch name
    #[arg(long, value_name = "TEXT")]
    pub(super) summary: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Naming {
    pub(super) branch: Option<String>,
    pub(super) summary: String,
    /// A word that stood alone and could have meant either.
    alone: Option<String>,
}

impl SummaryWords {
    /// Nothing says what is to be done, and nothing where.
    pub(super) fn say_nothing(&self) -> bool {
        let mut said = self.words.iter().chain(&self.branch).chain(&self.summary);
        said.all(|word| word.trim().is_empty())
    }

    /// Every word is the summary, whatever it looks like.
    pub(super) fn meaning(self) -> Result<Naming> {
        let has_words = self.words.iter().any(|word| !word.trim().is_empty());
        if has_words && self.summary.is_some() {
            return Err(given_twice());
        }
        let words: Vec<String> = self.words.into_iter().chain(self.summary).collect();
        Ok(Naming::new(self.branch, &words))
    }
}

fn given_twice() -> Error {
    err!(Usage, "the summary is given twice").hint("leave --summary out, or the words")
}

impl CreateWords {
    /// Is there any word, even an empty one?
    pub(super) fn are_given(&self) -> bool {
        let words = self.first.iter().chain(&self.rest);
        words.chain(&self.branch).chain(&self.summary).count() > 0
    }

    /// A sentence without its quotes begins with a capital; hardly any branch does.
    pub(super) fn note_capital(&self) {
        if let (Some(first), true, None) = (&self.first, self.rest.len() > 1, &self.branch)
            && first.chars().next().is_some_and(char::is_uppercase)
            && first.chars().all(char::is_alphabetic)
        {
            output::note(&format!(
                "{first:?} is taken as the branch; quote the whole sentence to make it the summary, or give it to `orange new`"
            ));
        }
    }

    /// Nothing says what is to be done, and nothing where.
    pub(super) fn say_nothing(&self) -> bool {
        let words = self.first.iter().chain(&self.rest);
        let mut said = words.chain(&self.branch).chain(&self.summary);
        said.all(|word| word.trim().is_empty())
    }

    /// A sentence is a summary, and so is a word that begins like one unless there is such a branch; any other word
    /// is a branch.
    pub(super) fn meaning(self, is_branch: impl FnOnce(&str) -> Result<bool>) -> Result<Naming> {
        let words = || self.first.iter().chain(&self.rest).cloned();
        if let Some(branch) = self.branch {
            let said: Vec<String> = words().chain(self.summary).collect();
            return Ok(Naming::new(Some(branch), &said));
        }
        let is_text = self
            .first
            .as_deref()
            .is_none_or(|first| is_sentence(first) || first.is_empty());
        if let Some(summary) = self.summary {
            if is_text && words().any(|word| !word.trim().is_empty()) || !self.rest.is_empty() {
                return Err(given_twice());
            }
            return Ok(Naming::new(self.first.filter(|_| !is_text), &[summary]));
        }
        if is_text {
            return Ok(Naming::new(None, &words().collect::<Vec<_>>()));
        }
        let alone = self.first.clone().filter(|_| self.rest.is_empty());
        match &alone {
            Some(word) if begins_like_a_sentence(word) && !is_branch(word)? => Ok(Naming {
                alone: alone.clone(),
                ..Naming::new(None, std::slice::from_ref(word))
            }),
            _ => Ok(Naming {
                alone,
                ..Naming::new(self.first, &self.rest)
            }),
        }
    }
}

impl Naming {
    fn new(branch: Option<String>, words: &[String]) -> Naming {
        Naming {
            branch,
            summary: words.join(" "),
            alone: None,
        }
    }

    /// What a word that stood alone was taken for, and how to say the other thing. `is_new`: no such branch was there.
    pub(super) fn taken_for(&self, task: &Task, is_new: bool) -> Option<String> {
        let word = clean(self.alone.as_deref()?).into_owned();
        if self.branch.is_none() {
            return Some(format!(
                "\"{word}\" is taken as the summary; --branch {word} makes it the branch"
            ));
        }
        let label = command::task_name(&task.name());
        (is_new && task.summary.is_empty()).then(|| {
            format!(
                "\"{word}\" is taken as the branch, and what is to be done is not said; if it is the summary: `orange cancel {label}`, then `orange new {}`",
                command::word(&word)
            )
        })
    }
}

/// `Tidy` or `Refactor.`: a capital, then letters alone. Branches are hardly ever called so. Nor are they where words
/// are written without blanks between them: what looks like one word is a sentence.
fn begins_like_a_sentence(word: &str) -> bool {
    if word.chars().any(is_written_without_blanks) {
        return true;
    }
    let letters = word.trim_end_matches(['.', '!', '?', '…']);
    let begins = letters.chars().next();
    begins.is_some_and(|first| !first.is_lowercase()) && letters.chars().all(char::is_alphabetic)
}

/// Chinese, Japanese, Thai, Lao, Khmer, Burmese and Tibetan letters, and their full stops.
fn is_written_without_blanks(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0fff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3001}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff01}'..='\u{ffef}'
            | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(first: &str, rest: &[&str], branches: &[&str]) -> (Option<String>, String) {
        let words = CreateWords {
            first: Some(first.to_owned()),
            rest: rest.iter().map(|word| (*word).to_owned()).collect(),
            branch: None,
            summary: None,
        };
        let found = words.meaning(|word| Ok(branches.contains(&word))).unwrap();
        (found.branch, found.summary)
    }

    #[test]
    fn a_word_alone_is_a_branch_unless_it_begins_like_a_sentence() {
        let branch = |word: &str| (Some(word.to_owned()), String::new());
        let summary = |text: &str| (None, text.to_owned());
        for word in ["tidy", "add-login", "feature/menu", "ABC-123", "v2", "@"] {
            assert_eq!(meaning(word, &[], &[]), branch(word));
        }
        for word in [
            "Tidy",
            "Refactor.",
            "README",
            "整理",
            "修复登录表单的错误。",
            "ログインAPI2を直す",
        ] {
            assert_eq!(meaning(word, &[], &[]), summary(word));
            assert_eq!(meaning(word, &[], &[word]), branch(word));
        }
        assert_eq!(meaning("Two words", &[], &[]), summary("Two words"));
        let both = (Some("Add".to_owned()), "a menu".to_owned());
        assert_eq!(meaning("Add", &["a", "menu"], &[]), both);
    }
}

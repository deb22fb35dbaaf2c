//! `orange task answer`: what an agent asks, and a person's answer.

mod ask;

use super::why::because;
use super::{send, update, word};
use crate::commands::permissions::whom;
use crate::completion::{Wanted, tasks, words};
use crate::output;
use crate::question;
use crate::session::Session;
use crate::ui::command::command;
use crate::ui::{Extent, clean, clean_block, wrapped};
use clap::Args;
use orange_core::allow_rule::Scope;
use orange_core::naming::counted;
use orange_core::task::Task;
use orange_core::{Action, text};
use orange_engine::runs::QuestionAnswer;
use orange_engine::verbs::answer::Always;
use orange_engine::verbs::answer_clarification::answer_clarification;
use orange_engine::views::questions::{is_help_wanted, open_questions, questions_in_file};
use orange_engine::views::results::OpenQuestion;
use orange_engine::views::{Questions, TaskResult, TaskView, task, why};
use orange_engine::{Result, err, verbs};
use std::fmt::Write;
use std::time::Duration;

/// How long an agent may take to hear an answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Answer what an agent asks, in its window or in TASK.md
#[derive(Debug, Args)]
#[command(after_help = "\
Without an answer it shows what is asked, and of a stuck task what it is stuck with; words bring that back to its worker. At a terminal it then asks you for the answer, which goes to what it has shown. With --question an answer goes to that question and to no other: if it was answered in the window meanwhile, nothing is done. Without it, an answer goes to what is asked at that moment, which may be something new.

--always allows exactly what is asked, now and from now on: the same command in the same folder, the same file, the same input of a tool. --matching allows more: \"npm test *\" every command that begins so and has no shell operators, \"src/*\" every file below a folder. `orange permissions` shows and removes what was allowed.

Examples:
  orange answer TASK-001
  orange answer TASK-001 --question 4f1c09ab27de --allow
  orange answer TASK-001 --always            never asks for this again
  orange answer TASK-001 --always=project    nor does any other task of it
  orange answer TASK-001 --always --matching \"npm test *\"
  orange answer TASK-001 --deny --message \"use npm ci instead\"
  orange answer TASK-001 \"the blue one\"")]
pub(crate) struct AnswerArgs {
    /// The task
    #[arg(add = tasks(Wanted::InSession))]
    id: String,
    /// The words it asks for; one of its options, or your own. One argument per question if it asks several
    #[arg(value_name = "TEXT", conflicts_with_all = ["allow", "deny", "always"])]
    text: Vec<String>,
    /// Allow it
    #[arg(long, conflicts_with = "deny")]
    allow: bool,
    /// Allow it, now and from now on: for this task, or with =project for all tasks of its project
    #[arg(long, value_name = "SCOPE", num_args = 0..=1, require_equals = true, default_missing_value = "task")]
    #[arg(value_parser = word::<Scope>, add = words(Scope::WORDS), conflicts_with = "deny")]
    always: Option<Scope>,
    /// With --always: every command that begins so (`npm test *`), or every file below a folder (`src/*`)
    #[arg(
        long,
        value_name = "PATTERN",
        requires = "always",
        allow_hyphen_values = true
    )]
    matching: Option<String>,
    /// Refuse it
    #[arg(long)]
    deny: bool,
    /// The reason for the refusal, which the agent is told
    #[arg(
        long,
        value_name = "TEXT",
        requires = "deny",
        conflicts_with_all = ["allow", "always"],
        allow_hyphen_values = true
    )]
    message: Option<String>,
    /// The name of the question to answer
    #[arg(long, value_name = "ID")]
    question: Option<String>,
}

pub(crate) fn run(session: &Session, args: &AnswerArgs) -> Result<()> {
    let place = session.task(Some(&args.id))?;
    let says = args.allow || args.deny || args.always.is_some() || !args.text.is_empty();
    if says {
        session.people_only("answer questions")?;
    }
    let view = task::view(&session.call, place.clone())?;
    let in_window = !open_questions(&session.call, &view.history).is_empty();
    if let Some(asked) = questions_in_file(&view).filter(|_| !in_window) {
        return clarification(session, args, &view, &asked);
    }
    let (task, open) = verbs::answer::questions(&session.call, place)?;
    if !says && asks_person(session) {
        return match &args.question {
            None => ask::about(session, &task, &open),
            named => {
                let named = chosen(&task, &open, named.as_deref())?;
                ask::about(session, &task, std::slice::from_ref(named))
            }
        };
    }
    if !says {
        let asked = Questions {
            task: &task,
            questions: &open,
        };
        return session.finish(asked, || {
            let one = |asked| shown(&task, asked) + &how(&task, asked);
            open.iter().map(one).collect()
        });
    }
    let asked = chosen(&task, &open, args.question.as_deref())?;
    if let Some(scope) = args.always {
        return allow_always(session, &task, asked, scope, args.matching.as_deref());
    }
    give(session, &task, asked, &answer(&task, asked, args)?)
}

/// Whether a person is there to be asked: an agent's terminal has nobody.
fn asks_person(session: &Session) -> bool {
    question::asks(session, false) && session.people_only("answer questions").is_ok()
}

fn give(
    session: &Session,
    task: &Task,
    asked: &OpenQuestion,
    answer: &QuestionAnswer,
) -> Result<()> {
    verbs::answer::answer(&session.call, task, asked, answer, TIMEOUT)?;
    let message = format!(
        "{}: {} ({})",
        task.label(),
        clean(&answer.words()),
        clean(&asked.question.text)
    );
    let result = TaskResult {
        question: Some(asked),
        state: Some("answered"),
        ..TaskResult::new(task, &message)
    };
    session.finish(result, || format!("{message}\n"))
}

/// What an agent asks in TASK.md or asked in its phase, or what its task is stuck with: shown first, and answered if there are words.
fn clarification(session: &Session, args: &AnswerArgs, view: &TaskView, asked: &str) -> Result<()> {
    let label = view.task.label();
    let shown = match asked {
        _ if is_help_wanted(&view.task) => {
            let reason = because(&why::explanation(&session.call, view)?);
            format!("{label} is {}: {}\n", view.task.status, clean(&reason))
        }
        "" => format!("{label}: its agent asks for help, and wrote no questions into TASK.md\n"),
        asked => {
            let lines = clean_block(asked);
            let lines = lines.lines().map(|line| format!("  {line}\n"));
            let place = match view.task.current_phase.as_deref() {
                Some(phase) => format!("{label}: the agent of {} asks", clean(phase)),
                None => format!("{label} asks in TASK.md"),
            };
            format!("{place}:\n{}", lines.collect::<String>())
        }
    };
    if let Some(id) = &args.question {
        return Err(err!(
            Conflict,
            "question {} is not open any more: it was answered, or its turn is over",
            clean(id)
        )
        .hint(text!(
            "{} shows what is asked now",
            Action::answer_question(view.task.name())
        )));
    }
    if args.allow || args.deny || args.always.is_some() {
        return Err(err!(Usage, "{label} asks for words, not for a yes or no")
            .hint("give your answer after the task, as text"));
    }
    let print = || output::print(&wrapped(&shown, Extent::stdout()));
    let words = if !args.text.is_empty() {
        send::message(&args.text)?
    } else if asks_person(session) {
        print();
        match ask::for_words()? {
            Some(words) => words,
            None => return Ok(()),
        }
    } else {
        let view = Questions {
            task: &view.task,
            questions: &[asked],
        };
        let how = command(&Action::answer_in_words(view.task.name()));
        return session.finish(view, || format!("{shown}answer: {how}\n"));
    };
    let changed = answer_clarification(&session.call, view, &words)?;
    if !session.json && !args.text.is_empty() {
        print();
    }
    update::finish(session, &changed, &update::moved(&changed), None)
}

/// Allows what is asked and remembers it, and says what that means.
fn allow_always(
    session: &Session,
    task: &Task,
    asked: &OpenQuestion,
    scope: Scope,
    matching: Option<&str>,
) -> Result<()> {
    let (label, question) = (task.label(), &asked.question);
    if !question.asked.is_empty() {
        let text = clean(&question.text);
        return Err(err!(Usage, "{label} asks for words: {text}")
            .hint("--always is for what needs a yes or no; give the words after the task"));
    }
    let always = Always { scope, matching };
    let permission = verbs::answer::answer_always(&session.call, task, asked, &always, TIMEOUT)?;
    let message = format!("{label}: allowed ({})", clean(&question.text));
    let result = TaskResult {
        question: Some(asked),
        permission: Some(&permission),
        state: Some("answered"),
        ..TaskResult::new(task, &message)
    };
    session.finish(result, || {
        let (number, whom) = (permission.number, whom(&permission));
        let allows = clean(&permission.allows);
        format!(
            "{message}\nfrom now on without asking, for {whom}: {allows} (rule {number})\nto take it back: orange permissions remove {number}\n"
        )
    })
}

/// The one that was named, or the only one.
fn chosen<'q>(
    task: &Task,
    open: &'q [OpenQuestion],
    named: Option<&str>,
) -> Result<&'q OpenQuestion> {
    let label = task.label();
    if let Some(id) = named {
        let mut open = open.iter();
        return open.find(|asked| asked.question.id == id).ok_or_else(|| {
            err!(
                Conflict,
                "question {id} is not open any more: it was answered, or its turn is over"
            )
            .hint(text!(
                "{} shows what is asked now",
                Action::answer_question(task.name())
            ))
        });
    }
    match open {
        [only] => Ok(only),
        several => {
            let names = several.iter().map(|asked| asked.question.id.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            Err(err!(
                Usage,
                "{label} asks {} questions: name one of them",
                several.len()
            )
            .hint(text!(
                "add --question and one of {names}; {} shows them",
                Action::answer_question(task.name())
            )))
        }
    }
}

fn answer(task: &Task, asked: &OpenQuestion, args: &AnswerArgs) -> Result<QuestionAnswer> {
    let label = task.label();
    let wanted = &asked.question.asked;
    let plain = |allow: bool| QuestionAnswer {
        allow,
        message: args.message.clone().unwrap_or_default(),
        answers: Vec::new(),
        rule: None,
    };
    if args.deny {
        return Ok(plain(false));
    }
    if wanted.is_empty() {
        return if args.allow {
            Ok(plain(true))
        } else {
            Err(err!(
                Usage,
                "{label} asks for a yes or no: {}",
                clean(&asked.question.text)
            )
            .hint("answer with --allow or --deny; words go with --deny --message TEXT"))
        };
    }
    let texts = match (wanted.len(), args.text.is_empty()) {
        (_, true) => Vec::new(),
        (1, false) => vec![args.text.join(" ")],
        (_, false) => args.text.clone(),
    };
    if texts.len() != wanted.len() || texts.iter().any(|text| text.trim().is_empty()) {
        return Err(err!(
            Usage,
            "{label} asks for words: {}",
            clean(&asked.question.text)
        )
        .hint(format!(
            "give {} after the task, each as one argument",
            counted(wanted.len(), "answer")
        )));
    }
    let answers = wanted.iter().zip(&texts);
    let answers = answers.map(|(one, text)| one.option(text).to_owned());
    Ok(QuestionAnswer {
        answers: answers.collect(),
        ..plain(true)
    })
}

/// What is asked.
fn shown(task: &Task, asked: &OpenQuestion) -> String {
    let label = task.label();
    let question = &asked.question;
    let mut text = String::new();
    let role = asked.run.role;
    if question.asked.is_empty() {
        let _ = writeln!(
            text,
            "{label}: its {role} asks permission: {}",
            clean(&question.text)
        );
    } else {
        let _ = writeln!(text, "{label}: its {role} asks:");
        for one in &question.asked {
            let _ = writeln!(text, "  {}", clean(&one.question));
            for option in &one.options {
                let _ = writeln!(text, "    - {}", clean(option));
            }
        }
    }
    text
}

/// The command that answers it and no other.
fn how(task: &Task, asked: &OpenQuestion) -> String {
    let question = &asked.question;
    let answers = match (question.asked.is_empty(), question.tool.is_empty()) {
        (true, true) => "--allow, or --deny [--message TEXT]",
        (true, false) => "--allow, --always, or --deny [--message TEXT]",
        (false, _) => "TEXT, or --deny [--message TEXT]",
    };
    format!(
        "answer: {} --question {} {answers}\n",
        command(&Action::answer_question(task.name())),
        clean(&question.id)
    )
}

//! Tells the person, by a command or a URL of theirs, that something needs them: once for each thing, by the process that
//! writes it down.

use crate::call::Call;
use crate::effects::messages::in_one_line;
use crate::{errand, settings};
use orange_core::artifact::section;
use orange_core::attention::{answer, notification};
use orange_core::history::Event;
use orange_core::task::Task;
use orange_core::workflow::Intent;
use orange_core::{Action, Text, text};
use std::collections::BTreeMap;

/// The environment of the errand that tells it, and so of the user's command.
pub const VARIABLES: [&str; 11] = [
    "ORANGE_NOTIFY_TASK",
    "ORANGE_NOTIFY_ID",
    "ORANGE_NOTIFY_PROJECT",
    "ORANGE_NOTIFY_BRANCH",
    "ORANGE_NOTIFY_SUMMARY",
    "ORANGE_NOTIFY_STATUS",
    "ORANGE_NOTIFY_MESSAGE",
    "ORANGE_NOTIFY_EVENT",
    "ORANGE_NOTIFY_TIME",
    "ORANGE_NOTIFY_REASON",
    "ORANGE_NOTIFY_ANSWER",
];

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notification {
    /// The same thing gets the same key.
    key: String,
    event: String,
    time: String,
    /// What is asked, or what happened.
    reason: String,
    /// What the person can do about it.
    answer: Action,
    text: Text,
}

/// What of these events a person should hear of.
pub(crate) fn worth_telling(task: &Task, body: &str, events: &[Event]) -> Vec<Notification> {
    let tell = |event: &Event| {
        let (kind, what) = (event.kind.as_str(), event.run_or_hook());
        let told = notification(event)?;
        let asked = asked_in_file(task, body, event);
        let answer = answer(event, task.name());
        let text = match (&answer, &asked) {
            (Some(how), _) => text!("{told} (answer: {})", how.clone()),
            (None, Some(asked)) => text!("{told}: {asked}"),
            (None, None) => told.clone().into(),
        };
        Some(Notification {
            key: format!("{} {kind} {} {what}", task.id, event.timestamp),
            event: kind.to_owned(),
            time: event.timestamp.to_string(),
            answer: answer.unwrap_or_else(|| match asked {
                Some(_) => Action::answer_in_words(task.name()),
                None => Action::explain(task.name()),
            }),
            reason: asked.unwrap_or(told),
            text,
        })
    };
    events.iter().filter_map(tell).collect()
}

/// Tells once that a budget is spent to a large part. The same thing gets the same key.
pub(crate) fn tell_of_budget(call: &Call, task: &Task, key: &str, words: &str) {
    let told = Notification {
        key: key.to_owned(),
        event: "budget.warned".to_owned(),
        time: call.now().to_string(),
        reason: words.to_owned(),
        answer: Action::explain(task.name()),
        text: words.to_owned().into(),
    };
    notify_person(call, task, vec![told]);
}

/// The questions that brought a task where it waits for an answer.
fn asked_in_file(task: &Task, body: &str, event: &Event) -> Option<String> {
    let moved = Task {
        status: event.new_status()?,
        ..task.clone()
    };
    if !moved.offers(Intent::Answer) {
        return None;
    }
    let asked = body.get(section(body, "Questions")?.content)?;
    let asked = in_one_line(asked);
    (!asked.is_empty()).then_some(asked)
}

/// The user's command may print the text on a terminal, or into a file: it is one line, and nothing in it is a control
/// character (ESC, or C1 such as U+009B) that a terminal would act on. An environment takes no NUL either.
fn one_line(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(shown).collect()
}

/// Sends each of these that was not told before.
pub(crate) fn notify_person(call: &Call, task: &Task, notifications: Vec<Notification>) {
    let is_wanted = || {
        let config = settings::config(call);
        config
            .is_ok_and(|config| config.notify.command.is_some() || config.notify.webhook.is_some())
    };
    if notifications.is_empty() || !is_wanted() {
        return;
    }
    for notification in notifications {
        let now = call.now();
        let is_new = call.with_database(|database| database.note_notified(&notification.key, now));
        match is_new {
            Ok(true) => leave_to_errand(call, task, &notification),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "a notification was not sent"),
        }
    }
}

/// Nobody waits for it: what it does may take its time, and may outlive the agent that caused it.
fn leave_to_errand(call: &Call, task: &Task, notification: &Notification) {
    let text = (call.spell)(&notification.text);
    let answer = (call.spell)(&notification.answer.clone().into());
    let values = [
        task.label(),
        task.id.clone(),
        task.project.clone(),
        task.branch.clone(),
        task.summary.clone(),
        task.status.to_string(),
        format!("{} {text}", task.name().seen_from(None)),
        notification.event.clone(),
        notification.time.clone(),
        notification.reason.clone(),
        answer.trim_matches('`').to_owned(),
    ];
    let names = VARIABLES.map(str::to_owned);
    let about = names.into_iter().zip(values.map(|value| one_line(&value)));
    let about = about.collect::<BTreeMap<_, _>>();
    let home = call.store.home();
    if let Err(error) = errand::start_with(&call.orange, home, &["notify"], &about, &[]) {
        tracing::warn!(%error, "a notification was not sent");
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_variable_is_one_line_without_control_characters() {
        assert_eq!(one_line("a\nb\tc"), "a b c");
        assert_eq!(
            one_line("\u{1b}[31m\0\u{9b}2J\u{7f}ü"),
            "\u{fffd}[31m\u{fffd}\u{fffd}2J\u{fffd}ü"
        );
    }
}

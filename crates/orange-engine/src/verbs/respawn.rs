//! `respawn`: starts an agent again that is gone.

use crate::call::Call;
use crate::effects::agents::{self, heard, with_undelivered};
use crate::effects::start_agent::{self, Begin, Begun};
use crate::error::{Code, Error, Result, err};
use crate::sessions::{self, adopted};
use crate::store::Place;
use crate::tx::commit::Committed;
use crate::{access, tx};
use orange_core::exit::role_of;
use orange_core::machine::destination;
use orange_core::prompt::PromptName;
use orange_core::runs::next_run_id;
use orange_core::workflow::{Intent, Prompt, Role};
use orange_core::{Action, text};

/// Starts an agent again that is gone, with a prompt for the status the task is in.
pub fn respawn(
    call: &Call,
    place: Place,
    role: Option<Role>,
    message: Option<&str>,
) -> Result<Committed> {
    access::people_only(call, "start agents")?;
    let mut tx = tx::lock_task(call, place)?;
    let status = tx.task.status;
    let label = tx.task.label();
    let role = role.unwrap_or(role_of(status));
    let prompt = match role {
        Role::Reviewer if status.is_in_review() => Some(PromptName::Reviewer),
        Role::Reviewer | Role::Executor => None,
        Role::Worker => PromptName::for_hook(Prompt::Respawn, status),
    };
    let Some(prompt) = prompt else {
        if role == Role::Executor && tx.task.status_info().expects == Some(role) {
            return Err(err!(
                ConditionUnmet,
                "{label} is {status}: its executor is not started by hand"
            )
            .hint(text!(
                "{} says what it does; {} stops it",
                Action::explain(tx.task.name()),
                Action::pause(tx.task.name())
            )));
        }
        let back = destination(&tx.task, Intent::TakeBack);
        let hint = match back {
            _ if !status.has_started() => {
                text!("start it: {}", crate::execution::how_to_start(&tx.task))
            }
            Some(back) if tx.task.offers(Intent::TakeBack) => {
                text!("take it back: {}", Action::move_to(tx.task.name(), back))
            }
            Some(_) | None => text!("{} says what it waits for", Action::explain(tx.task.name())),
        };
        return Err(err!(
            ConditionUnmet,
            "{label} is {status}: no {role} is expected there"
        )
        .hint(hint));
    };
    if sessions::live_run(call, tx.history(), role).is_some() {
        return Err(
            err!(Conflict, "the {role} of {label} is running").hint(text!(
                "go to it: {}; or tell it something: {}",
                Action::attach(tx.task.name()),
                Action::send(tx.task.name(), None, None)
            )),
        );
    }
    adopted::refuse_second_agent(call, &tx.task, tx.history(), role)?;
    if let Some(why) = tx.retry_acquire()? {
        let task = tx.commit(Vec::new())?.task;
        return Err(Error::new(Code::ConditionUnmet, why).hint(text!(
            "no agent is started; when that is mended: {}",
            Action::retry_hooks(task.name())
        )));
    }
    agents::ensure_workspace(&mut tx)?;
    let begin = Begin {
        role,
        prompt,
        run: next_run_id(tx.history(), &tx.task.id, role),
        message: with_undelivered(&tx, role, message.map(str::to_owned)),
    };
    match start_agent::begin(&tx, &begin)? {
        Begun::Started(event) => {
            let mut events = heard(&tx, role);
            events.push(*event);
            events.extend(tx.made_up_for(role));
            tx.note(events)?;
        }
        Begun::Running => {}
        Begun::Nobody(why) => {
            return Err(Error::new(Code::ConditionUnmet, why)
                .hint(text!("{} chooses one", Action::set_harness(tx.task.name()))));
        }
    }
    tx.commit(Vec::new())
}

//! Settings from outside the files: the environment and the command line. What is wrong with them is told at once.

use crate::call::{Call, Outside, Override};
use crate::error::{Code, Error, Result};
use orange_core::config::Config;
use orange_core::{Action, text};

/// Puts them into the settings. Where only something is read, a variable that cannot be used is left out, and the
/// answer says so; everywhere else it is an error that names them all.
pub(crate) fn apply_overrides(call: &Call, config: &mut Config) -> Result<Vec<String>> {
    let mut wrong: Vec<(usize, String)> = Vec::new();
    // A harness may be one that is defined out there, too.
    for names_a_harness in [false, true] {
        let of_kind = |(_, said): &(usize, &Override)| said.names_a_harness() == names_a_harness;
        for (at, said) in call.overrides.iter().enumerate().filter(of_kind) {
            wrong.extend(said.problem(config).map(|problem| (at, problem)));
        }
    }
    wrong.sort();
    let typed = |(at, _): &(usize, String)| call.overrides[*at].from == Outside::CommandLine;
    let is_typed = wrong.iter().any(typed);
    let problems: Vec<String> = wrong.into_iter().map(|(_, problem)| problem).collect();
    match problems.as_slice() {
        [] => Ok(problems),
        _ if call.only_reads && !is_typed => Ok(problems),
        [one] => Err(Error::new(Code::Usage, one).hint(if is_typed {
            text!(
                "write it as KEY=VALUE; {} lists the keys",
                Action::list_settings()
            )
        } else {
            "correct the variable, or unset it".into()
        })),
        several => {
            let what = if is_typed { "settings" } else { "variables" };
            let lines: String = several.iter().map(|one| format!("\n  {one}")).collect();
            let message = format!("{} {what} cannot be used:{lines}", several.len());
            Err(Error::new(Code::Usage, message).hint("correct them, or unset them"))
        }
    }
}

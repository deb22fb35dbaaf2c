//! A script of the scripted agent: read, or an error that names a line of it and says what is allowed. The reader is
//! taken in as it stands: its crate offers only the agent as a whole.

pub use sim::sim_script;

#[path = "../../orange-sim/src"]
mod sim {
    #[allow(dead_code, unreachable_pub)] // Here a script is only read.
    mod script;
    #[allow(dead_code)]
    mod text;

    use orange_core::workflow::Role;
    use script::{Script, WhichRun};

    pub fn sim_script(bytes: &[u8]) {
        let Ok(source) = str::from_utf8(bytes) else {
            return;
        };
        let script = match Script::read(source) {
            Ok(script) => script,
            Err(error) => {
                assert!(error.hint.is_some(), "{error}");
                return crate::is_a_line_of(line(&error.message), source);
            }
        };
        assert_eq!(Script::read(source).ok().as_ref(), Some(&script));
        let run = WhichRun {
            role: Role::Worker,
            round: 1,
            attempt: 1,
            judges: false,
            phase: None,
            iteration: 1,
        };
        let steps = script.select(&run).map(|list| list.steps);
        for step in steps.iter().flatten() {
            assert!(step.line >= 1);
        }
        if let Some(last) = steps.and_then(|mut steps| steps.pop()) {
            crate::is_a_line_of(last.line, source);
        }
    }

    /// The number in `line 3: …`, or `line 3 repeats …`.
    fn line(message: &str) -> usize {
        let rest = message.strip_prefix("line ").unwrap_or_default();
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
        digits
            .and_then(|digits| digits.parse().ok())
            .unwrap_or_default()
    }
}

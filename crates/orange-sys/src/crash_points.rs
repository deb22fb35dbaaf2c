//! Named points at which a test can have the process killed, to prove that a crash there loses nothing.

#[cfg(debug_assertions)]
mod armed {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    struct Fault {
        name: String,
        hits_left: AtomicU32,
        /// A fault of the program instead of a kill.
        panics: bool,
    }

    static FAULT: OnceLock<Option<Fault>> = OnceLock::new();

    fn parse(spec: &str) -> Fault {
        let (panics, spec) = match spec.strip_prefix("panic:") {
            Some(rest) => (true, rest),
            None => (false, spec),
        };
        let (name, hit) = match spec.rsplit_once(':') {
            Some((name, hit)) => (name, hit.parse().unwrap_or(1)),
            None => (spec, 1),
        };
        Fault {
            name: name.to_owned(),
            hits_left: AtomicU32::new(hit),
            panics,
        }
    }

    /// Says at which point (`"name"`, `"name:3"` for its third hit, `"*:7"` for the seventh of any name, `"panic:name"` for
    /// a panic instead of a kill) this process is to die; only the first call counts.
    pub fn arm(spec: Option<String>) {
        FAULT.get_or_init(|| spec.as_deref().map(parse));
    }

    /// Kills this process if the point has been armed and its turn has come.
    pub fn crash_point(name: &'static str) {
        super::hook::run(name);
        let Some(Some(fault)) = FAULT.get() else {
            return;
        };
        let meant = fault.name == name || fault.name == "*";
        if meant && fault.hits_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            #[allow(clippy::panic, reason = "a test asked for it")]
            if fault.panics {
                panic!("a fault at {name}, for a test");
            }
            let _ = writeln!(std::io::stderr(), "killed at {name}");
            // SIGKILL, not a panic: no destructor may tidy up, just as in a real crash.
            let _ = kill_process(getpid(), Signal::KILL);
            std::process::abort();
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_spec_names_a_point_and_which_hit() {
            for (spec, name, hit, panics) in [
                ("a.b", "a.b", 1, false),
                ("a.b:3", "a.b", 3, false),
                ("a.b:x", "a.b", 1, false),
                ("*:7", "*", 7, false),
                ("panic:a.b:2", "a.b", 2, true),
            ] {
                let fault = parse(spec);
                assert_eq!(
                    (
                        fault.name.as_str(),
                        fault.hits_left.into_inner(),
                        fault.panics
                    ),
                    (name, hit, panics)
                );
            }
        }
    }
}

/// Lets a test do something at exactly one point of this thread's work.
#[cfg(debug_assertions)]
pub mod hook {
    use std::cell::RefCell;

    type Hook = Box<dyn FnOnce()>;

    thread_local! {
        static HOOK: RefCell<Option<(&'static str, Hook)>> = const { RefCell::new(None) };
    }

    /// Runs `hook` the next time this thread comes to the point.
    pub fn at(point: &'static str, hook: impl FnOnce() + 'static) {
        HOOK.set(Some((point, Box::new(hook))));
    }

    pub(super) fn run(name: &'static str) {
        let hit = HOOK.with_borrow_mut(|hook| hook.take_if(|(point, _)| *point == name));
        if let Some((_, hook)) = hit {
            hook();
        }
    }
}

#[cfg(debug_assertions)]
pub use armed::{arm, crash_point};

/// Does nothing in a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn arm(_spec: Option<String>) {}

/// Does nothing in a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn crash_point(_name: &'static str) {}

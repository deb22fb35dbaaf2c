//! Traces of git, which a person may have switched on for every program: they must not get into what git answers.

use orange_sys::environment::inherited;
use std::path::Path;
use std::process::Command;

/// Variables that make git write a trace.
const TRACING: &[&str] = &[
    "GIT_CURL_VERBOSE",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_TRACE_CURL",
    "GIT_TRACE_FSMONITOR",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_PACK_ACCESS",
    "GIT_TRACE_PERFORMANCE",
    "GIT_TRACE_REFS",
    "GIT_TRACE_SETUP",
    "GIT_TRACE_SHALLOW",
];

/// Takes away the variables that send a trace to standard error, where messages are expected, or to a descriptor. A trace
/// into a file disturbs nobody.
pub(super) fn keep_off_stderr(command: &mut Command) {
    for variable in TRACING {
        if inherited(variable).is_some_and(|to| !Path::new(&to).is_absolute()) {
            command.env_remove(variable);
        }
    }
}

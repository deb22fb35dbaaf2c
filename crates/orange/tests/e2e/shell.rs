//! Commands as Orange advises them, typed into a shell.

use crate::env::TestEnvironment;
use crate::run::program;
use std::process::Output;

/// Runs a line in `sh`, in the repository `shop`, with the program under test as `orange`.
pub(crate) fn typed(env: &TestEnvironment, line: &str) -> Output {
    let folder = program().parent().unwrap();
    let path = format!(
        "{}:{}",
        folder.display(),
        env.variable("PATH").to_str().unwrap()
    );
    let mut shell = env.foreign("sh");
    let shell = shell.arg("-c").arg(line).env("PATH", path);
    shell.current_dir(env.shop()).output().unwrap()
}

/// The same; it must succeed.
#[track_caller]
pub(crate) fn typed_well(env: &TestEnvironment, line: &str) -> String {
    let output = typed(env, line);
    assert!(output.status.success(), "{line}\n{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

//! A merge and its remote: what is refused there changes nothing here, and whoever pushed meanwhile keeps their work.

use crate::merges::Merges;

#[test]
fn a_remote_that_says_no_says_why_and_a_merge_here_alone_works() {
    let env = Merges::with_remote();
    env.hook(
        &env.remote(),
        "pre-receive",
        "echo 'protected: ask \u{1b}[31mAnn' >&2; exit 1",
    );
    let task = env.work("work", &[("new", "x")]);
    env.refuses(
        &task,
        &[],
        1,
        &["nothing was merged", "protected: ask", "--no-push"],
    );
    assert_eq!(task.events().last().unwrap(), "merge.stopped");
    let told = env.merge(&task, &["--json"]).refuses(1, "failed");
    assert!(told["message"].as_str().unwrap().contains("protected: ask"));
    env.merge(&task, &["--no-push"]).ok().silent_about("pushed");
    assert!(env.shop().join("new").exists());
    assert_ne!(env.at(&env.shop(), "main"), env.at(&env.remote(), "main"));
}

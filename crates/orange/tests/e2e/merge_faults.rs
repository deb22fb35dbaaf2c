//! Merges on machines that do not cooperate: signing, names, hooks of the repository, odd names and odd texts.

use crate::merges::Merges;
use std::fs;

#[test]
fn a_user_who_wants_signed_merges_only() {
    for mut env in [Merges::new(), Merges::with_remote()] {
        let task = env.work("work", &[("new", "x")]);
        env.git(&env.shop(), &["config", "merge.verifySignatures", "true"]);
        let keys = env.root().join("gnupg");
        env.set("GNUPGHOME", keys);
        env.refuses(&task, &[], 3, &["nothing was merged", "signature"]);
    }
}

#[test]
fn a_git_that_does_not_know_who_its_user_is() {
    let mut env = Merges::with_remote();
    let task = env.work("work", &[("new", "x")]);
    env.commit(&env.shop(), "other", "x");
    env.git(&env.shop(), &["push", "-q", "origin", "main"]);
    env.git(&env.shop(), &["config", "user.useConfigOnly", "true"]);
    env.unset("GIT_AUTHOR_");
    env.unset("GIT_COMMITTER_");
    for strategy in ["squash", "merge", "rebase"] {
        let words = ["git does not know who you are", "user.email"];
        env.refuses(&task, &["--strategy", strategy], 1, &words);
    }
    env.git(&env.shop(), &["config", "user.name", "Ann"]);
    env.git(&env.shop(), &["config", "user.email", "ann@example.com"]);
    env.merge(&task, &[]).ok();
    assert_eq!(env.git(&env.shop(), &["log", "-1", "--format=%cn"]), "Ann");
}

#[test]
fn texts_that_would_play_with_the_terminal() {
    let env = Merges::new();
    env.branch("work", &[("new", "x")]);
    let summary = "Do \u{1b}[31mit\u{202e} (now)\n\nCo-authored-by: Eve <eve@example.com>";
    let task = env.create(["work", summary, "--status", "reviewing"]);
    task.append("## Handoff\n\nDONE: \u{1b}]0;x\u{7}all\n#12 is over\n");
    env.merge(&task, &[]).ok();
    let body = env.git(&env.shop(), &["log", "-1", "--format=%B"]);
    assert!(!body.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{body:?}");
    assert!(body.contains("#12 is over"), "{body}");
    let subject = body.lines().next().unwrap();
    assert!(subject.ends_with("(TASK-001)"), "{subject}");
}

/// Nothing of the user's is in the way, so nothing is to be committed or moved.
#[test]
fn what_git_itself_cannot_do_gets_advice_that_fits() {
    let env = Merges::new();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    let said = |words: &str| {
        env.merge(&task, &[])
            .fails_with(3)
            .says("nothing was merged")
            .says(words)
            .says("see to what git says, then merge again")
            .silent_about("stash");
    };
    // The reflog cannot be written.
    let log = shop.join(".git/logs/refs/heads/main");
    fs::remove_file(&log).unwrap();
    fs::create_dir(&log).unwrap();
    fs::write(log.join("in the way"), "").unwrap();
    said("logs/refs/heads/main");
    fs::remove_dir_all(&log).unwrap();
    let frozen = "test \"$1\" != prepared || { echo 'frozen until Monday' >&2; exit 1; }";
    env.hook(&shop, "reference-transaction", frozen);
    said("frozen until Monday");
    fs::remove_file(shop.join(".git/hooks/reference-transaction")).unwrap();
    // A file that is in the way is advised about as before.
    fs::write(shop.join("new"), "mine").unwrap();
    env.merge(&task, &[]).fails_with(3).says("commit, stash");
    fs::remove_file(shop.join("new")).unwrap();
    env.merge(&task, &[]).ok();
}

//! Merges on machines that do not cooperate: signing, names, hooks of the repository, odd names and odd texts.

use crate::merges::Merges;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn executable(env: &Merges, name: &str, script: &str) -> String {
    let path = env.write(name, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn signing_that_cannot_sign() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let gpg = executable(&env, "bad-gpg", "echo 'no secret key' >&2; exit 2");
    env.git(&shop, &["config", "gpg.program", &gpg]);
    let task = env.work("work", &[("new", "x")]);
    env.commit(&shop, "other", "x");
    env.git(&shop, &["push", "-q", "origin", "main"]);
    env.git(&shop, &["config", "commit.gpgSign", "true"]);
    for strategy in ["squash", "merge", "rebase"] {
        let words = ["could not be signed", "commit.gpgSign"];
        env.refuses(&task, &["--strategy", strategy], 1, &words);
    }
    env.git(&shop, &["config", "gpg.program", "/nowhere/gpg"]);
    env.refuses(&task, &[], 1, &["could not be signed"]);
    env.git(&shop, &["config", "commit.gpgSign", "false"]);
    env.merge(&task, &[]).ok();
}

#[test]
fn signatures_are_good() {
    for strategy in ["squash", "merge", "rebase"] {
        let env = Merges::with_remote();
        let shop = env.shop();
        let key = env.root().join("key");
        let path = key.to_str().unwrap();
        let made = env
            .foreign("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "tester", "-f", path])
            .status();
        assert!(made.unwrap().success());
        let public = fs::read_to_string(key.with_extension("pub")).unwrap();
        let allowed = env.write("allowed", format!("tester@example.com {public}"));
        env.branch_by("work", |folder| {
            env.commit(folder, "new", "x");
            env.commit(folder, "more", "x");
        });
        env.commit(&shop, "other", "x");
        let task = env.reviewed("work");
        for (name, value) in [
            ("gpg.format", "ssh"),
            ("user.signingKey", path),
            ("commit.gpgSign", "true"),
            ("gpg.ssh.allowedSignersFile", allowed.to_str().unwrap()),
            // And whoever wants only signed ones gets them.
            ("merge.verifySignatures", "true"),
        ] {
            env.git(&shop, &["config", name, value]);
        }
        env.merge(&task, &["--strategy", strategy]).ok();
        env.git(&shop, &["verify-commit", "main"]);
        if strategy == "rebase" {
            env.git(&shop, &["verify-commit", "main~1"]);
        }
        assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
    }
}

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

/// Git changes the files before it moves the branch, and finds out then.
#[test]
fn a_hook_that_lets_no_branch_move() {
    let only = |name: &str| {
        format!(
            "test \"$1\" = prepared || exit 0\nwhile read -r old new ref; do\n\
             test \"$ref\" != {name} || {{ echo 'frozen until Monday' >&2; exit 1; }}\ndone"
        )
    };
    let scripts = [
        only("refs/heads/main"),
        only("refs/remotes/origin/main"),
        "test \"$1\" != prepared || { echo 'frozen until Monday' >&2; exit 1; }".to_owned(),
    ];
    for script in &scripts {
        let env = Merges::with_remote();
        let task = env.work("work", &[("new", "x")]);
        env.hook(&env.shop(), "reference-transaction", script);
        env.refuses(
            &task,
            &[],
            3,
            &["nothing was merged", "frozen until Monday"],
        );
        env.git(&env.shop(), &["config", "core.hooksPath", "/nowhere"]);
        env.merge(&task, &[]).ok();
    }
    for script in [&scripts[0], &scripts[2]] {
        let env = Merges::new();
        let task = env.work("work", &[("new", "x")]);
        env.hook(&env.shop(), "reference-transaction", script);
        env.refuses(&task, &[], 3, &["frozen until Monday"]);
        // Where no file shows it, too.
        fs::remove_file(env.shop().join(".git/hooks/reference-transaction")).unwrap();
        env.git(&env.shop(), &["switch", "-q", "-c", "mine"]);
        env.hook(&env.shop(), "reference-transaction", script);
        env.refuses(&task, &[], 3, &["frozen until Monday"]);
    }
}

#[test]
fn hooks_that_fail_when_all_is_over() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    for hook in ["post-merge", "pre-merge-commit", "commit-msg", "pre-commit"] {
        env.hook(&shop, hook, "echo broken >&2; exit 1");
    }
    env.hook(&env.remote(), "post-receive", "echo broken >&2; exit 1");
    env.merge(&task, &[]).ok().says("it is done");
    assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
    assert!(shop.join("new").exists());
}

/// A hook works in its own repository's index, or in any other's that it goes to.
#[test]
fn a_hook_that_goes_on_with_git_elsewhere() {
    let env = Merges::new();
    let other = env.init_repository("other");
    let task = env.work("work", &[("new", "x")]);
    let script = "test \"$1\" = 0 || exit 1\ngit add untracked\n\
                  cd ../other && echo more > more && git add more && git commit -q -m 'by the hook'";
    env.hook(&env.shop(), "post-merge", script);
    fs::write(env.shop().join("untracked"), "x").unwrap();
    env.merge(&task, &[]).ok();
    assert_eq!(
        env.git(&env.shop(), &["status", "--porcelain"]),
        "A  untracked"
    );
    assert_eq!(
        env.git(&other, &["log", "-1", "--format=%s"]),
        "by the hook"
    );
    assert_eq!(env.git(&other, &["status", "--porcelain"]), "");
}

/// The target's own settings for merges are about merges of the user's.
#[test]
fn a_target_whose_merges_are_to_be_something_else() {
    let env = Merges::new();
    for (n, options) in ["-s ours", "--squash", "--no-ff", "--no-commit"]
        .iter()
        .enumerate()
    {
        env.git(
            &env.shop(),
            &["config", "branch.main.mergeOptions", options],
        );
        let file = format!("new-{n}");
        let task = env.work(&format!("work-{n}"), &[(&file, "x")]);
        env.merge(&task, &[]).ok();
        assert!(env.shop().join(&file).exists(), "{options}");
        assert_eq!(env.line(&env.shop(), "main").len(), n + 1, "{options}");
        assert_eq!(env.git(&env.shop(), &["status", "--porcelain"]), "");
    }
}

#[test]
fn odd_names_of_branches() {
    let names = [
        "ümläut/ß",
        "with#hash",
        "it's",
        "a\"quote",
        "dot.and-dash",
        "x$(id)",
    ];
    let env = Merges::with_remote();
    for (n, name) in names.iter().enumerate() {
        let file = format!("file {n} #\"'ü");
        let task = env.work(name, &[(&file, "x")]);
        let strategy = ["squash", "merge", "rebase"][n % 3];
        env.merge(&task, &["--strategy", strategy]).ok();
        assert!(env.shop().join(&file).exists(), "{name}");
    }
    assert_eq!(env.at(&env.shop(), "main"), env.at(&env.remote(), "main"));
    assert_eq!(env.git(&env.shop(), &["status", "--porcelain"]), "");
}

#[test]
fn a_target_with_an_odd_name() {
    let env = Merges::with_remote();
    let shop = env.shop();
    env.git(&shop, &["branch", "rel#1/ü'x"]);
    let task = env.work("work", &[("new", "x")]);
    env.update(&task, &["--target-branch", "rel#1/ü'x"]).ok();
    env.merge(&task, &[]).ok().says("rel#1/ü'x");
    assert_eq!(
        env.at(&shop, "rel#1/ü'x"),
        env.at(&env.remote(), "rel#1/ü'x")
    );
}

/// A tag of the same name is another thing.
#[test]
fn tags_of_the_same_names() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    env.git(&shop, &["tag", "main", "refs/heads/main~1"]);
    env.git(&shop, &["tag", "work", "refs/heads/main~1"]);
    env.git(&env.remote(), &["tag", "main", "refs/heads/main~1"]);
    env.merge(&task, &[]).ok();
    assert!(shop.join("new").exists());
    assert_eq!(
        env.at(&shop, "refs/heads/main"),
        env.at(&env.remote(), "refs/heads/main")
    );
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

/// The merge is in, and what comes after it failed: the same command tries that again.
#[test]
fn what_failed_after_a_merge_is_tried_again() {
    let env = Merges::new();
    let task = env.create(["work", "Do work"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    env.commit(&slot, "new", "x");
    env.bring_on(&task, "reviewing");
    let away = env.root().join("away");
    fs::rename(&slot, &away).unwrap();
    symlink(&away, &slot).unwrap();
    let failed = "could not give the slot back";
    env.merge(&task, &["--force"]).fails_with(1).says(failed);
    assert!(env.is_done(&task));
    env.merge(&task, &[]).fails_with(1).says(failed);
    fs::remove_file(&slot).unwrap();
    fs::rename(&away, &slot).unwrap();
    env.merge(&task, &[]).ok().says("it is done");
    let shown = env.show(&task);
    assert_eq!(shown["workspace"], serde_json::Value::Null);
    assert_eq!(shown["attention"], serde_json::Value::Null);
    env.orange(["doctor"]).ok();
}

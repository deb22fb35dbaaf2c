//! Merges on machines that do not cooperate: signing, names, hooks of the repository, odd names and odd texts.

use crate::merges::{Merges, by, forced, plain};
use orange_core::task::Field;
use orange_engine::Code;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn executable(home: &Merges, name: &str, script: &str) -> String {
    let path = home.write(name, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn signing_that_cannot_sign() {
    let home = Merges::with_remote();
    let shop = home.shop();
    let gpg = executable(&home, "bad-gpg", "echo 'no secret key' >&2; exit 2");
    home.git(&shop, &["config", "gpg.program", &gpg]);
    let task = home.work("work", &[("new", "x")]);
    home.commit(&shop, "other", "x");
    home.git(&shop, &["push", "-q", "origin", "main"]);
    home.git(&shop, &["config", "commit.gpgSign", "true"]);
    for strategy in ["squash", "merge", "rebase"] {
        let words = ["could not be signed", "commit.gpgSign"];
        home.refuses(&task, &by(strategy), Code::Failed, &words);
    }
    home.git(&shop, &["config", "gpg.program", "/nowhere/gpg"]);
    home.refuses(&task, &plain(), Code::Failed, &["could not be signed"]);
    home.git(&shop, &["config", "commit.gpgSign", "false"]);
    home.merge(&task, &plain()).ok();
}

#[test]
fn signatures_are_good() {
    for strategy in ["squash", "merge", "rebase"] {
        let home = Merges::with_remote();
        let shop = home.shop();
        let key = home.root().join("key");
        let path = key.to_str().unwrap();
        let made = home
            .foreign("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "tester", "-f", path])
            .status();
        assert!(made.unwrap().success());
        let public = fs::read_to_string(key.with_extension("pub")).unwrap();
        let allowed = home.write("allowed", format!("tester@example.com {public}"));
        home.branch_by("work", |folder| {
            home.commit(folder, "new", "x");
            home.commit(folder, "more", "x");
        });
        home.commit(&shop, "other", "x");
        let task = home.reviewed("work");
        for (name, value) in [
            ("gpg.format", "ssh"),
            ("user.signingKey", path),
            ("commit.gpgSign", "true"),
            ("gpg.ssh.allowedSignersFile", allowed.to_str().unwrap()),
            // And whoever wants only signed ones gets them.
            ("merge.verifySignatures", "true"),
        ] {
            home.git(&shop, &["config", name, value]);
        }
        home.merge(&task, &by(strategy)).ok();
        home.git(&shop, &["verify-commit", "main"]);
        if strategy == "rebase" {
            home.git(&shop, &["verify-commit", "main~1"]);
        }
        assert_eq!(home.at(&shop, "main"), home.at(&home.remote(), "main"));
    }
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
        let home = Merges::with_remote();
        let task = home.work("work", &[("new", "x")]);
        home.hook(&home.shop(), "reference-transaction", script);
        home.refuses(
            &task,
            &plain(),
            Code::ConditionUnmet,
            &["nothing was merged", "frozen until Monday"],
        );
        home.git(&home.shop(), &["config", "core.hooksPath", "/nowhere"]);
        home.merge(&task, &plain()).ok();
    }
    for script in [&scripts[0], &scripts[2]] {
        let home = Merges::new();
        let task = home.work("work", &[("new", "x")]);
        home.hook(&home.shop(), "reference-transaction", script);
        home.refuses(
            &task,
            &plain(),
            Code::ConditionUnmet,
            &["frozen until Monday"],
        );
        // Where no file shows it, too.
        fs::remove_file(home.shop().join(".git/hooks/reference-transaction")).unwrap();
        home.git(&home.shop(), &["switch", "-q", "-c", "mine"]);
        home.hook(&home.shop(), "reference-transaction", script);
        home.refuses(
            &task,
            &plain(),
            Code::ConditionUnmet,
            &["frozen until Monday"],
        );
    }
}

#[test]
fn hooks_that_fail_when_all_is_over() {
    let home = Merges::with_remote();
    let shop = home.shop();
    let task = home.work("work", &[("new", "x")]);
    for hook in ["post-merge", "pre-merge-commit", "commit-msg", "pre-commit"] {
        home.hook(&shop, hook, "echo broken >&2; exit 1");
    }
    home.hook(&home.remote(), "post-receive", "echo broken >&2; exit 1");
    home.merge(&task, &plain()).ok();
    assert_eq!(home.at(&shop, "main"), home.at(&home.remote(), "main"));
    assert!(shop.join("new").exists());
}

/// A hook works in its own repository's index, or in any other's that it goes to.
#[test]
fn a_hook_that_goes_on_with_git_elsewhere() {
    let home = Merges::new();
    let other = home.init_repository("other");
    let task = home.work("work", &[("new", "x")]);
    let script = "test \"$1\" = 0 || exit 1\ngit add untracked\n\
                  cd ../other && echo more > more && git add more && git commit -q -m 'by the hook'";
    home.hook(&home.shop(), "post-merge", script);
    fs::write(home.shop().join("untracked"), "x").unwrap();
    home.merge(&task, &plain()).ok();
    assert_eq!(
        home.git(&home.shop(), &["status", "--porcelain"]),
        "A  untracked"
    );
    assert_eq!(
        home.git(&other, &["log", "-1", "--format=%s"]),
        "by the hook"
    );
    assert_eq!(home.git(&other, &["status", "--porcelain"]), "");
}

/// The target's own settings for merges are about merges of the user's.
#[test]
fn a_target_whose_merges_are_to_be_something_else() {
    let home = Merges::new();
    for (n, options) in ["-s ours", "--squash", "--no-ff", "--no-commit"]
        .iter()
        .enumerate()
    {
        home.git(
            &home.shop(),
            &["config", "branch.main.mergeOptions", options],
        );
        let file = format!("new-{n}");
        let task = home.work(&format!("work-{n}"), &[(&file, "x")]);
        home.merge(&task, &plain()).ok();
        assert!(home.shop().join(&file).exists(), "{options}");
        assert_eq!(home.line(&home.shop(), "main").len(), n + 1, "{options}");
        assert_eq!(home.git(&home.shop(), &["status", "--porcelain"]), "");
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
    let home = Merges::with_remote();
    for (n, name) in names.iter().enumerate() {
        let file = format!("file {n} #\"'ü");
        let task = home.work(name, &[(&file, "x")]);
        let strategy = ["squash", "merge", "rebase"][n % 3];
        home.merge(&task, &by(strategy)).ok();
        assert!(home.shop().join(&file).exists(), "{name}");
    }
    assert_eq!(
        home.at(&home.shop(), "main"),
        home.at(&home.remote(), "main")
    );
    assert_eq!(home.git(&home.shop(), &["status", "--porcelain"]), "");
}

#[test]
fn a_target_with_an_odd_name() {
    let home = Merges::with_remote();
    let shop = home.shop();
    home.git(&shop, &["branch", "rel#1/ü'x"]);
    let task = home.work("work", &[("new", "x")]);
    home.set(&task, Field::TargetBranch, "rel#1/ü'x").ok();
    let merged = home.merge(&task, &plain()).value();
    assert_eq!(merged.target, "rel#1/ü'x");
    assert_eq!(
        home.at(&shop, "rel#1/ü'x"),
        home.at(&home.remote(), "rel#1/ü'x")
    );
}

/// A tag of the same name is another thing.
#[test]
fn tags_of_the_same_names() {
    let home = Merges::with_remote();
    let shop = home.shop();
    let task = home.work("work", &[("new", "x")]);
    home.git(&shop, &["tag", "main", "refs/heads/main~1"]);
    home.git(&shop, &["tag", "work", "refs/heads/main~1"]);
    home.git(&home.remote(), &["tag", "main", "refs/heads/main~1"]);
    home.merge(&task, &plain()).ok();
    assert!(shop.join("new").exists());
    assert_eq!(
        home.at(&shop, "refs/heads/main"),
        home.at(&home.remote(), "refs/heads/main")
    );
}

/// The merge is in, and what comes after it failed: the same command tries that again.
#[test]
fn what_failed_after_a_merge_is_tried_again() {
    let home = Merges::new();
    let task = home.create("work");
    home.bring_to(&task, "working");
    let slot = home.slot_of(&task);
    home.commit(&slot, "new", "x");
    home.bring_on(&task, "reviewing");
    let away = home.root().join("away");
    fs::rename(&slot, &away).unwrap();
    symlink(&away, &slot).unwrap();
    let failed = "release_workspace";
    home.merge(&task, &forced())
        .fails(Code::Failed)
        .says(failed);
    assert!(home.is_done(&task));
    home.merge(&task, &plain()).fails(Code::Failed).says(failed);
    fs::remove_file(&slot).unwrap();
    fs::rename(&away, &slot).unwrap();
    home.merge(&task, &plain()).ok();
    let shown = home.show(&task);
    assert_eq!(shown["workspace"], serde_json::Value::Null);
    assert_eq!(shown["attention"], serde_json::Value::Null);
    assert_eq!(home.problems(), [""; 0]);
}

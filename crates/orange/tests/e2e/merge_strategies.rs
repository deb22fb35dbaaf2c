//! The four ways to merge: what history they leave, whose name and words stand in it, and what settings choose.

use crate::merges::{LINES, Merges};
use std::fs;
use std::path::Path;

fn commit_as(env: &Merges, folder: &Path, who: &str, date: &str, message: &[u8]) {
    let name = format!("user.name={who}");
    let email = format!("user.email={}@example.com", who.to_lowercase());
    fs::write(env.root().join("message"), message).unwrap();
    let file = env.root().join("message");
    let mut git = env.foreign("git");
    for variable in ["AUTHOR", "COMMITTER"] {
        git.env_remove(format!("GIT_{variable}_NAME"));
        git.env_remove(format!("GIT_{variable}_EMAIL"));
    }
    git.current_dir(folder).env("GIT_AUTHOR_DATE", date);
    git.args(["-c", &name, "-c", &email, "commit", "-q", "-a"]);
    git.args(["--cleanup=verbatim", "-F", file.to_str().unwrap()]);
    assert!(git.status().unwrap().success());
}

/// Two commits by two people; main has moved since.
fn two_authors(env: &Merges) -> [Vec<u8>; 2] {
    let messages = [
        "Grüße: höflich\n\nErste Zeile\n\n\n  eingerückt   \n\nSigned-off-by: Ann <ann@example.com>\n"
            .as_bytes()
            .to_vec(),
        b"second\n\nCo-authored-by: Cat <cat@example.com>\n".to_vec(),
    ];
    env.branch_by("work", |folder| {
        fs::write(folder.join("lines"), LINES.replace("one", "ONE")).unwrap();
        commit_as(env, folder, "Ann", "2001-02-03T04:05:06+0530", &messages[0]);
        fs::write(
            folder.join("lines"),
            LINES.replace("one", "ONE").replace("nine", "NINE"),
        )
        .unwrap();
        commit_as(env, folder, "Bob", "2002-02-03T04:05:06-0700", &messages[1]);
    });
    env.commit(&env.shop(), "other", "main moved");
    messages
}

#[test]
fn squash_is_one_commit_with_all_names() {
    let env = Merges::new();
    two_authors(&env);
    let task = env.reviewed("work");
    task.append("## Handoff\n\nDONE: both ends\nREMAINING: the middle\n");
    env.merge(&task, &[])
        .ok()
        .says("2 commits squashed")
        .says("it is done");
    let shop = env.shop();
    assert_eq!(
        env.line(&shop, "main"),
        ["Do work (TASK-001)", "change other"]
    );
    assert_eq!(
        env.git(&shop, &["log", "-1", "--format=%an <%ae>|%cn|%P", "main"]),
        format!("Ann <ann@example.com>|Tester|{}", env.at(&shop, "main^"))
    );
    assert_eq!(
        env.git(&shop, &["log", "-1", "--format=%B", "main"]),
        "Do work (TASK-001)\n\nDONE: both ends\nREMAINING: the middle\n\nTask: shop:TASK-001\n\
         Co-authored-by: Bob <bob@example.com>\nCo-authored-by: Cat <cat@example.com>"
    );
    let merged = LINES.replace("one", "ONE").replace("nine", "NINE");
    assert_eq!(fs::read_to_string(shop.join("lines")).unwrap(), merged);
    assert_eq!(env.git(&shop, &["status", "--porcelain"]), "");
    assert!(env.is_done(&task));
    // The branch stays, and so does what it was.
    env.at(&shop, "refs/heads/work");
    let event = task.last("task.merged");
    assert_eq!(event["commit"], env.at(&shop, "main"));
    assert_eq!(event["head"], env.at(&shop, "work"));
}

#[test]
fn rebase_keeps_every_commit_as_it_was_said() {
    let env = Merges::new();
    let messages = two_authors(&env);
    let task = env.reviewed("work");
    env.merge(&task, &["--strategy", "rebase"])
        .ok()
        .says("2 commits rebased");
    let shop = env.shop();
    assert_eq!(
        env.git(&shop, &["log", "-2", "--format=%an %ae %ad %cn", "main"]),
        "Bob bob@example.com Sun Feb 3 04:05:06 2002 -0700 Tester\n\
         Ann ann@example.com Sat Feb 3 04:05:06 2001 +0530 Tester"
    );
    for (revision, message) in ["main~1", "main"].iter().zip(&messages) {
        let raw = env
            .foreign("git")
            .current_dir(&shop)
            .args(["cat-file", "commit", revision])
            .output()
            .unwrap();
        let at = raw
            .stdout
            .windows(2)
            .position(|two| two == b"\n\n")
            .unwrap();
        let found = &raw.stdout[at + 2..];
        assert_eq!(
            String::from_utf8_lossy(found),
            String::from_utf8_lossy(message)
        );
    }
    assert_eq!(env.git(&shop, &["rev-list", "--merges", "main"]), "");
    assert_eq!(env.git(&shop, &["diff", "main", "work", "--", "lines"]), "");
    assert!(env.is_done(&task));
}

#[test]
fn merge_joins_both_lines() {
    let env = Merges::new();
    two_authors(&env);
    let task = env.reviewed("work");
    let before = env.at(&env.shop(), "main");
    env.merge(&task, &["--strategy", "merge"])
        .ok()
        .says("2 commits merged");
    let shop = env.shop();
    assert_eq!(
        env.git(&shop, &["log", "-1", "--format=%P|%s|%an", "main"]),
        format!(
            "{before} {}|Merge: Do work (TASK-001)|Tester",
            env.at(&shop, "work")
        )
    );
}

#[test]
fn ff_only_where_the_target_has_not_moved() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    env.commit(&env.shop(), "other", "main moved");
    env.refuses(&task, &["--strategy", "ff"], 3, &["fast-forward", "squash"]);
    let next = env.work("next", &[("next", "x")]);
    env.merge(&next, &["--strategy", "ff"]).ok();
    let shop = env.shop();
    assert_eq!(env.at(&shop, "main"), env.at(&shop, "next"));
    assert_eq!(env.git(&shop, &["status", "--porcelain"]), "");
}

#[test]
fn a_message_of_ones_own_and_one_that_says_nothing() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    for nothing in ["", "  \n\t"] {
        let run = env.merge(&task, &["--message", nothing]);
        run.fails_with(2).says("cannot be empty");
    }
    assert!(!env.is_done(&task));
    env.merge(&task, &["--message", "My words\n\nand \u{fc}more\n\n\n"])
        .ok();
    let body = env.git(&env.shop(), &["log", "-1", "--format=%B|"]);
    assert_eq!(body, "My words\n\nand \u{fc}more\n|");
}

#[test]
fn a_message_for_commits_that_keep_theirs() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    for strategy in ["rebase", "ff"] {
        let words = ["--strategy", strategy, "--message", "never used"];
        env.refuses(&task, &words, 2, &["--message", strategy]);
    }
}

#[test]
fn settings_choose_and_arguments_overrule_them() {
    let env = Merges::with_remote();
    env.config("merge:\n  strategy: preserve\n  push: false\n");
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    env.merge(&task, &[]).ok();
    let parents = |revision: &str| env.git(&shop, &["log", "-1", "--format=%P", revision]);
    assert_eq!(parents("main").split(' ').count(), 2);
    assert_ne!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
    let next = env.work("next", &[("next", "x")]);
    env.merge(&next, &["--strategy", "squash", "--push"])
        .ok()
        .says("pushed");
    assert_eq!(parents("main").split(' ').count(), 1);
    assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
    let third = env.work("third", &[("third", "x")]);
    env.merge(&third, &["--strategy", "preserve", "--no-push"])
        .ok();
    assert_ne!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
}

#[test]
fn settings_and_arguments_that_make_no_sense() {
    let env = Merges::new();
    let task = env.work("work", &[("new", "x")]);
    let before = env.everything();
    env.merge(&task, &["--strategy", "octopus"])
        .fails_with(2)
        .says("octopus")
        .says("squash");
    env.merge(&task, &["--push", "--no-push"]).fails_with(2);
    env.orange(["task", "merge", "TASK-999"]).fails_with(4);
    env.config("merge:\n  strategy: octopus\n");
    env.merge(&task, &[])
        .fails_with(2)
        .says("merge.strategy")
        .says("squash");
    assert_eq!(env.everything(), before);
}

#[test]
fn what_was_empty_on_purpose_survives_a_rebase_and_what_is_in_does_not() {
    let env = Merges::new();
    env.branch_by("work", |folder| {
        env.commit(folder, "a", "a");
        env.git(folder, &["commit", "-q", "--allow-empty", "-m", "marker"]);
        env.commit(folder, "b", "b");
    });
    let task = env.reviewed("work");
    let shop = env.shop();
    env.git(&shop, &["cherry-pick", "work~2"]);
    env.commit(&shop, "other", "x");
    env.merge(&task, &["--strategy", "rebase"]).ok();
    assert_eq!(
        env.line(&shop, "main"),
        ["change b", "marker", "change other", "change a"]
    );
}

#[test]
fn a_branch_that_took_main_in_is_rebased_without_the_joints() {
    let env = Merges::new();
    let shop = env.shop();
    env.branch("work", &[("a", "a")]);
    env.commit(&shop, "other", "x");
    env.branch_by("work", |folder| {
        env.git(folder, &["merge", "-q", "--no-edit", "main"]);
        env.commit(folder, "b", "b");
    });
    let task = env.reviewed("work");
    env.merge(&task, &["--strategy", "rebase"]).ok();
    assert_eq!(
        env.line(&shop, "main"),
        ["change b", "work work", "change other"]
    );
    assert_eq!(env.git(&shop, &["rev-list", "--merges", "main"]), "");
}

/// A merge may hold changes that no commit of the branch has; a rebase would drop them silently.
#[test]
fn an_evil_merge_is_not_rebased() {
    let env = Merges::new();
    let shop = env.shop();
    env.branch("work", &[("a", "a")]);
    env.commit(&shop, "other", "x");
    env.branch_by("work", |folder| {
        env.git(folder, &["merge", "-q", "--no-commit", "main"]);
        fs::write(folder.join("smuggled"), "in the merge itself").unwrap();
        env.commit_all(folder, "joined");
    });
    let task = env.reviewed("work");
    env.refuses(&task, &["--strategy", "rebase"], 3, &["merge in it"]);
    env.merge(&task, &[]).ok();
    assert!(shop.join("smuggled").exists());
}

/// Git shows such commits, and makes none itself.
#[test]
fn a_commit_whose_author_has_no_name() {
    for strategy in ["squash", "rebase"] {
        let env = Merges::new();
        let shop = env.shop();
        env.branch("work", &[("new", "x")]);
        let text = env.git(&shop, &["cat-file", "commit", "work"]);
        let lines = text.lines().map(|line| match line.starts_with("author ") {
            true => "author  <> 1000000000 +0100",
            false => line,
        });
        let raw = lines.collect::<Vec<_>>().join("\n") + "\n";
        let raw = env.write("raw", raw);
        let hash = ["hash-object", "-t", "commit", "-w", raw.to_str().unwrap()];
        let nameless = env.git(&shop, &hash);
        env.git(&shop, &["update-ref", "refs/heads/work", &nameless]);
        env.commit(&shop, "other", "x");
        let task = env.reviewed("work");
        env.merge(&task, &["--strategy", strategy]).ok();
        assert_eq!(env.git(&shop, &["log", "-1", "--format=%an"]), "unknown");
    }
}

/// From the base of the work, whatever its own branch says.
#[test]
fn a_repository_chooses_for_its_team() {
    let env = Merges::new();
    let shop = env.shop();
    env.config("merge:\n  strategy: ff\n");
    fs::create_dir_all(shop.join(".orange")).unwrap();
    env.commit(&shop, ".orange/config.yaml", "merge:\n  strategy: merge\n");
    env.branch_by("work", |folder| {
        env.commit(
            folder,
            ".orange/config.yaml",
            "merge:\n  strategy: rebase\n",
        );
    });
    env.branch("next", &[("b", "b")]);
    env.commit(&shop, "other", "x");
    let task = env.reviewed("work");
    env.merge(&task, &[]).ok();
    let merges = ["rev-list", "--count", "--merges", "main"];
    assert_eq!(env.git(&shop, &merges), "1");
    let task = env.reviewed("next");
    env.merge(&task, &["--strategy", "squash"]).ok();
    assert_eq!(env.git(&shop, &merges), "1");
}

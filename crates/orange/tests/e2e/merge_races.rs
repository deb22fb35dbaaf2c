//! Several merges of one repository at the same moment: all land, one after the other.

use crate::merges::Merges;

#[test]
fn two_at_once_both_land() {
    let env = Merges::with_remote();
    let shop = env.shop();
    for round in 0..4 {
        let tasks = [0, 1].map(|n| {
            let name = format!("r{round}-{n}");
            env.work(&name, &[(&name, "x")])
        });
        let racing = tasks
            .each_ref()
            .map(|task| env.call(["task", "merge", &task.id]).spawn());
        for merge in racing {
            let output = merge.wait_with_output().unwrap();
            assert!(output.status.success(), "round {round}: {output:?}");
        }
        for task in &tasks {
            assert!(env.is_done(task));
            assert!(shop.join(&task.branch).exists());
        }
        assert_eq!(env.line(&shop, "main").len(), 2 * (round + 1));
        assert_eq!(env.git(&shop, &["rev-list", "--merges", "main"]), "");
        assert_eq!(env.at(&shop, "main"), env.at(&env.remote(), "main"));
        assert_eq!(env.git(&shop, &["status", "--porcelain"]), "");
    }
}

#[test]
fn one_task_by_two_people_is_merged_once() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x")]);
    let racing = [0, 1].map(|_| env.call(["task", "merge", &task.id]).spawn());
    for merge in racing {
        let output = merge.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(env.line(&shop, "main"), ["Do work (TASK-001)"]);
    let merged = task.events();
    assert_eq!(
        merged
            .iter()
            .filter(|event| *event == "task.merged")
            .count(),
        1
    );
}

/// Two that want the same lines: one lands, the other hears of the conflict.
#[test]
fn two_that_conflict() {
    let env = Merges::new();
    let tasks = ["one", "two"].map(|name| env.work(name, &[("lines", name)]));
    let racing = tasks
        .each_ref()
        .map(|task| env.call(["task", "merge", &task.id]).spawn());
    let codes = racing.map(|merge| merge.wait_with_output().unwrap().status.code());
    let mut sorted = codes;
    sorted.sort();
    assert_eq!(sorted, [Some(0), Some(3)]);
    assert_eq!(env.line(&env.shop(), "main").len(), 1);
}

/// The user commits in the main checkout all the while; nobody's commit is lost.
#[test]
fn a_user_who_commits_meanwhile() {
    let env = Merges::new();
    let shop = env.shop();
    let tasks: Vec<_> = (0..4)
        .map(|n| env.work(&format!("t{n}"), &[(&format!("t{n}"), "x")]))
        .collect();
    let merging: Vec<_> = tasks
        .iter()
        .map(|task| env.call(["task", "merge", &task.id]).spawn())
        .collect();
    let mut committed = 0;
    for n in 0..10 {
        std::fs::write(shop.join(format!("mine{n}")), "x").unwrap();
        let words = format!("git add mine{n} && git commit -q -m mine{n} -- mine{n}");
        let mut git = env.foreign("sh");
        let output = git
            .current_dir(&shop)
            .args(["-c", &words])
            .output()
            .unwrap();
        committed += usize::from(output.status.success());
    }
    let merged = merging
        .into_iter()
        .map(|merge| merge.wait_with_output().unwrap())
        .filter(|output| output.status.success())
        .count();
    let line = env.line(&shop, "main");
    assert_eq!(line.len(), merged + committed, "{line:?}");
    let done = tasks.iter().filter(|task| env.is_done(task)).count();
    assert_eq!(done, merged);
    // No file shows a change that nobody made: what is staged is what the user could not commit.
    let status = env.git(&shop, &["status", "--porcelain"]);
    let foreign = |line: &&str| !line.contains("mine");
    assert_eq!(status.lines().filter(foreign).count(), 0, "{status}");
    // Whoever was refused comes in afterwards.
    for task in &tasks {
        env.merge(task, &[]).ok();
        assert!(shop.join(&task.branch).exists());
    }
}

/// Git changes the files first and moves the branch then. What comes between the two is played by hooks of the
/// repository, which run at just these moments.
#[test]
fn a_branch_that_does_not_follow_its_files() {
    for env in [Merges::new(), Merges::with_remote()] {
        let shop = env.shop();
        let task = env.work("work", &[("new", "x"), ("lines", "theirs")]);
        std::fs::write(shop.join("README.md"), "edited").unwrap();
        let seen = env.root().join("seen");
        let script = format!(
            "test \"$1\" = prepared || exit 0\ngrep -q refs/heads/main || exit 0\n\
             echo x >> '{0}'\ntest $(wc -l < '{0}') -lt 2 || {{ echo 'not twice' >&2; exit 1; }}",
            seen.display()
        );
        env.hook(&shop, "reference-transaction", &script);
        let before = env.surroundings(&shop);
        let run = env.merge(&task, &[]).says("not twice");
        let without = |text: String| {
            let lines = text.lines().map(str::to_owned);
            let ours = |line: &String| !line.ends_with("refs/remotes/origin/main");
            lines.filter(ours).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(without(env.surroundings(&shop)), without(before), "{run}");
        // The remote has it, or nobody.
        assert_eq!(env.is_done(&task), env.remote().exists());
        assert_eq!(run.code, if env.remote().exists() { 0 } else { 3 });
    }
}

#[test]
fn a_commit_between_the_files_and_the_branch() {
    let env = Merges::new();
    let shop = env.shop();
    let task = env.work("work", &[("new", "x"), ("lines", "theirs")]);
    let tree = env.at(&shop, "main^{tree}");
    let words = ["commit-tree", "-p", "main", "-m", "in between", &tree];
    let between = env.git(&shop, &words);
    let once = env.write("once", "");
    let script = format!(
        "test -e new || exit 0\nrm '{}' 2>/dev/null || exit 0\ngit update-ref refs/heads/main {between}",
        once.display()
    );
    env.hook(&shop, "post-index-change", &script);
    env.merge(&task, &[]).ok();
    assert!(!once.exists());
    assert_eq!(
        env.line(&shop, "main"),
        ["Do work (TASK-001)", "in between"]
    );
    assert_eq!(env.git(&shop, &["status", "--porcelain"]), "");
}

//! What the scripted agents of a soak do: one that behaves, and every way not to.

use std::path::Path;

/// The ways in which agents go wrong. The name says which; the first attempt does it, later ones behave.
pub(crate) const VARIANTS: &[&str] = &[
    "behaves",
    "fails first review",
    "fails every review",
    "asks a question",
    "crashes in planning",
    "crashes at work",
    "crashes for ever",
    "reviewer crashes",
    "reviewer says nothing",
    "exits without handoff",
    "exits with handoff",
    "leaves a daemon",
    "replaces the link",
    "ends its turn",
    "leaves files",
    "is stuck",
];

/// Where agents write down what they did, outside of any worktree.
pub(crate) struct Ledger<'a> {
    pub(crate) commits: &'a Path,
    pub(crate) files: &'a Path,
    pub(crate) turns: &'a Path,
}

/// The script of a task. `dies` is where the agent's own `orange task complete` is killed, the first time.
pub(crate) fn script(variant: &str, number: usize, dies: Option<&str>, ledger: &Ledger) -> String {
    let commits = ledger.commits.display();
    let files = ledger.files.display();
    let commit = format!(
        "- run: echo $$ >> work-{number}.txt && git add -A && git commit -qm work-{number} && git rev-parse HEAD >> {commits}\n    ignore: true"
    );
    let complete = match dies {
        Some(point) => {
            format!(
                "- run: |\n      if [ -e {files}.died-{number} ]; then exec orange task complete; fi\n      touch {files}.died-{number}\n      ORANGE_CRASH_AT={point} orange task complete\n    ignore: true"
            )
        }
        None => "- complete:\n    ignore: true".to_owned(),
    };
    let plan = "- plan: \"APPROACH: straight ahead\"\n  - status: working\n    ignore: true";
    let work = format!("{commit}\n  - handoff: \"DONE: work\"\n  {complete}");
    let good = good_worker(plan, &work);
    let first = first_attempt(variant, plan, &work, &commit, number, &files.to_string());
    let reviewer = reviewer(variant);
    format!("worker:\n{good}\n{first}\n{reviewer}")
}

fn indented(steps: &str, by: usize) -> String {
    let space = " ".repeat(by);
    let lines = steps.lines().map(|line| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        format!("{space}{line}\n")
    });
    lines.collect()
}

/// Does what the status asks for, whenever it is told anything.
fn good_worker(plan: &str, work: &str) -> String {
    let turn = |by: usize| {
        let space = " ".repeat(by);
        format!(
            "{space}- if: {{status: planning}}\n{space}  then:\n{}{space}- if: {{status: working}}\n{space}  then:\n{}",
            indented(plan, by + 4),
            indented(work, by + 4),
        )
    };
    format!(
        "{}  - repeat: forever\n    steps:\n      - end turn\n{}",
        turn(2),
        turn(6)
    )
}

fn first_attempt(
    variant: &str,
    plan: &str,
    work: &str,
    commit: &str,
    number: usize,
    files: &str,
) -> String {
    let good = good_worker(plan, work);
    let whole = |steps: &str| format!("worker attempt 1:\n{steps}\n");
    match variant {
        "asks a question" => whole(&format!(
            "  - questions: Which one?\n  - status: clarification\n    ignore: true\n  - wait for: {{status: [planning, working, cancelled]}}\n    timeout: 60s\n{good}"
        )),
        "crashes in planning" => whole("  - crash"),
        "crashes at work" => whole(&format!("  {plan}\n  {commit}\n  - crash: KILL")),
        "crashes for ever" => format!(
            "{}worker attempt 2:\n  {commit}\n  - crash\n\nworker attempt 3:\n  - crash\n",
            whole(&format!("  {plan}\n  {commit}\n  - crash"))
        ),
        "exits without handoff" => whole(&format!("  {plan}\n  {commit}\n  - exit")),
        "exits with handoff" => whole(&format!(
            "  {plan}\n  {commit}\n  - handoff: \"DONE: work\"\n  - exit"
        )),
        "leaves a daemon" => whole(&format!(
            "  - daemon: sleep 1000\n  - child: sleep 1000\n{good}"
        )),
        "replaces the link" => whole(&format!(
            "  - section: Notes\n    text: a note\n    how: rename\n{good}"
        )),
        "ends its turn" => whole(&format!("  - say: Shall I go on?\n  - end turn\n{good}")),
        "leaves files" => whole(&format!(
            "  {plan}\n  {commit}\n  - write: left-{number}.txt\n    text: not committed\n  - run: echo left-{number}.txt >> {files}\n  - handoff: \"DONE: some of it\"\n  - complete:\n    ignore: true\n  - repeat: forever\n    steps:\n      - end turn\n      - if: {{status: working}}\n        then:\n          - handoff: \"DONE: no more\"\n          - complete:\n            ignore: true"
        )),
        "is stuck" => whole(&format!(
            "  {plan}\n  {commit}\n  - stuck:\n    ignore: true\n  - end turn\n{good}"
        )),
        _ => String::new(),
    }
}

fn reviewer(variant: &str) -> String {
    let pass = "reviewer:\n  - review: PASS\n    text: fine\n  - status: reviewing\n    ignore: true\n  - end turn\n  - status: reviewing\n    ignore: true\n";
    let fail = "  - review: FAIL\n    text: no test\n  - status: working\n    ignore: true\n  - end turn\n  - status: working\n    ignore: true\n";
    match variant {
        "fails first review" => format!("{pass}\nreviewer round 1:\n{fail}"),
        "fails every review" => {
            format!(
                "{pass}\nreviewer round 1:\n{fail}\nreviewer round 2:\n  - review: FAIL\n    text: still none\n  - status: stuck\n    ignore: true\n"
            )
        }
        "reviewer crashes" => format!("{pass}\nreviewer round 1 attempt 1:\n  - crash\n"),
        "reviewer says nothing" => {
            format!(
                "{pass}\nreviewer round 1 attempt 1:\n  - review: PASS\n    text: fine\n  - exit\n"
            )
        }
        _ => pass.to_owned(),
    }
}

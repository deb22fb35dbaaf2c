//! What must have happened before a document is played, or before one of its commands. A document that is not named here
//! is played where the examples of `--help` are.

use super::situations::{TEST_REPORT, USUAL};
use super::world::World;

/// A document, where it is played, and what happens before which command.
struct Stage {
    document: &'static str,
    /// In an empty home, instead of the repository `shop`.
    bare: bool,
    before: &'static [(&'static str, &'static str)],
}

/// A task whose worker asks; nothing else is done.
const ASKS: &str = "\
printf 'harness:\\n  mine:\\n    command: [asking, npm install, npm test]\\n    like: claude\\n' >>~/orange/config.yaml
orange new 'Add a login form' --harness mine --permissions ask
until orange answer TASK-001; do sleep 0.05; done";

/// A remote that has what is committed.
const REMOTE: &str = "\
git init -q --bare -b main ../origin.git
git remote add origin ../origin.git && git push -q -u origin main";

/// Two tasks that change the same line; the first is reviewed, the second will be.
const PRICES: &str = "\
printf 'black tea 3\\ngreen tea 4\\nherb tea 2\\n' >prices.txt && git add prices.txt && git commit -q -m prices && git push -q
agents() {
  printf 'worker:\\n  - plan: \"APPROACH: %s\"\\n  - status: working\\n' \"$2\"
  printf '  - run: sed -i \"s/green tea 4/%s/\" prices.txt\\n  - commit: %s\\n' \"$2\" \"$2\"
  printf '  - handoff: \"DONE: green tea costs 5\"\\n  - complete\\n  - end turn\\n'
  printf '  - write: CHANGES.md\\n    text: Green tea costs 5\\n  - commit: change log\\n'
  printf '  - handoff: \"DONE: green tea costs 5\"\\n  - complete\\n'
  printf 'reviewer:\\n  - review: PASS\\n  - status: reviewing\\n'
} >\"../$1.yaml\"
agents dear 'green tea 5'; agents cheap 'green tea 3, on sale'
for name in dear cheap; do
  harness=sim:$(realpath ../$name.yaml)
  orange new 'Green tea costs more' --harness \"$harness\" --review-harness \"$harness\"
done
orange wait TASK-001 --for reviewing && orange wait TASK-002 --for reviewing";

/// What claude does with a login form, and with a request for changes.
const LOGIN: &str = "\
git init -q -b main shop && cd shop && git commit -q --allow-empty -m 'first commit'
cat >../../bin/claude.yaml <<'END'
worker:
  - plan: \"APPROACH: a form\"
  - status: working
  - write: login.html
    text: \"<form>\\n<input name=user>\\n<input name=password type=password>\\n<button>Log in</button></form>\\n\"
  - commit: Add a login form
  - handoff: \"DONE: a form\"
  - complete
  - end turn
  - run: sed -i 's/<button>/<button class=large>/' login.html
  - commit: A larger button
  - handoff: \"DONE: a larger button\"
  - complete
END";

/// A project of its own with a check that runs until a file is there, and then fails, as it does on the base.
const CHECKED: &str = "\
git init -q -b main ../login && cd ../login
mkdir .orange && printf 'verify:\\n  command: make test\\n' >.orange/config.yaml
printf 'test:\\n\\t@until [ -e %s/go ]; do sleep 0.05; done; cat failed; false\\n' \"$(realpath ..)\" >Makefile
echo 'FAILED tests/test_cart.py::test_total' >failed
git add . && git commit -q -m 'what is checked' && orange project add . && orange project trust login --yes
cat >../fails.yaml <<'END'
worker:
  - plan: \"APPROACH: a form\"
  - status: working
  - append: failed
    text: \"FAILED tests/test_login.py::test_empty\\n\"
  - commit: a form
  - handoff: \"DONE: a form\"
  - complete
reviewer:
  - review: PASS
  - status: reviewing
END
harness=sim:$(realpath ../fails.yaml)
orange new 'Add a login form' --harness \"$harness\" --review-harness \"$harness\"";

/// A task whose agent has a question.
const QUESTION: &str = "\
printf 'worker:\\n  - questions: In which currency?\\n  - status: clarification\\n  - repeat: forever\\n    steps:\\n      - end turn\\n' >../prices.yaml
orange new 'Show the prices' --harness \"sim:$(realpath ../prices.yaml)\"
orange wait TASK-002 --for needs-me";

const STAGES: &[Stage] = &[
    Stage {
        document: "README.md",
        bare: true,
        before: &[
            ("", LOGIN),
            ("orange diff", "orange wait TASK-001 --for reviewing"),
            ("orange merge", "orange wait TASK-001 --for reviewing"),
        ],
    },
    Stage {
        document: "docs/answering.md",
        bare: false,
        before: &[
            ("", ASKS),
            ("", QUESTION),
            (
                "orange answer TASK-001 --always",
                "until orange answer TASK-001; do sleep 0.05; done",
            ),
        ],
    },
    Stage {
        document: "docs/reviewing.md",
        bare: false,
        before: &[
            ("", CHECKED),
            ("orange verify", "touch ../go"),
            ("orange request-changes", "cd ../shop"),
            ("orange request-changes", REMOTE),
            ("orange request-changes", PRICES),
        ],
    },
    Stage {
        document: "docs/phased.md",
        bare: false,
        before: &[("orange test-results import", TEST_REPORT)],
    },
    Stage {
        document: "docs/reference/harnesses.md",
        bare: false,
        before: &[
            ("", "echo 'Which tests are slow here?' >prompt.md"),
            (
                "orange signal",
                "orange new 'Add a login form' && orange wait TASK-001 --for reviewing
echo \"export PROMPT='go on' ORANGE_RUN_ID=$(basename ~/orange/runs/*)\" >>\"$BASH_ENV\"",
            ),
        ],
    },
    Stage {
        document: "docs/reference/workspaces.md",
        bare: false,
        before: &[
            ("", REMOTE),
            (
                "",
                "\
git commit -q --allow-empty -m one && git commit -q --allow-empty -m two
orange new 'Add a login form' --harness none --no-spawn",
            ),
            (
                "orange rescue list",
                "\
cd \"$(orange path TASK-001)\" && echo a >a && echo b >b && cd -
orange cancel TASK-001 --yes
orange new 'Log out' --harness none
saved TASK-002 2026-11-15 12:29:32 menu.html",
            ),
        ],
    },
];

fn stage(document: &str) -> Option<&'static Stage> {
    STAGES.iter().find(|stage| stage.document == document)
}

/// Where a document is played.
pub(crate) fn world(document: &str) -> World {
    let Some(stage) = stage(document) else {
        return USUAL.world();
    };
    let mut world = if stage.bare {
        World::bare()
    } else {
        World::new()
    };
    for (_, lines) in stage
        .before
        .iter()
        .filter(|(command, _)| command.is_empty())
    {
        world.prepare(lines);
    }
    world
}

/// What happens before the first command that has these words.
pub(crate) fn before(document: &str) -> Vec<(&'static str, &'static str)> {
    let rows = stage(document).map_or(&[][..], |stage| stage.before);
    rows.iter()
        .filter(|(command, _)| !command.is_empty())
        .copied()
        .collect()
}

pub(crate) fn staged() -> impl Iterator<Item = &'static str> {
    STAGES.iter().map(|stage| stage.document)
}

//! Whatever fuzzing has found stays fixed: the kept inputs of every target, and inputs that are too large to keep.

// Helpers outside a test function count as production code to clippy.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use orange_fuzz::{READERS, TARGETS};
use std::fs;
use std::path::{Path, PathBuf};

fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = fs::read_dir(folder.join(target)).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// The target called `name` with every input that is kept for it.
fn replay(name: &str) {
    let (_, check) = TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let files = corpus(name);
    assert!(!files.is_empty(), "no corpus of {name}");
    for file in files {
        // Shown only if the check panics.
        println!("{}", file.display());
        check(&fs::read(file).unwrap());
    }
}

macro_rules! replayed {
    ($($target:ident)+) => {
        $(#[test]
        fn $target() {
            replay(stringify!($target));
        })+

        #[test]
        fn every_target_is_replayed_and_fuzzed() {
            let replayed = [$(stringify!($target)),+];
            assert!(TARGETS.iter().map(|(name, _)| *name).eq(replayed));
            let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml");
            let manifest = fs::read_to_string(manifest).unwrap();
            for target in replayed {
                assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
            }
        }
    };
}

replayed!(answer artifact config history plan prompt reconcile reference sim_script spec task_file test_report yaml);

const LARGE: usize = 256 * 1024;

/// Nothing takes stack, or time out of all proportion.
fn large(around: [&str; 2]) {
    let [before, after] = around;
    for unit in UNITS {
        println!("{unit:?} between {before:?} and {after:?}");
        let many = unit.repeat(LARGE / unit.len());
        let text = format!("{before}{many}{after}");
        READERS.iter().for_each(|read| read(text.as_bytes()));
    }
}

const UNITS: &[&str] = &[
    "a",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "#",
    "-",
    "- ",
    "> ",
    "`",
    "*",
    "_",
    "[",
    "]",
    "{",
    "}",
    "<",
    "<!--",
    "&",
    "&a ",
    "*a ",
    "!",
    "!!",
    "|\n",
    "'",
    "\"",
    "\\",
    ":",
    ": ",
    "? ",
    "a: ",
    "a: b\n",
    "---\n",
    "...\n",
    "## Plan\n",
    "## ",
    "1. ",
    "9",
    "\u{feff}",
    "\u{85}",
    "é",
    "😀",
    "{\"a\":",
    "[]",
    "[a](",
    "![",
    "\n>",
    "\n ",
    "a\n=\n",
    "%%\n",
    "<a ",
    "<?",
    "<![CDATA[",
    "=======\n",
    "- stop\n",
];

#[test]
fn very_much_of_one_thing_is_read() {
    large(["", ""]);
}

#[test]
fn very_much_of_one_thing_is_read_in_a_frontmatter() {
    large(["---\nsummary: ", "\n---\n"]);
}

#[test]
fn very_many_steps_are_read() {
    large(["worker:\n", ""]);
}

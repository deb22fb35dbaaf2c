//! Decides from a task's words which kinds of tests its change must come with.

use serde::{Deserialize, Serialize};

/// Words that say a task changes what a user sees and touches.
const UI_WORDS: [&str; 17] = [
    "ui",
    "frontend",
    "button",
    "form",
    "page",
    "modal",
    "dialog",
    "component",
    "widget",
    "style",
    "css",
    "theme",
    "responsive",
    "click",
    "hover",
    "navigation",
    "menu",
];

/// Words that say a task changes how something looks.
const VISUAL_WORDS: [&str; 7] = [
    "design",
    "style",
    "css",
    "theme",
    "responsive",
    "visual",
    "layout",
];

/// The kinds of tests a task must come with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestingRequirements {
    pub unit: bool,
    pub e2e: bool,
    pub visual: bool,
}

/// Whether the task is about a user interface, by its words.
pub fn requires_ui_testing(summary: &str, context: &str) -> bool {
    mentions(summary, &UI_WORDS) || mentions(context, &UI_WORDS)
}

/// `said` is whether a person says that the task is about a user interface; None: its words decide. `frontend_project` is
/// whether its project has one to drive, `trivial` whether the change is too small for tests of its own.
///
/// A design task needs visual tests even if nothing else in it names a part of a user interface, but not if a person says that
/// it has none.
pub fn testing_requirements(
    said: Option<bool>,
    frontend_project: bool,
    trivial: bool,
    summary: &str,
    context: &str,
) -> TestingRequirements {
    let ui = said.unwrap_or_else(|| requires_ui_testing(summary, context));
    let looks = mentions(summary, &VISUAL_WORDS) || mentions(context, &VISUAL_WORDS);
    TestingRequirements {
        unit: !trivial,
        e2e: ui && frontend_project,
        visual: looks && said != Some(false),
    }
}

/// Whether `text` has one of `words` or its plural as a whole word in any letter case. Everything
/// but letters and digits separates words, so `dark-theme` has the word theme.
fn mentions(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .any(|word| {
            let singular = word.strip_suffix('s').unwrap_or(&word);
            words.contains(&word.as_str()) || words.contains(&singular)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ui(text: &str) -> bool {
        requires_ui_testing(text, "")
    }

    #[test]
    fn every_listed_word_counts_alone_in_plural_and_in_any_case() {
        for word in UI_WORDS {
            assert!(ui(word), "{word}");
            assert!(ui(&word.to_uppercase()), "{word}");
            assert!(ui(&format!("{word}s")), "{word}");
            assert!(
                requires_ui_testing("", &format!("the {word}, please")),
                "{word}"
            );
        }
    }

    #[test]
    fn punctuation_separates_words() {
        for text in [
            "dark-theme",
            "ui/ux",
            "login_form",
            "(CSS)",
            "the page's title",
            "menu.",
        ] {
            assert!(ui(text), "{text}");
        }
    }

    #[test]
    fn parts_of_words_do_not_count() {
        for text in [
            "performance",
            "platform",
            "information",
            "uid",
            "build",
            "front-end",
            "pagination",
            "clicked",
            "componentss",
            "guis",
            "stylesheet",
            "übermenu",
            "form2",
            "",
        ] {
            assert!(!ui(text), "{text}");
        }
    }

    #[test]
    fn unit_tests_unless_trivial() {
        assert!(testing_requirements(None, false, false, "", "").unit);
        assert_eq!(
            testing_requirements(None, true, true, "sort the log", "by time"),
            TestingRequirements::default()
        );
    }

    #[test]
    fn end_to_end_tests_need_a_ui_task_in_a_frontend_project() {
        for (ui, frontend) in [(false, false), (false, true), (true, false), (true, true)] {
            let e2e = |said: Option<bool>, words: &str| {
                testing_requirements(said, frontend, true, words, "").e2e
            };
            assert_eq!(e2e(Some(ui), "button"), ui && frontend);
            assert_eq!(e2e(Some(ui), "parser"), ui && frontend);
            assert_eq!(
                e2e(None, if ui { "button" } else { "parser" }),
                ui && frontend
            );
        }
    }

    #[test]
    fn a_task_about_looks_needs_visual_tests_unless_a_person_says_that_it_has_no_ui() {
        let visual = |said: Option<bool>, summary: &str, context: &str| {
            testing_requirements(said, false, true, summary, context).visual
        };
        for word in VISUAL_WORDS {
            for said in [None, Some(true)] {
                assert!(visual(said, word, ""), "{word}");
                assert!(visual(said, "", word), "{word}");
            }
            assert!(!visual(Some(false), word, word), "{word}");
        }
        assert!(visual(None, "Design the checkout", ""));
        assert!(visual(None, "two Layouts", ""));
        for said in [None, Some(true)] {
            assert!(!visual(said, "a button", "redesigned"));
        }
    }

    #[test]
    fn missing_keys_are_false() {
        let read: TestingRequirements = serde_json::from_str(r#"{"e2e":true}"#).unwrap();
        assert_eq!(
            read,
            TestingRequirements {
                unit: false,
                e2e: true,
                visual: false
            }
        );
    }

    proptest! {
        #[test]
        fn any_text_is_fine_and_letters_around_a_word_hide_it(text in "\\PC{0,60}") {
            ui(&text);
            let padded = format!("{text} xform");
            prop_assert_eq!(ui(&padded), ui(&text));
            let added = format!("{text} form");
            prop_assert!(ui(&added));
        }
    }
}

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

/// `ui` is whether the task is about a user interface, `frontend_project` whether its project has
/// one to drive, `trivial` whether the change is too small for tests of its own.
pub fn testing_requirements(
    ui: bool,
    frontend_project: bool,
    trivial: bool,
    summary: &str,
    context: &str,
) -> TestingRequirements {
    TestingRequirements {
        unit: !trivial,
        e2e: ui && frontend_project,
        visual: ui && (mentions(summary, &VISUAL_WORDS) || mentions(context, &VISUAL_WORDS)),
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
        assert!(testing_requirements(false, false, false, "", "").unit);
        assert_eq!(
            testing_requirements(false, true, true, "css", "layout"),
            TestingRequirements::default()
        );
    }

    #[test]
    fn end_to_end_tests_need_a_ui_task_in_a_frontend_project() {
        for (ui, frontend) in [(false, false), (false, true), (true, false), (true, true)] {
            let e2e = testing_requirements(ui, frontend, true, "button", "").e2e;
            assert_eq!(e2e, ui && frontend);
        }
    }

    #[test]
    fn visual_tests_need_a_ui_task_and_a_word_about_looks() {
        for word in VISUAL_WORDS {
            assert!(
                testing_requirements(true, false, true, word, "").visual,
                "{word}"
            );
            assert!(
                testing_requirements(true, false, true, "", word).visual,
                "{word}"
            );
            assert!(
                !testing_requirements(false, true, false, word, word).visual,
                "{word}"
            );
        }
        assert!(testing_requirements(true, false, true, "two Layouts", "").visual);
        assert!(!testing_requirements(true, true, false, "a button", "redesigned").visual);
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

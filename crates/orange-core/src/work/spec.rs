//! The specification of a task: a Markdown text with an outline of four sections, one of which has checkboxes.

use crate::Timestamp;
use crate::artifact::sections;
use crate::choice;
use crate::work::execution::CriterionResult;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::Serialize;

/// No specification is longer, in bytes.
pub const MOST_BYTES: usize = 4 * 1024 * 1024;

/// What a gate's criteria call the check of the outline.
pub const SPEC_COMPLETE: &str = "spec_complete";

/// The section that has the checkboxes.
const CRITERIA: &str = "Success Criteria";

/// The sections of a whole specification, in their order.
pub const SECTIONS: [&str; 4] = ["Problem Statement", CRITERIA, "Scope", "Technical Approach"];

choice! {
    /// Where a specification comes from.
    pub enum SpecSource ("source of a specification") {
        /// An agent wrote it in the phase spec.
        SpecPhase = "spec-phase",
        Cli = "cli",
        Api = "api",
        Manifest = "manifest",
        /// From another home, or from the `spec.md` of an older program.
        Import = "import",
    }
}

impl SpecSource {
    /// Whether it was there before the phase spec, which is not needed then.
    pub fn is_given(self) -> bool {
        self != SpecSource::SpecPhase
    }

    /// As a sentence goes on: `1.2 kB, given on the command line`.
    pub fn words(self) -> &'static str {
        match self {
            SpecSource::SpecPhase => "written in the phase spec",
            SpecSource::Cli => "given on the command line",
            SpecSource::Api => "given through the API",
            SpecSource::Manifest => "given in a manifest",
            SpecSource::Import => "imported",
        }
    }
}

/// The specification of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spec {
    pub content: String,
    pub source: SpecSource,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Why a text cannot be a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadSpec {
    #[error("the specification is empty")]
    Empty,
    #[error("the specification is larger than {} MB", MOST_BYTES / 1024 / 1024)]
    TooLong,
    #[error("the specification has a NUL character, which no prompt can have")]
    Nul,
}

/// Refuses a text that no agent could be given.
pub fn check_text(text: &str) -> Result<(), BadSpec> {
    if text.trim().is_empty() {
        Err(BadSpec::Empty)
    } else if text.len() > MOST_BYTES {
        Err(BadSpec::TooLong)
    } else if text.contains('\0') {
        Err(BadSpec::Nul)
    } else {
        Ok(())
    }
}

/// What a specification has of its outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecOutline {
    /// The sections that are not there.
    pub missing: Vec<&'static str>,
    /// The sections that are there without a text.
    pub empty: Vec<&'static str>,
    /// Whether the success criteria have a checkbox.
    pub has_checkbox: bool,
}

impl SpecOutline {
    /// Reads the headings and checkboxes of a specification as Markdown has them: an example in a code fence is none.
    pub fn of(content: &str) -> SpecOutline {
        // A byte order mark hides a heading in the first line.
        let content = content.strip_prefix('\u{FEFF}').unwrap_or(content);
        let found = sections(content);
        let is_called = |name: &str, wanted: &str| name.trim().eq_ignore_ascii_case(wanted);
        let of_name = |wanted: &'static str| {
            let named = found.iter();
            named.filter(move |section| is_called(&section.name, wanted))
        };
        let has_text = |wanted: &'static str| {
            let mut texts =
                of_name(wanted).filter_map(|section| content.get(section.content.clone()));
            texts.any(|text| !text.trim().is_empty())
        };
        let is_missing = |wanted: &&'static str| of_name(wanted).next().is_none();
        let (missing, present): (Vec<_>, Vec<_>) = SECTIONS.into_iter().partition(is_missing);
        SpecOutline {
            missing,
            empty: present
                .into_iter()
                .filter(|section| !has_text(section))
                .collect(),
            has_checkbox: checkboxes(content)
                .any(|at| of_name(CRITERIA).any(|section| section.content.contains(&at))),
        }
    }

    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.empty.is_empty() && self.has_checkbox
    }

    /// What it lacks, in words; nothing for a whole one.
    pub fn lacks(&self) -> String {
        let headings = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| format!("`## {name}`")).collect();
            names.join(", ")
        };
        let mut lacks = Vec::new();
        if !self.missing.is_empty() {
            lacks.push(format!("it has no {}", headings(&self.missing)));
        }
        if !self.empty.is_empty() {
            lacks.push(format!("there is nothing below {}", headings(&self.empty)));
        }
        if !self.has_checkbox && !self.missing.contains(&CRITERIA) {
            lacks.push(format!(
                "`## {CRITERIA}` has no checkbox `- [ ]` with a text"
            ));
        }
        lacks.join("; ")
    }
}

/// Where the checkboxes of lists stand that have a text.
fn checkboxes(content: &str) -> impl Iterator<Item = usize> + '_ {
    let events = Parser::new_ext(content, Options::ENABLE_TASKLISTS).into_offset_iter();
    let mut marker = None;
    events.filter_map(move |(event, range)| match event {
        Event::TaskListMarker(_) => {
            marker = Some(range.start);
            None
        }
        Event::Start(Tag::Item) | Event::End(TagEnd::Item) => {
            marker = None;
            None
        }
        Event::Text(text) | Event::Code(text) if !text.trim().is_empty() => marker.take(),
        _ => None,
    })
}

/// What becomes of `spec_complete` when an agent says that its specification is complete. None: it handed over none.
pub fn check_handed_over(artifact: Option<&str>) -> CriterionResult {
    let failed = |detail: String| CriterionResult {
        criterion: SPEC_COMPLETE.to_owned(),
        passed: Some(false),
        detail,
    };
    let Some(text) = artifact.filter(|text| !text.trim().is_empty()) else {
        return failed("your answer had no specification: give all of it as `artifact`".to_owned());
    };
    if let Err(bad) = check_text(text) {
        return failed(format!("{bad}: give another one as `artifact`"));
    }
    let outline = SpecOutline::of(text);
    if outline.is_whole() {
        return CriterionResult {
            criterion: SPEC_COMPLETE.to_owned(),
            passed: Some(true),
            detail: String::new(),
        };
    }
    failed(format!(
        "the specification is not whole: {}. Give all of it again as `artifact`.",
        outline.lacks()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
# Specification: Add User Authentication

## Problem Statement
Users cannot authenticate; we need OAuth2 support.

## Success Criteria
- [ ] Google OAuth2 login works
- [x] Logout clears session

## Scope
### In Scope
- OAuth2 authentication
### Out of Scope
- MFA

## Technical Approach
Use oauth2 library with provider-specific configs.
";

    #[test]
    fn a_whole_specification_lacks_nothing() {
        let outline = SpecOutline::of(WHOLE);
        assert!(outline.is_whole(), "{}", outline.lacks());
        assert_eq!(outline.lacks(), "");
        let crlf = WHOLE.replace('\n', "\r\n");
        assert!(SpecOutline::of(&crlf).is_whole());
        let (_, from_heading) = WHOLE.split_once("\n\n").unwrap();
        let marked = SpecOutline::of(&format!("\u{FEFF}{from_heading}"));
        assert!(marked.is_whole(), "{}", marked.lacks());
        let other_case = WHOLE.replace("Success Criteria", "SUCCESS CRITERIA");
        assert!(SpecOutline::of(&other_case).is_whole());
    }

    #[test]
    fn what_is_lacking_is_named() {
        for (old, new, wanted) in [
            ("## Scope", "## Extent", "it has no `## Scope`"),
            // A heading of another level is another part of the text.
            ("## Scope", "### Scope", "it has no `## Scope`"),
            ("- [", "- (", "`## Success Criteria` has no checkbox"),
            (
                "Use oauth2 library with provider-specific configs.\n",
                "",
                "there is nothing below `## Technical Approach`",
            ),
            (
                "## Success Criteria",
                "## Criteria",
                "it has no `## Success Criteria`",
            ),
        ] {
            let text = WHOLE.replace(old, new);
            let outline = SpecOutline::of(&text);
            assert!(!outline.is_whole(), "{text}");
            assert!(outline.lacks().starts_with(wanted), "{}", outline.lacks());
        }
        assert_eq!(
            SpecOutline::of("").lacks(),
            "it has no `## Problem Statement`, `## Success Criteria`, `## Scope`, `## Technical Approach`"
        );
    }

    #[test]
    fn a_checkbox_without_a_text_is_none() {
        let with = |criteria: &str| {
            let text = format!(
                "## Problem Statement\na\n## Success Criteria\n{criteria}\n## Scope\nb\n## Technical Approach\nc\n"
            );
            SpecOutline::of(&text).has_checkbox
        };
        for (criteria, is_one) in [
            ("- [ ]\n", false),
            ("- [ ] \n- that\n", false),
            ("- [ ]\n- [x] that\n", true),
            ("- [ ] `that`\n", true),
            ("- [ ] **that**\n", true),
        ] {
            assert_eq!(with(criteria), is_one, "{criteria:?}");
        }
    }

    #[test]
    fn examples_and_checkboxes_elsewhere_do_not_count() {
        let fenced = format!("```\n{WHOLE}```\n");
        assert_eq!(SpecOutline::of(&fenced).missing, SECTIONS);
        let elsewhere = WHOLE
            .replace("- [ ] ", "- ")
            .replace("- [x] ", "- ")
            .replace("- OAuth2", "- [ ] OAuth2");
        assert!(!SpecOutline::of(&elsewhere).has_checkbox);
        let in_a_fence = WHOLE
            .replace("- [ ] Google", "```\n- [ ] Google")
            .replace("- [x] Logout clears session", "- [x] Logout\n```");
        let outline = SpecOutline::of(&in_a_fence);
        assert!(!outline.has_checkbox && outline.missing.is_empty());
        let nested = WHOLE
            .replace("- [ ]", "- one\n  - [ ]")
            .replace("- [x]", "-");
        assert!(SpecOutline::of(&nested).is_whole());
    }

    #[test]
    fn an_agent_hears_what_to_do() {
        assert_eq!(check_handed_over(Some(WHOLE)).passed, Some(true));
        for (artifact, wanted) in [
            (None, "your answer had no specification"),
            (Some(" \n"), "your answer had no specification"),
            (Some("a\0"), "NUL"),
            (Some("# Specification"), "it has no `## Problem Statement`"),
        ] {
            let result = check_handed_over(artifact);
            assert_eq!(result.passed, Some(false));
            assert!(result.detail.contains(wanted), "{}", result.detail);
            assert!(result.detail.contains("as `artifact`"), "{}", result.detail);
        }
    }

    #[test]
    fn a_text_that_no_agent_could_be_given_is_refused() {
        assert_eq!(check_text(WHOLE), Ok(()));
        assert_eq!(check_text(" \n\t"), Err(BadSpec::Empty));
        assert_eq!(check_text("a\0b"), Err(BadSpec::Nul));
        let long = "x".repeat(MOST_BYTES);
        assert_eq!(check_text(&long), Ok(()));
        assert_eq!(check_text(&(long + "x")), Err(BadSpec::TooLong));
        let words: Vec<bool> = SpecSource::ALL
            .iter()
            .map(|source| source.is_given())
            .collect();
        assert_eq!(words, [false, true, true, true, true]);
    }
}

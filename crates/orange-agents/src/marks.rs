//! Short names for the content of sections, by which a later change shows.

use orange_core::artifact;

/// A short name for the content of `## Context`.
pub fn context_mark(body: &str) -> String {
    mark_of(section_text(body, "Context").unwrap_or_default())
}

/// A short name for the content of `## Review`; None if there is no such section.
pub fn review_mark(body: &str) -> Option<String> {
    section_text(body, "Review").map(mark_of)
}

fn section_text<'b>(body: &'b str, name: &str) -> Option<&'b str> {
    let section = artifact::section(body, name)?;
    body.get(section.content)
}

fn mark_of(content: &str) -> String {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(content.trim().as_bytes());
    digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

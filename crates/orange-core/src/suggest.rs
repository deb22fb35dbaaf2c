//! What somebody may have meant by a word that names nothing.

/// The candidate that is most like a word that was typed; None if nothing is like it. Case does not count.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let mut best: Option<(&str, usize)> = None;
    for candidate in candidates {
        let lower = candidate.to_lowercase();
        let longest = word.chars().count().max(lower.chars().count());
        let distance = strsim::damerau_levenshtein(&word, &lower);
        // A third of its letters wrong is still a slip of the fingers; more is another word.
        if distance * 3 <= longest && best.is_none_or(|(_, least)| distance < least) {
            best = Some((candidate, distance));
        }
    }
    best.map(|(candidate, _)| candidate)
}

/// The same as the beginning of a hint: `did you mean shop? `; empty if nothing is like it.
pub fn meant<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, candidates) {
        Some(candidate) => format!("did you mean {candidate}? "),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let words = ["agents.harness", "agents.limit", "merge.push"];
        assert_eq!(nearest("agent.harnes", words), Some("agents.harness"));
        assert_eq!(nearest("Merge.Psuh", words), Some("merge.push"));
        assert_eq!(nearest("review.max_rounds", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest("x", [""]), None);
        assert_eq!(meant("merge.pus", words), "did you mean merge.push? ");
        assert_eq!(meant("other", words), "");
    }
}

//! What somebody may have meant by a word that names nothing.

/// So many letters may be the beginning of a word, and so many more may be left out.
const BEGINNING: usize = 3;
const LEFT_OUT: usize = 3;

/// The candidate that is most like a word that was typed; None if nothing is like it. Case does not count.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = candidates
        .into_iter()
        .filter_map(|candidate| Some((edit_distance(word, candidate)?, candidate)));
    // Of equals the first.
    let best = alike.reduce(|best, next| if next.0 < best.0 { next } else { best });
    best.map(|(_, candidate)| candidate)
}

/// The edit distance of two words, a transposition counting one; None if they are too far apart.
fn edit_distance(word: &str, candidate: &str) -> Option<usize> {
    let (word, candidate) = (word.to_lowercase(), candidate.to_lowercase());
    let (typed, letters) = (word.chars().count(), candidate.chars().count());
    let distance = strsim::damerau_levenshtein(&word, &candidate);
    // A third of its letters wrong is still a typo; more is another word.
    let is_typo = |distance: usize, letters: usize| distance * 3 <= letters;
    // `sl` for `ls`: of two letters, both are in the wrong place.
    let is_turned = typed == 2 && is_reversed(&word, &candidate);
    let beginning: String = candidate.chars().take(typed).collect();
    let is_beginning = typed >= BEGINNING
        && letters <= typed + LEFT_OUT
        && is_typo(strsim::damerau_levenshtein(&word, &beginning), typed);
    (is_typo(distance, typed.max(letters)) || is_beginning || is_turned).then_some(distance)
}

fn is_reversed(one: &str, other: &str) -> bool {
    one.chars().rev().eq(other.chars())
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
    fn typos_are_recognised_and_other_words_are_not() {
        let words = ["agents.harness", "agents.limit", "merge.push"];
        assert_eq!(nearest("agent.harnes", words), Some("agents.harness"));
        assert_eq!(nearest("Merge.Psuh", words), Some("merge.push"));
        assert_eq!(nearest("review.max_rounds", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest("x", [""]), None);
        assert_eq!(meant("merge.pus", words), "did you mean merge.push? ");
        assert_eq!(meant("other", words), "");
    }

    #[test]
    fn letters_that_changed_places_are_one_slip_and_a_word_may_be_cut_short() {
        let words = ["create", "rescue", "merge", "message"];
        assert_eq!(nearest("mrege", words), Some("merge"));
        assert_eq!(nearest("mreg", words), Some("merge"));
        assert_eq!(nearest("mess", words), Some("message"));
        assert_eq!(nearest("me", words), None);
        assert_eq!(nearest("sl", ["ls", "gc"]), Some("ls"));
        assert_eq!(nearest("lx", ["ls", "gc"]), None);
        assert_eq!(
            (
                edit_distance("mrege", "merge"),
                edit_distance("mrege", "create")
            ),
            (Some(1), None)
        );
    }
}

//! Merges two bodies of TASK.md that were written from the same one at the same time.

/// Returns a text with both changes, or None if they touch the same lines.
///
/// A text that was only added at the end always fits: it goes where it was added, in front of what `ours` added there.
pub fn merge_bodies(base: &str, ours: &str, theirs: &str) -> Option<String> {
    if let Some(added) = theirs.strip_prefix(base) {
        return Some(with_appended(base, ours, added));
    }
    if ours == base {
        return Some(theirs.to_owned());
    }
    let (base, ours, theirs) = (lines(base), lines(ours), lines(theirs));
    let our_change = LineChange::between(&base, &ours);
    let their_change = LineChange::between(&base, &theirs);
    let changes = if their_change.end <= our_change.start {
        [their_change, our_change]
    } else if our_change.end <= their_change.start {
        [our_change, their_change]
    } else {
        return None;
    };
    let mut merged = Vec::new();
    let mut copied = 0;
    for change in changes {
        merged.extend_from_slice(base.get(copied..change.start)?);
        merged.extend_from_slice(&change.with);
        copied = change.end;
    }
    merged.extend_from_slice(base.get(copied..)?);
    Some(merged.concat())
}

/// Adds what somebody appended to `base` to a text that went on from `base` too.
fn with_appended(base: &str, ours: &str, added: &str) -> String {
    if added.is_empty() {
        return ours.to_owned();
    }
    if let Some(rest) = ours.strip_prefix(base) {
        return match rest {
            "" => format!("{base}{added}"),
            rest => on_a_new_line(format!("{base}{added}"), rest),
        };
    }
    on_a_new_line(ours.to_owned(), added)
}

/// What was added last may end in the middle of a line.
fn on_a_new_line(mut text: String, more: &str) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + more
}

/// Lines of the base that a text has others for: from the first that differs to the last.
struct LineChange<'t> {
    start: usize,
    end: usize,
    with: Vec<&'t str>,
}

impl<'t> LineChange<'t> {
    fn between(base: &[&str], text: &[&'t str]) -> LineChange<'t> {
        let same = |(one, other): &(&&str, &&str)| one == other;
        let start = base.iter().zip(text).take_while(same).count();
        let (base_rest, text_rest) = (&base[start..], &text[start..]);
        let ends = base_rest.iter().rev().zip(text_rest.iter().rev());
        let after = ends.take_while(same).count();
        LineChange {
            start,
            end: base.len() - after,
            with: text[start..text.len() - after].to_vec(),
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::merge_bodies;

    #[test]
    fn appends_are_both_kept_in_the_order_of_their_places() {
        let merged = merge_bodies("a\n", "a\nours\n", "a\ntheirs\n");
        assert_eq!(merged.as_deref(), Some("a\ntheirs\nours\n"));
        let same = merge_bodies("a\n", "a\nx\n", "a\nx\n");
        assert_eq!(same.as_deref(), Some("a\nx\nx\n"));
        assert_eq!(merge_bodies("", "b\n", "c\n").as_deref(), Some("c\nb\n"));
    }

    #[test]
    fn an_append_fits_behind_any_other_change() {
        let merged = merge_bodies("## Plan\na\n", "## Plan (1)\na\nb\n", "## Plan\na\nnew\n");
        assert_eq!(merged.as_deref(), Some("## Plan (1)\na\nb\nnew\n"));
        let without_end = merge_bodies("a", "b", "a more");
        assert_eq!(without_end.as_deref(), Some("b\n more"));
    }

    #[test]
    fn the_second_half_of_a_line_goes_behind_its_first() {
        let merged = merge_bodies("half a li", "half a liother\n", "half a line\n");
        assert_eq!(merged.as_deref(), Some("half a line\nother\n"));
    }

    #[test]
    fn changes_of_different_lines_are_merged() {
        let merged = merge_bodies("a\nb\nc\n", "a\nb\nc\nend\n", "A\nb\nc\n");
        assert_eq!(merged.as_deref(), Some("A\nb\nc\nend\n"));
        let removed = merge_bodies("a\nb\nc\n", "A\nb\nc\n", "a\nb\n");
        assert_eq!(removed.as_deref(), Some("A\nb\n"));
    }

    #[test]
    fn changes_of_the_same_line_are_not() {
        assert_eq!(merge_bodies("a\nb\n", "a\nours\n", "a\ntheirs\n"), None);
        assert_eq!(merge_bodies("a\nb\n", "x\ny\n", "a\n"), None);
    }
}

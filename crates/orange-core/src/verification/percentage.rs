//! The percentage in what a command printed, such as a coverage.

/// The last percentage that a text names, as it is written there, without the sign.
pub fn last_percentage(text: &str) -> Option<&str> {
    let mut newest_first = text.lines().rev();
    newest_first.find_map(last_in_line)
}

fn last_in_line(line: &str) -> Option<&str> {
    let ends = line.match_indices('%').map(|(at, _)| at);
    let numbers = ends.filter_map(|end| {
        let before = line.get(..end)?.trim_end();
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let start = before.trim_end_matches(is_part).len();
        before.get(start..)
    });
    let is_percentage = |word: &&str| {
        let number = word.parse::<f64>();
        number.is_ok_and(|number| (0.0..=100.0).contains(&number))
    };
    let mut last_first = numbers.rev();
    last_first.find(is_percentage)
}

#[cfg(test)]
mod tests {
    use super::last_percentage;

    #[test]
    fn the_last_percentage_counts() {
        for (text, found) in [
            ("coverage: 81.5% of statements", Some("81.5")),
            ("TOTAL  120  12  90%", Some("90")),
            ("line 12 %, branch 7.25 %", Some("7.25")),
            ("é85%", Some("85")),
            ("500% of what was asked", None),
            ("no figure %", None),
            ("10%\nTOTAL 20%\ndone\n", Some("20")),
            ("", None),
        ] {
            assert_eq!(last_percentage(text), found, "{text}");
        }
    }
}

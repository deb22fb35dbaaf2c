//! What a screen says at its end, in one line: the words of a dialog, or of a program that could not go on.

/// How many lines count, how much of each, and of all.
const LINES: usize = 8;
const LONGEST_LINE: usize = 120;
const LONGEST: usize = 400;

/// The last lines with words in them, without frames, bars and signs.
pub fn screen_tail(screen: &str) -> String {
    let mut lines: Vec<String> = screen
        .lines()
        .rev()
        .map(plain)
        .filter(|line| !line.is_empty())
        .take(LINES)
        .collect();
    lines.reverse();
    shortened(&lines.join(" / "), LONGEST)
}

fn plain(line: &str) -> String {
    let is_sign = |letter: char| {
        letter.is_control() || matches!(letter, '\u{2500}'..='\u{25ff}' | '❯' | '›' | '⏵' | '✻')
    };
    let line: String = line
        .chars()
        .map(|letter| if is_sign(letter) { ' ' } else { letter })
        .collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    if line.chars().any(char::is_alphanumeric) {
        shortened(&words.join(" "), LONGEST_LINE)
    } else {
        String::new()
    }
}

/// The start of a text, no longer than so many characters.
pub fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialog_is_read_without_its_frame() {
        let screen =
            "╭──────╮\n│ Trust this folder? │\n\n ❯ No, exit\n   Yes\n╰───╯\n────\n  \u{1b}\n";
        assert_eq!(screen_tail(screen), "Trust this folder? / No, exit / Yes");
        assert_eq!(screen_tail("\n ── \n"), "");
    }

    #[test]
    fn a_long_screen_is_cut() {
        let screen = "wörter ".repeat(100).repeat(20);
        let words = screen_tail(&screen);
        assert_eq!(words.chars().count(), LONGEST_LINE + 1);
        let many = (0..50).map(|line| format!("line {line}\n"));
        let words = screen_tail(&many.collect::<String>());
        assert!(words.starts_with("line 42 / "), "{words}");
        assert!(words.ends_with("line 49"), "{words}");
    }
}

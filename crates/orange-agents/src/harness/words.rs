//! Text that goes through a terminal: what nobody sees of it.

/// Text without characters that nobody sees.
pub fn without_invisible(text: &str) -> String {
    text.chars()
        .filter(|letter| !is_invisible(*letter))
        .collect()
}

/// A character that shows nothing and joins nothing.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

//! What a person looks for, as SQLite's full-text search understands it; and text, prepared so that its words are
//! found. Whatever is typed becomes a valid expression: every word of it is put in quotes.

pub mod passage;
mod spoken;

pub use spoken::spoken;

/// Stands where a word ends although nothing separates it from the next: Chinese has no blanks, and a sign is a
/// word of its own. The tokenizer separates words by it, and nobody sees it.
const BREAK: char = '\u{200b}';
/// Around what was found.
pub const OPEN: char = '\u{2}';
pub const CLOSE: char = '\u{3}';
/// Between two events of a task's history.
pub const NEXT_EVENT: char = '\u{1e}';

/// What is looked for: all of these words, none of those.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    wanted: Vec<Phrase>,
    unwanted: Vec<Phrase>,
}

/// Words that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    words: String,
    /// The last one may go on.
    begins: bool,
}

impl Query {
    /// Words, "quoted phrases" and -exclusions. The last word, if it is a bare one, need only begin so.
    pub fn parse(text: &str) -> Query {
        let mut query = Query::default();
        let mut rest = text;
        let mut last_is_bare = false;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
            if rest.is_empty() {
                break;
            }
            let excluded = excluded_part(rest);
            let (words, after, bare) = next_phrase(excluded.unwrap_or(rest));
            rest = after;
            if !words.chars().any(is_in_word) {
                continue;
            }
            let phrase = Phrase {
                words: prepared(words),
                begins: false,
            };
            match excluded {
                Some(_) => query.unwanted.push(phrase),
                None => {
                    last_is_bare = bare;
                    query.wanted.push(phrase);
                }
            }
        }
        if last_is_bare && let Some(last) = query.wanted.last_mut() {
            last.begins = true;
        }
        query
    }

    /// Nothing in it can be looked for.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    pub fn excludes(&self) -> bool {
        !self.unwanted.is_empty()
    }

    /// What a task that is not found lacks, as a sentence goes on after `no task`.
    pub fn missed(&self) -> String {
        let one = |phrases: &[Phrase]| match phrases {
            [one] => Some(!one.words.trim().contains(char::is_whitespace)),
            _ => None,
        };
        let wanted = match one(&self.wanted) {
            Some(true) => "has this word",
            Some(false) => "has these words in a row",
            None => "has all of these words",
        };
        let left_out = match one(&self.unwanted) {
            Some(true) => "is without the one to leave out",
            _ => "is without those to leave out",
        };
        match (self.wanted.is_empty(), self.excludes()) {
            (true, _) => left_out.to_owned(),
            (false, true) => format!("{wanted} and {left_out}"),
            (false, false) => wanted.to_owned(),
        }
    }

    /// For `MATCH`; None if it only says what is not wanted.
    pub fn expression(&self) -> Option<String> {
        let wanted = joined(&self.wanted, " AND ")?;
        Some(match self.unwanted_expression() {
            Some(unwanted) => format!("({wanted}) NOT ({unwanted})"),
            None => wanted,
        })
    }

    pub fn unwanted_expression(&self) -> Option<String> {
        joined(&self.unwanted, " OR ")
    }
}

fn joined(phrases: &[Phrase], by: &str) -> Option<String> {
    let parts: Vec<String> = phrases.iter().map(Phrase::quoted).collect();
    (!parts.is_empty()).then(|| parts.join(by))
}

impl Phrase {
    fn quoted(&self) -> String {
        let words = format!("\"{}\"", self.words.replace('"', " "));
        if self.begins {
            // The word itself counts for more than one that begins like it.
            format!("({words}* OR {words})")
        } else {
            words
        }
    }
}

/// What follows the minus of `-word`. `--flag` is a word, and so is a minus with nothing to it.
fn excluded_part(text: &str) -> Option<&str> {
    let after = text.strip_prefix('-')?;
    let first = after.chars().next()?;
    (first != '-' && !first.is_whitespace()).then_some(after)
}

/// The next phrase, what follows it, and whether it stands without quotes.
fn next_phrase(text: &str) -> (&str, &str, bool) {
    let is_quote = |c: char| matches!(c, '"' | '“' | '”');
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if is_quote(first) => {
            let inside = characters.as_str();
            // A quote that is never closed is closed by the end.
            let end = inside.find(is_quote).unwrap_or(inside.len());
            let closing = inside[end..].chars().next().map_or(0, char::len_utf8);
            (&inside[..end], &inside[end + closing..], false)
        }
        _ => {
            let end = text.find(|c: char| c.is_whitespace() || is_quote(c));
            let (word, after) = text.split_at(end.unwrap_or(text.len()));
            (word, after, true)
        }
    }
}

/// The text as it is searched: a break around everything that is a word by itself.
pub fn prepared(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            BREAK => {}
            '\0' | OPEN | CLOSE | NEXT_EVENT => out.push(' '),
            _ if stands_alone(c) => {
                if !out.ends_with(BREAK) {
                    out.push(BREAK);
                }
                out.push(c);
                out.push(BREAK);
            }
            _ => out.push(c),
        }
    }
    out
}

/// The text as it was.
fn original(prepared: &str) -> String {
    prepared.replace(BREAK, "")
}

/// Would the tokenizer make a word of it?
fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || stands_alone(c)
}

/// Letters of scripts that put no blanks between words, and signs.
fn stands_alone(c: char) -> bool {
    matches!(c,
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~'
        | '\u{a2}'..='\u{a9}' | '\u{ac}' | '\u{ae}'..='\u{b1}' | '\u{b4}' | '\u{d7}' | '\u{f7}'
        // Thai, Lao, Burmese, Khmer
        | '\u{0e01}'..='\u{0e30}' | '\u{0e81}'..='\u{0eb0}' | '\u{1000}'..='\u{102a}' | '\u{1780}'..='\u{17b3}'
        // Currencies, letter-like signs, arrows, mathematics, pictures
        | '\u{20a0}'..='\u{20bf}' | '\u{2100}'..='\u{214f}' | '\u{2190}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}'
        // Kana, Han, Hangul
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_found_is_said_as_it_was_asked() {
        for (text, missed) in [
            ("login", "has this word"),
            ("src/app.rs", "has this word"),
            ("login form", "has all of these words"),
            ("\"login form\"", "has these words in a row"),
            (
                "login -menu",
                "has this word and is without the one to leave out",
            ),
            (
                "a b -c -d",
                "has all of these words and is without those to leave out",
            ),
            ("-menu", "is without the one to leave out"),
        ] {
            assert_eq!(Query::parse(text).missed(), missed, "{text}");
        }
    }

    fn expression(text: &str) -> String {
        let said = Query::parse(text).expression().unwrap_or_default();
        let said = said.replace(BREAK, "~");
        // A last word that may go on is shown with a star.
        let last = Query::parse(text).wanted.pop();
        let Some(last) = last.filter(|last| last.begins) else {
            return said;
        };
        let long = last.quoted().replace(BREAK, "~");
        said.replace(&long, &long[1..long.find('*').unwrap() + 1])
    }

    #[test]
    fn words_phrases_and_exclusions() {
        assert_eq!(expression("login form"), r#""login" AND "form"*"#);
        assert_eq!(expression(r#""log in" form"#), r#""log in" AND "form"*"#);
        assert_eq!(expression(r#"form "log in""#), r#""form" AND "log in""#);
        assert_eq!(expression("form -draft"), r#"("form"*) NOT ("draft")"#);
        assert_eq!(expression(r#"a -"b c" -d"#), r#"("a"*) NOT ("b c" OR "d")"#);
        assert_eq!(expression("“log in”"), r#""log in""#);
        assert_eq!(expression("\"never closed"), "\"never closed\"");
    }

    #[test]
    fn what_means_something_to_sqlite_is_a_word_here() {
        assert_eq!(
            expression("AND NEAR( OR* summary:x ^y"),
            r#""AND" AND "NEAR(" AND "OR*" AND "summary:x" AND "~^~y"*"#
        );
        assert_eq!(expression("a\0b"), "\"a b\"*");
        assert_eq!(expression("--no-spawn"), "\"--no-spawn\"*");
    }

    #[test]
    fn nothing_to_look_for() {
        for text in ["", "  ", "-", "- -", "\"\"", "…", "\"", "*", "(", "\u{1b}"] {
            assert!(Query::parse(text).is_empty(), "{text:?}");
        }
        let only_not = Query::parse("-draft");
        assert_eq!(only_not.expression(), None);
        assert_eq!(only_not.unwanted_expression().as_deref(), Some("\"draft\""));
    }

    #[test]
    fn scripts_without_blanks_and_signs_are_words_letter_by_letter() {
        assert_eq!(expression("登录"), "\"~登~录~\"*");
        assert_eq!(expression("c++"), "\"c~+~+~\"*");
        assert_eq!(original(&prepared("a登录b → c")), "a登录b → c");
    }
}

//! Names made from a task's summary: the slug and the branch. Also tells a summary from a branch
//! name on the command line.

mod branch_name;

pub use branch_name::is_branch_name;
use std::time::Duration;

/// The longest slug; long enough to recognise a task by, short enough for a branch list.
const SLUG_CHARS: usize = 40;

/// The variables a branch template may use.
const VARIABLES: [&str; 4] = ["key", "slug", "id", "project"];

/// Lower-case ASCII words joined by `-`, at most 40 characters. Latin letters with diacritics lose
/// them; letters of other scripts separate words, so a summary without any Latin letter or digit
/// has the empty slug.
pub fn slug(summary: &str) -> String {
    let mut slug = String::new();
    for word in ascii_words(summary) {
        let joined = slug.len() + usize::from(!slug.is_empty()) + word.len();
        if joined <= SLUG_CHARS {
            if !slug.is_empty() {
                slug.push('-');
            }
            slug.push_str(&word);
        } else {
            if slug.is_empty() {
                // No word boundary to cut at.
                slug.extend(word.chars().take(SLUG_CHARS));
            }
            break;
        }
    }
    slug
}

fn ascii_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
        } else if let Some(letters) = transliterated(c) {
            word.push_str(letters);
        } else {
            words.push(std::mem::take(&mut word));
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// What a lower-case character beyond ASCII contributes to a word; none when it ends the word.
fn transliterated(c: char) -> Option<&'static str> {
    let letters = match c {
        // Apostrophes and combining marks are part of a word but not of its slug.
        '\'' | '\u{2019}' | '\u{0300}'..='\u{036f}' => "",
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' | 'ǎ' | 'ạ' | 'ả' | 'ấ' | 'ầ' | 'ậ' => {
            "a"
        }
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ẽ' | 'ế' | 'ề' | 'ệ' => {
            "e"
        }
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì' | 'í' | 'î' | 'ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ị' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' | 'ọ' | 'ố' | 'ồ' | 'ộ' => {
            "o"
        }
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'þ' => "th",
        'ù' | 'ú' | 'û' | 'ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | 'ụ' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    };
    Some(letters)
}

/// Why a branch template gives no branch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError<'t> {
    #[error(
        "unknown variable {{{name}}} in the branch template {template:?}; allowed are {}",
        allowed()
    )]
    UnknownVariable { name: &'t str, template: &'t str },
    #[error(
        "a {brace:?} without its counterpart in the branch template {template:?}; allowed variables are {}",
        allowed()
    )]
    UnbalancedBrace { brace: char, template: &'t str },
    #[error("the branch template {template:?} leaves an empty name; use {{key}} or {{id}}")]
    Empty { template: &'t str },
    #[error(
        "the branch template {template:?} gives all tasks the same branch; {{key}}, {{slug}} or {{id}} tells them apart"
    )]
    SameForAll { template: &'t str },
    #[error(
        "the branch template {template:?} gives {branch:?}, and git takes no branch of that name"
    )]
    NoBranch { template: &'t str, branch: String },
}

fn allowed() -> String {
    VARIABLES.map(|v| format!("{{{v}}}")).join(", ")
}

/// One word of a shell's command line, whatever is in it.
pub fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Fills in `template`. A variable that is empty takes the separator next to it along, so that
/// `orange/{key}-{slug}` with an empty slug is `orange/TASK-001`.
pub fn branch_from_template<'t>(
    template: &'t str,
    key: &str,
    slug: &str,
    id: &str,
    project: &str,
) -> Result<String, TemplateError<'t>> {
    let mut branch = String::new();
    let mut left_out = false;
    for part in parts(template)? {
        let value = match part {
            BranchPart::Literal(text) => {
                branch.push_str(text);
                continue;
            }
            BranchPart::Variable("key") => key,
            BranchPart::Variable("slug") => slug,
            BranchPart::Variable("id") => id,
            BranchPart::Variable("project") => project,
            BranchPart::Variable(name) => {
                return Err(TemplateError::UnknownVariable { name, template });
            }
        };
        if value.is_empty() {
            left_out = true;
            if branch.ends_with(is_separator) {
                branch.pop();
            }
        }
        branch.push_str(value);
    }
    if left_out {
        branch = tidy(&branch);
    }
    if branch.is_empty() {
        return Err(TemplateError::Empty { template });
    }
    Ok(branch)
}

/// Tries a template before there is a task to name.
pub fn check_template(template: &str) -> Result<(), TemplateError<'_>> {
    let of = |key, slug, id| branch_from_template(template, key, slug, id, "project");
    match of("TASK-001", "slug", "id")? {
        branch if !is_branch_name(&branch) => Err(TemplateError::NoBranch { template, branch }),
        branch if branch == of("TASK-002", "other", "another")? => {
            Err(TemplateError::SameForAll { template })
        }
        _ => Ok(()),
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, '-' | '_' | '.')
}

/// Removes what a missing value leaves dangling at the ends of the path's parts, and empty parts.
fn tidy(branch: &str) -> String {
    branch
        .split('/')
        .map(|part| part.trim_matches(is_separator))
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("/")
}

enum BranchPart<'a> {
    Literal(&'a str),
    Variable(&'a str),
}

fn parts(template: &str) -> Result<Vec<BranchPart<'_>>, TemplateError<'_>> {
    let unbalanced = |brace| TemplateError::UnbalancedBrace { brace, template };
    let mut parts = Vec::new();
    let mut rest = template;
    while !rest.is_empty() {
        let (literal, variable) = match rest.split_once('{') {
            Some((literal, after)) => (literal, Some(after)),
            None => (rest, None),
        };
        if literal.contains('}') {
            return Err(unbalanced('}'));
        }
        parts.push(BranchPart::Literal(literal));
        let Some(after) = variable else { break };
        let (name, after) = after.split_once('}').ok_or_else(|| unbalanced('{'))?;
        if name.contains('{') {
            return Err(unbalanced('{'));
        }
        parts.push(BranchPart::Variable(name));
        rest = after;
    }
    Ok(parts)
}

/// Whether a lone argument is a summary, not a branch: no branch has white space in its name.
pub fn is_sentence(arg: &str) -> bool {
    arg.contains(char::is_whitespace)
}

/// How long something took, for messages: `12 s`, `2 min`, `3 h`, `5 days`.
pub fn duration(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    match seconds {
        below if below < 0.95 => format!("{below:.1} s"),
        below if below < 99.5 => format!("{below:.0} s"),
        below if below < 99.5 * MINUTE => format!("{:.0} min", below / MINUTE),
        below if below < 47.5 * HOUR => format!("{:.0} h", below / HOUR),
        days => format!("{:.0} days", days / DAY),
    }
}

/// A limit as settings have it: `4h`, `90m`, `45s`.
pub fn time_limit(limit: Duration) -> String {
    match limit.as_secs() {
        seconds if seconds > 0 && seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds if seconds > 0 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// A text with all its white space as single blanks.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text, at most so many bytes of it and no broken character.
pub fn cut_at(text: &str, longest: usize) -> &str {
    let mut ends = (0..=longest.min(text.len())).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// The beginning of a commit's name, as git shows it.
pub fn short_commit(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// `1 task`, `2 tasks`: for messages.
pub fn counted(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_told_in_the_unit_that_fits() {
        let cases = [
            (0.42, "0.4 s"),
            (99.0, "99 s"),
            (100.0, "2 min"),
            (5_900.0, "98 min"),
            (4.0 * 3600.0, "4 h"),
            (57_600.0 * 60.0, "40 days"),
        ];
        for (seconds, told) in cases {
            assert_eq!(duration(seconds), told);
        }
        let limits = [(14_400, "4h"), (5_400, "90m"), (45, "45s"), (0, "0s")];
        for (seconds, told) in limits {
            assert_eq!(time_limit(Duration::from_secs(seconds)), told);
        }
    }

    #[test]
    fn slugs_are_lower_case_words() {
        assert_eq!(slug("Add a login form"), "add-a-login-form");
        assert_eq!(
            slug("  Fix: v2.0/API_key  (again!) "),
            "fix-v2-0-api-key-again"
        );
        assert_eq!(slug("Don't retry; it’s fine"), "dont-retry-its-fine");
        assert_eq!(slug("../../etc/passwd.lock"), "etc-passwd-lock");
        assert_eq!(slug("--force"), "force");
    }

    #[test]
    fn slugs_transliterate_latin_letters() {
        assert_eq!(slug("Größe ändern für Ægir"), "grosse-andern-fur-aegir");
        assert_eq!(
            slug("Café Ørsted Łódź ŞİŞLİ ẞ"),
            "cafe-orsted-lodz-sisli-ss"
        );
        assert_eq!(slug("Cafe\u{301} noir"), "cafe-noir");
    }

    #[test]
    fn slugs_leave_other_scripts_out() {
        assert_eq!(slug("Исправить вход"), "");
        assert_eq!(slug("修复 login 页面"), "login");
        assert_eq!(slug("🎉"), "");
        assert_eq!(slug("'’\u{301}"), "");
        assert_eq!(slug(""), "");
    }

    #[test]
    fn slugs_are_cut_at_a_word() {
        let exact = "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddddd";
        assert_eq!(exact.len(), 41);
        assert_eq!(slug(exact), "aaaaaaaaa-bbbbbbbbb-ccccccccc");
        assert_eq!(slug(&exact[..40]).len(), 40);
        assert_eq!(slug(&"x".repeat(99)), "x".repeat(40));
        assert_eq!(
            slug("keep the order of the words even if a later one would fit x"),
            "keep-the-order-of-the-words-even-if-a"
        );
    }

    fn branch<'t>(template: &'t str, slug: &str) -> Result<String, TemplateError<'t>> {
        branch_from_template(template, "TASK-001", slug, "k3x9", "shop")
    }

    #[test]
    fn fills_in_all_variables() {
        assert_eq!(
            branch("orange/{key}-{slug}", "add-login").unwrap(),
            "orange/TASK-001-add-login"
        );
        assert_eq!(branch("{project}/{id}_{slug}", "x").unwrap(), "shop/k3x9_x");
        assert_eq!(branch("plain", "x").unwrap(), "plain");
    }

    #[test]
    fn values_are_not_templates() {
        assert_eq!(
            branch_from_template("{key}-{slug}", "{slug}", "x", "", "").unwrap(),
            "{slug}-x"
        );
    }

    #[test]
    fn an_empty_slug_leaves_nothing_dangling() {
        for (template, expected) in [
            ("orange/{key}-{slug}", "orange/TASK-001"),
            ("{slug}-{key}", "TASK-001"),
            ("orange/{slug}-{key}", "orange/TASK-001"),
            ("orange/{key}-{slug}-wip", "orange/TASK-001-wip"),
            ("orange/{slug}/{key}", "orange/TASK-001"),
            ("orange/{key}/{slug}", "orange/TASK-001"),
            ("{key}.{slug}", "TASK-001"),
        ] {
            assert_eq!(branch(template, "").unwrap(), expected, "{template}");
        }
    }

    #[test]
    fn template_errors_name_the_variable_and_the_allowed_ones() {
        assert_eq!(
            branch("x/{ke}", "s").unwrap_err().to_string(),
            "unknown variable {ke} in the branch template \"x/{ke}\"; allowed are {key}, {slug}, {id}, {project}"
        );
        assert!(matches!(
            branch("x/{}", "s"),
            Err(TemplateError::UnknownVariable { name, .. }) if name.is_empty()
        ));
        for (template, wanted) in [
            ("x/{key", '{'),
            ("x/key}", '}'),
            ("{{key}}", '{'),
            ("{key}}", '}'),
        ] {
            let error = branch(template, "s").unwrap_err();
            assert!(
                matches!(error, TemplateError::UnbalancedBrace { brace, .. } if brace == wanted),
                "{template}: {error:?}"
            );
            assert!(error.to_string().contains("{project}"));
        }
        for template in ["", "{slug}", "-{slug}"] {
            assert!(matches!(
                branch(template, ""),
                Err(TemplateError::Empty { .. })
            ));
        }
    }

    #[test]
    fn a_template_is_tried_before_it_is_used() {
        for good in ["orange/{key}-{slug}", "{slug}", "{project}/{id}", "x{key}"] {
            assert_eq!(check_template(good), Ok(()), "{good}");
        }
        for same in ["foo", "{project}", "work/{project}"] {
            let error = check_template(same).unwrap_err();
            assert!(matches!(error, TemplateError::SameForAll { .. }), "{error}");
        }
        for none in [
            "a b/{key}",
            "x\n{key}",
            "/{key}",
            "{key}..x",
            "-{key}",
            "{key}.lock",
            "a//{key}",
        ] {
            let error = check_template(none).unwrap_err();
            assert!(matches!(error, TemplateError::NoBranch { .. }), "{error}");
        }
        assert_eq!(
            check_template("foo").unwrap_err().to_string(),
            "the branch template \"foo\" gives all tasks the same branch; {key}, {slug} or {id} tells them apart"
        );
    }

    #[test]
    fn a_sentence_has_white_space() {
        assert!(is_sentence("Add a login form"));
        assert!(is_sentence("tab\there"));
        assert!(!is_sentence("orange/TASK-001"));
        assert!(!is_sentence(""));
    }

    proptest! {
        #[test]
        fn any_text_gives_a_safe_slug(text in "\\PC{0,80}|[ -~äßéİ]{0,120}") {
            let slug = slug(&text);
            prop_assert!(slug.len() <= SLUG_CHARS);
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
            prop_assert!(slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            prop_assert_eq!(&super::slug(&slug), &slug);
        }

        #[test]
        fn any_template_gives_a_branch_or_an_error(
            template in "([{}/a-]|\\{key\\}|\\{slug\\}|\\{id\\}|\\PC){0,12}",
            slug in "|abc",
        ) {
            if let Ok(branch) = branch(&template, &slug) {
                prop_assert!(!branch.is_empty());
                let braces = branch.contains(['{', '}']);
                prop_assert!(!braces);
            }
        }
    }
}

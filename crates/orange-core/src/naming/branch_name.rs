//! What git takes for the name of a branch, told without asking it.

/// Whether a name can be a branch: git's own rules (`git check-ref-format --branch`).
pub fn is_branch_name(name: &str) -> bool {
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    !name.contains(forbidden)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !matches!(name, "@" | "HEAD")
        && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_and_what_is_none() {
        for name in [
            "main",
            "orange/TASK-001-a",
            "a.b",
            "ä/ö",
            "a@b",
            "{x}",
            "a-",
            "x.lockd",
        ] {
            assert!(is_branch_name(name), "{name}");
        }
        for name in [
            "", "-a", "/a", "a/", "a//b", ".a", "a/.b", "a..b", "a.", "a.lock", "a.lock/b", "a b",
            "a\nb", "a\u{7f}", "a~", "a^", "a:b", "a?", "a*", "a[", "a\\b", "@", "a@{b", "HEAD",
        ] {
            assert!(!is_branch_name(name), "{name:?}");
        }
    }
}

//! Commands that a shell takes as a program with words, and nothing more; and which beginnings of one can be allowed.

use super::is_invisible;

/// The words of a command, if a shell does nothing else with it than start a program with these words. None for operators,
/// expansions, redirections, comments, escapes, line breaks, and for every character whose meaning is not certain.
pub(super) fn plain_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        inside if is_plain_inside(letter, inside) => word.push(inside),
                        _ => return None,
                    }
                }
            }
            letter if is_plain(letter) => word.get_or_insert_default().push(letter),
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter)
}

fn is_plain_inside(quote: char, letter: char) -> bool {
    let is_special = quote == '"' && matches!(letter, '$' | '`' | '\\' | '!');
    let is_text = letter == ' ' || letter.is_ascii_graphic() || letter.is_alphanumeric();
    is_text && !is_special && !is_invisible(letter)
}

/// Programs whose arguments decide everything: they start other programs, or write, send or remove whatever is named.
const BY_ARGUMENTS: &[&str] = &[
    ".",
    "ash",
    "awk",
    "bind",
    "builtin",
    "busybox",
    "chgrp",
    "chmod",
    "chown",
    "chroot",
    "command",
    "conda",
    "cp",
    "crontab",
    "csh",
    "curl",
    "dd",
    "direnv",
    "doas",
    "docker",
    "ed",
    "emacs",
    "enable",
    "entr",
    "env",
    "eval",
    "ex",
    "exec",
    "expect",
    "fd",
    "find",
    "flock",
    "gawk",
    "gdb",
    "gh",
    "git",
    "hyperfine",
    "install",
    "ionice",
    "kill",
    "killall",
    "kubectl",
    "ln",
    "ltrace",
    "mawk",
    "mise",
    "mv",
    "nc",
    "ncat",
    "netcat",
    "nice",
    "nix",
    "nohup",
    "nsenter",
    "nu",
    "nvim",
    "orange",
    "parallel",
    "pkexec",
    "pkill",
    "podman",
    "psql",
    "rm",
    "rmdir",
    "rsync",
    "scp",
    "screen",
    "script",
    "sed",
    "setsid",
    "sftp",
    "shred",
    "socat",
    "source",
    "sqlite",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "tar",
    "taskset",
    "tcsh",
    "tee",
    "time",
    "timeout",
    "tmux",
    "trap",
    "truncate",
    "unshare",
    "vi",
    "vim",
    "watch",
    "wget",
    "xargs",
];

/// Words after which a program like npm runs any other one: what they run belongs to what is allowed too.
const LAUNCHERS: &[&str] = &["dlx", "eval", "exec", "run", "tool", "x"];

/// Programs that run what the next word names: that word belongs to what is allowed.
const BY_NEXT_WORD: &[&str] = &[
    "ant", "bash", "bun", "bunx", "bundle", "cargo", "composer", "corepack", "dash", "deno",
    "dotnet", "fish", "go", "gradle", "java", "just", "ksh", "lua", "make", "mvn", "node",
    "nodejs", "npm", "npx", "perl", "php", "pip", "pipx", "pnpm", "poetry", "pwsh", "python",
    "rake", "ruby", "rustup", "sh", "task", "tox", "ts-node", "tsx", "uv", "uvx", "yarn", "zsh",
];

/// The words of `npm test *`, if a rule may be made of them.
pub(super) fn prefix_of(pattern: &str) -> Result<Vec<String>, String> {
    let prefix = pattern.strip_suffix(" *").ok_or_else(|| {
        format!("{pattern:?} is no beginning of a command: write its first words, then a space and *, such as \"npm test *\"")
    })?;
    let words = plain_words(prefix).ok_or_else(|| {
        "the beginning of a command is made of plain words, without operators, quotes of other commands or stars".to_owned()
    })?;
    let Some(first) = words.first().filter(|word| !word.is_empty()) else {
        return Err(format!("{pattern:?} would allow every command"));
    };
    if prefix.contains(['\'', '"']) {
        return Err("write the beginning of a command without quotes".to_owned());
    }
    if first.contains('=') {
        return Err(
            "a beginning that sets a variable can change what every program does".to_owned(),
        );
    }
    let program = first.rsplit('/').next().unwrap_or(first);
    // python3.12 is python.
    let program = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if program.is_empty() || BY_ARGUMENTS.contains(&program) {
        return Err(format!(
            "what `{first}` does depends on its arguments, so no beginning of it is safe: allow the whole command"
        ));
    }
    if BY_NEXT_WORD.contains(&program) && !names_what_runs(&words) {
        return Err(format!(
            "`{first}` runs what its arguments say: name that too, or allow the whole command"
        ));
    }
    Ok(words)
}

/// `npm test`, `python -m pytest`; not `sh -c`.
fn names_what_runs(words: &[String]) -> bool {
    let is_name = |word: &String| !word.is_empty() && !word.starts_with('-');
    match words {
        [_, module, name, ..] if module == "-m" => is_name(name),
        [_, launcher, rest @ ..] if LAUNCHERS.contains(&launcher.as_str()) => {
            rest.first().is_some_and(is_name)
        }
        [_, name, ..] => is_name(name),
        _ => false,
    }
}

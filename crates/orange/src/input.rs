//! Texts that a command takes from a file or from standard input.

use orange_engine::error::plain;
use orange_engine::{Result, err};
use std::fs::File;
use std::io::{self, Read, stdin};
use std::path::Path;

/// The beginning of a file, or of standard input for `-`.
pub(crate) fn bytes(source: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if source == Path::new("-") {
        stdin().take(most).read_to_end(&mut bytes)?;
    } else {
        File::open(source)?.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The whole of it as text, which may be that large.
pub(crate) fn text(source: &Path, megabytes: u64) -> Result<String> {
    let name = match source.display().to_string() {
        name if name == "-" => "standard input".to_owned(),
        name => name,
    };
    let most = megabytes * 1024 * 1024;
    let bytes = bytes(source, most + 1).map_err(|error| {
        err!(Usage, "cannot read {name}: {}", plain(&error))
            .hint("give a text file, or - for standard input")
    })?;
    if bytes.len() as u64 > most {
        return Err(err!(Usage, "{name} is larger than {megabytes} MB")
            .hint("name the file instead of including it"));
    }
    String::from_utf8(bytes).map_err(|_| {
        err!(Usage, "{name} is not UTF-8 text").hint("convert it first, for instance with iconv")
    })
}

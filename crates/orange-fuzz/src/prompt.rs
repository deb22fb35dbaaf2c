//! A repository's own prompt: read, or an error that names a line of it; filled in, it has every value as it is.

use orange_core::prompt::{PromptName, Template, Values};

pub fn prompt(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let template = match Template::parse(PromptName::Worker, text) {
        Ok(template) => template,
        Err(error) => return super::is_a_line_of(error.line, text),
    };
    let values = Values {
        summary: "{key} }{ is text".into(),
        ..Values::default()
    };
    let filled = template.render(&values);
    for variable in template.variables() {
        assert!(filled.contains(values.get(variable)));
    }
    if !text.contains(['{', '}']) {
        let plain = text.strip_prefix('\u{feff}').unwrap_or(text).trim_end();
        assert_eq!(filled, plain.lines().collect::<Vec<_>>().join("\n"));
    }
}

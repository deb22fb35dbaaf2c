//! The layout of one thing in detail (`task show`): a label and a value per line.

use super::palette::{Palette, Style};
use orange_core::display::{blanks, clean, clean_width};

const GAP: usize = 2;

/// Labelled values below each other, the values aligned.
///
/// Values are never cut, since this is where a person looks for the whole truth; those of several
/// lines continue below their first line.
#[derive(Debug, Default)]
pub(crate) struct KeyValues {
    pairs: Vec<(&'static str, String, Style)>,
}

impl KeyValues {
    pub(crate) fn add(&mut self, key: &'static str, value: impl Into<String>) -> &mut Self {
        self.add_styled(key, value, Style::Plain)
    }

    pub(crate) fn add_styled(
        &mut self,
        key: &'static str,
        value: impl Into<String>,
        style: Style,
    ) -> &mut Self {
        self.pairs.push((key, value.into(), style));
        self
    }

    pub(crate) fn render(&self, out: &mut String, palette: Palette) {
        let widths = self.pairs.iter().map(|(key, ..)| clean_width(&clean(key)));
        let indent = widths.max().unwrap_or(0) + GAP;
        for (key, value, style) in &self.pairs {
            let key = clean(key);
            paint(out, palette, Style::Dim, &key);
            let mut used = clean_width(&key);
            for (number, line) in value.trim_end().lines().enumerate() {
                if number > 0 {
                    out.push('\n');
                    used = 0;
                }
                let line = clean(line.trim_end());
                if !line.is_empty() {
                    blanks(out, indent - used);
                    paint(out, palette, *style, &line);
                }
            }
            out.push('\n');
        }
    }
}

fn paint(out: &mut String, palette: Palette, style: Style, text: &str) {
    let (start, end) = palette.around(style);
    out.push_str(start);
    out.push_str(text);
    out.push_str(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(pairs: &KeyValues, enabled: bool) -> String {
        let mut out = String::new();
        pairs.render(&mut out, Palette { enabled });
        out
    }

    #[test]
    fn values_are_aligned_and_continue_below() {
        let mut pairs = KeyValues::default();
        pairs
            .add("task", "TASK-001")
            .add("workspace", "/tmp/w")
            .add("note", "one\n\n  two\x1b\n")
            .add("branch", "");
        let expected =
            "task       TASK-001\nworkspace  /tmp/w\nnote       one\n\n             two␛\nbranch\n";
        assert_eq!(render(&pairs, false), expected);
    }

    #[test]
    fn labels_are_dim_and_values_styled() {
        let mut pairs = KeyValues::default();
        pairs.add_styled("status", "done", Style::Green);
        assert_eq!(
            render(&pairs, true),
            "\x1b[2mstatus\x1b[0m  \x1b[32mdone\x1b[0m\n"
        );
    }
}

//! The layout of many things in brief (`task list`): left-aligned columns, one line per row.
//!
//! Built for ten thousand rows: cells are measured once, and none that is clean is copied except into the output.

use super::Extent;
use super::palette::{Palette, Style};
use orange_core::display::{blanks, clean, clean_width, fit_into};
use std::borrow::Cow;

const GAP: usize = 2;
/// What a flexible column keeps before other columns are dropped for it.
const FLEXIBLE_MIN: usize = 20;

/// How one column behaves when room is scarce.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) header: &'static str,
    min: usize,
    /// What it keeps until every other one is as narrow as it may be.
    ease: usize,
    max: usize,
    priority: u8,
    flexible: bool,
}

impl Column {
    /// The priority of a column that is never dropped.
    pub(crate) const ALWAYS: u8 = u8::MAX;

    /// A column as wide as its widest cell, never cut and never dropped.
    pub(crate) const fn new(header: &'static str) -> Column {
        Column {
            header,
            min: usize::MAX,
            ease: 0,
            max: usize::MAX,
            priority: Column::ALWAYS,
            flexible: false,
        }
    }

    /// The column may be cut down to `min` before any column is dropped.
    pub(crate) const fn min(self, min: usize) -> Column {
        Column { min, ..self }
    }

    /// The others are cut before this one becomes narrower than that.
    pub(crate) const fn ease(self, ease: usize) -> Column {
        Column { ease, ..self }
    }

    /// The column is at most `max` wide, however long its cells are.
    pub(crate) const fn max(self, max: usize) -> Column {
        Column { max, ..self }
    }

    /// Where room is short, columns are cut and dropped from the lowest priority up.
    pub(crate) const fn priority(self, priority: u8) -> Column {
        Column { priority, ..self }
    }

    /// The column takes the room the others leave. Meant for one column, usually the last.
    pub(crate) const fn flexible(self) -> Column {
        Column {
            flexible: true,
            min: if self.min == usize::MAX {
                FLEXIBLE_MIN
            } else {
                self.min
            },
            ..self
        }
    }
}

/// A text in a style, safe for one line, with its width.
#[derive(Clone, Debug)]
pub(crate) struct Cell<'a> {
    text: Cow<'a, str>,
    width: usize,
    /// How wide its column should be for it.
    counts: usize,
    style: Style,
    beside: Beside,
}

/// What a cell is to those beside it in its row, where room is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    Keeps,
    /// Goes on over cells after it that are empty or give way.
    Takes,
    /// Is left out where one before it needs the room.
    Gives,
}

impl<'a> Cell<'a> {
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, style: Style) -> Cell<'a> {
        let text = text.into();
        // Blanks at its end would end up at the end of a line.
        let cleaned = match clean(text.trim_end()) {
            Cow::Borrowed(same) if same.len() == text.len() => None,
            cleaned => Some(cleaned.into_owned()),
        };
        let text = cleaned.map_or(text, Cow::Owned);
        let width = clean_width(&text);
        Cell {
            text,
            width,
            counts: width,
            style,
            beside: Beside::Keeps,
        }
    }

    /// The rest of it is shown only as far as its column is wide because of others.
    pub(crate) fn counting(self, columns: usize) -> Cell<'a> {
        let counts = columns.min(self.width);
        Cell { counts, ..self }
    }

    /// Where it is too long for its column, it goes on over the cells after it that are empty or give way.
    pub(crate) fn taking(self) -> Cell<'a> {
        let beside = Beside::Takes;
        Cell { beside, ..self }
    }

    /// Says less than one before it that is too long for its column.
    pub(crate) fn giving_way(self) -> Cell<'a> {
        let beside = Beside::Gives;
        Cell { beside, ..self }
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::new(text, Style::Plain)
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Cell::new(text, Style::Plain)
    }
}

/// Rows of cells under a header.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    columns: Vec<Column>,
    /// All rows one after the other: one allocation instead of one per row.
    cells: Vec<Cell<'a>>,
    /// Lines below rows, by the number of the row, in order.
    notes: Vec<(usize, Cell<'a>)>,
    /// The widest cell of each column, its header included.
    natural: Vec<usize>,
    /// The same as far as it counts.
    needed: Vec<usize>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(columns: &[Column]) -> Table<'a> {
        let headers: Vec<usize> = columns.iter().map(|c| clean_width(c.header)).collect();
        Table {
            columns: columns.to_vec(),
            cells: Vec::new(),
            notes: Vec::new(),
            needed: headers.clone(),
            natural: headers,
        }
    }

    /// Adds a row. Missing cells stay empty, surplus ones are left out.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) {
        let mut cells = cells.into_iter();
        for (widest, needed) in self.natural.iter_mut().zip(&mut self.needed) {
            let cell = cells.next().unwrap_or_else(|| Cell::from(""));
            *widest = (*widest).max(cell.width);
            *needed = (*needed).max(cell.counts);
            self.cells.push(cell);
        }
    }

    /// A line of its own below the last row, under the first column with a header.
    pub(crate) fn note(&mut self, note: Cell<'a>) {
        let rows = self.cells.len() / self.columns.len().max(1);
        if let Some(last) = rows.checked_sub(1) {
            self.notes.push((last, note));
        }
    }

    /// The table as standard output shows it.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        self.render(&mut text, Extent::stdout(), Palette::stdout());
        text
    }

    /// Appends the header and all rows to `out`.
    pub(crate) fn render(&self, out: &mut String, extent: Extent, palette: Palette) {
        if self.columns.is_empty() {
            return;
        }
        let mut shown = match extent {
            Extent::Columns(_) => layout(&self.columns, &self.needed, extent),
            Extent::Unlimited => layout(&self.columns, &self.natural, extent),
        };
        grow(&self.columns, &self.natural, &mut shown, extent);
        let mut line = TableLine::new(out, extent, palette);
        for slot in &shown {
            let header = self.columns[slot.column].header;
            line.cell(&Cell::new(header, Style::Dim), slot.width);
        }
        line.end();
        // Under the first column that has a header: those before it are signs.
        let signs = shown
            .iter()
            .take_while(|slot| self.columns[slot.column].header.is_empty());
        let indent: usize = signs.map(|slot| slot.width + GAP).sum();
        let mut notes = self.notes.iter().peekable();
        for (number, row) in self.cells.chunks_exact(self.columns.len()).enumerate() {
            let mut slots = shown.iter();
            while let Some(slot) = slots.next() {
                let cell = &row[slot.column];
                let mut width = slot.width;
                if line.cuts && cell.beside == Beside::Takes {
                    for next in slots.as_slice() {
                        let other = &row[next.column];
                        let is_free = other.text.is_empty() || other.beside == Beside::Gives;
                        if cell.width <= width || !is_free {
                            break;
                        }
                        width += GAP + next.width;
                        slots.next();
                    }
                }
                line.cell(cell, width);
            }
            line.end();
            while let Some((_, note)) = notes.next_if(|(of, _)| *of == number) {
                line.due = indent;
                let room = match extent {
                    Extent::Columns(width) => width.saturating_sub(indent),
                    Extent::Unlimited => note.width,
                };
                line.cell(note, room);
                line.end();
            }
        }
    }
}

struct TableLine<'o> {
    out: &'o mut String,
    palette: Palette,
    /// Whether a cell wider than its column is cut, or written whole at the price of alignment.
    cuts: bool,
    /// Blanks due before the next text; those at the end of a line are never written.
    due: usize,
}

impl<'o> TableLine<'o> {
    fn new(out: &'o mut String, extent: Extent, palette: Palette) -> Self {
        TableLine {
            out,
            palette,
            cuts: extent != Extent::Unlimited,
            due: 0,
        }
    }

    fn cell(&mut self, cell: &Cell<'_>, width: usize) {
        if cell.text.is_empty() {
            self.due += width + GAP;
            return;
        }
        blanks(self.out, self.due);
        let (start, end) = self.palette.around(cell.style);
        self.out.push_str(start);
        let used = if self.cuts && cell.width > width {
            fit_into(self.out, &cell.text, width)
        } else {
            self.out.push_str(&cell.text);
            cell.width
        };
        self.out.push_str(end);
        self.due = width.saturating_sub(used) + GAP;
    }

    fn end(&mut self) {
        self.out.push('\n');
        self.due = 0;
    }
}

/// A column that is shown, and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShownColumn {
    column: usize,
    width: usize,
}

/// Which columns are shown how wide: drops until the least widths fit, then cuts what is too much.
fn layout(columns: &[Column], natural: &[usize], extent: Extent) -> Vec<ShownColumn> {
    let mut shown: Vec<ShownColumn> = (0..columns.len())
        .map(|column| ShownColumn {
            column,
            width: natural[column].min(columns[column].max),
        })
        .collect();
    if let Extent::Columns(available) = extent {
        let least = |slot: &ShownColumn| slot.width.min(columns[slot.column].min);
        while total(shown.iter().map(least)) > available && drop_one(columns, &mut shown) {}
        shrink(columns, &mut shown, available);
    }
    shown
}

/// The width of a line whose columns have these widths.
fn total(widths: impl ExactSizeIterator<Item = usize>) -> usize {
    let gaps = widths.len().saturating_sub(1) * GAP;
    widths.sum::<usize>() + gaps
}

/// Drops the column of the lowest priority, of several the last; false if none may be dropped.
fn drop_one(columns: &[Column], shown: &mut Vec<ShownColumn>) -> bool {
    let candidate = shown
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, slot)| columns[slot.column].priority < Column::ALWAYS)
        .min_by_key(|(_, slot)| columns[slot.column].priority);
    let Some((at, _)) = candidate else {
        return false;
    };
    shown.remove(at);
    true
}

/// Takes what is too much from the flexible column down to what it keeps at ease, then from the others by rising
/// priority, then from it down to its least width; in the end, on a very narrow terminal, all from it.
fn shrink(columns: &[Column], shown: &mut Vec<ShownColumn>, available: usize) {
    let mut order: Vec<usize> = (0..shown.len()).collect();
    order.sort_by_key(|&at| {
        let column = &columns[shown[at].column];
        (!column.flexible, column.priority)
    });
    for &at in &order {
        let column = &columns[shown[at].column];
        shrink_one(shown, at, column.min.max(column.ease), available);
    }
    for at in order {
        let column = &columns[shown[at].column];
        if column.flexible {
            shrink_one(shown, at, column.min, available);
            shrink_one(shown, at, 0, available);
        }
    }
    shown.retain(|slot| slot.width > 0);
}

/// Gives the flexible column what is left, as far as it has a use for it.
fn grow(columns: &[Column], natural: &[usize], shown: &mut [ShownColumn], extent: Extent) {
    let Extent::Columns(available) = extent else {
        return;
    };
    let taken = total(shown.iter().map(|slot| slot.width));
    let flexible = shown.iter_mut().find(|slot| columns[slot.column].flexible);
    if let Some(slot) = flexible {
        let most = natural[slot.column].min(columns[slot.column].max);
        let left = available.saturating_sub(taken);
        slot.width += left.min(most.saturating_sub(slot.width));
    }
}

fn shrink_one(shown: &mut [ShownColumn], at: usize, floor: usize, available: usize) {
    let excess = total(shown.iter().map(|slot| slot.width)).saturating_sub(available);
    let spare = shown[at].width.saturating_sub(floor);
    shown[at].width -= excess.min(spare);
}

#[cfg(test)]
mod tests;

//! Tests of the table layout.

use super::*;
use orange_core::display::{clean, clean_width};
use proptest::prelude::*;

const PLAIN: Palette = Palette { enabled: false };

const COLUMNS: [Column; 5] = [
    Column::new("TASK"),
    Column::new("STATUS").priority(40),
    Column::new("BRANCH").min(8).max(16).priority(20),
    Column::new("AGE").priority(30),
    Column::new("SUMMARY").flexible(),
];

fn sample() -> Table<'static> {
    let mut table = Table::new(&COLUMNS);
    table.row([
        Cell::from("TASK-001"),
        Cell::new("running", Style::Green),
        Cell::from("fix-parser"),
        Cell::from("4m"),
        Cell::from("Fix the parser for nested quotes"),
    ]);
    table.row([
        Cell::from("TASK-002"),
        Cell::new("done", Style::Dim),
        Cell::from("a-very-long-branch-name"),
        Cell::from("2d".to_owned()),
        Cell::from("漢字 in titles\n"),
    ]);
    table
}

fn render(table: &Table<'_>, extent: Extent) -> String {
    let mut out = String::new();
    table.render(&mut out, extent, PLAIN);
    out
}

#[test]
fn a_wide_terminal_shows_everything_up_to_the_maximum() {
    let expected = "\
TASK      STATUS   BRANCH            AGE  SUMMARY
TASK-001  running  fix-parser        4m   Fix the parser for nested quotes
TASK-002  done     a-very-long-bra…  2d   漢字 in titles
";
    assert_eq!(render(&sample(), Extent::Columns(100)), expected);
}

#[test]
fn the_flexible_column_is_cut_first_then_others_shrink() {
    let expected = "\
TASK      STATUS   BRANCH      AGE  SUMMARY
TASK-001  running  fix-parser  4m   Fix the parser for …
TASK-002  done     a-very-lo…  2d   漢字 in titles
";
    assert_eq!(render(&sample(), Extent::Columns(56)), expected);
}

#[test]
fn low_priority_columns_are_dropped_on_a_narrow_terminal() {
    let expected = "\
TASK      STATUS   AGE  SUMMARY
TASK-001  running  4m   Fix the parser for n…
TASK-002  done     2d   漢字 in titles
";
    assert_eq!(render(&sample(), Extent::Columns(45)), expected);
    let expected = "\
TASK      SUMMARY
TASK-001  Fix the pars…
TASK-002  漢字 in titl…
";
    assert_eq!(render(&sample(), Extent::Columns(23)), expected);
    let expected = "TASK\nTASK-001\nTASK-002\n";
    assert_eq!(render(&sample(), Extent::Columns(3)), expected);
}

#[test]
fn a_pipe_gets_every_text_whole() {
    let expected = "\
TASK      STATUS   BRANCH            AGE  SUMMARY
TASK-001  running  fix-parser        4m   Fix the parser for nested quotes
TASK-002  done     a-very-long-branch-name  2d   漢字 in titles
";
    assert_eq!(render(&sample(), Extent::Unlimited), expected);
}

#[test]
fn what_does_not_count_drops_no_column_and_uses_what_is_left() {
    let long = "Short, because of something that takes long to explain";
    let mut table = Table::new(&COLUMNS);
    let cells = ["TASK-001", "broken", "fix-parser", "1h"].map(Cell::from);
    table.row(cells.into_iter().chain([Cell::from(long).counting(5)]));
    let expected = "\
TASK      STATUS  BRANCH      AGE  SUMMARY
TASK-001  broken  fix-parser  1h   Short, be…
";
    assert_eq!(render(&table, Extent::Columns(45)), expected);
    assert!(render(&table, Extent::Columns(120)).ends_with(&format!("{long}\n")));
    assert!(render(&table, Extent::Unlimited).ends_with(&format!("{long}\n")));
}

#[test]
fn a_cell_takes_the_room_of_those_after_it_that_say_less() {
    let columns = [
        Column::new("TASK"),
        Column::new("SUMMARY").flexible(),
        Column::new("DIFF"),
        Column::new("BRANCH"),
        Column::new("AGE"),
    ];
    let long = "cannot be read: it has no frontmatter";
    let mut table = Table::new(&columns);
    let row = |branch: Cell<'static>| {
        let summary = Cell::from(long).counting(0).taking();
        let [key, none, age] = ["TASK-001", "", "1h"].map(Cell::from);
        [key, summary, none, branch, age]
    };
    table.row(row(Cell::from("some-branch").giving_way()));
    table.row(row(Cell::from("kept")));
    let shown = render(&table, Extent::Columns(52));
    let lines: Vec<&str> = shown.lines().skip(1).collect();
    assert_eq!(lines[0], format!("TASK-001  {long}  1h"));
    assert!(
        lines[1].starts_with("TASK-001  cannot be read: it has"),
        "{shown}"
    );
    assert!(lines[1].ends_with("…  kept         1h"), "{shown}");
    assert!(render(&table, Extent::Unlimited).contains("some-branch"));
}

#[test]
fn others_are_cut_before_the_flexible_column_is_less_than_at_ease() {
    let columns = [
        Column::new("SUMMARY").min(10).ease(16).flexible(),
        Column::new("BRANCH").min(8).priority(10),
    ];
    let mut table = Table::new(&columns);
    table.row(["A summary that is long", "a-very-long-branch-name"].map(Cell::from));
    let line = |width| {
        render(&table, Extent::Columns(width))
            .lines()
            .nth(1)
            .map(str::to_owned)
    };
    assert_eq!(line(30).as_deref(), Some("A summary that …  a-very-long…"));
    assert_eq!(line(22).as_deref(), Some("A summary t…  a-very-…"));
    assert_eq!(line(19).as_deref(), Some("A summary that is …"));
}

#[test]
fn there_are_no_trailing_blanks() {
    let mut table = Table::new(&COLUMNS);
    table.row([Cell::from("TASK-003")]);
    table.row(["TASK-004", "new", "", "", "ends in blanks   "].map(Cell::from));
    let out = render(&table, Extent::Columns(80));
    let rows: Vec<&str> = out.lines().skip(1).collect();
    assert_eq!(
        rows,
        ["TASK-003", "TASK-004  new                  ends in blanks"]
    );
}

#[test]
fn header_and_cells_are_styled_without_moving_the_columns() {
    let mut out = String::new();
    let on = Palette { enabled: true };
    sample().render(&mut out, Extent::Columns(100), on);
    assert!(out.starts_with("\x1b[2mTASK\x1b[0m      \x1b[2mSTATUS\x1b[0m   "));
    assert!(out.contains("TASK-001  \x1b[32mrunning\x1b[0m  fix-parser"));
}

#[test]
fn foreign_text_cannot_break_the_layout() {
    let mut table = Table::new(&COLUMNS);
    let cell = |text: &'static str| Cell::from(text);
    table.row([cell("TASK-005"), cell("a\nb"), cell("\x1b]0;x\x07")]);
    let out = render(&table, Extent::Unlimited);
    assert_eq!(out.lines().nth(1), Some("TASK-005  a⏎b     ␛]0;x␇"));
}

#[test]
fn a_table_without_columns_is_nothing() {
    assert_eq!(render(&Table::new(&[]), Extent::Unlimited), "");
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_terminal(
        texts in prop::collection::vec(any::<String>(), 5),
        columns in 8usize..120,
    ) {
        let mut table = Table::new(&COLUMNS);
        let key = Cell::from("TASK-001");
        table.row([key].into_iter().chain(texts[1..].iter().map(|t| Cell::from(t.as_str()))));
        let out = render(&table, Extent::Columns(columns));
        prop_assert_eq!(out.lines().count(), 2);
        for line in out.lines() {
            prop_assert!(clean_width(&clean(line)) <= columns, "{:?}", line);
            prop_assert_eq!(line.trim_end(), line);
        }
    }
}

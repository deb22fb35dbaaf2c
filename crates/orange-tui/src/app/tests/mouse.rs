//! Clicks.

use super::*;

#[test]
fn a_click_on_a_key_of_the_last_line_is_that_key() {
    let mut app = app((80, 24), false, shop());
    let last = shown(&app).lines().last().unwrap().to_owned();
    let click = |app: &mut App, word: &str| {
        let column = last.find(word).unwrap();
        let mouse = MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: u16::try_from(column).unwrap(),
            row: 23,
            modifiers: KeyModifiers::NONE,
        };
        app.update(Input::Mouse(mouse), Instant::now())
    };
    click(&mut app, "cancel");
    assert!(matches!(app.overlay, Some(Overlay::Confirm(_))));
    press(&mut app, "\u{1b}");
    click(&mut app, "? help");
    assert!(matches!(app.overlay, Some(Overlay::Help { .. })));
}

#[test]
fn a_click_selects_in_the_list_the_inbox_and_the_board() {
    for tabs in ["", "\t", "\t\t"] {
        let mut app = app((80, 24), false, shop());
        press(&mut app, tabs);
        let frame = shown(&app);
        let word = "TASK-003";
        let place = |line: &str| line.find(word).map(|at| clean_columns(&line[..at]));
        let mut lines = frame.lines().enumerate();
        let (line, column) = lines
            .find_map(|(number, line)| Some((number, place(line)?)))
            .unwrap();
        let mut click = |line: usize| {
            let mouse = MouseEvent {
                kind: MouseEventKind::Down(MouseButton::Left),
                column,
                row: u16::try_from(line).unwrap(),
                modifiers: KeyModifiers::NONE,
            };
            app.update(Input::Mouse(mouse), Instant::now());
            app.cursor.clone()
        };
        // Its second line is its own too, and the heading of the screen nobody's.
        assert_eq!(click(line + 1).as_deref(), Some("shop/3"), "{frame}");
        assert_eq!(click(0).as_deref(), Some("shop/3"));
        assert_eq!(click(line).as_deref(), Some("shop/3"));
    }
}

fn clean_columns(text: &str) -> u16 {
    u16::try_from(orange_core::display::clean_width(text)).unwrap()
}

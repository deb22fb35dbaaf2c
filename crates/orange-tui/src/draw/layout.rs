//! Where everything stands on the screen: drawing, scrolling, clicks and the question whether something could be read ask this.

use super::{QUESTION, Side, inbox, message, panel, preview_side, task};
use crate::app::{App, View};
use orange_engine::views::results::OpenQuestion;
use ratatui::layout::{Position, Rect};

/// The parts of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenLayout {
    /// The view, between the header and the message.
    pub(crate) body: Rect,
    /// What was done, or why not.
    pub(crate) told: Rect,
    pub(crate) footer: Rect,
    /// In the view of the list: its lines, and beside or below them the selected task.
    pub(crate) list: Rect,
    pub(crate) preview: Option<Rect>,
    /// What the selected task asks, where there is no preview.
    pub(crate) asked: Rect,
    /// Lines of the list that stay visible whatever is asked.
    pub(crate) page: usize,
}

impl ScreenLayout {
    pub(crate) fn of(app: &App, (columns, rows): (u16, u16)) -> ScreenLayout {
        // A long message takes lines from the view and covers nothing of it; it leaves at least half of the screen.
        let told = u16::try_from(message(app, columns.into()).len()).unwrap_or(1);
        let told = told.clamp(1, (rows.saturating_sub(2) / 2).max(1));
        let body = Rect::new(0, 1, columns, rows.saturating_sub(2 + told));
        let (mut list, mut preview) = (body, None);
        match preview_side((columns, rows)) {
            Some(Side::Right) => {
                list.width = body.width * 11 / 20;
                preview = Some(Rect {
                    x: list.width + 1,
                    width: body.width - list.width - 1,
                    ..body
                });
            }
            Some(Side::Below) => {
                list.height = body.height / 2;
                preview = Some(Rect {
                    y: body.y + list.height,
                    height: body.height - list.height,
                    ..body
                });
            }
            None => {}
        }
        let mut page = list.height;
        let mut asked = Rect { height: 0, ..list };
        if preview.is_none() && app.view == View::List {
            let lines = u16::try_from(panel::asked(app, list.width.into()).len());
            let lines = lines.unwrap_or(QUESTION).min(QUESTION);
            asked.height = lines.min(list.height.saturating_sub(3));
            list.height -= asked.height;
            asked.y = list.y + list.height;
            page = body.height.saturating_sub(QUESTION).max(body.height.min(3));
        }
        ScreenLayout {
            body,
            told: Rect::new(0, body.y + body.height, columns, told),
            footer: Rect::new(0, rows.saturating_sub(1), columns, 1),
            list,
            preview,
            asked,
            page: usize::from(page).max(1),
        }
    }

    /// The line of the list at a place of the screen.
    pub(crate) fn line_at(&self, place: Position) -> Option<usize> {
        let is_there = self.list.contains(place);
        is_there.then(|| usize::from(place.y - self.list.y))
    }
}

/// The first question of the selected task, if all of it stands on the screen.
pub(crate) fn whole_question(app: &App) -> Option<&OpenQuestion> {
    if super::is_too_small(app.size) || app.overlay.is_some() {
        return None;
    }
    let row = app.at_hand()?;
    let open = app.focused()?.questions.first()?;
    let layout = ScreenLayout::of(app, app.size);
    let body = layout.body;
    let (width, room) = match (app.view, layout.preview) {
        (View::List, Some(area)) => (area.width.saturating_sub(2), panel::reason_room(app, area)),
        (View::List, None) => (body.width.saturating_sub(2), layout.asked.height.into()),
        (View::Inbox, _) => (
            body.width.saturating_sub(inbox::INDENT),
            usize::from(body.height) - 1,
        ),
        (View::Task, _) => (
            body.width.saturating_sub(2),
            task::reason_room(app, row).min(usize::from(body.height).saturating_sub(2)),
        ),
        (View::Board, _) => return None,
    };
    (panel::question(open, width.into()).len() <= room).then_some(open)
}

/// How many lines of the agent's screen are above those that are drawn when it is not scrolled.
pub(crate) fn screen_back(app: &App) -> usize {
    let layout = ScreenLayout::of(app, app.size);
    let room = match (app.view, layout.preview) {
        (View::List, Some(area)) => {
            usize::from(area.height).saturating_sub(panel::above_screen(app, area).len())
        }
        (View::Task, _) => task::text_area(app, layout.body).height.into(),
        (View::List | View::Inbox | View::Board, _) => return 0,
    };
    panel::screen_lines(app).len().saturating_sub(room)
}

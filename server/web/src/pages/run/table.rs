//! Tasks as a table.

use askama::Template;
use axum::response::Response;

use super::head::Head;
use super::row::Row;
use crate::error::ApiResult;
use crate::pages::{Frame, html};
use crate::runs::Reader;

/// Maximum number of rows. The API has all.
const ROWS: u32 = 1000;

#[derive(Template)]
#[template(path = "run/table.html")]
struct TablePage {
    frame: Frame,
    head: Head,
    rows: Vec<Row>,
    more: u32,
}

pub(super) async fn page(frame: Frame, head: Head, reader: &Reader<'_>) -> ApiResult<Response> {
    let shown = reader.record.tasks.min(ROWS);
    let tasks = reader.tasks(0..shown).await?;
    let rows = tasks.into_iter().map(|task| Row { task }).collect();
    html(&TablePage { frame, head, rows, more: reader.record.tasks - shown })
}

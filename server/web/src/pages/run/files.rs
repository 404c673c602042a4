//! Current content of the folder that the run's tasks share.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::Asked;
use super::head::Head;
use crate::api::artifacts::files::list_files;
use crate::error::{ApiResult, Kind};
use crate::extract::{Path, Query};
use crate::files::{EntryView, FileQuery, SortQuery};
use crate::page::{Page, PageQuery};
use crate::pages::crumbs::{Crumb, crumbs, encoded, inside};
use crate::pages::{Frame, html};
use crate::runs::Reader;
use crate::sort::Heading;
use crate::state::Web;

/// Rows per page.
const ROWS: usize = 100;

#[derive(Template)]
#[template(path = "run/files.html")]
struct FilesPage {
    frame: Frame,
    head: Head,
    crumbs: Vec<Crumb>,
    path: String,
    sort: String,
    files: Page<EntryView>,
    /// Why the folder cannot be shown, if so.
    refused: Option<String>,
}

pub(super) async fn page(
    web: &Web,
    frame: Frame,
    head: Head,
    reader: &Reader<'_>,
    asked: &Asked,
) -> ApiResult<Response> {
    let path = asked.path.trim_matches('/').to_owned();
    let cursor = Some(asked.cursor.clone()).filter(|cursor| !cursor.is_empty());
    let (run, query) = (Path(reader.record.id.clone()), Query(FileQuery { path: path.clone() }));
    let some = Query(PageQuery { limit: Some(ROWS), cursor });
    let sort = if asked.sort.is_empty() { "name" } else { &asked.sort }.to_owned();
    let order = Query(SortQuery { sort: Some(sort.clone()) });
    let (files, refused) = match list_files(State(web.clone()), run, query, order, some).await {
        Ok(files) => (files.0, None),
        Err(error) if error.kind() == Kind::Internal => return Err(error),
        Err(error) => (Page { items: Vec::new(), next_cursor: None }, Some(error.detail().to_owned())),
    };
    html(&FilesPage { frame, head, crumbs: crumbs(&path), path, sort, files, refused })
}

impl FilesPage {
    /// URL of a folder of the run.
    fn folder(&self, path: &str) -> String {
        format!("/runs/{}?tab=files&path={}", self.head.run.id, encoded(path))
    }

    /// URL of the next page of this folder.
    fn next(&self) -> Option<String> {
        let cursor = self.files.next_cursor.as_ref()?;
        Some(format!("{}&sort={}&cursor={cursor}", self.folder(&self.path), encoded(&self.sort)))
    }

    /// Sortable heading of the files.
    fn sorted(&self, first: &str) -> Heading {
        Heading::new(first, &self.sort, |sort| format!("{}&sort={sort}", self.folder(&self.path)))
    }

    /// URL of a file's content.
    fn file(&self, path: &str) -> String {
        format!("/api/v1/runs/{}/file?path={}", self.head.run.id, encoded(path))
    }

    /// Path of an entry in the current folder.
    fn inside(&self, name: &str) -> String {
        inside(&self.path, name)
    }
}

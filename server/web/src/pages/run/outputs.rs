//! Outputs of tasks: values, and artifacts.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::head::Head;
use crate::api::artifacts::view::{ArtifactView, Pixels};
use crate::api::artifacts::{list, outputs};
use crate::api::models::{ModelVersionView, registered};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::page::PageQuery;
use crate::pages::{Frame, html};
use crate::readable;
use crate::runs::Reader;
use crate::runs::reported::OfTask;
use crate::state::Web;

/// Maximum number of shown values and files. The API has all.
const MOST: usize = 200;

/// Maximum height of an image, in pixels.
const TALL: u32 = 420;

/// A reported value.
struct Output {
    task: String,
    instance: u32,
    name: String,
    value: String,
}

/// An artifact: a file to display.
struct File {
    view: ArtifactView,
    /// URL of its content.
    url: String,
    /// URL of its preview in the API.
    preview: String,
}

impl File {
    /// Whether it can be previewed as text, a table or a page.
    fn is_shown(&self) -> bool {
        matches!(self.view.preview.as_str(), "text" | "csv" | "json" | "html")
    }

    /// Size of the image, reserved so that the layout does not shift when it loads.
    fn room(&self) -> Option<Pixels> {
        let Pixels { width, height } = self.view.pixels.filter(|pixels| pixels.height > 0)?;
        if height <= TALL {
            return self.view.pixels;
        }
        let scaled = u64::from(width) * u64::from(TALL) / u64::from(height);
        Some(Pixels { width: scaled.max(1).try_into().ok()?, height: TALL })
    }
}

#[derive(Template)]
#[template(path = "run/outputs.html")]
struct OutputsPage {
    frame: Frame,
    head: Head,
    outputs: Vec<Output>,
    artifacts: Vec<File>,
    /// Model versions that the run registered.
    models: Vec<ModelVersionView>,
    /// Warnings about unreadable reports, with the task.
    warnings: Vec<(String, String)>,
    /// Whether there is more than shown.
    more: bool,
}

pub(super) async fn page(web: &Web, frame: Frame, head: Head, reader: &Reader<'_>) -> ApiResult<Response> {
    let run = || Path(reader.record.id.clone());
    let all = || Query(OfTask { task: None });
    let some = || Query(PageQuery { limit: Some(MOST), cursor: None });
    let values = outputs::outputs(State(web.clone()), run(), all(), some()).await?.0;
    let files = list::list(State(web.clone()), run(), all(), some()).await?.0;
    let more = values.next_cursor.is_some() || files.next_cursor.is_some();
    let warnings = values
        .items
        .iter()
        .flat_map(|one| one.warnings.iter().map(|warning| (one.task.clone(), warning.clone())));
    let warnings = warnings.collect();
    let of_instance = |one: crate::api::artifacts::view::OutputsView| {
        let (task, instance) = (one.task, one.instance);
        one.outputs.into_iter().map(move |(name, value)| Output {
            task: task.clone(),
            instance,
            name,
            value: readable::value(&value),
        })
    };
    let outputs = values.items.into_iter().flat_map(of_instance).collect();
    let artifacts = files.items.into_iter().map(|view| file(&head.run.id, view)).collect();
    let models = registered(web, &reader.record.id).await?;
    html(&OutputsPage { frame, head, outputs, artifacts, models, warnings, more })
}

fn file(run: &str, view: ArtifactView) -> File {
    let path = utf8_percent_encode(&view.path, NON_ALPHANUMERIC);
    File {
        url: format!("/api/v1/runs/{run}/file?path={path}"),
        preview: format!("/runs/{run}/preview?path={path}"),
        view,
    }
}

//! `GET /runs/{run}/artifacts`

use std::io::BufReader;
use std::sync::Arc;

use axum::extract::State;
use cubeloom_domain::RunId;
use cubeloom_domain::executor::Artifact;
use cubeloom_storage::browse::{Folder, Kind};

use super::view::{ArtifactView, Pixels};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::files;
use crate::page::{Page, PageQuery};
use crate::runs::Reader;
use crate::runs::reported::{self, OfTask};
use crate::state::Web;

/// Lists the artifacts of a run: the files that its tasks marked for display.
#[utoipa::path(
    get,
    path = "/runs/{run}/artifacts",
    tag = "artifacts",
    params(("run" = String, Path, description = "The run's id."), OfTask, PageQuery),
    responses(
        (status = 200, body = Page<ArtifactView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(of): Query<OfTask>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<ArtifactView>>> {
    let reader = Reader::open(&web, &run).await?;
    let task = of.find(&reader)?;
    let project = &reader.record.project;
    // Programs use absolute paths of the folder.
    let folder = web.folders().workspace.join(project).join("runs").join(run.as_str());
    let whole = format!("{}/", folder.display());
    let plan = &reader.plan;
    let found = reported::page(&web, &run, task, &page, |one| {
        let task = &plan.task(one.task).name;
        one.report.artifacts.iter().map(|artifact| view(task, one.instance, artifact, &whole)).collect()
    });
    let found = found.await?;
    let Some(folder) = files::run_folder(&web, project, &run).await? else { return Ok(Json(found)) };
    let folder = Arc::new(folder);
    let measured = files::blocking(move || Ok(found.map(|artifact| measure(&folder, artifact)))).await?;
    Ok(Json(measured))
}

fn view(task: &str, instance: u32, artifact: &Artifact, whole: &str) -> ArtifactView {
    let path = artifact.path.strip_prefix(whole).unwrap_or(&artifact.path);
    let content_type = files::media_type(path.rsplit('/').next().unwrap_or_default());
    ArtifactView {
        task: task.into(),
        instance,
        name: artifact.name.clone(),
        path: path.into(),
        size: None,
        preview: preview(&content_type).into(),
        pixels: None,
        content_type,
    }
}

/// How a content type can be previewed.
fn preview(content_type: &str) -> &'static str {
    match content_type {
        "text/html" => "html",
        "text/csv" | "text/tab-separated-values" => "csv",
        json if json == "application/json" || json.ends_with("+json") => "json",
        image if image.starts_with("image/") => "image",
        text if text.starts_with("text/") => "text",
        _ => "none",
    }
}

/// Adds the size if the file exists: a program may name a file that it never wrote.
fn measure(folder: &Folder, artifact: ArtifactView) -> ArtifactView {
    match folder.entry(&artifact.path) {
        Ok(entry) if entry.kind == Kind::File => {
            let pixels = if artifact.preview == "image" { pixels(folder, &artifact.path) } else { None };
            ArtifactView { size: Some(entry.size), pixels, ..artifact }
        }
        Ok(entry) if entry.kind == Kind::Folder => ArtifactView { preview: "directory".into(), ..artifact },
        _ => ArtifactView { preview: "none".into(), ..artifact },
    }
}

/// Size of an image, read from the start of its file.
fn pixels(folder: &Folder, path: &str) -> Option<Pixels> {
    let opened = folder.file(path).ok()?;
    let size = imagesize::reader_size(BufReader::new(opened.file)).ok()?;
    Some(Pixels { width: size.width.try_into().ok()?, height: size.height.try_into().ok()? })
}

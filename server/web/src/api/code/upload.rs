//! `PUT /projects/{project}/code`

use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::extract::State;
use cubeloom_files::own;
use cubeloom_storage::snapshot::{Limits, Snapshot};
use futures::StreamExt;
use serde::Serialize;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use utoipa::ToSchema;

use crate::audit;
use crate::auth::Caller;
use crate::code::{self, Scratch, unpack};
use crate::error::{ApiError, ApiResult, Kind, ProblemDocument};
use crate::extract::{self, Json};
use crate::state::{Folders, Web};

/// Maximum size of an archive, in bytes.
const MOST: u64 = 64 << 20;

/// Uploaded code folder of the project.
#[derive(Debug, Serialize, ToSchema)]
pub struct UploadedView {
    /// SHA-256 digest of names, modes and content, in hexadecimal. Send it as `code` with a document.
    pub digest: String,
    /// Number of files in the folder.
    pub files: usize,
}

/// Uploads a code folder, as a gzipped tar archive of at most 64 MiB.
///
/// Hidden files and files created by tools (`__pycache__`, `node_modules`, `target`) are excluded. The same folder
/// always has the same digest, regardless of how often it is uploaded.
#[utoipa::path(
    put,
    path = "/projects/{project}/code",
    tag = "pipelines",
    params(("project" = String, Path)),
    request_body(content = Vec<u8>, content_type = "application/gzip"),
    responses(
        (status = 200, body = UploadedView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 413, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn upload(
    State(web): State<Web>,
    caller: Caller,
    extract::Path(project): extract::Path<String>,
    body: Body,
) -> ApiResult<Json<UploadedView>> {
    let place = web.folders().code.join(format!(".upload-{}", web.new_id()));
    let scratch = Scratch::make(place).map_err(cannot_write)?;
    let archive = receive(body, &scratch.0).await?;
    let (folders, name) = (web.folders().clone(), project.clone());
    let work = move || {
        let taken = take(&archive, &scratch, &folders, &name);
        drop(scratch);
        taken
    };
    let view = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)??;
    let entry = audit::entry(&web, &caller, "code.upload", &view.digest).after(json!({"files": view.files}));
    web.store().audit(&entry).await?;
    Ok(Json(view))
}

fn cannot_write(source: impl std::error::Error + Send + Sync + 'static) -> ApiError {
    ApiError::unavailable("the server cannot store the folder now: try again").caused_by(source)
}

/// Writes the body to a temporary file next to the target folder.
#[expect(clippy::disallowed_methods, reason = "a folder of the server's own")]
async fn receive(body: Body, scratch: &Path) -> ApiResult<PathBuf> {
    let path = scratch.join("archive.tar.gz");
    let mut file = tokio::fs::File::create(&path).await.map_err(cannot_write)?;
    let mut received = 0;
    let mut stream = body.into_data_stream();
    while let Some(piece) = stream.next().await {
        let piece =
            piece.map_err(|error| ApiError::new(Kind::Malformed, format!("the body is cut off: {error}")))?;
        received += piece.len() as u64;
        if received > MOST {
            let sentence = format!("the archive has more than {} MiB: send code only", MOST >> 20);
            return Err(ApiError::new(Kind::TooLarge, sentence));
        }
        file.write_all(&piece).await.map_err(cannot_write)?;
    }
    file.flush().await.map_err(cannot_write)?;
    Ok(path)
}

fn take(archive: &Path, scratch: &Scratch, folders: &Folders, project: &str) -> ApiResult<UploadedView> {
    let folder = scratch.0.join("folder");
    own::create_dir(&folder).map_err(cannot_write)?;
    unpack(own::open(archive).map_err(cannot_write)?, &folder, Limits::CODE)?;
    let snapshot = Snapshot::take(&folder, Limits::CODE).map_err(ApiError::internal)?;
    code::keep(folders, project, &snapshot).map_err(cannot_write)?;
    Ok(UploadedView { digest: snapshot.digest.clone(), files: snapshot.len() })
}

//! `POST /projects/{project}/volumes/{volume}/folders`

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::files::blocking;
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Folder to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFolder {
    /// Path of the folder in the volume.
    pub path: String,
}

/// Creates a folder in a volume, with its missing parent folders.
#[utoipa::path(
    post,
    path = "/projects/{project}/volumes/{volume}/folders",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path)),
    request_body = NewFolder,
    responses(
        (status = 201),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn make(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    Json(new): Json<NewFolder>,
) -> ApiResult<StatusCode> {
    let path = new.path.clone();
    match volumes::open_to_write(&web, &caller, &project, &name).await? {
        Tree::Folder(folder) => blocking(move || folder.make_folder(&path)).await?,
        Tree::Bucket(bucket) => bucket.make_folder(&path).await?,
        Tree::Empty => {}
    }
    let entry = audit::entry(&web, &caller, "volume.make-folder", &name).after(json!({"path": new.path}));
    web.store().audit(&entry).await?;
    Ok(StatusCode::CREATED)
}

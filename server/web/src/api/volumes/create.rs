//! `POST /projects/{project}/volumes`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::belongings::Volume;
use cubeloom_store::Created;

use super::view::{NewVolume, VolumeView, audited, check_place};
use crate::audit;
use crate::auth::Caller;
use crate::belongings::WORKSPACE;
use crate::check::Found;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::{Json, Path};
use crate::state::Web;

/// Adds a volume to the project.
///
/// Only its location is recorded. Nothing is created, and existing data is not touched.
#[utoipa::path(
    post,
    path = "/projects/{project}/volumes",
    tag = "volumes",
    params(("project" = String, Path)),
    request_body = NewVolume,
    responses(
        (status = 201, body = VolumeView, headers(("ETag" = String))),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Path(project): Path<String>,
    Json(new): Json<NewVolume>,
) -> ApiResult<(StatusCode, Tagged<VolumeView>)> {
    let mut found = Found::default();
    found.name("/name", &new.name, 63);
    found.text("/description", &new.description, 1000);
    let place = check_place(&web, &caller, new.place, &mut found).await?;
    found.refuse()?;
    let (name, description, created_at) = (new.name, new.description, web.now());
    let volume = Volume { project, name, description, place, created_at, revision: 1 };
    let entry = audit::entry(&web, &caller, "volume.create", &volume.name).after(audited(&volume));
    let taken = volume.name == WORKSPACE;
    if taken || web.store().create_volume(&volume, &entry).await? == Created::Exists {
        let detail = format!("the volume `{}` already exists: choose another name", volume.name);
        return Err(ApiError::conflict(detail));
    }
    Ok((StatusCode::CREATED, Tagged(1, VolumeView::of(&web, volume).await?)))
}

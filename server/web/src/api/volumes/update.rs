//! `PATCH /projects/{project}/volumes/{volume}`

use axum::extract::State;

use super::view::{VolumeChange, VolumeView, audited, check_place};
use crate::audit;
use crate::auth::Caller;
use crate::belongings::WORKSPACE;
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;
use crate::volumes;

/// Updates the description or the location of a volume.
#[utoipa::path(
    patch,
    path = "/projects/{project}/volumes/{volume}",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path), ("If-Match" = String, Header)),
    request_body = VolumeChange,
    responses((status = 200, body = VolumeView, headers(("ETag" = String))))
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    IfMatch(expected): IfMatch,
    Json(change): Json<VolumeChange>,
) -> ApiResult<Tagged<VolumeView>> {
    if name == WORKSPACE {
        return Err(ApiError::conflict("every project has the volume `workspace`: it cannot be changed"));
    }
    let mut volume = volumes::find(&web, &project, &name).await?;
    let before = audited(&volume);
    let mut found = Found::default();
    if let Some(description) = change.description {
        found.text("/description", &description, 1000);
        volume.description = description;
    }
    if let Some(place) = change.place {
        volume.place = check_place(&web, &caller, place, &mut found).await?;
    }
    found.refuse()?;
    let entry = audit::entry(&web, &caller, "volume.update", &name).before(before).after(audited(&volume));
    // Values kept from the read above must not have changed before the write.
    let expected = Some(expected.unwrap_or(volume.revision));
    let done = web.store().update_volume(&volume, expected, &entry).await?;
    volume.revision = changed(done, "volume", &name)?;
    Ok(Tagged(volume.revision, VolumeView::of(&web, volume).await?))
}

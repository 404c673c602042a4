//! `GET /projects/{project}/secrets`, `GET /me/secrets`

use axum::extract::State;
use cubeloom_domain::belongings::Owner;

use super::view::SecretView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the secrets of a project by name, without their values.
#[utoipa::path(
    get,
    operation_id = "list",
    path = "/projects/{project}/secrets",
    tag = "secrets",
    params(("project" = String, Path, description = "The project's name"), PageQuery),
    responses((status = 200, body = Page<SecretView>))
)]
pub(crate) async fn of_project(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<SecretView>>> {
    list(&web, &Owner::Project(project), &page).await
}

/// Lists the personal secrets of the caller by name, without their values.
///
/// In runs of the caller, they take precedence over project secrets of the same name.
#[utoipa::path(
    get,
    operation_id = "list",
    path = "/me/secrets",
    tag = "secrets",
    params(PageQuery),
    responses((status = 200, body = Page<SecretView>))
)]
pub(crate) async fn own(
    State(web): State<Web>,
    caller: Caller,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<SecretView>>> {
    list(&web, &Owner::User(caller.user.id.clone()), &page).await
}

async fn list(web: &Web, owner: &Owner, page: &PageQuery) -> ApiResult<Json<Page<SecretView>>> {
    Ok(Json(
        Page::cut(web.store().secrets(owner).await?, page, |secret| secret.name.clone())?
            .map(SecretView::from),
    ))
}

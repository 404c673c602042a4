//! `GET /projects/{project}/members`

use axum::extract::State;

use super::MemberView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the members of a project by name.
#[utoipa::path(
    get,
    path = "/projects/{project}/members",
    tag = "projects",
    params(("project" = String, Path), PageQuery),
    responses(
        (status = 200, body = Page<MemberView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<MemberView>>> {
    let (limit, after) = (query.limit()?, query.after()?);
    let members = web.store().members(&project).await?.into_iter();
    let later =
        members.filter(|member| after.as_deref().is_none_or(|after| member.user.name.as_str() > after));
    let views = later.take(limit + 1).map(MemberView::from).collect();
    Ok(Json(Page::of(views, limit, |member: &MemberView| member.user.clone())))
}

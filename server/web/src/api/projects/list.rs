//! `GET /projects`

use axum::extract::State;
use cubeloom_domain::identity::{Project, Role};

use super::{ProjectView, visible};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the projects that you are a member of, by name.
///
/// Administrators get all projects.
#[utoipa::path(
    get,
    path = "/projects",
    tag = "projects",
    params(PageQuery),
    responses(
        (status = 200, body = Page<ProjectView>),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    caller: Caller,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<ProjectView>>> {
    let (limit, after) = (query.limit()?, query.after()?);
    let projects = visible(&web, &caller).await?.into_iter();
    let later =
        projects.filter(|(project, _)| after.as_deref().is_none_or(|after| project.name.as_str() > after));
    let budgets = web.store().budget_standings(web.now()).await?;
    let view = |(project, role): (Project, Option<Role>)| {
        let standing = budgets.get(&project.name);
        ProjectView::new(project, role).with_budget(standing)
    };
    let views = later.take(limit + 1).map(view).collect();
    Ok(Json(Page::of(views, limit, |project: &ProjectView| project.name.clone())))
}

//! `GET /projects/{project}/models`

use axum::extract::State;
use cubeloom_store::PageOf;
use serde::Deserialize;
use utoipa::IntoParams;

use super::ModelView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Filters of models.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Returns only the models whose name or description contains this text, ignoring case.
    pub q: Option<String>,
    /// Number of items, from 1 to 200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Lists the models of a project by name, each with its newest version.
#[utoipa::path(
    get,
    path = "/projects/{project}/models",
    tag = "models",
    params(("project" = String, Path), ListQuery),
    responses(
        (status = 200, body = Page<ModelView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<ListQuery>,
) -> ApiResult<Json<Page<ModelView>>> {
    Ok(Json(models(&web, &project, query).await?))
}

/// A page of a project's models.
///
/// # Errors
/// The query is invalid.
pub(crate) async fn models(web: &Web, project: &str, query: ListQuery) -> ApiResult<Page<ModelView>> {
    let page = PageQuery { limit: query.limit, cursor: query.cursor };
    let limit = page.limit()?;
    let wanted = PageOf { after: page.after()?, limit: limit + 1 };
    let contains = query.q.as_deref().map(str::trim);
    let found = web.store().models(project, contains, &wanted).await?;
    Ok(Page::of(found, limit, |summary| summary.model.name.clone()).map(ModelView::from))
}

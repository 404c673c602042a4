//! `GET /runs/{run}/models`

use std::collections::BTreeMap;

use axum::extract::State;
use cubeloom_domain::RunId;
use cubeloom_domain::model::Model;

use super::ModelVersionView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the model versions that a run registered, by model.
#[utoipa::path(
    get,
    path = "/runs/{run}/models",
    tag = "models",
    params(("run" = String, Path, description = "The run's id."), PageQuery),
    responses(
        (status = 200, body = Page<ModelVersionView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn of_run(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<ModelVersionView>>> {
    let place = |version: &ModelVersionView| format!("{}/{:010}", version.model, version.version);
    let mut found = registered(&web, &run).await?;
    // Pages use this order: databases collate names differently.
    found.sort_by_key(place);
    Ok(Json(Page::cut(found, &page, place)?))
}

/// All model versions that a run registered.
pub(crate) async fn registered(web: &Web, run: &RunId) -> ApiResult<Vec<ModelVersionView>> {
    let mut models: BTreeMap<(String, String), Option<Model>> = BTreeMap::new();
    let mut views = Vec::new();
    for version in web.store().models_of_run(run).await? {
        let key = (version.made.project.clone(), version.made.reported.name.clone());
        if !models.contains_key(&key) {
            let model = web.store().model(&key.0, &key.1).await?;
            models.insert(key.clone(), model);
        }
        if let Some(Some(model)) = models.get(&key) {
            views.push(ModelVersionView::new(version, model));
        }
    }
    Ok(views)
}

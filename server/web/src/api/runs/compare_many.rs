//! `GET /projects/{project}/runs/compare`

use std::collections::HashMap;

use axum::extract::State;
use cubeloom_domain::RunId;
use cubeloom_domain::record::RunRecord;
use serde::Deserialize;
use utoipa::IntoParams;

use super::comparison_view::RunsComparisonView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::runs::compared;
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Maximum number of runs.
const MOST: usize = 10;

/// Runs to compare.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CompareRunsQuery {
    /// IDs of 2 to 10 runs of the project, separated by commas.
    pub runs: String,
}

/// Compares several runs of a project: parameters, metrics, outputs and tasks.
#[utoipa::path(
    get,
    path = "/projects/{project}/runs/compare",
    tag = "runs",
    params(("project" = String, Path, description = "The project."), CompareRunsQuery),
    responses(
        (status = 200, body = RunsComparisonView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn compare_many(
    State(web): State<Web>,
    lang: Lang,
    Path(project): Path<String>,
    Query(query): Query<CompareRunsQuery>,
) -> ApiResult<Json<RunsComparisonView>> {
    Ok(Json(told(lang, comparison(&web, &project, &query).await?)))
}

/// The runs of this query.
///
/// # Errors
/// The query is invalid, or the project does not have one of the runs.
pub(crate) async fn comparison(
    web: &Web,
    project: &str,
    query: &CompareRunsQuery,
) -> ApiResult<RunsComparisonView> {
    let runs = records(web, project, &ids(&query.runs)?).await?;
    Ok(RunsComparisonView { runs: compared::views(web, &runs).await? })
}

/// The different ids of a list, in its order.
fn ids(text: &str) -> ApiResult<Vec<RunId>> {
    let mut ids: Vec<RunId> = Vec::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let id: RunId = word.parse().map_err(|_| ApiError::not_found("run", word))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let count = ids.len();
    if !(2..=MOST).contains(&count) {
        let message = format!("the number of different runs is {count}: it must be from 2 to {MOST}");
        return Err(ApiError::field("/runs", message));
    }
    Ok(ids)
}

async fn records(web: &Web, project: &str, ids: &[RunId]) -> ApiResult<Vec<RunRecord>> {
    let wanted: Vec<&RunId> = ids.iter().collect();
    let found = web.store().runs_by_id(&wanted).await?;
    let mut found: HashMap<RunId, RunRecord> = found.into_iter().map(|run| (run.id.clone(), run)).collect();
    let of_project = |id: &RunId| {
        found.remove(id).filter(|run| run.project == project).ok_or_else(|| ApiError::not_found("run", id))
    };
    ids.iter().map(of_project).collect()
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;

    use super::*;

    #[test]
    fn two_to_ten_different_runs_are_compared() {
        let all: Vec<RunId> = (0..11).map(|at| RunId::new(Timestamp(at * 1_000), 1)).collect();
        let text = |runs: &[RunId]| runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(",");
        assert_eq!(ids(&text(&all[..10])).unwrap(), all[..10]);
        assert_eq!(ids(&format!("{0}, {1},{0},", all[3], all[1])).unwrap(), [all[3].clone(), all[1].clone()]);
        for wrong in [String::new(), text(&all), format!("{0},{0}", all[0]), "nonsense,".into()] {
            assert!(ids(&wrong).is_err(), "{wrong}");
        }
    }
}

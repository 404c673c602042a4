//! `GET /runs/{run}/logs/search`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::{LogMatches, LogQuery};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::logs::{self, Chosen, Pattern};
use crate::state::Web;

/// Default and maximum number of returned lines.
const USUAL: usize = 200;
const MOST: usize = 5_000;

/// What to search for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Text.
    #[param(min_length = 1, max_length = 1000)]
    pub q: String,
    /// Whether the text is a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// Whether the search is case-sensitive.
    #[serde(default)]
    pub case: bool,
    /// Maximum number of lines, from 1 to 5,000. Defaults to 200.
    #[param(minimum = 1, maximum = 5000)]
    pub limit: Option<usize>,
}

/// Searches the logs of an attempt for lines that contain a text.
#[utoipa::path(
    get,
    path = "/runs/{run}/logs/search",
    tag = "logs",
    params(("run" = String, Path, description = "The run's id."), LogQuery, SearchQuery),
    responses(
        (status = 200, body = LogMatches),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn search(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(query): Query<LogQuery>,
    Query(wanted): Query<SearchQuery>,
) -> ApiResult<Json<LogMatches>> {
    let limit = wanted.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(ApiError::field("/limit", format!("limit is {limit}: it must be from 1 to {MOST}")));
    }
    let pattern = Pattern::new(&wanted.q, wanted.regex, wanted.case)?;
    let chosen = Chosen::of(&web, &run, &query).await?;
    Ok(Json(logs::search(&chosen, &pattern, limit).await?))
}

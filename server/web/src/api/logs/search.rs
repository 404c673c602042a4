//! `GET /runs/{run}/logs/search`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::view::{LogMatches, LogQuery};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::logs::{self, Chosen, Pattern, SearchCursor};
use crate::state::Web;

/// Default and maximum number of returned lines.
const USUAL: usize = 200;
const MOST: usize = 5_000;

/// Kind of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// Lines that look like errors.
    Error,
}

/// What to search for: a text or a kind.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Text.
    #[param(min_length = 1, max_length = 1000)]
    pub q: Option<String>,
    /// Kind of lines, instead of a text. `error` finds lines that look like errors: tracebacks, exceptions, lines of
    /// the levels error and fatal, panics, and failures of CUDA, NCCL and the system.
    #[param(inline)]
    pub kind: Option<LineKind>,
    /// Whether the text is a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// Whether the search is case-sensitive.
    #[serde(default)]
    pub case: bool,
    /// Maximum number of lines, from 1 to 5,000. Defaults to 200.
    #[param(minimum = 1, maximum = 5000)]
    pub limit: Option<usize>,
    /// Cursor of an incomplete search: the `next_cursor` of its response.
    pub cursor: Option<String>,
}

impl SearchQuery {
    fn pattern(&self) -> ApiResult<Pattern> {
        match (self.q.as_deref(), self.kind) {
            (Some(text), None) => Pattern::new(text, self.regex, self.case),
            (None, Some(LineKind::Error)) => Pattern::errors(),
            (None, None) => Err(ApiError::field("/q", "enter a search text, or a kind of lines")),
            (Some(_), Some(_)) => Err(ApiError::field("/kind", "send a search text or a kind, not both")),
        }
    }

    /// Where to start, and how many lines to return.
    fn bounds(&self) -> ApiResult<(SearchCursor, usize)> {
        let limit = self.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(ApiError::field("/limit", format!("limit is {limit}: it must be from 1 to {MOST}")));
        }
        let given = self.cursor.as_deref().filter(|text| !text.is_empty());
        Ok((given.map(SearchCursor::decode).transpose()?.unwrap_or_default(), limit))
    }
}

/// Searches the logs of an attempt for lines that contain a text, or look like errors.
///
/// Control sequences of terminals are not searched.
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
    Query(mut query): Query<LogQuery>,
    Query(wanted): Query<SearchQuery>,
) -> ApiResult<Json<LogMatches>> {
    let (from, limit) = wanted.bounds()?;
    let pattern = wanted.pattern()?;
    if from.attempt > 0 {
        query.attempt = Some(from.attempt);
    }
    let chosen = Chosen::of(&web, &run, &query).await?;
    Ok(Json(logs::search(&chosen, pattern, limit, &from).await?))
}

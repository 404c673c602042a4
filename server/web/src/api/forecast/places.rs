//! `POST /projects/{project}/forecast/places`

use std::time::Duration;

use axum::extract::State;
use cubeloom_admission::Makespan;
use serde::Serialize;
use utoipa::ToSchema;

use super::order;
use super::view::{Outlook, ToForecast};
use crate::api::tasks::view::StartView;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path};
use crate::forecast::places;
use crate::runs::wish::explained;
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;
use crate::told::{Sentences, told};

/// Comparison of the placements that a run may use.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparedPlacesView {
    /// Time for which the forecast is valid.
    pub at: Time,
    /// Placements, at most 32, starting with the default one. Empty for an invalid document.
    pub places: Vec<ComparedPlaceView>,
    /// Number of further placements.
    pub left_out: usize,
    /// Currency of amounts of money, if configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Problems of the document that prevent the run on any placement.
    pub problems: Vec<ProblemView>,
}

/// Forecast of a run in one placement.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparedPlaceView {
    /// Placement, as `CLUSTER` or `CLUSTER/NODE_GROUP`. Send it as `place` to start a run there.
    pub place: String,
    /// Cluster.
    pub cluster: String,
    /// Node group. If omitted, the placement is the whole cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// Whether the run uses this placement when no placement is chosen.
    pub is_usual: bool,
    /// Combined outlook of the tasks without dependencies: `starts`, `waits`, `never`, or `unknown` while the
    /// cluster's queue is unreachable.
    pub outlook: Outlook,
    /// Reason why one of the tasks is pending: a sentence with the amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Problems that prevent the run in this placement, each with its field: a path into the document, or `/place`.
    pub problems: Vec<ProblemView>,
    /// Estimated start of the first task. Omitted if too little is known about the duration of other tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_start: Option<StartView>,
    /// Estimated time when all tasks without dependencies have started. Omitted if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartView>,
    /// Duration from `start` on, if no later task waits for capacity. Omitted if it is not known for each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes: Option<TakesView>,
    /// Estimated end of the run, from `start` and `takes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<StartView>,
    /// Tasks of unknown duration: too few attempts have ended, a person performs them, or other tasks determine the
    /// number of instances.
    pub unknown_tasks: Vec<String>,
    /// Tasks whose duration is known only from other placements.
    pub elsewhere: Vec<String>,
    /// Estimated cost: the tasks' resource requests for the median duration of their attempts, at the current price.
    /// Excludes tasks in `unknown_tasks`. Omitted if nothing has a price or no duration is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

/// Estimated total duration.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct TakesView {
    /// Median duration, in seconds.
    pub p50_seconds: f64,
    /// 90th percentile of the duration, in seconds.
    pub p90_seconds: f64,
}

impl From<Makespan> for TakesView {
    fn from(found: Makespan) -> Self {
        Self { p50_seconds: found.p50.as_secs_f64(), p90_seconds: found.p90.as_secs_f64() }
    }
}

impl TakesView {
    /// End of a run or task that starts then.
    pub fn after(self, start: StartView) -> StartView {
        let later = |at: Time, seconds: f64| {
            Time(at.0.plus(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
        };
        StartView { p50: later(start.p50, self.p50_seconds), p90: later(start.p90, self.p90_seconds) }
    }
}

impl Sentences for ComparedPlacesView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.places.iter_mut().for_each(|place| place.message.each(look));
    }
}

/// Compares the placements that a run may use if it were started now, without starting it.
///
/// Placements are the clusters and node groups allowed for the project. For each placement, returns whether the run
/// can go there, when it would start, its duration and its cost. To choose a placement, start the run with its
/// `place`. No placement is chosen automatically.
#[utoipa::path(
    post,
    path = "/projects/{project}/forecast/places",
    operation_id = "compare_places",
    tag = "pipelines",
    params(("project" = String, Path)),
    request_body = ToForecast,
    responses(
        (status = 200, body = ComparedPlacesView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn compare(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Json(sent): Json<ToForecast>,
) -> ApiResult<Json<ComparedPlacesView>> {
    let (text, order) = order(&web, &caller, project, sent).await?;
    let found = places::compare(&web, &caller, lang, text, order).await;
    match explained(&web, &caller, found).await {
        Err(error) if !error.problems().is_empty() => {
            let problems = error.problems().iter().map(|one| ProblemView::told(one, lang)).collect();
            let (at, currency) = (Time(web.now()), web.settings().currency.clone());
            Ok(Json(ComparedPlacesView { at, places: Vec::new(), left_out: 0, currency, problems }))
        }
        found => Ok(Json(told(lang, found?))),
    }
}

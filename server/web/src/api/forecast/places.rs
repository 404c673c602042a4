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

/// The places that a run may go to, side by side.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparedPlacesView {
    /// The moment that it holds for.
    pub at: Time,
    /// Them, first the one to which the run goes by itself; none of a document with mistakes. At most 32.
    pub places: Vec<ComparedPlaceView>,
    /// How many more there are.
    pub left_out: usize,
    /// What amounts of money are in, when that was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The mistakes for which there would be no run anywhere.
    pub problems: Vec<ProblemView>,
}

/// What would become of a run in a place.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparedPlaceView {
    /// `CLUSTER` or `CLUSTER/NODE_GROUP`: send it as `place` to start a run there.
    pub place: String,
    /// The cluster.
    pub cluster: String,
    /// The node group; absent: anywhere on the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// Whether a run for which no place is chosen goes there.
    pub is_usual: bool,
    /// What would become of the tasks that need nothing first, all together: `starts`, `waits`, `never`, or `unknown` while
    /// the cluster's queue cannot be asked.
    pub outlook: Outlook,
    /// Why one of them waits: a sentence with the amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why it cannot run there, each with its field: a path into the document, or `/place`.
    pub problems: Vec<ProblemView>,
    /// When the first task starts; absent where too little is known of how long others take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_start: Option<StartView>,
    /// When all tasks that need nothing first have started; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartView>,
    /// How long it takes from then on, when no later task waits for room; absent where that is not known of each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes: Option<TakesView>,
    /// When it has ended, by both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<StartView>,
    /// Tasks of which nobody knows how long they take: too few attempts have ended, a person does them, or other tasks
    /// decide how many instances there are.
    pub unknown_tasks: Vec<String>,
    /// Tasks of which it is known from other places alone.
    pub elsewhere: Vec<String>,
    /// What it costs: what its tasks ask for, for the time that half of their attempts took, at today's price. Without the
    /// unknown tasks; absent where nothing has a price, or nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

/// How long something takes in all.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct TakesView {
    /// As likely less as more.
    pub p50_seconds: f64,
    /// Nine times of ten less.
    pub p90_seconds: f64,
}

impl From<Makespan> for TakesView {
    fn from(found: Makespan) -> Self {
        Self { p50_seconds: found.p50.as_secs_f64(), p90_seconds: found.p90.as_secs_f64() }
    }
}

impl TakesView {
    /// When it has ended that starts then.
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

/// Compares the places that a run may go to, if it were started now, without starting it: clusters and node groups that the
/// project is bound to. Of each it says whether the run can go there, when it would start, how long it would take and what
/// it would cost. To choose one, start the run with its `place`; nothing is chosen by itself.
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

//! `GET /runs/{run}/compare?with=`: compares two runs.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::RunId;
use cubeloom_store::RunFilter;
use serde::Deserialize;

use super::compared::Compared;
use super::runs::short;
use super::{Frame, html};
use crate::api::compare::get::{self, WithQuery};
use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::{Path, Query};
use crate::runs::reader;
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;

/// Number of runs to choose from.
const CHOICES: usize = 30;

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    with: String,
}

/// A run to compare with.
struct Choice {
    id: String,
    label: String,
}

#[derive(Template)]
#[template(path = "run-compare.html")]
struct ComparePage {
    frame: Frame,
    choices: Vec<Choice>,
    compared: Compared,
}

impl ComparePage {
    /// URL of the text comparison, for two versions of one pipeline.
    fn texts_url(&self) -> Option<String> {
        let [left, right] = self.compared.runs();
        let same = (&left.project, &left.pipeline) == (&right.project, &right.pipeline);
        match (left.version, right.version) {
            (Some(to), Some(from)) if same && from != to => Some(format!(
                "/projects/{}/pipelines/{}/compare?from={from}&to={to}",
                left.project, left.pipeline
            )),
            _ => None,
        }
    }
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path(run): Path<RunId>,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    let choices = choices(&web, &run).await?;
    let with = match asked.with.as_str() {
        "" => choices.first().map(|choice| choice.id.clone()).ok_or_else(|| alone(&run))?,
        with => with.to_owned(),
    };
    let query = Query(WithQuery { with });
    let caller = frame.caller.clone().ok_or_else(crate::auth::not_signed_in)?;
    let view = get::compare(State(web.clone()), caller, Lang::En, Path(run), query).await?.0;
    let names = ["run.this-run", "run.other-run"].map(|key| frame.t(key).to_owned());
    let compared = Compared::new(&frame, view, names);
    html(&ComparePage { frame, choices, compared })
}

fn alone(run: &RunId) -> ApiError {
    let detail = format!("{run} is the only run of its pipeline: there is no other run to compare it with");
    ApiError::new(Kind::NotFound, detail)
}

/// Runs of the same pipeline: earlier ones, the nearest first, then later ones.
async fn choices(web: &Web, run: &RunId) -> ApiResult<Vec<Choice>> {
    let record = reader::record(web, run).await?;
    let all = RunFilter {
        projects: Some(vec![record.project.clone()]),
        pipeline: Some(record.pipeline.clone()),
        limit: Some(CHOICES),
        ..RunFilter::default()
    };
    let earlier = RunFilter { before: Some(run.clone()), ..all.clone() };
    let mut found = web.store().runs(&earlier).await?;
    let later = web.store().runs(&all).await?;
    found.extend(later.into_iter().filter(|other| other.id > *run));
    let label = |run: &cubeloom_domain::record::RunRecord| {
        let day = Time(run.created_at).to_string();
        let day = day.get(..16).unwrap_or_default().replace('T', " ");
        format!("{} · {day} · {}", short(run.id.as_str()), run.user)
    };
    Ok(found.iter().map(|run| Choice { id: run.id.to_string(), label: label(run) }).collect())
}

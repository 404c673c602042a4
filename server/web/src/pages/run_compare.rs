//! `GET /runs/{run}/compare?with=`: two runs beside each other.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::RunId;
use cubeloom_store::RunFilter;
use serde::Deserialize;
use serde_json::Value;

use super::asked_for::{self, AskedFor};
use super::diff::{self, Line};
use super::runs::short;
use super::{Frame, html};
use crate::api::compare::get::{self, WithQuery};
use crate::api::compare::view::{ComparisonView, TaskPair, TaskSide, ValuePair};
use crate::api::runs::view::RunView;
use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::{Path, Query};
use crate::pipelines::difference;
use crate::readable;
use crate::runs::reader;
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;

/// Other runs to choose from.
const CHOICES: usize = 30;

/// Shorter tasks, in seconds, are not compared by the ratio of their times.
const MOMENT: f64 = 0.1;

/// What the URL asks for.
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

/// A task, with bars of 100 units for its times.
struct Row {
    pair: TaskPair,
    left: f64,
    right: f64,
}

/// An argument that differs, from the other run to this one.
struct Changed {
    task: String,
    argument: String,
    lines: Vec<Line>,
}

impl Row {
    /// `1.25×`; more than 1 is slower than before.
    fn ratio(&self) -> String {
        // Of a moment there is no ratio that means something.
        let times = self.sides().map(|side| side.and_then(|side| side.run_seconds).unwrap_or_default());
        if times.iter().all(|seconds| *seconds < MOMENT) {
            return String::new();
        }
        self.pair.ratio.map(|ratio| format!("{ratio:.2}×")).unwrap_or_default()
    }

    /// Whether the time has changed so much that it is worth a look.
    fn differs(&self) -> bool {
        let times =
            [&self.pair.left, &self.pair.right].map(|side| side.as_ref().and_then(|side| side.run_seconds));
        let [Some(left), Some(right)] = times else { return false };
        (left - right).abs() > 1.0 && self.pair.ratio.is_some_and(|ratio| !(0.8..=1.25).contains(&ratio))
    }

    fn sides(&self) -> [Option<&TaskSide>; 2] {
        [self.pair.left.as_ref(), self.pair.right.as_ref()]
    }
}

#[derive(Template)]
#[template(path = "run-compare.html")]
struct ComparePage {
    frame: Frame,
    view: ComparisonView,
    choices: Vec<Choice>,
    rows: Vec<Row>,
    /// What each task's workers asked for.
    asked: Vec<AskedFor>,
    /// Arguments of tasks that differ.
    arguments: Vec<Changed>,
    /// Outputs of tasks that differ: the task, the output.
    outputs: Vec<(String, ValuePair)>,
    /// Whether values were reported that can be drawn.
    metrics: bool,
}

impl ComparePage {
    /// Both runs, this one first.
    fn runs(&self) -> [&RunView; 2] {
        [&self.view.left, &self.view.right]
    }

    /// What a side is called.
    fn side(&self, index: &usize) -> &str {
        self.frame.t(if *index == 0 { "run.this-run" } else { "run.other-run" })
    }

    /// Where the texts of both versions are compared, when they are two versions of one pipeline.
    fn texts_url(&self) -> Option<String> {
        let (left, right) = (&self.view.left, &self.view.right);
        let same = (&left.project, &left.pipeline) == (&right.project, &right.pipeline);
        match (left.version, right.version) {
            (Some(to), Some(from)) if same && from != to => Some(format!(
                "/projects/{}/pipelines/{}/compare?from={from}&to={to}",
                left.project, left.pipeline
            )),
            _ => None,
        }
    }

    /// A value as a person reads it; nothing for null.
    fn value(&self, value: &Value) -> String {
        if value.is_null() { String::new() } else { readable::value(value) }
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
    let mut view = get::compare(State(web.clone()), caller, Lang::En, Path(run), query).await?.0;
    let rows = rows(std::mem::take(&mut view.tasks));
    let differ = |row: &Row| {
        let task = row.pair.name.clone();
        let outputs = row.pair.outputs.iter().filter(|pair| !pair.same);
        outputs.map(|pair| (task.clone(), pair.clone())).collect::<Vec<_>>()
    };
    let asked = rows.iter().flat_map(|row| asked_for::of_task(&frame, &row.pair)).collect();
    let outputs = rows.iter().flat_map(differ).collect();
    let arguments = rows.iter().flat_map(|row| changed(&row.pair)).collect();
    let metrics = !view.metrics.is_empty();
    html(&ComparePage { frame, view, choices, rows, asked, arguments, outputs, metrics })
}

/// The arguments that differ, line by line.
fn changed(pair: &TaskPair) -> Vec<Changed> {
    let text = |value: &Value| if value.is_null() { String::new() } else { readable::value(value) };
    let of_argument = |argument: &ValuePair| {
        let found = difference(&text(&argument.right), &text(&argument.left), ("", ""));
        let lines = diff::lines(&found.hunks);
        Changed { task: pair.name.clone(), argument: argument.name.clone(), lines }
    };
    pair.arguments.iter().map(of_argument).collect()
}

fn alone(run: &RunId) -> ApiError {
    let detail = format!("{run} is the only run of its pipeline: there is none to compare it with");
    ApiError::new(Kind::NotFound, detail)
}

fn rows(pairs: Vec<TaskPair>) -> Vec<Row> {
    let seconds = |side: &Option<TaskSide>| side.as_ref().and_then(|side| side.run_seconds).unwrap_or(0.0);
    let longest =
        pairs.iter().flat_map(|pair| [seconds(&pair.left), seconds(&pair.right)]).fold(0.0, f64::max);
    let unit = if longest > 0.0 { 100.0 / longest } else { 0.0 };
    let row =
        |pair: TaskPair| Row { left: seconds(&pair.left) * unit, right: seconds(&pair.right) * unit, pair };
    pairs.into_iter().map(row).collect()
}

/// Runs of the same pipeline: those before this one, the nearest first, then later ones.
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

//! `POST /projects/{project}/runs/cancel` and `.../rerun`: bulk operations, with a result per run.

use std::time::Duration;

use axum::extract::State;
use cubeloom_domain::RunId;
use cubeloom_domain::record::RunRecord;
use tokio::time::Instant;

use super::view::{ManyResults, ManyRuns, OneResult};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, Kind, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::wish;
use crate::state::Web;
use crate::texts::Lang;

/// Maximum number of runs per request.
const MOST: usize = 200;
/// Time limit of a request, far below the request timeout: on timeout, the client would not learn the
/// progress.
const TIME: Duration = Duration::from_secs(20);

/// Operation on each run.
#[derive(Clone, Copy)]
enum Deed {
    Cancel,
    Again,
}

/// Cancels several runs of a project.
///
/// Runs that could not be processed in time are listed in `left`. Send these again.
#[utoipa::path(
    post,
    path = "/projects/{project}/runs/cancel",
    tag = "runs",
    params(("project" = String, Path, description = "The project.")),
    request_body = ManyRuns,
    responses(
        (status = 200, body = ManyResults),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn cancel_many(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Json(body): Json<ManyRuns>,
) -> ApiResult<Json<ManyResults>> {
    let done = each(&web, &caller, lang, &project, body, Deed::Cancel).await?;
    let ids: Vec<RunId> =
        done.results.iter().filter(|one| one.ok).filter_map(|one| one.run.parse().ok()).collect();
    wish::settle(&web, &ids).await?;
    Ok(Json(done))
}

/// Reruns several runs of a project as new runs.
///
/// Each new run has the version and parameters of the original run. Runs that could not be processed in time are
/// listed in `left`. Send these again.
#[utoipa::path(
    post,
    path = "/projects/{project}/runs/rerun",
    tag = "runs",
    params(("project" = String, Path, description = "The project.")),
    request_body = ManyRuns,
    responses(
        (status = 200, body = ManyResults),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn rerun_many(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Json(body): Json<ManyRuns>,
) -> ApiResult<Json<ManyResults>> {
    Ok(Json(each(&web, &caller, lang, &project, body, Deed::Again).await?))
}

/// Processes the runs one by one, within the time limit.
async fn each(
    web: &Web,
    caller: &Caller,
    lang: Lang,
    project: &str,
    body: ManyRuns,
    deed: Deed,
) -> ApiResult<ManyResults> {
    match body.runs.len() {
        0 => return Err(ApiError::field("/runs", "name at least one run")),
        count if count > MOST => {
            return Err(ApiError::field("/runs", format!("{count} runs: name at most {MOST}")));
        }
        _ => {}
    }
    let work = body.runs.into_iter().map(|run| {
        let named = run.clone();
        let work = async move {
            let done = match find(web, project, &named).await {
                Ok(record) => one(web, caller, &record, deed).await,
                Err(error) => Err(error),
            };
            result(named, done, lang)
        };
        (run, work)
    });
    in_time(work, TIME).await
}

/// Processes items until the time is up. At least one is processed, so that a client that resends the rest
/// makes progress.
async fn in_time<F: Future<Output = ApiResult<OneResult>>>(
    mut runs: impl Iterator<Item = (String, F)>,
    time: Duration,
) -> ApiResult<ManyResults> {
    let until = Instant::now() + time;
    let mut results = Vec::new();
    for (_, work) in runs.by_ref() {
        results.push(work.await?);
        if Instant::now() >= until {
            break;
        }
    }
    Ok(ManyResults { results, left: runs.map(|(run, _)| run).collect() })
}

/// Processes one run. Returns the run that it started.
async fn one(web: &Web, caller: &Caller, record: &RunRecord, deed: Deed) -> ApiResult<Option<RunId>> {
    match deed {
        Deed::Cancel => wish::cancel(web, caller, record).await.map(|()| None),
        Deed::Again => wish::again(web, caller, record).await.map(|started| Some(started.record.id)),
    }
}

async fn find(web: &Web, project: &str, run: &str) -> ApiResult<RunRecord> {
    let missing = || ApiError::not_found("run", run);
    let id: RunId = run.parse().map_err(|_| missing())?;
    let record = web.store().run(&id).await?;
    record.filter(|record| record.project == project).ok_or_else(missing)
}

/// Result of one run. A server error fails the whole request.
fn result(run: String, done: ApiResult<Option<RunId>>, lang: Lang) -> ApiResult<OneResult> {
    match done {
        Ok(started) => {
            let started = started.map(|id| id.to_string());
            Ok(OneResult { run, ok: true, message: None, started })
        }
        Err(error) if matches!(error.kind(), Kind::Internal | Kind::Unavailable) => Err(error),
        Err(error) => {
            let message = Some(error.told(lang));
            Ok(OneResult { run, ok: false, message, started: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(runs: &[String], time: Duration) -> ManyResults {
        let work = runs.iter().cloned().map(|run| {
            let one = OneResult { run: run.clone(), ok: true, message: None, started: None };
            (run, async move { Ok(one) })
        });
        in_time(work, time).await.unwrap()
    }

    fn done(answer: &ManyResults) -> Vec<&str> {
        answer.results.iter().map(|one| one.run.as_str()).collect()
    }

    #[tokio::test]
    async fn what_there_was_no_time_for_is_left_and_can_be_sent_until_nothing_is() {
        let all = ["a", "b", "c"].map(ToOwned::to_owned);
        let quick = sent(&all, TIME).await;
        assert_eq!((done(&quick), quick.left.len()), (vec!["a", "b", "c"], 0));
        // Without any time, each call processes one.
        let (mut left, mut seen) = (all.to_vec(), Vec::new());
        while !left.is_empty() {
            let answer = sent(&left, Duration::ZERO).await;
            assert_eq!(done(&answer), left[..1]);
            assert_eq!(answer.left, left[1..]);
            seen.extend(done(&answer).into_iter().map(ToOwned::to_owned));
            left = answer.left;
        }
        assert_eq!(seen, all);
    }
}

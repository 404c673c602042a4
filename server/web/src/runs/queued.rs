//! Why a run is queued.

use cubeloom_admission::{Lasts, turns};
use cubeloom_domain::history::RunTime;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_domain::waiting::StartEstimate;
use cubeloom_store::Ahead;

use super::Reader;
use crate::api::runs::view::{RunAheadView, RunWaitView};
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::Time;

/// Rule that limits the concurrent runs of a pipeline.
pub(crate) const RULE: &str = "max_active_runs";
/// The start is estimated only with at most this many queued runs ahead.
const FORESEEN: u64 = 500;
/// Maximum number of runs ahead that are listed.
const TOLD: usize = 20;

/// Why a run is queued. `None` once it has started.
pub(crate) async fn of(web: &Web, reader: &Reader<'_>) -> ApiResult<Option<RunWaitView>> {
    if reader.record.state != RunState::Queued {
        return Ok(None);
    }
    let RunRecord { project, pipeline, id, .. } = &reader.record;
    let ahead = web.store().runs_ahead(project, pipeline, id, TOLD).await?;
    let limit = reader.plan.max_active_runs;
    let start = match limit {
        Some(limit) => begins(web, project, pipeline, (limit, &ahead)).await?,
        None => None,
    };
    Ok(Some(RunWaitView { start: start.map(Into::into), ..view(limit, ahead) }))
}

/// Estimated start of a run behind these, from the durations of the pipeline's runs.
async fn begins(
    web: &Web,
    project: &str,
    pipeline: &str,
    (limit, ahead): (u32, &Ahead),
) -> ApiResult<Option<StartEstimate>> {
    let active: Vec<&RunRecord> = ahead.runs.iter().filter(|run| run.state != RunState::Queued).collect();
    // Runs beyond the list have an unknown start time. For a long queue, the estimate would mean nothing.
    if active.len() as u64 != ahead.active || ahead.queued > FORESEEN {
        return Ok(None);
    }
    let length = RunTime::of(web.store().run_lengths(project, pipeline).await?);
    let lasts = Lasts { length: length.map(Into::into), limit: None };
    let now = web.now();
    let going: Vec<_> = active.iter().map(|run| (run.started_at.unwrap_or(now), lasts)).collect();
    let line = vec![lasts; ahead.queued as usize + 1];
    Ok(turns(&going, &line, limit as usize, now, 1).pop().flatten())
}

fn view(limit: Option<u32>, ahead: Ahead) -> RunWaitView {
    let kept = kept(limit, &ahead);
    let Ahead { active, queued, runs } = ahead;
    let (rule, message, runs) = match kept {
        Some(message) => (RULE, message, runs),
        None => ("starting", "it starts as soon as a server picks it up".to_owned(), Vec::new()),
    };
    RunWaitView {
        message,
        rule: rule.into(),
        limit,
        active,
        ahead: queued,
        runs: runs.iter().map(before).collect(),
        start: None,
    }
}

/// Message of a run that waits for others of its pipeline. `None` if it does not.
pub(crate) fn kept(limit: Option<u32>, ahead: &Ahead) -> Option<String> {
    let Ahead { active, queued, .. } = ahead;
    let limit = limit.filter(|limit| active + queued >= u64::from(*limit))?;
    Some(format!(
        "its pipeline may have {limit} active runs: {active} are active, and {queued} older ones are queued"
    ))
}

fn before(run: &RunRecord) -> RunAheadView {
    RunAheadView {
        run: run.id.to_string(),
        state: run.state.as_str().into(),
        user: run.person().to_owned(),
        created_at: Time(run.created_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_limit_that_is_reached_nothing_keeps_it() {
        let ahead = |active, queued| Ahead { active, queued, runs: Vec::new() };
        let rule = |limit, ahead| view(limit, ahead).rule;
        assert_eq!(rule(Some(2), ahead(2, 0)), "max_active_runs");
        assert_eq!(rule(Some(2), ahead(0, 2)), "max_active_runs", "older ones start first");
        assert_eq!(rule(Some(3), ahead(1, 1)), "starting");
        assert_eq!(rule(None, ahead(5, 5)), "starting");
    }
}

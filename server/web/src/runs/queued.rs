//! Why a run has not begun.

use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_store::Ahead;

use super::Reader;
use crate::api::runs::view::{RunAheadView, RunWaitView};
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::Time;

/// So many of the runs before it are told.
const TOLD: usize = 20;

/// Why a run has not begun; `None` when it has.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn of(web: &Web, reader: &Reader<'_>) -> ApiResult<Option<RunWaitView>> {
    if reader.record.state != RunState::Queued {
        return Ok(None);
    }
    let ahead = web.store().runs_ahead(&reader.record, TOLD).await?;
    Ok(Some(view(reader.plan.max_active_runs, ahead)))
}

fn view(limit: Option<u32>, ahead: Ahead) -> RunWaitView {
    let Ahead { active, queued, runs } = ahead;
    let kept = limit.filter(|limit| active + queued >= u64::from(*limit));
    let (rule, message, runs) = match kept {
        Some(limit) => {
            let message = format!(
                "at most {limit} runs of its pipeline are active at once: {active} are, and {queued} older ones wait"
            );
            ("max_active_runs", message, runs)
        }
        None => ("starting", "it begins as soon as a server has looked at it".to_owned(), Vec::new()),
    };
    RunWaitView {
        message,
        rule: rule.into(),
        limit,
        active,
        ahead: queued,
        runs: runs.iter().map(before).collect(),
    }
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
        assert_eq!(rule(Some(2), ahead(0, 2)), "max_active_runs", "older ones begin first");
        assert_eq!(rule(Some(3), ahead(1, 1)), "starting");
        assert_eq!(rule(None, ahead(5, 5)), "starting");
    }
}

//! Runs in lists. A run that has ended is read and counted once: lists are asked for far more often than runs end.

use std::collections::HashMap;
use std::sync::Arc;

use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::{RunFilter, RunMark};
use moka::sync::Cache;

use super::describe;
use crate::api::runs::view::RunView;
use crate::error::ApiResult;
use crate::state::Web;

/// Ended runs that are kept.
const RUNS: u64 = 10_000;

/// Runs that have ended, as lists show them, with when they ended.
pub(super) struct Ended(Cache<RunId, (Timestamp, Arc<RunView>)>);

impl Default for Ended {
    fn default() -> Self {
        Self(Cache::new(RUNS))
    }
}

impl Ended {
    fn get(&self, mark: &RunMark) -> Option<Arc<RunView>> {
        let ended = mark.ended_at.filter(|_| mark.state.is_final())?;
        self.0.get(&mark.id).filter(|(at, _)| *at == ended).map(|(_, view)| view)
    }

    fn keep(&self, record: &RunRecord, view: &Arc<RunView>) {
        if let Some(ended) = record.ended_at.filter(|_| record.state.is_final()) {
            self.0.insert(record.id.clone(), (ended, Arc::clone(view)));
        }
    }
}

/// The runs that a filter chooses.
pub(crate) async fn find(web: &Web, filter: &RunFilter) -> ApiResult<Vec<Arc<RunView>>> {
    views(web, &web.store().run_marks(filter).await?).await
}

/// These runs; how far those are that go on may be a moment old. What was deleted meanwhile is left out.
pub(crate) async fn views(web: &Web, marks: &[RunMark]) -> ApiResult<Vec<Arc<RunView>>> {
    let runs = web.runs();
    let known: Vec<Option<Arc<RunView>>> = marks.iter().map(|mark| runs.ended.get(mark)).collect();
    let wanted: Vec<&RunId> =
        marks.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(mark, _)| &mark.id).collect();
    let records = web.store().runs_by_id(&wanted).await?;
    let mut records: HashMap<RunId, RunRecord> =
        records.into_iter().map(|record| (record.id.clone(), record)).collect();
    let mut views = Vec::with_capacity(marks.len());
    for (mark, known) in marks.iter().zip(known) {
        if let Some(view) = known {
            views.push(view);
        } else if let Some(record) = records.remove(&mark.id) {
            let view = Arc::new(describe::run(&record, runs.counts.lately(web, &record).await?));
            runs.ended.keep(&record, &view);
            views.push(view);
        }
    }
    Ok(views)
}

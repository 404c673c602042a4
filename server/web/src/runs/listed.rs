//! Runs in lists. What does not change of a run is read once: lists are asked for far more often than runs go on.

use std::collections::HashMap;
use std::sync::Arc;

use cubeloom_domain::RunId;
use cubeloom_domain::record::RunRecord;
use cubeloom_store::{RunFilter, RunMark};
use moka::sync::Cache;

use super::describe;
use crate::api::runs::view::RunView;
use crate::error::ApiResult;
use crate::state::Web;

/// Runs that are kept.
const RUNS: u64 = 10_000;

/// What was read of runs, with how far they were then.
pub(super) struct Read(Cache<RunId, (RunMark, Known)>);

#[derive(Clone)]
enum Known {
    /// A run that has ended, as lists show it.
    Ended(Arc<RunView>),
    /// A run that goes on: how far its tasks are is counted anew.
    Live(Arc<RunRecord>),
}

impl Default for Read {
    fn default() -> Self {
        Self(Cache::new(RUNS))
    }
}

impl Read {
    fn get(&self, mark: &RunMark) -> Option<Known> {
        self.0.get(&mark.id).filter(|(then, _)| then == mark).map(|(_, known)| known)
    }

    fn keep(&self, mark: &RunMark, record: &Arc<RunRecord>, view: &Arc<RunView>) {
        // It has gone on since its mark was read: what was read belongs to the next one.
        if !mark.is_of(record) {
            return;
        }
        let known = if record.state.is_final() {
            Known::Ended(Arc::clone(view))
        } else {
            Known::Live(Arc::clone(record))
        };
        self.0.insert(mark.id.clone(), (mark.clone(), known));
    }
}

/// The runs that a filter chooses.
pub(crate) async fn find(web: &Web, filter: &RunFilter) -> ApiResult<Vec<Arc<RunView>>> {
    views(web, &web.store().run_marks(filter).await?).await
}

/// These runs; how far those are that go on may be a moment old. What was deleted meanwhile is left out.
pub(crate) async fn views(web: &Web, marks: &[RunMark]) -> ApiResult<Vec<Arc<RunView>>> {
    let runs = web.runs();
    let known: Vec<Option<Known>> = marks.iter().map(|mark| runs.read.get(mark)).collect();
    let wanted: Vec<&RunId> =
        marks.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(mark, _)| &mark.id).collect();
    let records = web.store().runs_by_id(&wanted).await?;
    let mut records: HashMap<RunId, RunRecord> =
        records.into_iter().map(|record| (record.id.clone(), record)).collect();
    let mut views = Vec::with_capacity(marks.len());
    for (mark, known) in marks.iter().zip(known) {
        let view = match known {
            Some(Known::Ended(view)) => view,
            Some(Known::Live(record)) => view(web, &record).await?,
            None => {
                let Some(record) = records.remove(&mark.id).map(Arc::new) else { continue };
                let view = view(web, &record).await?;
                runs.read.keep(mark, &record, &view);
                view
            }
        };
        views.push(view);
    }
    Ok(views)
}

async fn view(web: &Web, run: &RunRecord) -> ApiResult<Arc<RunView>> {
    Ok(Arc::new(describe::run(run, web.runs().counts.lately(web, run).await?)))
}

//! Runs in lists. What does not change of a run is read once: lists are asked for far more often than runs go on.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

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

/// A run in a list. What is written of it is kept with it: a list of runs that have ended is put together, not written
/// anew.
#[derive(Clone)]
pub(crate) struct Listed(Arc<Inner>);

struct Inner {
    view: RunView,
    json: OnceLock<Vec<u8>>,
}

impl From<RunView> for Listed {
    fn from(view: RunView) -> Self {
        Self(Arc::new(Inner { view, json: OnceLock::new() }))
    }
}

impl Deref for Listed {
    type Target = RunView;

    fn deref(&self) -> &RunView {
        &self.0.view
    }
}

impl Listed {
    /// The run as JSON.
    ///
    /// # Errors
    /// None that is known of.
    pub(crate) fn json(&self) -> serde_json::Result<&[u8]> {
        if let Some(json) = self.0.json.get() {
            return Ok(json);
        }
        let json = serde_json::to_vec(&self.0.view)?;
        Ok(self.0.json.get_or_init(|| json))
    }
}

/// What was read of runs, with how far they were then.
pub(super) struct Read(Cache<RunId, Arc<(RunMark, Known)>>);

enum Known {
    /// A run that has ended, as lists show it.
    Ended(Listed),
    /// A run that goes on: how far its tasks are is counted anew.
    Live(Arc<RunRecord>),
}

impl Default for Read {
    fn default() -> Self {
        Self(Cache::new(RUNS))
    }
}

impl Read {
    fn get(&self, mark: &RunMark) -> Option<Arc<(RunMark, Known)>> {
        self.0.get(&mark.id).filter(|known| known.0 == *mark)
    }

    fn keep(&self, mark: &RunMark, record: &Arc<RunRecord>, view: &Listed) {
        // It has gone on since its mark was read: what was read belongs to the next one.
        if !mark.is_of(record) {
            return;
        }
        let known = if record.state.is_final() {
            Known::Ended(view.clone())
        } else {
            Known::Live(Arc::clone(record))
        };
        self.0.insert(mark.id.clone(), Arc::new((mark.clone(), known)));
    }
}

/// The runs that a filter chooses.
pub(crate) async fn find(web: &Web, filter: &RunFilter) -> ApiResult<Vec<Listed>> {
    views(web, &web.store().run_marks(filter).await?).await
}

/// These runs; how far those are that go on may be a moment old. What was deleted meanwhile is left out.
pub(crate) async fn views(web: &Web, marks: &[RunMark]) -> ApiResult<Vec<Listed>> {
    let runs = web.runs();
    let known: Vec<_> = marks.iter().map(|mark| runs.read.get(mark)).collect();
    let wanted: Vec<&RunId> =
        marks.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(mark, _)| &mark.id).collect();
    let records = web.store().runs_by_id(&wanted).await?;
    let mut records: HashMap<RunId, RunRecord> =
        records.into_iter().map(|record| (record.id.clone(), record)).collect();
    let mut views = Vec::with_capacity(marks.len());
    for (mark, known) in marks.iter().zip(known) {
        let view = match known.as_deref() {
            Some((_, Known::Ended(view))) => view.clone(),
            Some((_, Known::Live(record))) => view(web, record).await?,
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

async fn view(web: &Web, run: &RunRecord) -> ApiResult<Listed> {
    Ok(describe::run(run, web.runs().counts.lately(web, run).await?).into())
}

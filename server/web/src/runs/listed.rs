//! Runs in lists. Immutable data of a run is read once: lists are requested far more often than runs change.

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

/// Maximum number of cached runs.
const RUNS: u64 = 10_000;

/// A run in a list. Its JSON is cached with it, so that a list of ended runs is not serialized again.
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
    /// None are expected.
    pub(crate) fn json(&self) -> serde_json::Result<&[u8]> {
        if let Some(json) = self.0.json.get() {
            return Ok(json);
        }
        let json = serde_json::to_vec(&self.0.view)?;
        Ok(self.0.json.get_or_init(|| json))
    }
}

/// Cached runs, with the revision at which they were read.
pub(super) struct Read(Cache<RunId, Arc<(RunMark, Known)>>);

enum Known {
    /// An ended run, as lists show it.
    Ended(Listed),
    /// An active run: its task counts are read again.
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
        // The run has changed since its mark was read: the record belongs to a later mark.
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

/// Runs that match a filter.
pub(crate) async fn find(web: &Web, filter: &RunFilter) -> ApiResult<Vec<Listed>> {
    views(web, &web.store().run_marks(filter).await?).await
}

/// The runs of these marks. Progress of active ones may be slightly old. Deleted runs are omitted.
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

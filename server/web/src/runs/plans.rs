//! Cached run plans: a plan never changes, and reading one of 100,000 tasks takes a second.

use std::sync::Arc;

use cubeloom_domain::RunId;
use cubeloom_domain::plan::RunPlan;
use moka::sync::Cache;

use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Maximum number of tasks of all cached plans.
const TASKS: u64 = 200_000;

/// Recently used plans.
pub(super) struct Plans(Cache<RunId, Arc<RunPlan>>);

impl Default for Plans {
    fn default() -> Self {
        let weight = |_: &RunId, plan: &Arc<RunPlan>| u32::try_from(plan.tasks.len() + 1).unwrap_or(u32::MAX);
        Self(Cache::builder().max_capacity(TASKS).weigher(weight).build())
    }
}

impl Plans {
    pub(super) async fn get(&self, web: &Web, run: &RunId) -> ApiResult<Arc<RunPlan>> {
        if let Some(plan) = self.0.get(run) {
            return Ok(plan);
        }
        let plan = web.store().plan(run).await?.ok_or_else(|| ApiError::not_found("run", run))?;
        let plan = Arc::new(plan);
        self.0.insert(run.clone(), Arc::clone(&plan));
        Ok(plan)
    }
}

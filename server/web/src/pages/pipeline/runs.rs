//! Recent runs of a pipeline.

use cubeloom_store::RunFilter;

use crate::error::ApiResult;
use crate::runs::listed;
use crate::runs::listed::Listed;
use crate::state::Web;

/// Number of runs shown. The run list has all.
const SHOWN: usize = 30;

/// Recent runs, the newest first.
pub(super) async fn last(web: &Web, project: &str, name: &str) -> ApiResult<Vec<Listed>> {
    let filter = RunFilter {
        projects: Some(vec![project.to_owned()]),
        pipeline: Some(name.to_owned()),
        limit: Some(SHOWN),
        ..RunFilter::default()
    };
    listed::find(web, &filter).await
}

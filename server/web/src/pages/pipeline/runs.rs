//! Recent runs of a pipeline: their tasks as a grid, and a list.

use cubeloom_store::RunFilter;

use super::super::{Frame, carried};
use crate::api::pipelines::{GridQuery, GridView, grid_of};
use crate::error::ApiResult;
use crate::runs::listed;
use crate::runs::listed::Listed;
use crate::show;
use crate::state::Web;

/// Number of listed runs. The run list has all.
const SHOWN: usize = 30;

/// Data of the tab.
pub(super) struct RunsTab {
    /// Recent runs, the newest first.
    pub(super) listed: Vec<Listed>,
    pub(super) grid: GridView,
    /// The grid for the script, as JSON.
    pub(super) carried: String,
}

impl RunsTab {
    /// How long the runs of the grid took.
    pub(super) fn durations(&self, frame: &Frame) -> String {
        let durations = &self.grid.durations;
        let (Some(median), Some(p90)) = (durations.median_seconds, durations.p90_seconds) else {
            return frame.t("runs.grid-none-succeeded").to_owned();
        };
        let values = [
            ("median", show::duration(median)),
            ("most", show::duration(p90)),
            ("n", durations.succeeded.to_string()),
        ];
        frame.t_with("runs.grid-durations", values)
    }
}

pub(super) async fn tab(web: &Web, project: &str, name: &str) -> ApiResult<RunsTab> {
    let filter = RunFilter {
        projects: Some(vec![project.to_owned()]),
        pipeline: Some(name.to_owned()),
        limit: Some(SHOWN),
        ..RunFilter::default()
    };
    let listed = listed::find(web, &filter).await?;
    let grid = grid_of(web, project, name, GridQuery::default()).await?;
    let carried = carried(&grid)?;
    Ok(RunsTab { listed, grid, carried })
}

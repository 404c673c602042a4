//! Schedules triggered by the end of another pipeline's runs.

use cubeloom_domain::pipeline::{CatchUp, Schedule};
use cubeloom_domain::schedule::{Awaited, PipelineName};
use cubeloom_domain::{Problem, Timestamp};

use super::bounds::{self, Bounds};

/// The pipeline that the schedule of `project` waits for, and the moment before which the ends of runs are
/// ignored for a schedule set at `set_at`.
///
/// # Errors
/// All problems, with their fields.
pub fn awaited(
    schedule: &Schedule,
    project: &str,
    set_at: Timestamp,
) -> Result<Option<(Awaited, Timestamp)>, Vec<Problem>> {
    let Some(after) = &schedule.after else { return Ok(None) };
    let mut problems = Vec::new();
    bounds::demand_one(schedule, &mut problems);
    let Bounds { start, end, .. } = Bounds::read(schedule, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let project = after.project.as_deref().unwrap_or(project).to_owned();
    let of = PipelineName { project, pipeline: after.pipeline.clone() };
    let before = start.map(|start| Timestamp(start.0.saturating_sub(1)));
    let handled = match (schedule.catch_up.unwrap_or_default(), before) {
        (CatchUp::All, Some(before)) => before,
        (_, before) => before.map_or(set_at, |before| before.max(set_at)),
    };
    Ok(Some((Awaited { of, state: after.state.unwrap_or_default(), until: end }, handled)))
}

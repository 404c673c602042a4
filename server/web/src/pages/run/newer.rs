//! Newer version of a pipeline with which an unsuccessful run can be resumed.

use cubeloom_domain::state::RunState;

use crate::api::runs::view::ResumeWithView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::pages::Frame;
use crate::runs::{Reader, resumed, wish};
use crate::state::Web;

/// For larger runs, the effect of another version is not computed.
const TASKS: u32 = 500;
/// Number of listed tasks. The rest is counted.
const NAMED: usize = 4;

/// A version newer than the run's.
pub(crate) struct Newer {
    pub(crate) version: u32,
    /// Version of the run.
    pub(crate) from: u32,
    /// What it would run. `None` if unknown.
    pub(crate) plan: Option<ResumeWithView>,
    /// Why the run cannot be resumed with it.
    pub(crate) obstacle: Option<String>,
}

impl Newer {
    /// The newest version, if the run is unsuccessful and of an older version.
    pub(crate) async fn read(
        web: &Web,
        caller: &Caller,
        reader: &Reader<'_>,
        newest: Option<u32>,
    ) -> ApiResult<Option<Self>> {
        let did_not_succeed = matches!(reader.record.state, RunState::Failed | RunState::Cancelled);
        let (true, Some(from), Some(version)) = (did_not_succeed, reader.record.version, newest) else {
            return Ok(None);
        };
        if version <= from {
            return Ok(None);
        }
        let newer = Self { version, from, plan: None, obstacle: None };
        if reader.record.tasks > TASKS {
            return Ok(Some(newer));
        }
        let found = resumed::foresee(web, caller, &reader.record, Some(version)).await;
        Ok(Some(match wish::explained(web, caller, found).await {
            Ok(found) => Self { plan: Some(found.into()), ..newer },
            Err(error) if error.kind().status().is_client_error() => {
                let first = error.problems().first().map(|problem| problem.message.clone());
                Self { obstacle: Some(first.unwrap_or_else(|| error.detail().to_owned())), ..newer }
            }
            Err(error) => return Err(error),
        }))
    }

    /// Its changes, as a sentence. Empty if unknown.
    pub(crate) fn changes(&self, frame: &Frame) -> String {
        let Some(plan) = &self.plan else { return String::new() };
        let changed = plan.again.iter().filter(|one| matches!(one.reason.as_str(), "changed" | "new"));
        let changed: Vec<&str> = changed.map(|one| one.task.as_str()).collect();
        let version = ("version", self.version.to_string());
        if changed.is_empty() {
            return frame.t_with("run.newer-changes-nothing", [version]);
        }
        frame.t_with("run.newer-changes", [version, ("tasks", named(frame, &changed))])
    }

    /// What it runs and reuses, as a sentence. Empty if unknown.
    pub(crate) fn effect(&self, frame: &Frame) -> String {
        let Some(plan) = &self.plan else { return String::new() };
        let again: Vec<&str> = plan.again.iter().map(|one| one.task.as_str()).collect();
        let values = [
            ("version", self.version.to_string()),
            ("tasks", named(frame, &again)),
            ("n", plan.kept.len().to_string()),
        ];
        frame.t_with(if again.is_empty() { "run.newer-runs-nothing" } else { "run.newer-runs" }, values)
    }
}

/// Names of the first tasks, and the number of others.
fn named(frame: &Frame, tasks: &[&str]) -> String {
    let first = tasks.iter().take(NAMED).copied().collect::<Vec<_>>().join(frame.t("run.newer-and"));
    match tasks.len().saturating_sub(NAMED) {
        0 => first,
        more => frame.t_with("run.newer-more", [("tasks", first), ("n", more.to_string())]),
    }
}

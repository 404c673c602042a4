//! Running a part of a pipeline: one task, or one and everything after it. What the tasks before would have left is
//! taken over from an earlier run: their outputs, and a copy of that run's folder.

mod carry;
mod earlier;
mod warnings;

use cubeloom_compiler::part::cut;
use cubeloom_domain::plan::{Choice, PlannedPart, RunPlan};
use cubeloom_domain::record::TakenOver;
use cubeloom_domain::{Problem, RunId};
use cubeloom_store::{Store, StoreError};
use thiserror::Error;

use crate::Folders;
use earlier::Earlier;

/// A part that somebody wants to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPart {
    /// Which tasks.
    pub choice: Choice,
    /// The run that the tasks before are taken over from; the newest that can be used when it is not said.
    pub of: Option<RunId>,
}

/// What such a run begins with.
#[derive(Clone, Debug)]
pub struct Begun {
    /// Its plan: the chosen tasks and those before them.
    pub plan: RunPlan,
    /// The ends of those before.
    pub taken: TakenOver,
    /// What has changed since the earlier run in a task that is not run again.
    pub warnings: Vec<Problem>,
    /// What somebody who looks at the run should know.
    pub message: String,
}

/// Why a part cannot be run.
#[derive(Debug, Error)]
pub enum PartError {
    /// What was asked for is not there, or not as it must be.
    #[error("{message}")]
    Refused {
        /// Which field is wrong: a JSON pointer into the request.
        path: &'static str,
        /// What to do.
        message: String,
    },
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn refused(path: &'static str, message: impl Into<String>) -> PartError {
    PartError::Refused { path, message: message.into() }
}

/// Cuts a plan down to what is wanted and finds what the tasks before left.
///
/// # Errors
/// There is no such task, or no earlier run that has what it needs.
pub async fn begin(
    store: &Store,
    folders: &Folders,
    plan: RunPlan,
    wanted: &WantedPart,
) -> Result<Begun, PartError> {
    let place = match wanted.choice {
        Choice::Only(_) => "/tasks/only",
        Choice::From(_) => "/tasks/from",
    };
    let (task, pipeline) = (wanted.choice.task(), plan.pipeline.clone());
    let part = cut(plan, &wanted.choice)
        .ok_or_else(|| refused(place, format!("there is no task `{task}` in the pipeline `{pipeline}`")))?;
    let workspace = &folders.workspace;
    let earlier = match &wanted.of {
        Some(run) => Some(Earlier::named(store, workspace, &part, run).await?),
        None if part.taken.is_empty() => None,
        None => Some(Earlier::newest(store, workspace, &part, task).await?),
    };
    let (taken, warnings) = match &earlier {
        Some(earlier) => {
            (carry::over(&part, earlier, workspace), warnings::of(&part, earlier, &folders.code).await)
        }
        None => Default::default(),
    };
    let planned = PlannedPart {
        choice: wanted.choice.clone(),
        of: earlier.as_ref().map(|earlier| earlier.record.id.clone()),
        folder: earlier.as_ref().is_some_and(|earlier| earlier.has_folder),
    };
    let message = message(&planned);
    Ok(Begun { plan: RunPlan { part: Some(planned), ..part.plan }, taken, warnings, message })
}

/// What a run of a part says of itself from its beginning.
#[must_use]
pub fn message(part: &PlannedPart) -> String {
    let what = match &part.choice {
        Choice::Only(task) => format!("only `{task}` was asked for"),
        Choice::From(task) => format!("`{task}` and what comes after it were asked for"),
    };
    match &part.of {
        Some(of) => format!("{what}; the tasks before are taken over from run {of}"),
        None => what,
    }
}

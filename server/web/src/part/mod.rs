//! Runs part of a pipeline: one task, a task and everything downstream, or what an earlier run has not
//! finished. Results of the other tasks are reused from an earlier run: their outputs, and a copy of its
//! folder.

mod carry;
mod earlier;
mod rest;
mod warnings;

use cubeloom_compiler::part::{Part, cut};
use cubeloom_domain::plan::{Choice, PlannedPart, RunPlan};
use cubeloom_domain::record::TakenOver;
use cubeloom_domain::{Problem, RunId};
use cubeloom_store::{Store, StoreError};
use thiserror::Error;

use crate::Folders;
use earlier::Earlier;
pub use rest::{Reason, Rest, of as rest};

/// Requested part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPart {
    /// Tasks to run. `None` selects those that `of` has not finished, and those that changed since.
    pub choice: Option<Choice>,
    /// Run whose results are reused. `None` selects the newest suitable one.
    pub of: Option<RunId>,
}

impl WantedPart {
    /// The run to resume. The new run has the same logical date.
    #[must_use]
    pub fn rest_of(&self) -> Option<&RunId> {
        self.of.as_ref().filter(|_| self.choice.is_none())
    }
}

/// Initial state of such a run.
#[derive(Clone, Debug)]
pub struct Begun {
    /// Plan with the selected tasks and their upstream tasks.
    pub plan: RunPlan,
    /// Results of the upstream tasks.
    pub taken: TakenOver,
    /// Changes since the earlier run in reused tasks.
    pub warnings: Vec<Problem>,
    /// Message for users of the run.
    pub message: String,
}

/// Why a part cannot be run.
#[derive(Debug, Error)]
pub enum PartError {
    /// The request is invalid.
    #[error("{message}")]
    Refused {
        /// Invalid field, as a JSON pointer.
        path: &'static str,
        /// What to do.
        message: String,
    },
    /// Database error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn refused(path: &'static str, message: impl Into<String>) -> PartError {
    PartError::Refused { path, message: message.into() }
}

/// Reduces a plan to the requested part, and finds the results of the other tasks.
///
/// # Errors
/// The task does not exist, or no earlier run has the required results.
pub async fn begin(
    store: &Store,
    folders: &Folders,
    plan: RunPlan,
    wanted: &WantedPart,
) -> Result<Begun, PartError> {
    if let Some(run) = wanted.rest_of() {
        let Rest { part, choice, earlier, .. } = rest(store, folders, plan, run).await?;
        let taken = carry::over(&part, &earlier, &folders.workspace);
        return Ok(begun(part, choice, Some(&earlier), taken, Vec::new()));
    }
    let Some(choice) = wanted.choice.clone() else {
        return Err(refused("/tasks", "name a task, or the run to resume"));
    };
    let part = chosen(plan, &choice)?;
    let workspace = &folders.workspace;
    let earlier = match &wanted.of {
        Some(run) => Some(Earlier::named(store, workspace, &part, run).await?),
        None if part.taken.is_empty() => None,
        None => Some(Earlier::newest(store, workspace, &part, &named(&choice)).await?),
    };
    let (taken, warnings) = match &earlier {
        Some(earlier) => {
            (carry::over(&part, earlier, workspace), warnings::of(&part, earlier, &folders.code).await)
        }
        None => Default::default(),
    };
    Ok(begun(part, choice, earlier.as_ref(), taken, warnings))
}

/// The selected part.
fn chosen(plan: RunPlan, choice: &Choice) -> Result<Part, PartError> {
    let place = match choice {
        Choice::Only(_) => "/tasks/only",
        Choice::From(_) => "/tasks/from",
        Choice::Rest(_) => "/tasks",
    };
    let pipeline = plan.pipeline.clone();
    let missing = choice.tasks().iter().find(|task| plan.find(task).is_none()).cloned();
    cut(plan, choice).ok_or_else(|| {
        let task = missing.unwrap_or_default();
        refused(place, format!("there is no task `{task}` in the pipeline `{pipeline}`"))
    })
}

fn begun(
    part: Part,
    choice: Choice,
    earlier: Option<&Earlier>,
    taken: TakenOver,
    warnings: Vec<Problem>,
) -> Begun {
    let planned = PlannedPart {
        choice,
        of: earlier.map(|earlier| earlier.record.id.clone()),
        folder: earlier.is_some_and(|earlier| earlier.has_folder),
    };
    let message = message(&planned);
    Begun { plan: RunPlan { part: Some(planned), ..part.plan }, taken, warnings, message }
}

/// Names of the selected tasks.
fn named(choice: &Choice) -> String {
    choice.tasks().join("`, `")
}

/// Initial message of a partial run.
#[must_use]
pub fn message(part: &PlannedPart) -> String {
    let what = match (&part.choice, &part.of) {
        (Choice::Only(task), _) => format!("only `{task}` was requested"),
        (Choice::From(task), _) => format!("`{task}` and its downstream tasks were requested"),
        (Choice::Rest(_), Some(of)) => {
            return format!(
                "it resumes run {of}: tasks that succeeded there and have not changed keep their results"
            );
        }
        (Choice::Rest(_), None) => return "it runs what an earlier run did not finish".into(),
    };
    match &part.of {
        Some(of) => format!("{what}; upstream results are reused from run {of}"),
        None => what,
    }
}

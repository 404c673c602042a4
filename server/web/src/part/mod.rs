//! Running a part of a pipeline: one task, one and everything after it, or what an earlier run has not finished. What the
//! other tasks would have left is taken over from an earlier run: their outputs, and a copy of that run's folder.

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

/// A part that somebody wants to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPart {
    /// Which tasks; `None` for those that `of` has not finished, and those that have changed since.
    pub choice: Option<Choice>,
    /// The run that the other tasks are taken over from; the newest that can be used when it is not said.
    pub of: Option<RunId>,
}

impl WantedPart {
    /// The run whose rest is wanted. Its rest stands for the same moment as the run.
    #[must_use]
    pub fn rest_of(&self) -> Option<&RunId> {
        self.of.as_ref().filter(|_| self.choice.is_none())
    }
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

/// Cuts a plan down to what is wanted and finds what the other tasks left.
///
/// # Errors
/// There is no such task, or no earlier run that has what it needs.
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
        return Err(refused("/tasks", "name a task, or the run whose rest is wanted"));
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

/// The part that is chosen.
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

/// The names of the tasks that are chosen.
fn named(choice: &Choice) -> String {
    choice.tasks().join("`, `")
}

/// What a run of a part says of itself from its beginning.
#[must_use]
pub fn message(part: &PlannedPart) -> String {
    let what = match (&part.choice, &part.of) {
        (Choice::Only(task), _) => format!("only `{task}` was asked for"),
        (Choice::From(task), _) => format!("`{task}` and what comes after it were asked for"),
        (Choice::Rest(_), Some(of)) => {
            return format!(
                "it resumes run {of}: tasks that succeeded there and have not changed keep their results"
            );
        }
        (Choice::Rest(_), None) => return "it runs what an earlier run had not finished".into(),
    };
    match &part.of {
        Some(of) => format!("{what}; the tasks before are taken over from run {of}"),
        None => what,
    }
}

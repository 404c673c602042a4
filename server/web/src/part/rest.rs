//! The unfinished part of an earlier run, for a newer version of its pipeline: tasks that did not succeed,
//! new and changed tasks, and everything downstream. All other tasks keep the results of that run.

use std::collections::BTreeMap;

use cubeloom_compiler::part::{Part, cut, with_downstream};
use cubeloom_domain::plan::{Choice, RunPlan};
use cubeloom_domain::{RunId, TaskIx};
use cubeloom_store::Store;

use super::earlier::Earlier;
use super::{PartError, chosen, refused, warnings};
use crate::Folders;

/// Unfinished part of an earlier run.
pub struct Rest {
    /// Plan, including the reused tasks.
    pub(super) part: Part,
    /// Tasks to run.
    pub(super) choice: Choice,
    pub(super) earlier: Earlier,
    /// Reason for each of them.
    reasons: BTreeMap<TaskIx, Reason>,
}

/// Why a task runs again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The earlier run does not have it.
    New,
    /// Its definition has changed: the names of fields, and files that its arguments name.
    Changed(Vec<String>),
    /// It did not succeed in the earlier run.
    Unfinished,
    /// A task upstream of it runs.
    Upstream,
}

impl Rest {
    /// Tasks to run, in the document's order, and why.
    pub fn again(&self) -> impl Iterator<Item = (&str, &Reason)> {
        self.reasons.iter().map(|(ix, reason)| (self.part.plan.task(*ix).name.as_str(), reason))
    }

    /// Reused tasks, in the document's order.
    pub fn kept(&self) -> impl Iterator<Item = &str> {
        self.part.taken.iter().map(|ix| self.part.plan.task(*ix).name.as_str())
    }
}

/// The part of this plan that a run left unfinished.
///
/// # Errors
/// The pipeline has no such run, the run has not ended, or its tasks' files are lost.
pub async fn of(store: &Store, folders: &Folders, plan: RunPlan, run: &RunId) -> Result<Rest, PartError> {
    let earlier = Earlier::ended(store, &folders.workspace, &plan, run).await?;
    let (plan, places) = same_part(plan, &earlier)?;
    let mut reasons = BTreeMap::new();
    for (ix, task) in (0u32..).map(TaskIx).zip(&plan.tasks) {
        let reason = match earlier.plan.find(&task.name) {
            None => Some(Reason::New),
            Some(old) => {
                let then = (&earlier.plan, earlier.plan.task(old));
                let what = warnings::changes((&plan, task), then, &folders.code).await;
                let unfinished = earlier.obstacle_of(task).is_some();
                match what.is_empty() {
                    false => Some(Reason::Changed(what)),
                    true => unfinished.then_some(Reason::Unfinished),
                }
            }
        };
        reasons.extend(reason.map(|reason| (ix, reason)));
    }
    let named: Vec<TaskIx> = reasons.keys().copied().collect();
    for ix in with_downstream(&plan, &named) {
        reasons.entry(ix).or_insert(Reason::Upstream);
    }
    let choice = Choice::Rest(reasons.keys().map(|ix| plan.task(*ix).name.clone()).collect());
    let mut part = chosen(plan, &choice)?;
    part.places = part.places.iter().map(|at| places[*at]).collect();
    match earlier.lost_folder(&part) {
        Some(why) => Err(refused("/version", format!("{why}: start a new run"))),
        None => Ok(Rest { part, choice, earlier, reasons }),
    }
}

/// Plan of the same part of the pipeline as the earlier run's, and the positions of its tasks in the
/// document.
fn same_part(plan: RunPlan, earlier: &Earlier) -> Result<(RunPlan, Vec<usize>), PartError> {
    match earlier.plan.part.as_ref().map(|part| &part.choice) {
        None | Some(Choice::Rest(_)) => {
            let places = (0..plan.tasks.len()).collect();
            Ok((plan, places))
        }
        Some(choice) => {
            let task = choice.tasks().join("`, `");
            let part = cut(plan, choice).ok_or_else(|| {
                refused("/version", format!("the run was of `{task}`, which this version does not have"))
            })?;
            Ok((part.plan, part.places))
        }
    }
}

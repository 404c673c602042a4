//! Settings without effect on a task without workers, which a user or a run of another pipeline performs.

use cubeloom_domain::pipeline::Task;
use cubeloom_domain::{Code, Problem};

use super::Planner;
use crate::frameworks::Doer;

impl Planner<'_> {
    /// Warns of settings for workers that the task does not have, and refuses those that make no sense
    /// without workers.
    pub fn check_without_workers(&mut self, prefix: &str, task: &Task, doer: Doer) {
        let is_run = doer == Doer::Run;
        let without_effect = [
            ("resources", task.resources.is_some()),
            ("role_resources", !task.role_resources.is_empty()),
            ("elastic", task.elastic.is_some()),
            ("sizing", task.sizing.is_some()),
            ("preflight", task.preflight.is_some()),
            ("setup", !task.setup.is_empty()),
            ("env", !task.env.is_empty()),
            ("secrets", !task.secrets.is_empty()),
            ("volumes", !task.volumes.is_empty()),
            ("limits", !task.limits.is_empty()),
            ("placement", task.placement.is_some()),
            ("retry", task.retry.is_some() && !is_run),
            ("outputs", !task.outputs.is_empty() && !is_run),
            ("cache", task.cache.is_some()),
        ];
        for (key, _) in without_effect.into_iter().filter(|(_, given)| *given) {
            let message = match doer {
                Doer::Run => {
                    "it has no effect here: this task runs another pipeline, which sets this for its own tasks"
                }
                _ => "it has no effect here: a person does this task, not a worker",
            };
            self.problems.push(Problem::warning(Code::Suspicious, format!("{prefix}/{key}"), message));
        }
        if task.search.is_some() {
            let message = match doer {
                Doer::Run => {
                    "this task runs another pipeline: put the search there, on the task that reports the metric"
                }
                _ => "a person does this task: it reports no metric to search by",
            };
            self.problem(Code::Conflict, format!("{prefix}/search"), message);
        }
    }
}

//! What has no effect on a task that a person does.

use cubeloom_domain::pipeline::Task;
use cubeloom_domain::{Code, Problem};

use super::Planner;

impl Planner<'_> {
    /// Warns of what a task says about workers that it does not have.
    pub fn check_asked(&mut self, prefix: &str, task: &Task) {
        let about_workers = [
            ("resources", task.resources.is_some()),
            ("role_resources", !task.role_resources.is_empty()),
            ("elastic", task.elastic.is_some()),
            ("sizing", task.sizing.is_some()),
            ("setup", !task.setup.is_empty()),
            ("env", !task.env.is_empty()),
            ("secrets", !task.secrets.is_empty()),
            ("volumes", !task.volumes.is_empty()),
            ("placement", task.placement.is_some()),
            ("retry", task.retry.is_some()),
            ("outputs", !task.outputs.is_empty()),
            ("cache", task.cache.is_some()),
        ];
        for (key, _) in about_workers.into_iter().filter(|(_, given)| *given) {
            let message = "it has no effect here: a person does this task, and no worker";
            self.problems.push(Problem::warning(Code::Suspicious, format!("{prefix}/{key}"), message));
        }
        if task.search.is_some() {
            let message = "a person does this task: there is nothing to search by";
            self.problem(Code::Conflict, format!("{prefix}/search"), message);
        }
    }
}

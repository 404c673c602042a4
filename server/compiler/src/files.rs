//! Files of the pipeline's folder that arguments refer to.

use cubeloom_domain::plan::{Late, RunPlan};
use cubeloom_domain::{Code, Problem};
use serde_json::Value;

/// Problems of arguments that refer to missing files of the pipeline's folder (`format: path`). Paths outside
/// that folder and paths known only later are left to the program.
pub fn missing_files(plan: &RunPlan, is_there: impl Fn(&str) -> bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (at, task) in plan.tasks.iter().enumerate() {
        for name in &plan.template_of(task).path_arguments {
            let Some(Late::Value(Value::String(path))) = task.arguments.get(name) else { continue };
            let elsewhere = path.starts_with(['/', '$']) || path.contains("://");
            if !elsewhere && !is_there(path) {
                let message = format!("the pipeline's folder has no file `{path}`");
                problems.push(Problem::error(
                    Code::InvalidArgument,
                    format!("/tasks/{at}/arguments/{name}"),
                    message,
                ));
            }
        }
    }
    problems
}

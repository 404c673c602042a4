//! The priority of a task: a number, or a priority class.

use cubeloom_domain::Code;
use cubeloom_domain::pipeline::Task;
use cubeloom_domain::priority::{Preempts, Priority};

use super::Planner;
use crate::nearest::hint;

impl Planner<'_> {
    /// The priority of a task, which may not exceed its project's limit, and the jobs that it may preempt.
    pub fn priority(&mut self, prefix: &str, task: &Task) -> (i32, Preempts) {
        let placements = [task.placement.as_deref(), self.pipeline.placement.as_ref()];
        let group = placements.into_iter().flatten().find_map(|placement| placement.node_group.as_deref());
        let most = self.facts.max_priority.get(group.unwrap_or_default()).copied();
        let most = most.unwrap_or(i32::MAX);
        let (path, named) = match (&task.priority, &self.pipeline.priority) {
            (Some(own), _) => (format!("{prefix}/priority"), own),
            (None, Some(all)) => ("/priority".to_owned(), all),
            (None, None) => return (most.min(0), Preempts::Never),
        };
        let (priority, preempts) = match named {
            Priority::Number(number) => (*number, Preempts::Never),
            Priority::Class(name) => match self.class(name) {
                Ok(found) => found,
                Err(message) => {
                    self.problem_once(Code::UnknownPriority, path, message);
                    return (0, Preempts::Never);
                }
            },
        };
        if priority > most {
            let message = format!("a task of this project may have a priority of at most {most} here");
            self.problem_once(Code::InvalidValue, path, message);
        }
        (priority, preempts)
    }

    /// The priority of a class; if the classes are unknown, the default.
    fn class(&self, name: &str) -> Result<(i32, Preempts), String> {
        let Some(classes) = &self.facts.priority_classes else { return Ok((0, Preempts::Never)) };
        match classes.iter().find(|class| class.name == name) {
            Some(class) => Ok((class.priority, class.preempts)),
            None => {
                let hint = hint(name, classes.iter().map(|class| class.name.as_str()));
                Err(format!("there is no priority class `{name}`{hint}"))
            }
        }
    }

    /// Adds a problem of the whole pipeline once, although each of its tasks would have it.
    fn problem_once(&mut self, code: Code, path: String, message: String) {
        if !self.problems.iter().any(|problem| problem.path == path) {
            self.problem(code, path, message);
        }
    }
}

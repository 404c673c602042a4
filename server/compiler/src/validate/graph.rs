//! Names and edges of the tasks: duplicates, needs that do not exist, cycles, who comes before whom.

use std::collections::HashMap;

use cubeloom_domain::graph::Graph;
use cubeloom_domain::pipeline::Task;
use cubeloom_domain::{Code, Problem};

use crate::nearest::hint;

/// The tasks by name, and the edges between them.
pub struct Edges<'p> {
    by_name: HashMap<&'p str, u32>,
    /// The edges; those of cycles included.
    pub graph: Graph,
    /// Where each task stands in an order of execution; empty when there is a cycle.
    rank: Vec<u32>,
}

impl<'p> Edges<'p> {
    /// The edges of tasks that were checked before.
    pub fn new(tasks: &'p [Task]) -> Self {
        Self::check(tasks, &mut Vec::new())
    }

    /// The edges, and what is wrong with them.
    pub fn check(tasks: &'p [Task], problems: &mut Vec<Problem>) -> Self {
        let by_name = by_name(tasks, problems);
        let mut edges = Vec::new();
        for (at, task) in tasks.iter().enumerate() {
            needs(at, task, &by_name, &mut edges, problems);
        }
        let graph = Graph::new(tasks.len(), &edges);
        let mut rank = Vec::new();
        match graph.order() {
            Ok(order) => {
                rank = vec![0; tasks.len()];
                for (place, task) in (0..).zip(order) {
                    rank[task as usize] = place;
                }
            }
            Err(cycle) => problems.push(describe_cycle(tasks, &cycle)),
        }
        Self { by_name, graph, rank }
    }

    /// The position of a task.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// The name most like this one, for a message.
    pub fn hint(&self, name: &str) -> String {
        hint(name, self.by_name.keys().copied())
    }

    /// Whether `before` must end before `task` starts, however many tasks lie between. Walks back from `task`, and
    /// only through tasks that can still lie after `before`.
    pub fn is_ancestor(&self, before: u32, task: u32) -> bool {
        if self.graph.before(task).contains(&before) || self.rank.is_empty() {
            return true;
        }
        let floor = self.rank[before as usize];
        let mut seen = std::collections::HashSet::new();
        let mut stack = vec![task];
        while let Some(at) = stack.pop() {
            for &previous in self.graph.before(at) {
                if previous == before {
                    return true;
                }
                if self.rank[previous as usize] > floor && seen.insert(previous) {
                    stack.push(previous);
                }
            }
        }
        false
    }
}

fn by_name<'p>(tasks: &'p [Task], problems: &mut Vec<Problem>) -> HashMap<&'p str, u32> {
    let mut by_name = HashMap::with_capacity(tasks.len());
    for (at, task) in (0u32..).zip(tasks) {
        if task.name.is_empty() {
            continue;
        }
        if let Some(first) = by_name.get(task.name.as_str()) {
            let message =
                format!("task {} has the name `{}` already; names are unique", first + 1, task.name);
            problems.push(Problem::error(Code::DuplicateName, format!("/tasks/{at}/name"), message));
        } else {
            by_name.insert(task.name.as_str(), at);
        }
    }
    by_name
}

fn needs(
    at: usize,
    task: &Task,
    by_name: &HashMap<&str, u32>,
    edges: &mut Vec<(u32, u32)>,
    problems: &mut Vec<Problem>,
) {
    let first = edges.len();
    for (position, need) in task.needs.iter().enumerate() {
        let path = || format!("/tasks/{at}/needs/{position}");
        let Some(&before) = by_name.get(need.as_str()) else {
            let hint = hint(need, by_name.keys().copied());
            let message = format!("there is no task `{need}` in this pipeline{hint}");
            problems.push(Problem::error(Code::UnknownTask, path(), message));
            continue;
        };
        if edges[first..].iter().any(|(known, _)| *known == before) {
            let message = format!("`{need}` is listed twice");
            problems.push(Problem::warning(Code::Suspicious, path(), message));
            continue;
        }
        edges.push((before, at as u32));
    }
}

/// `a needs b needs c needs a`, at the first of them.
fn describe_cycle(tasks: &[Task], cycle: &[u32]) -> Problem {
    let name = |at: &u32| tasks[*at as usize].name.as_str();
    // The graph's order is that of execution; people read needs.
    let names: Vec<&str> = cycle.iter().rev().map(name).collect();
    let shown = if names.len() > 20 {
        format!("{} needs ...", names[..20].join(" needs "))
    } else {
        names.join(" needs ")
    };
    let first = cycle.last().copied().unwrap_or(0);
    let message = format!("the tasks need each other: {shown}; remove one of these needs");
    Problem::error(Code::Cycle, format!("/tasks/{first}/needs"), message)
}

//! Names and edges of the tasks: duplicates, missing dependencies, cycles, ancestors.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use cubeloom_domain::graph::Graph;
use cubeloom_domain::pipeline::Task;
use cubeloom_domain::{Code, Problem};

use crate::nearest::hint;

pub struct Edges<'p> {
    by_name: HashMap<&'p str, u32>,
    /// The edges, including those of cycles.
    pub graph: Graph,
    /// The position of each task in an order of execution; empty if there is a cycle.
    rank: Vec<u32>,
    /// All descendants of a task, for the few tasks with reads from far away.
    after: RefCell<HashMap<u32, Rc<Vec<bool>>>>,
    /// Remaining hints: each compares a name with all others, which costs the product of both.
    hints: Cell<u32>,
}

/// Number of tasks visited one by one before all descendants of a task are computed.
const NEAR: usize = 256;
/// Number of tasks whose descendants are cached.
const KEPT: usize = 256;
/// Number of unknown names with a hint.
const HINTS: u32 = 50;

impl<'p> Edges<'p> {
    /// The edges of tasks that were checked before.
    pub fn new(tasks: &'p [Task]) -> Self {
        Self::check(tasks, &mut Vec::new())
    }

    /// Builds the edges, and adds their problems.
    pub fn check(tasks: &'p [Task], problems: &mut Vec<Problem>) -> Self {
        let mut edges = Self {
            by_name: by_name(tasks, problems),
            graph: Graph::default(),
            rank: Vec::new(),
            after: RefCell::default(),
            hints: Cell::new(HINTS),
        };
        let pairs = edges.needs(tasks, problems);
        edges.graph = Graph::new(tasks.len(), &pairs);
        match edges.graph.order() {
            Ok(order) => {
                edges.rank = vec![0; tasks.len()];
                for (place, task) in (0..).zip(order) {
                    edges.rank[task as usize] = place;
                }
            }
            Err(cycle) => problems.push(describe_cycle(tasks, &cycle)),
        }
        edges
    }

    /// Every dependency as (before, after), without duplicates.
    fn needs(&self, tasks: &[Task], problems: &mut Vec<Problem>) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        let mut needed_by = vec![u32::MAX; tasks.len()];
        for (at, task) in (0u32..).zip(tasks) {
            for (position, need) in task.needs.iter().enumerate() {
                let path = || format!("/tasks/{at}/needs/{position}");
                let Some(before) = self.find(need) else {
                    let message = format!("there is no task `{need}` in this pipeline{}", self.hint(need));
                    problems.push(Problem::error(Code::UnknownTask, path(), message));
                    continue;
                };
                if std::mem::replace(&mut needed_by[before as usize], at) == at {
                    let message = format!("`{need}` is listed twice");
                    problems.push(Problem::warning(Code::Suspicious, path(), message));
                    continue;
                }
                pairs.push((before, at));
            }
        }
        pairs
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// The most similar name, for a message; for the first few messages only.
    pub fn hint(&self, name: &str) -> String {
        let left = self.hints.get();
        self.hints.set(left.saturating_sub(1));
        if left == 0 { String::new() } else { hint(name, self.by_name.keys().copied()) }
    }

    /// Whether `before` must end before `task` starts, directly or indirectly. Searches back from `task`
    /// first, because outputs are mostly read nearby.
    pub fn is_ancestor(&self, before: u32, task: u32) -> bool {
        if self.rank.is_empty() || self.graph.before(task).contains(&before) {
            return true;
        }
        self.look_back(before, task).unwrap_or_else(|| self.all_after(before)[task as usize])
    }

    /// Visits a few ancestors of `task` that can still come after `before`; `None` if some remain.
    fn look_back(&self, before: u32, task: u32) -> Option<bool> {
        let floor = self.rank[before as usize];
        let mut seen = HashSet::new();
        let mut stack = vec![task];
        let mut looked = 0;
        while let Some(at) = stack.pop() {
            for &previous in self.graph.before(at) {
                looked += 1;
                if previous == before {
                    return Some(true);
                }
                if looked > NEAR {
                    return None;
                }
                if self.rank[previous as usize] > floor && seen.insert(previous) {
                    stack.push(previous);
                }
            }
        }
        Some(false)
    }

    fn all_after(&self, task: u32) -> Rc<Vec<bool>> {
        let mut after = self.after.borrow_mut();
        if after.len() >= KEPT && !after.contains_key(&task) {
            after.clear();
        }
        Rc::clone(after.entry(task).or_insert_with(|| Rc::new(self.graph.with_descendants(&[task]))))
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
                format!("task {} already has the name `{}`; names must be unique", first + 1, task.name);
            problems.push(Problem::error(Code::DuplicateName, format!("/tasks/{at}/name"), message));
        } else {
            by_name.insert(task.name.as_str(), at);
        }
    }
    by_name
}

/// `a needs b needs c needs a`, at the first of them.
fn describe_cycle(tasks: &[Task], cycle: &[u32]) -> Problem {
    let name = |at: &u32| tasks[*at as usize].name.as_str();
    // The graph has execution order; users read dependencies.
    let names: Vec<&str> = cycle.iter().rev().map(name).collect();
    let shown = if names.len() > 20 {
        format!("{} needs ...", names[..20].join(" needs "))
    } else {
        names.join(" needs ")
    };
    let first = cycle.last().copied().unwrap_or(0);
    let message = format!("the tasks depend on each other: {shown}; remove one of these dependencies");
    Problem::error(Code::Cycle, format!("/tasks/{first}/needs"), message)
}

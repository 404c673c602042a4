//! Names and edges of the tasks: duplicates, needs that do not exist, cycles, who comes before whom.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

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
    /// All that comes after a task, of the few that are asked for from far away.
    after: RefCell<HashMap<u32, Rc<Vec<bool>>>>,
    /// How many more names may be compared with all others: that costs the product of both.
    hints: Cell<u32>,
}

/// How many tasks are looked at one by one before everything after a task is worked out at once.
const NEAR: usize = 256;
/// For how many tasks that is kept.
const KEPT: usize = 256;
/// How many unknown names get a hint.
const HINTS: u32 = 50;

impl<'p> Edges<'p> {
    /// The edges of tasks that were checked before.
    pub fn new(tasks: &'p [Task]) -> Self {
        Self::check(tasks, &mut Vec::new())
    }

    /// The edges, and what is wrong with them.
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

    /// Every need as (before, after), each once.
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

    /// The position of a task.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// The name most like this one, for a message; for the first few messages only.
    pub fn hint(&self, name: &str) -> String {
        let left = self.hints.get();
        self.hints.set(left.saturating_sub(1));
        if left == 0 { String::new() } else { hint(name, self.by_name.keys().copied()) }
    }

    /// Whether `before` must end before `task` starts, however many tasks lie between. Looks back from `task` first,
    /// for outputs are mostly read nearby.
    pub fn is_ancestor(&self, before: u32, task: u32) -> bool {
        if self.rank.is_empty() || self.graph.before(task).contains(&before) {
            return true;
        }
        self.look_back(before, task).unwrap_or_else(|| self.all_after(before)[task as usize])
    }

    /// Looks at a few tasks before `task` that can still lie after `before`; `None` when they were not all.
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
                format!("task {} has the name `{}` already; names are unique", first + 1, task.name);
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

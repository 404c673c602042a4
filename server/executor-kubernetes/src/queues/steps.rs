//! Steps from the current queues to the wanted ones that Volcano accepts one by one. It refuses a queue whose
//! children together have more than itself. Pure.
//!
//! First, each queue shrinks to the lesser of its current and wanted size, children before parents. A queue
//! that moves or is obsolete goes to the top level. Then each queue gets its wanted size, parents before
//! children. If interrupted at any point, the current tree is one that Volcano accepts, and the next
//! reconciliation continues from it.

use std::collections::BTreeMap;

use cubeloom_domain::quota::Queue;

use super::wanted::{Amounts, ROOT, Spec, Wanted};

/// Creates or updates a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub name: String,
    /// The group or project; `None` if the queue is obsolete.
    pub queue: Option<Queue>,
    pub spec: Spec,
}

/// The steps in order. Obsolete queues end up empty at the top level.
pub fn steps(found: &BTreeMap<String, Spec>, wanted: &[Wanted]) -> Vec<Step> {
    let to_be = |name: &String| wanted.iter().find(|one| one.name == *name);
    let mut inner_first: Vec<&String> = found.keys().collect();
    inner_first.sort_by_key(|name| std::cmp::Reverse(depth(found, name)));
    let mut now = found.clone();
    let mut steps = Vec::new();
    for name in inner_first {
        let one = to_be(name);
        let spec = one.map_or_else(Spec::empty, |one| smaller(&found[name], &one.spec));
        if spec != found[name] {
            now.insert(name.clone(), spec.clone());
            steps.push(Step { name: name.clone(), queue: one.map(|one| one.queue.clone()), spec });
        }
    }
    let grown = wanted.iter().filter(|one| now.get(&one.name) != Some(&one.spec));
    steps.extend(grown.map(|one| Step {
        name: one.name.clone(),
        queue: Some(one.queue.clone()),
        spec: one.spec.clone(),
    }));
    steps
}

/// Depth of a queue in the tree. More than the number of queues means a cycle, which Volcano never accepts.
fn depth(found: &BTreeMap<String, Spec>, name: &str) -> usize {
    let above = std::iter::successors(found.get(name), |spec| found.get(&spec.parent));
    above.take(found.len()).count()
}

/// An intermediate state: the lesser of current and wanted amounts.
fn smaller(has: &Spec, to_be: &Spec) -> Spec {
    Spec {
        parent: if has.parent == to_be.parent { has.parent.clone() } else { ROOT.to_owned() },
        weight: to_be.weight,
        guarantee: least(&has.guarantee, &to_be.guarantee),
        deserved: least(&has.deserved, &to_be.deserved),
        capability: least(&has.capability, &to_be.capability),
    }
}

fn least(one: &Amounts, other: &Amounts) -> Amounts {
    let both = one.iter().filter_map(|(name, amount)| Some((name.clone(), *amount.min(other.get(name)?))));
    both.collect()
}

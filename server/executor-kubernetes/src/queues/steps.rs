//! From the queues that there are to those that are to be, so that Volcano takes each step: it refuses a queue of which those
//! in it have more together than it has itself. Pure.
//!
//! First each queue is made as small as it was or is to be, whichever is less, those in it before itself; one that moves, or
//! is to go, is put at the top. Then each becomes what it is to be, after the one that it is in. Whatever breaks this off,
//! what is there is a tree that Volcano takes, and the next look goes on from it.

use std::collections::BTreeMap;

use cubeloom_domain::quota::Queue;

use super::wanted::{Amounts, ROOT, Spec, Wanted};

/// A queue is made, or made so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Name.
    pub name: String,
    /// What it stands for; nothing where it is to go.
    pub queue: Option<Queue>,
    /// What it becomes.
    pub spec: Spec,
}

/// What is to be done, in this order. Those that are to go are left empty, at the top.
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

/// How many of these queues a queue is in. More than there are are in a circle, which Volcano never takes.
fn depth(found: &BTreeMap<String, Spec>, name: &str) -> usize {
    let above = std::iter::successors(found.get(name), |spec| found.get(&spec.parent));
    above.take(found.len()).count()
}

/// A queue on its way: as much as it has and is to have.
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

//! Amounts as arrays: each resource has an index, so sums and comparisons are loops without a look-up.

use std::sync::Arc;

use cubeloom_domain::quota::room::counts_as;
use cubeloom_domain::quota::{Amounts, Resource};

/// Number of resources that a scheduler counts. GPU types beyond the last index count only towards the total.
pub(crate) const KINDS: usize = 16;
pub(crate) const GPUS: usize = 2;
pub(crate) const PODS: usize = 3;
pub(crate) const RUNS: usize = 4;

pub(crate) type Vector = [u64; KINDS];

pub(crate) const NOTHING: Vector = [0; KINDS];
pub(crate) const BOUNDLESS: Vector = [u64::MAX; KINDS];

/// What a job or some of its workers request, or what a pool has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// CPU, in millicores.
    pub cpu: u64,
    /// Memory, in bytes.
    pub memory: u64,
    /// Workers. For a pool, the maximum number of workers: 0 means unlimited.
    pub pods: u64,
    /// Whole GPUs by type name. `None` means any type.
    pub cards: Vec<(Option<Arc<str>>, u64)>,
}

impl Ask {
    /// A request for whole GPUs of any type.
    #[must_use]
    pub fn of(cpu: u64, memory: u64, pods: u64, gpus: u64) -> Self {
        let cards = if gpus > 0 { vec![(None, gpus)] } else { Vec::new() };
        Self { cpu, memory, pods, cards }
    }
}

/// Indices of the GPU types.
pub(crate) const TYPES: std::ops::Range<usize> = RUNS + 1..KINDS;

/// How many GPUs of the total must be of named types, where `of` returns the amount of each type.
pub(crate) fn typed(of: impl Fn(usize) -> u64) -> u64 {
    TYPES.map(of).fold(0, u64::saturating_add)
}

pub(crate) fn plus(left: &Vector, right: &Vector) -> Vector {
    std::array::from_fn(|at| left[at].saturating_add(right[at]))
}

pub(crate) fn minus(left: &Vector, right: &Vector) -> Vector {
    std::array::from_fn(|at| left[at].saturating_sub(right[at]))
}

pub(crate) fn times(vector: &Vector, count: u32) -> Vector {
    std::array::from_fn(|at| vector[at].saturating_mul(u64::from(count)))
}

/// The first requested resource for which `asked` plus `held` exceeds `bound`.
pub(crate) fn beyond(asked: &Vector, held: &Vector, bound: &Vector) -> Option<usize> {
    (0..KINDS).find(|at| asked[*at] > 0 && held[*at].saturating_add(asked[*at]) > bound[*at])
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(Vec<Resource>);

impl Default for Kinds {
    fn default() -> Self {
        Self(vec![Resource::Cpu, Resource::Memory, Resource::Gpus, Resource::Pods, Resource::Runs])
    }
}

impl Kinds {
    /// Adds an index for a GPU type. Returns true when the type is new.
    pub(crate) fn add_type(&mut self, name: &str) -> bool {
        let known = self.types().any(|(_, known)| known.eq_ignore_ascii_case(name));
        let is_new = !known && self.0.len() < KINDS;
        if is_new {
            self.0.push(Resource::GpusOf(name.to_owned()));
        }
        is_new
    }

    pub(crate) fn resource(&self, at: usize) -> Resource {
        self.0.get(at).cloned().unwrap_or(Resource::Gpus)
    }

    /// Every index in use.
    pub(crate) fn indices(&self) -> std::ops::Range<usize> {
        0..self.0.len()
    }

    fn types(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.iter().enumerate().filter_map(|(at, resource)| match resource {
            Resource::GpusOf(name) => Some((at, name.as_str())),
            _ => None,
        })
    }

    /// Converts a request to amounts. A GPU of type `H100-80GB` also counts as an `H100`.
    pub(crate) fn vector(&self, ask: &Ask) -> Vector {
        let mut vector = NOTHING;
        (vector[0], vector[1], vector[PODS]) = (ask.cpu, ask.memory, ask.pods);
        for (name, count) in &ask.cards {
            vector[2] = vector[2].saturating_add(*count);
            let Some(name) = name.as_deref().map(str::to_lowercase) else { continue };
            for (at, kind) in self.types() {
                if name.contains(&kind.to_lowercase()) {
                    vector[at] = vector[at].saturating_add(*count);
                }
            }
        }
        vector
    }

    /// Converts a request to a pool with these GPUs to amounts.
    pub(crate) fn asked(&self, ask: &Ask, room: &Ask) -> Vector {
        if ask.cards.is_empty() || self.types().next().is_none() {
            return self.vector(ask);
        }
        let mut cards = Vec::new();
        for (name, count) in &ask.cards {
            let there = room.cards.iter().filter(|(_, count)| *count > 0);
            let products = there.map(|(name, _)| name.as_deref().unwrap_or_default());
            cards.push((counts_as(name.as_deref(), products).map(Into::into), *count));
        }
        self.vector(&Ask { cards, ..ask.clone() })
    }

    /// Converts a pool's capacity to amounts. Runs are unbounded there, and so are workers unless a number is
    /// set.
    pub(crate) fn capacity(&self, room: &Ask) -> Vector {
        let mut vector = self.vector(room);
        vector[RUNS] = u64::MAX;
        if room.pods == 0 {
            vector[PODS] = u64::MAX;
        }
        // If the cluster does not report GPU types, only the total counts.
        let untold = room
            .cards
            .iter()
            .any(|(name, count)| *count > 0 && name.as_ref().is_none_or(|name| name.is_empty()));
        for (at, _) in self.types() {
            if untold || vector[at] == 0 {
                vector[at] = u64::MAX;
            }
        }
        vector
    }

    /// Converts quota amounts. `absent` is the value for resources that the quota does not name.
    pub(crate) fn dense(&self, amounts: &Amounts, absent: u64) -> Vector {
        let mut vector = [absent; KINDS];
        for (at, resource) in self.0.iter().enumerate() {
            let same = |known: &Resource| match (known, resource) {
                (Resource::GpusOf(one), Resource::GpusOf(other)) => one.eq_ignore_ascii_case(other),
                (one, other) => one == other,
            };
            if let Some((_, amount)) = amounts.0.iter().find(|(known, _)| same(known)) {
                vector[at] = *amount;
            }
        }
        vector
    }

    /// The amounts of an array that are not zero.
    pub(crate) fn amounts(&self, vector: &Vector) -> Amounts {
        self.0
            .iter()
            .zip(vector)
            .filter(|(_, amount)| **amount > 0)
            .map(|(kind, amount)| (kind.clone(), *amount))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_counts_for_each_type_that_its_name_has() {
        let mut kinds = Kinds::default();
        assert!(kinds.add_type("H100") && kinds.add_type("a100") && !kinds.add_type("h100"));
        let cards = vec![(Some("NVIDIA-H100-80GB".into()), 4), (Some("A100".into()), 2), (None, 1)];
        let vector = kinds.vector(&Ask { cards, ..Ask::default() });
        assert_eq!((vector[2], vector[5], vector[6]), (7, 4, 2));
    }

    #[test]
    fn a_card_that_can_only_be_of_one_product_counts_as_that_also_without_a_type() {
        let mut kinds = Kinds::default();
        assert!(kinds.add_type("H100"));
        let ask = |kind: Option<&str>| Ask { cards: vec![(kind.map(Into::into), 2)], ..Ask::default() };
        let room = |names: &[&str]| Ask {
            cards: names.iter().map(|name| (Some((*name).into()), 4)).collect(),
            ..Ask::default()
        };
        let counted = |kind: Option<&str>, names: &[&str]| kinds.asked(&ask(kind), &room(names))[5];
        assert_eq!((counted(None, &["NVIDIA-H100-80GB"]), counted(None, &["A100"])), (2, 0));
        assert_eq!(counted(Some("80gb"), &["NVIDIA-H100-80GB", "NVIDIA-A100-40GB"]), 2);
        // The type that the job gets is unknown, or the type of the GPUs is.
        assert_eq!((counted(None, &["H100", "A100"]), counted(None, &["H100", ""])), (0, 0));
        assert_eq!((counted(Some("H100"), &["H100", ""]), counted(Some("H100"), &[])), (2, 2));
    }

    #[test]
    fn what_is_beyond_is_named_only_where_it_is_asked_for() {
        let (mut asked, mut held, mut bound) = (NOTHING, NOTHING, BOUNDLESS);
        (held[0], bound[0], asked[2], held[2], bound[2]) = (9, 8, 2, 7, 8);
        assert_eq!(beyond(&asked, &held, &bound), Some(2));
        asked[2] = 1;
        assert_eq!(beyond(&asked, &held, &bound), None);
    }
}

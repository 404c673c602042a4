//! Composition of a gang, or of a group of nodes: `3 x 8 + 1 x 4`. A sum does not explain why workers fit
//! nowhere: four nodes of eight GPUs and one of thirty-two have the same total.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::quota::Resource;

/// Numbers of workers, or nodes, by their amount of one resource, largest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape(Vec<Part>);

/// Equal ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    count: u64,
    each: u64,
}

impl Shape {
    /// Groups equal ones, and omits those without the resource.
    ///
    /// `parts` has the amount of each, and their number.
    #[must_use]
    pub fn new(parts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut alike: BTreeMap<Reverse<u64>, u64> = BTreeMap::new();
        for (each, count) in parts.into_iter().filter(|(each, count)| *each > 0 && *count > 0) {
            let sum = alike.entry(Reverse(each)).or_default();
            *sum = sum.saturating_add(count);
        }
        Self(alike.into_iter().map(|(Reverse(each), count)| Part { count, each }).collect())
    }

    #[must_use]
    pub fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, part| sum.saturating_add(part.count.saturating_mul(part.each)))
    }

    /// As text, with each amount formatted by `one`; `0` if empty.
    #[must_use]
    pub fn written(&self, one: impl Fn(u64) -> String) -> String {
        let parts: Vec<String> =
            self.0.iter().map(|part| format!("{} x {}", part.count, one(part.each))).collect();
        if parts.is_empty() { "0".to_owned() } else { parts.join(" + ") }
    }
}

/// What a gang requests and what exists: why it can never run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misfit {
    /// Insufficient resources.
    #[serde(with = "crate::waiting::as_text")]
    pub resource: Resource,
    pub asked: Shape,
    /// The nodes that they may use.
    pub nodes: Shape,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_tells_how_many_have_how_much() {
        let shape = Shape::new([(8, 2), (4, 1), (8, 1), (0, 5), (2, 0)]);
        assert_eq!(shape.written(|one| one.to_string()), "3 x 8 + 1 x 4");
        assert_eq!(shape.sum(), 28);
        assert_eq!(Shape::new([]).written(|one| one.to_string()), "0");
    }
}

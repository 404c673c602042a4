//! The edges between tasks: orders, cycles, descendants. Works on indices, so that 100,000 tasks are cheap.

use std::collections::VecDeque;

/// A directed graph over `0..len`, stored as one flat list of successors and one of predecessors.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    successors: Lists,
    predecessors: Lists,
}

/// A list of lists in two allocations.
#[derive(Clone, Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Distributes `pairs` of (list, item) over `len` lists, keeping the pairs' order within a list.
    fn new(len: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; len + 1];
        for (list, _) in pairs.clone() {
            starts[list as usize + 1] += 1;
        }
        for at in 0..len {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts[len] as usize];
        for (list, item) in pairs {
            let slot = &mut next[list as usize];
            items[*slot as usize] = item;
            *slot += 1;
        }
        Self { starts, items }
    }

    fn get(&self, list: u32) -> &[u32] {
        let at = list as usize;
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl Graph {
    /// A graph of `len` nodes with `edges` of (before, after). Both ends must be under `len`.
    #[must_use]
    pub fn new(len: usize, edges: &[(u32, u32)]) -> Self {
        Self {
            successors: Lists::new(len, edges.iter().copied()),
            predecessors: Lists::new(len, edges.iter().map(|&(before, after)| (after, before))),
        }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.successors.starts.len().saturating_sub(1)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Direct successors of `node`.
    #[must_use]
    pub fn after(&self, node: u32) -> &[u32] {
        self.successors.get(node)
    }

    /// Direct predecessors of `node`.
    #[must_use]
    pub fn before(&self, node: u32) -> &[u32] {
        self.predecessors.get(node)
    }

    /// Topological order (Kahn's algorithm), or a cycle as `a, b, ..., a`.
    ///
    /// # Errors
    /// The shortest cycle through the first node that could not be ordered.
    pub fn order(&self) -> Result<Vec<u32>, Vec<u32>> {
        let len = self.len();
        let mut open: Vec<usize> = (0..len).map(|node| self.before(node as u32).len()).collect();
        let mut order: Vec<u32> = (0..len as u32).filter(|node| open[*node as usize] == 0).collect();
        let mut at = 0;
        while at < order.len() {
            for &next in self.after(order[at]) {
                open[next as usize] -= 1;
                if open[next as usize] == 0 {
                    order.push(next);
                }
            }
            at += 1;
        }
        if order.len() == len { Ok(order) } else { Err(self.cycle_among(&open)) }
    }

    /// A cycle among the nodes with open predecessors: walks backwards until a node repeats.
    fn cycle_among(&self, open: &[usize]) -> Vec<u32> {
        let stuck = |node: &u32| open[*node as usize] > 0;
        let Some(mut node) = (0..self.len() as u32).find(|node| stuck(node)) else { return Vec::new() };
        let mut position = vec![usize::MAX; self.len()];
        let mut walk = Vec::new();
        while position[node as usize] == usize::MAX {
            position[node as usize] = walk.len();
            walk.push(node);
            match self.before(node).iter().copied().find(stuck) {
                Some(previous) => node = previous,
                None => return walk,
            }
        }
        let mut cycle = walk.split_off(position[node as usize]);
        cycle.push(node);
        cycle.reverse();
        cycle
    }

    /// `roots` and all their descendants, as flags.
    #[must_use]
    pub fn with_descendants(&self, roots: &[u32]) -> Vec<bool> {
        self.reach(roots, |node| self.after(node))
    }

    /// `roots` and all their ancestors, as flags.
    #[must_use]
    pub fn with_ancestors(&self, roots: &[u32]) -> Vec<bool> {
        self.reach(roots, |node| self.before(node))
    }

    fn reach<'a>(&'a self, roots: &[u32], step: impl Fn(u32) -> &'a [u32]) -> Vec<bool> {
        let mut seen = vec![false; self.len()];
        let mut queue: VecDeque<u32> = roots.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                queue.extend(step(node));
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_every_node_after_its_needs() {
        let graph = Graph::new(5, &[(3, 1), (1, 0), (3, 0), (4, 2)]);
        let order = graph.order().unwrap();
        let place = |node: u32| order.iter().position(|&n| n == node).unwrap();
        assert!(place(3) < place(1) && place(1) < place(0) && place(4) < place(2));
        assert_eq!(graph.with_descendants(&[1]), [true, true, false, false, false]);
        assert_eq!(graph.with_ancestors(&[0]), [true, true, false, true, false]);
    }

    #[test]
    fn names_a_cycle_in_order() {
        let graph = Graph::new(5, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]);
        let cycle = graph.order().unwrap_err();
        assert_eq!(cycle.first(), cycle.last());
        assert_eq!(cycle.len(), 4);
        for pair in cycle.windows(2) {
            assert!(graph.after(pair[0]).contains(&pair[1]), "{cycle:?}");
        }
    }
}

//! GPUs: whole ones along with their NVLink neighbours, or a fraction of one.

use std::collections::BTreeMap;
use std::sync::Arc;

use cubeloom_domain::faulty::{FaultyCard, FaultyCards};
use cubeloom_domain::resources::GpuRequest;

use crate::gpu::Gpus;
use crate::xid::Xids;

/// The GPUs, and the allocated fraction of each (1 is all of it). Faulty GPUs are not allocated; existing
/// allocations stay.
pub(super) struct Cards {
    gpus: Gpus,
    used: Vec<f64>,
    xids: Arc<Xids>,
}

/// Fractions add up with rounding errors.
const NEARLY: f64 = 1e-9;

impl Cards {
    pub(super) fn new(gpus: Gpus, xids: Arc<Xids>) -> Self {
        let used = vec![0.0; gpus.facts.len()];
        Self { gpus, used, xids }
    }

    /// The hardware XID error that a GPU has had.
    fn fault(&self, card: usize) -> Option<u32> {
        self.xids.fault(&self.gpus.facts[card].uuid)
    }

    /// Faulty GPUs without an allocation, by UUID, each with its error.
    pub(super) fn kept_back(&self) -> BTreeMap<String, u32> {
        let free = (0..self.used.len()).filter(|card| self.used[*card] < NEARLY);
        free.filter_map(|card| Some((self.gpus.facts[card].uuid.clone(), self.fault(card)?))).collect()
    }

    /// Allocates a request: returns the GPUs' UUIDs, and the fraction of each.
    pub(super) fn take(&mut self, request: &GpuRequest) -> Result<(Vec<String>, f64), String> {
        let chosen = match request.count {
            Some(count) => self.whole(request, count as usize).map(|cards| (cards, 1.0)),
            None => self.part(request).map(|(card, share)| (vec![card], share)),
        };
        let (cards, share) = chosen.ok_or_else(|| self.sentence(request))?;
        for card in &cards {
            self.used[*card] += share;
        }
        Ok((cards.into_iter().map(|card| self.gpus.facts[card].uuid.clone()).collect(), share))
    }

    /// Restores an allocation from before a restart; returns the fraction of each GPU.
    pub(super) fn retake(&mut self, uuids: &[String], request: &GpuRequest) -> f64 {
        let index = |uuid: &String| self.gpus.facts.iter().position(|gpu| gpu.uuid == *uuid);
        let cards: Vec<usize> = uuids.iter().filter_map(index).collect();
        let share = match request.count {
            Some(_) => 1.0,
            None => cards.first().map_or(0.0, |card| self.share(request, *card)),
        };
        cards.into_iter().for_each(|card| self.used[card] += share);
        share
    }

    pub(super) fn give_back(&mut self, uuids: &[String], share: f64) {
        for (gpu, used) in self.gpus.facts.iter().zip(&mut self.used) {
            if uuids.contains(&gpu.uuid) {
                *used = (*used - share).max(0.0);
            }
        }
    }

    /// Whether a GPU matches the request and is healthy.
    fn suits(&self, request: &GpuRequest, card: usize) -> bool {
        let name = self.gpus.facts[card].name.to_lowercase();
        let is_of_kind = request.kind.as_ref().is_none_or(|kind| name.contains(&kind.to_lowercase()));
        is_of_kind && self.fault(card).is_none()
    }

    /// `count` free GPUs, grown from the seed that yields the most links among them.
    fn whole(&self, request: &GpuRequest, count: usize) -> Option<Vec<usize>> {
        let free: Vec<usize> = (0..self.used.len())
            .filter(|card| self.used[*card] < NEARLY && self.suits(request, *card))
            .collect();
        if free.len() < count {
            return None;
        }
        let grown = free.iter().map(|seed| self.grow(*seed, &free, count));
        grown.max_by_key(|group| self.links_within(group)).or(Some(Vec::new()))
    }

    fn grow(&self, seed: usize, free: &[usize], count: usize) -> Vec<usize> {
        let mut group: Vec<usize> = Vec::with_capacity(count);
        if count > 0 {
            group.push(seed);
        }
        while group.len() < count {
            let links = |card: usize| group.iter().map(|other| self.gpus.links(card, *other)).sum::<u32>();
            let rest = free.iter().copied().filter(|card| !group.contains(card));
            let Some(next) = rest.max_by_key(|card| (links(*card), std::cmp::Reverse(*card))) else { break };
            group.push(next);
        }
        group.sort_unstable();
        group
    }

    fn links_within(&self, group: &[usize]) -> u32 {
        let pairs = group.iter().flat_map(|a| group.iter().map(move |b| (*a, *b)));
        pairs.map(|(a, b)| self.gpus.links(a, b)).sum()
    }

    /// The fraction of `card` that equals the request.
    fn share(&self, request: &GpuRequest, card: usize) -> f64 {
        match (request.fraction, request.memory) {
            (Some(fraction), _) => fraction,
            #[allow(clippy::cast_precision_loss, reason = "a share of a GPU needs no more than 52 bits")]
            (None, Some(memory)) => memory.0 as f64 / (self.gpus.facts[card].memory.0.max(1)) as f64,
            (None, None) => 1.0,
        }
    }

    /// The GPU with the largest allocation that still fits the request.
    fn part(&self, request: &GpuRequest) -> Option<(usize, f64)> {
        (0..self.used.len())
            .filter(|card| self.suits(request, *card))
            .map(|card| (card, self.share(request, card)))
            .filter(|(card, share)| self.used[*card] + share <= 1.0 + NEARLY)
            .max_by(|(a, _), (b, _)| self.used[*a].total_cmp(&self.used[*b]))
    }

    fn sentence(&self, request: &GpuRequest) -> String {
        let kind = request.kind.as_ref().map_or(String::new(), |kind| format!(" of type {kind}"));
        let all = self.gpus.facts.len();
        let faulty = |index: usize| {
            Some(FaultyCard { index, uuid: self.gpus.facts[index].uuid.clone(), xid: self.fault(index)? })
        };
        let faulty = FaultyCards { all, cards: (0..all).filter_map(faulty).collect() };
        match faulty.cards.is_empty() {
            true => format!("not enough free GPUs{kind}: this machine has {all}"),
            false => {
                format!("not enough free GPUs{kind}: this machine has {all}; {}", faulty.sentence())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Bytes;
    use cubeloom_domain::executor::GpuFacts;

    use super::*;

    /// Four GPUs, 0-2 and 1-3 linked.
    fn cards() -> Cards {
        let fact = |n: u32| GpuFacts {
            uuid: format!("GPU-{n}"),
            name: "H100".into(),
            memory: Bytes(80 << 30),
            xid: None,
        };
        let gpus = Gpus { facts: (0..4).map(fact).collect(), links: vec![(0, 2, 1), (1, 3, 1)] };
        Cards::new(gpus, Arc::default())
    }

    fn whole(count: u32) -> GpuRequest {
        GpuRequest { count: Some(count), ..GpuRequest::default() }
    }

    #[test]
    fn neighbours_go_together_and_come_back() {
        let mut cards = cards();
        let one = cards.take(&whole(2)).unwrap().0;
        let two = cards.take(&whole(2)).unwrap().0;
        assert_ne!(one, two);
        for pair in [&one, &two] {
            assert!(*pair == ["GPU-0", "GPU-2"] || *pair == ["GPU-1", "GPU-3"], "{pair:?}");
        }
        assert!(cards.take(&whole(1)).unwrap_err().contains("this machine has 4"));
        cards.give_back(&one, 1.0);
        assert_eq!(cards.take(&whole(2)).unwrap().0, one);
    }

    #[test]
    fn shares_fill_one_card_before_the_next() {
        let mut cards = cards();
        let half = GpuRequest { fraction: Some(0.5), ..GpuRequest::default() };
        let first = cards.take(&half).unwrap().0;
        assert_eq!(cards.take(&half).unwrap().0, first);
        assert_ne!(cards.take(&half).unwrap().0, first);
        let quarter = GpuRequest { memory: Some(Bytes(20 << 30)), ..GpuRequest::default() };
        assert!((cards.take(&quarter).unwrap().1 - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_faulty_card_is_given_to_nobody_until_its_error_is_forgotten() {
        let mut cards = cards();
        // A program's own error says nothing about the GPU.
        cards.xids.note("GPU-0", 31);
        cards.xids.note("GPU-2", 79);
        let refused = cards.take(&whole(4)).unwrap_err();
        assert!(refused.ends_with("has 4; 1 of 4 GPUs is unhealthy: XID 79 on GPU 2"), "{refused}");
        assert_eq!(cards.take(&whole(3)).unwrap().0, ["GPU-0", "GPU-1", "GPU-3"]);
        assert_eq!(cards.kept_back(), BTreeMap::from([("GPU-2".to_owned(), 79)]));
        let half = GpuRequest { fraction: Some(0.5), ..GpuRequest::default() };
        assert!(cards.take(&half).is_err(), "nor is a part of it");
        // As after a reset.
        assert_eq!(cards.xids.forget("GPU-2"), Some(79));
        assert_eq!(cards.take(&half).unwrap().0, ["GPU-2"]);
    }

    #[test]
    fn a_card_that_is_away_is_given_to_nobody_until_it_is_back() {
        let mut cards = cards();
        cards.xids.note("GPU-2", 79);
        cards.xids.set_here("GPU-2", false);
        assert_eq!(cards.xids.forget("GPU-2"), None, "it cannot be taken back");
        assert!(cards.take(&whole(4)).is_err());
        assert_eq!(cards.kept_back(), BTreeMap::from([("GPU-2".to_owned(), 79)]));
        cards.xids.set_here("GPU-2", true);
        assert!(cards.kept_back().is_empty());
        assert!(cards.take(&whole(4)).is_ok());
    }

    #[test]
    fn who_has_a_card_that_becomes_faulty_keeps_it() {
        let mut cards = cards();
        let (held, share) = cards.take(&whole(2)).unwrap();
        cards.xids.note(&held[0], 48);
        assert!(cards.kept_back().is_empty(), "it is taken");
        assert!(cards.take(&whole(2)).is_ok(), "the others are free");
        cards.give_back(&held, share);
        assert_eq!(cards.kept_back(), BTreeMap::from([(held[0].clone(), 48)]));
        assert!(cards.take(&whole(2)).is_err());
        // A job of an earlier server still has it.
        cards.retake(&held, &whole(2));
        assert!(cards.kept_back().is_empty());
    }
}

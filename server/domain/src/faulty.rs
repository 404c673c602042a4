//! GPUs that no job gets because the driver has reported errors.

use serde::{Deserialize, Serialize};

use crate::executor::{GpuFacts, NodeFacts};

/// Total number of GPUs, and the unhealthy GPUs that are excluded from scheduling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyCards {
    /// Total number of GPUs, including the excluded ones.
    pub all: usize,
    /// GPUs excluded from scheduling.
    pub cards: Vec<FaultyCard>,
}

/// A GPU excluded from scheduling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyCard {
    /// Index on its node.
    pub index: usize,
    pub uuid: String,
    /// The XID error that the driver has reported.
    pub xid: u32,
}

impl FaultyCards {
    /// The unhealthy GPUs of some nodes. `None` if there are none.
    #[must_use]
    pub fn of(nodes: &[NodeFacts]) -> Option<Self> {
        let of_node = |node: &NodeFacts| {
            let card = |(index, card): (usize, &GpuFacts)| {
                card.xid.map(|xid| FaultyCard { index, uuid: card.uuid.clone(), xid })
            };
            node.gpus.iter().enumerate().filter_map(card).collect::<Vec<_>>()
        };
        let cards: Vec<FaultyCard> = nodes.iter().flat_map(of_node).collect();
        let all = nodes.iter().map(|node| node.gpus.len()).sum();
        (!cards.is_empty()).then_some(Self { all, cards })
    }

    /// Lists them in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let card = |FaultyCard { index, xid, .. }: &FaultyCard| format!("XID {xid} on GPU {index}");
        let which = self.cards.iter().map(card).collect::<Vec<_>>().join(", ");
        match self.cards.len() {
            1 => format!("1 of {} GPUs is unhealthy: {which}", self.all),
            count => format!("{count} of {} GPUs are unhealthy: {which}", self.all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_how_many_and_which() {
        let card = |xid: Option<u32>| GpuFacts { xid, ..GpuFacts::default() };
        let said = |xids: &[Option<u32>]| {
            let gpus = xids.iter().map(|xid| card(*xid)).collect();
            FaultyCards::of(&[NodeFacts { gpus, ..NodeFacts::default() }]).map(|found| found.sentence())
        };
        assert_eq!(said(&[None, None]), None);
        let one = "1 of 4 GPUs is unhealthy: XID 79 on GPU 2";
        assert_eq!(said(&[None, None, Some(79), None]).as_deref(), Some(one));
        let two = "2 of 2 GPUs are unhealthy: XID 79 on GPU 0, XID 48 on GPU 1";
        assert_eq!(said(&[Some(79), Some(48)]).as_deref(), Some(two));
    }
}

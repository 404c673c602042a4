//! Graphics cards that no job gets, as the driver has reported errors of theirs.

use serde::{Deserialize, Serialize};

use crate::executor::{GpuFacts, NodeFacts};

/// How many cards there are, and which of them no job gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyCards {
    /// How many there are, these among them.
    pub all: usize,
    /// Those that no job gets.
    pub cards: Vec<FaultyCard>,
}

/// A card that no job gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyCard {
    /// Its number on its node.
    pub index: usize,
    /// Its UUID.
    pub uuid: String,
    /// The error that the driver has reported of it.
    pub xid: u32,
}

impl FaultyCards {
    /// Those of some nodes; `None` where there are none.
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

    /// Which ones, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let card = |FaultyCard { index, xid, .. }: &FaultyCard| format!("XID {xid} on card {index}");
        let which = self.cards.iter().map(card).collect::<Vec<_>>().join(", ");
        match self.cards.len() {
            1 => format!("1 of {} cards is faulty: {which}", self.all),
            count => format!("{count} of {} cards are faulty: {which}", self.all),
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
        let one = "1 of 4 cards is faulty: XID 79 on card 2";
        assert_eq!(said(&[None, None, Some(79), None]).as_deref(), Some(one));
        let two = "2 of 2 cards are faulty: XID 79 on card 0, XID 48 on card 1";
        assert_eq!(said(&[Some(79), Some(48)]).as_deref(), Some(two));
    }
}

//! What a card is to whoever looks for one. Pure.

use cubeloom_domain::monitoring::{CardReading, is_of_the_card};

/// A card that is used less than this, from 0 to 1, does nothing that counts.
const IDLE: f64 = 0.05;

/// How a card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CardState {
    /// It works for somebody.
    Busy,
    /// Somebody holds it, and it has done nothing for a quarter of an hour.
    Idle,
    /// Nobody holds it, nor any other card of its node.
    Free,
    /// Nobody holds it, but others of its node are held: who wants all cards of a node cannot have this one.
    Fragment,
    /// The driver has reported an error of the card.
    Faulty,
    /// It was there within the last hour, and is not told of any more.
    Away,
}

impl CardState {
    /// All items.
    pub const ALL: [Self; 6] = [Self::Busy, Self::Idle, Self::Free, Self::Fragment, Self::Faulty, Self::Away];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Idle => "idle",
            Self::Free => "free",
            Self::Fragment => "fragment",
            Self::Faulty => "faulty",
            Self::Away => "away",
        }
    }

    /// How a card is that somebody holds or not, on a node of which others are held or not.
    #[must_use]
    pub fn of(card: &CardReading, held: bool, others_held: bool) -> Self {
        let works = |usage: Option<f64>| usage.is_some_and(|usage| usage >= IDLE);
        if !card.present {
            return Self::Away;
        }
        if card.xid.is_some_and(is_of_the_card) {
            return Self::Faulty;
        }
        match held {
            true if card.recent_usage.is_some_and(|usage| usage < IDLE) && !works(card.usage) => Self::Idle,
            true => Self::Busy,
            // Exporters that do not know pods tell of no holder; that it works is told all the same.
            false if works(card.usage) => Self::Busy,
            false if others_held => Self::Fragment,
            false => Self::Free,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cards_state_follows_from_what_is_known() {
        let card = |usage: f64| CardReading {
            present: true,
            usage: Some(usage),
            recent_usage: Some(usage),
            ..CardReading::default()
        };
        for (card, held, others, expected) in [
            (card(0.9), true, true, CardState::Busy),
            (card(0.9), false, false, CardState::Busy),
            (card(0.01), true, false, CardState::Idle),
            // It has begun to work just now.
            (CardReading { usage: Some(0.8), ..card(0.01) }, true, false, CardState::Busy),
            (CardReading { recent_usage: None, usage: None, ..card(0.0) }, true, false, CardState::Busy),
            (card(0.0), false, false, CardState::Free),
            (card(0.0), false, true, CardState::Fragment),
            (CardReading { xid: Some(79), ..card(0.9) }, true, true, CardState::Faulty),
            (CardReading { xid: Some(31), ..card(0.9) }, true, true, CardState::Busy),
            (CardReading { xid: Some(79), ..CardReading::default() }, true, true, CardState::Away),
        ] {
            assert_eq!(CardState::of(&card, held, others), expected, "{card:?}");
        }
    }
}

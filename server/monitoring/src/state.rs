//! The state of a GPU for users who look for one. Pure.

use cubeloom_domain::monitoring::{CardReading, is_of_the_card};

/// Use below this counts as idle, from 0 to 1.
const IDLE: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CardState {
    /// Allocated and busy.
    Busy,
    /// Allocated, and idle for a quarter of an hour.
    Idle,
    /// Free, as are all other GPUs of its node.
    Free,
    /// Free (fragmented): others of its node are allocated, so it is unavailable to a job that needs all of
    /// them.
    Fragment,
    /// The driver has reported an error of the GPU.
    Faulty,
    /// It reported within the last hour, but no longer does.
    Away,
}

impl CardState {
    pub const ALL: [Self; 6] = [Self::Busy, Self::Idle, Self::Free, Self::Fragment, Self::Faulty, Self::Away];

    /// The public name.
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

    /// The state of a GPU that is allocated or not, on a node with others that are allocated or not.
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
            // Exporters without pod labels report no allocation, but their GPU use is still valid.
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
            // It has just become busy.
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

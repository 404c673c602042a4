//! A share as a bar: own, borrowed and lent amounts and the limit, relative to the capacity.

use crate::api::quotas::view::ShareView;
use crate::show;

/// Width of the bar, in units of its view box.
const WIDTH: f64 = 1000.0;

/// A bar and its text.
pub(super) struct Bar {
    pub resource: String,
    /// End of the guarantee.
    pub guarantee: f64,
    /// Allocated within the guarantee.
    pub own: f64,
    /// Borrowed, after the own amount.
    pub borrowed: f64,
    /// Lent: up to the end of the guarantee.
    pub lent_from: f64,
    pub lent: f64,
    /// Position of the limit. `None` without a limit or beyond the bar.
    pub most_at: Option<f64>,
    pub held_said: String,
    pub guarantee_said: Option<String>,
    pub borrowed_said: Option<String>,
    pub lent_said: Option<String>,
    pub most_said: Option<String>,
}

impl Bar {
    /// The bar of a share. `capacity` is the resource's total, if known.
    pub fn of(share: &ShareView, capacity: Option<f64>) -> Self {
        let most = share.most.unwrap_or(0.0);
        let known = [share.guarantee, share.held, capacity.unwrap_or(most)];
        let whole = known.into_iter().fold(1e-9, f64::max);
        let at = |amount: f64| (amount / whole * WIDTH).clamp(0.0, WIDTH).round();
        let own = share.held - share.borrowed;
        let said = |amount: f64| (amount > 0.0).then(|| show::amount(&share.resource, amount));
        Self {
            resource: share.resource.clone(),
            guarantee: at(share.guarantee),
            own: at(own),
            borrowed: at(share.held) - at(own),
            lent_from: at(share.guarantee - share.lent),
            lent: at(share.guarantee) - at(share.guarantee - share.lent),
            most_at: share.most.filter(|most| *most <= whole).map(|most| at(most).min(WIDTH - 4.0)),
            held_said: show::amount(&share.resource, share.held),
            guarantee_said: said(share.guarantee),
            borrowed_said: said(share.borrowed),
            lent_said: said(share.lent),
            most_said: share.most.map(|most| show::amount(&share.resource, most)),
        }
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.guarantee_said.is_none() && self.most_said.is_none() && self.own + self.borrowed == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_its_parts_beside_each_other() {
        let share = ShareView {
            resource: "gpus".into(),
            guarantee: 4.0,
            most: Some(6.0),
            held: 5.0,
            borrowed: 1.0,
            lent: 0.0,
        };
        let bar = Bar::of(&share, Some(8.0));
        assert_eq!((bar.own, bar.borrowed, bar.guarantee), (500.0, 125.0, 500.0));
        assert_eq!((bar.most_at, bar.lent), (Some(750.0), 0.0));
        let lending = ShareView { held: 1.0, borrowed: 0.0, lent: 2.0, ..share };
        let bar = Bar::of(&lending, Some(8.0));
        assert_eq!((bar.own, bar.lent_from, bar.lent), (125.0, 250.0, 250.0));
        assert_eq!(bar.lent_said.as_deref(), Some("2"));
    }
}

//! Prices of a pool of machines, each valid from a day on until the next one.

use std::collections::BTreeMap;

use super::{Cost, Day, Figures, Money};
use crate::quota::Pool;

/// Prices per hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Hourly price of one CPU core.
    pub cpu: Money,
    /// Hourly price of one GiB of memory.
    pub memory: Money,
    /// Of one card.
    pub gpu: Money,
}

/// A price of a pool, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// ID.
    pub id: String,
    /// Cluster.
    pub cluster: String,
    /// The node group; empty for every node of the cluster whose group has no price of its own.
    pub node_group: String,
    /// The first day that it is valid.
    pub from: Day,
    /// Prices per hour.
    pub rates: Rates,
    /// Who entered it.
    pub user: String,
    /// Revision number, incremented on each change.
    pub revision: u64,
}

/// Prices, to be looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceList(BTreeMap<(String, String), BTreeMap<Day, Rates>>);

impl FromIterator<Price> for PriceList {
    fn from_iter<T: IntoIterator<Item = Price>>(prices: T) -> Self {
        let mut list = Self::default();
        for price in prices {
            list.0.entry((price.cluster, price.node_group)).or_default().insert(price.from, price.rates);
        }
        list
    }
}

impl PriceList {
    /// The price of a pool on a day.
    #[must_use]
    pub fn of(&self, pool: &Pool, day: Day) -> Rates {
        self.at(&pool.cluster, pool.node_group.as_deref().unwrap_or_default(), day)
    }

    /// The price of a node group on a day: its own, else its cluster's; nothing costs where there is none.
    #[must_use]
    pub fn at(&self, cluster: &str, node_group: &str, day: Day) -> Rates {
        self.since(cluster, node_group, day).map(|(_, rates)| rates).unwrap_or_default()
    }

    /// The same, with the day since which it is valid.
    #[must_use]
    pub fn since(&self, cluster: &str, node_group: &str, day: Day) -> Option<(Day, Rates)> {
        let own = self.of_pool(cluster, node_group, day);
        if own.is_some() || node_group.is_empty() { own } else { self.of_pool(cluster, "", day) }
    }

    fn of_pool(&self, cluster: &str, node_group: &str, day: Day) -> Option<(Day, Rates)> {
        let of_pool = self.0.get(&(cluster.to_owned(), node_group.to_owned()))?;
        of_pool.range(..=day).next_back().map(|(from, rates)| (*from, *rates))
    }
}

impl Rates {
    /// What a sum of usage costs: for usage that is counted already, when the price of its day is changed.
    #[must_use]
    pub fn cost_of(&self, figures: &Figures) -> Cost {
        Cost {
            cpu: part(figures.cpu, 1000, self.cpu),
            memory: part(figures.memory, 1024, self.memory),
            gpu: part(figures.gpu, 1000, self.gpu),
        }
    }
}

fn part(amount: i64, parts: i128, rate: Money) -> Money {
    let exact = i128::from(amount) * i128::from(rate.0) / (parts * 3600);
    Money(i64::try_from(exact).unwrap_or(i64::MAX))
}

//! Prices of node pools, each valid from a day until the next one.

use std::collections::BTreeMap;

use super::{Cost, Day, Figures, Money};
use crate::quota::Pool;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Hourly price of one CPU core.
    pub cpu: Money,
    /// Hourly price of one GiB of memory.
    pub memory: Money,
    /// Hourly price of one GPU.
    pub gpu: Money,
}

/// A stored price of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    pub id: String,
    pub cluster: String,
    /// Empty for every node of the cluster whose group has no price of its own.
    pub node_group: String,
    /// The first day that it is valid.
    pub from: Day,
    pub rates: Rates,
    /// The user who entered it.
    pub user: String,
    /// Revision number, incremented on each change.
    pub revision: u64,
}

/// Prices, indexed for look-up.
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
    #[must_use]
    pub fn of(&self, pool: &Pool, day: Day) -> Rates {
        self.at(&pool.cluster, pool.node_group.as_deref().unwrap_or_default(), day)
    }

    /// The price of a node group on a day, with its cluster's as the fallback. Without either, usage costs
    /// nothing.
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
    /// The cost of usage that is already counted, for when the price of its day changes.
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

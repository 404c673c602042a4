//! Monthly statement: usage of each pool at each price, and its cost.

use std::collections::BTreeMap;

use super::{Day, Figures, Line, PriceList, Rates};

/// Usage of a pool while one price was valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub cluster: String,
    /// Empty for the cluster's other nodes.
    pub node_group: String,
    /// Since when the price is valid. `None` without a price.
    pub since: Option<Day>,
    pub rates: Rates,
    pub figures: Figures,
}

/// Statement rows from usage by day and node group, ordered by pool and price.
#[must_use]
pub fn positions(lines: &[(Line, Figures)], prices: &PriceList) -> Vec<Position> {
    let mut found: BTreeMap<(&str, &str, Option<Day>), Position> = BTreeMap::new();
    for (line, figures) in lines {
        let price = prices.since(&line.cluster, &line.node_group, line.day);
        let since = price.map(|(day, _)| day);
        let position = found.entry((&line.cluster, &line.node_group, since)).or_insert_with(|| Position {
            cluster: line.cluster.clone(),
            node_group: line.node_group.clone(),
            since,
            rates: price.map(|(_, rates)| rates).unwrap_or_default(),
            figures: Figures::default(),
        });
        position.figures = position.figures.plus(*figures);
    }
    found.into_values().collect()
}

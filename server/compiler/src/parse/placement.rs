//! The decoder of placements.

use cubeloom_domain::Code;
use cubeloom_domain::pipeline::{Placement, Spread, SpreadBy, Toleration, WorkerPlacement};

use super::decode::Decoder;
use super::keys;
use super::node::Node;

pub fn placement(d: &mut Decoder, node: &Node<'_>) -> Option<Placement> {
    let map = d.map_without(node, "a placement", keys::PLACEMENT, keys::NOT_OF_TASKS)?;
    let spreads = [("preferred", Spread::Preferred), ("required", Spread::Required), ("none", Spread::None)];
    let places = [("pack", WorkerPlacement::Pack), ("spread", WorkerPlacement::Spread)];
    Some(Placement {
        spread: d.optional(map, "spread", |d, node| d.one_of(node, &spreads)),
        spread_by: d.optional(map, "spread_by", |d, node| {
            d.one_of(node, &[("host", SpreadBy::Host), ("zone", SpreadBy::Zone)])
        }),
        workers: d.optional(map, "workers", |d, node| d.one_of(node, &places)),
        node_group: d.optional(map, "node_group", Decoder::filled),
        selector: d.optional(map, "selector", |d, node| d.table(node, Decoder::word)).unwrap_or_default(),
        tolerations: d.optional(map, "tolerations", |d, node| d.list(node, toleration)).unwrap_or_default(),
        host_network: d.optional(map, "host_network", Decoder::boolean),
    })
}

fn toleration(d: &mut Decoder, node: &Node<'_>) -> Option<Toleration> {
    let map = d.map(node, "a toleration", keys::TOLERATION)?;
    Some(Toleration {
        key: d.required(map, "key", Decoder::filled)?,
        value: d.optional(map, "value", Decoder::word),
        effect: d.optional(map, "effect", effect),
    })
}

fn effect(d: &mut Decoder, node: &Node<'_>) -> Option<String> {
    let text = d.word(node)?;
    if !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&text.as_str()) {
        let message = format!("`{text}` is not one of NoSchedule, PreferNoSchedule, NoExecute");
        d.problem(node, Code::InvalidValue, message);
    }
    Some(text)
}

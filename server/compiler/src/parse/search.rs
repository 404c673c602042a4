//! The decoder of searches.

use std::collections::BTreeMap;

use cubeloom_domain::Code;
use cubeloom_domain::search::{Axis, EarlyStop, Method, NumberType, Range, Scale, Search};

use super::decode::Decoder;
use super::keys;
use super::node::{Kind, Node};

pub fn search(d: &mut Decoder, node: &Node<'_>) -> Option<Search> {
    let map = d.map(node, "a search", keys::SEARCH)?;
    let methods = [("grid", Method::Grid), ("random", Method::Random), ("tpe", Method::Tpe)];
    Some(Search {
        over: d.required(map, "over", over).unwrap_or_default(),
        maximize: d.optional(map, "maximize", Decoder::filled),
        minimize: d.optional(map, "minimize", Decoder::filled),
        method: d.optional(map, "method", |d, node| d.one_of(node, &methods)),
        trials: d.optional(map, "trials", |d, node| d.count(node, 1)),
        parallelism: d.optional(map, "parallelism", |d, node| d.count(node, 1)),
        seed: d.optional(map, "seed", |d, node| d.count(node, 0)),
        early_stop: d.optional(map, "early_stop", early_stop),
        max_failures: d.optional(map, "max_failures", |d, node| d.count(node, 0)),
    })
}

fn over(d: &mut Decoder, node: &Node<'_>) -> Option<BTreeMap<String, Axis>> {
    if matches!(&node.kind, Kind::Map(entries) if entries.is_empty()) {
        d.problem(node, Code::MissingKey, "name at least one value to search");
        return None;
    }
    d.table(node, axis)
}

fn axis(d: &mut Decoder, node: &Node<'_>) -> Option<Axis> {
    match node.kind {
        Kind::List(_) => d.list(node, Decoder::json).map(Axis::Values),
        Kind::Map(_) => range(d, node).map(Axis::Range),
        _ => {
            d.wrong_type(node, "a list of values, or a mapping with `minimum` and `maximum`");
            None
        }
    }
}

fn range(d: &mut Decoder, node: &Node<'_>) -> Option<Range> {
    let map = d.map(node, "a range", keys::RANGE)?;
    let kinds = [("integer", NumberType::Integer), ("number", NumberType::Number)];
    let scales = [("linear", Scale::Linear), ("log", Scale::Log)];
    let kind = d.optional(map, "type", |d, node| d.one_of(node, &kinds));
    let minimum = d.required(map, "minimum", Decoder::float);
    let maximum = d.required(map, "maximum", Decoder::float);
    let step = d.optional(map, "step", Decoder::float);
    let scale = d.optional(map, "scale", |d, node| d.one_of(node, &scales));
    Some(Range { kind, minimum: minimum?, maximum: maximum?, step, scale })
}

fn early_stop(d: &mut Decoder, node: &Node<'_>) -> Option<EarlyStop> {
    let map = d.map(node, "an early stop", keys::EARLY_STOP)?;
    let min_steps = d.required(map, "min_steps", |d, node| d.count(node, 1));
    let factor = d.optional(map, "factor", |d, node| d.count(node, 2));
    if let Some(factor) = factor.filter(|factor| *factor > 100) {
        d.problem(
            node,
            Code::InvalidValue,
            format!("a factor of {factor} is too large; at most 100 is allowed"),
        );
    }
    Some(EarlyStop { min_steps: min_steps?, factor })
}

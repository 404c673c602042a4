//! The decoder of resources; also decodes results of a template's expressions.

use cubeloom_domain::resources::{GpuRequest, MOST_PROCESSES_PER_GPU, ResourceRequest};
use cubeloom_domain::{Bytes, Code, Cpu};

use super::decode::Decoder;
use super::keys;
use super::node::Node;

const CPU: &str = "an amount of CPU such as 2, 0.5 or 500m";
const BYTES: &str = "an amount of memory such as 512Mi, 2Gi or 1G";

/// Decodes the resource request of one worker.
pub fn resources(d: &mut Decoder, node: &Node<'_>) -> Option<ResourceRequest> {
    let map = d.map(node, "resources", keys::RESOURCES)?;
    let request = ResourceRequest {
        cpu: d.optional(map, "cpu", cpu),
        cpu_limit: d.optional(map, "cpu_limit", cpu),
        memory: d.optional(map, "memory", memory),
        gpu: d.optional(map, "gpu", gpu),
        processes_per_gpu: d
            .optional(map, "processes_per_gpu", |d, node| d.integer(node, 1, MOST_PROCESSES_PER_GPU.into())),
        shm: d.optional(map, "shm", bytes),
        rdma: d.optional(map, "rdma", |d, node| d.count(node, 0)),
        cpu_exclusive: d.optional(map, "cpu_exclusive", Decoder::boolean),
        pinned: d.optional(map, "pinned", Decoder::boolean),
    };
    Some(request)
}

/// A positive amount of CPU.
pub fn cpu(d: &mut Decoder, node: &Node<'_>) -> Option<Cpu> {
    let amount: Cpu = d.amount(node, CPU)?;
    if amount.0 == 0 {
        d.problem(node, Code::InvalidQuantity, "a worker needs more than 0 CPU; write at least 1m");
        return None;
    }
    Some(amount)
}

/// An amount of memory that is enough to start a process.
pub fn memory(d: &mut Decoder, node: &Node<'_>) -> Option<Bytes> {
    let amount = bytes(d, node)?;
    if amount.0 < 1 << 20 {
        let message = match node.scalar().and_then(with_larger_unit) {
            Some(other) => {
                format!("{amount} of memory is too little for any program; did you mean {other}?")
            }
            None => format!("{amount} of memory is too little for any program"),
        };
        d.problem(node, Code::InvalidQuantity, message);
        return None;
    }
    Some(amount)
}

/// The same number with the next unit that makes it a plausible amount of memory: `512` as `512Mi`, `0.5Mi`
/// as `0.5Gi`.
fn with_larger_unit(text: &str) -> Option<String> {
    let digits = text.trim().trim_end_matches(char::is_alphabetic).trim_end();
    let units = ["Ki", "Mi", "Gi"];
    let unit = text.trim()[digits.len()..].trim();
    let larger = units.into_iter().skip_while(|other| unit.len() == 2 && *other != unit);
    let found = larger.skip(usize::from(unit.len() == 2)).map(|unit| format!("{digits}{unit}"));
    let fits =
        |text: &String| text.parse::<Bytes>().is_ok_and(|amount| (16 << 20..=64 << 30).contains(&amount.0));
    let mut found = found.filter(fits);
    found.next()
}

fn bytes(d: &mut Decoder, node: &Node<'_>) -> Option<Bytes> {
    d.amount(node, BYTES)
}

fn gpu(d: &mut Decoder, node: &Node<'_>) -> Option<GpuRequest> {
    let map = d.map(node, "a gpu request", keys::GPU)?;
    let before = d.problems.len();
    let request = GpuRequest {
        count: d.optional(map, "count", |d, node| d.count(node, 0)),
        fraction: d.optional(map, "fraction", fraction),
        memory: d.optional(map, "memory", memory),
        kind: d.optional(map, "type", Decoder::filled),
    };
    let given = [request.count.is_some(), request.fraction.is_some(), request.memory.is_some()];
    let given = given.into_iter().filter(|given| *given).count();
    if given != 1 && d.problems.len() == before {
        let message = "write exactly one of `count` (whole GPUs), `fraction` (a part of one) and `memory`";
        d.problem(node, if given == 0 { Code::MissingKey } else { Code::Conflict }, message);
        return None;
    }
    Some(request)
}

fn fraction(d: &mut Decoder, node: &Node<'_>) -> Option<f64> {
    let value = d.float(node)?;
    if value <= 0.0 || value >= 1.0 {
        let message = format!("{value} is not a GPU fraction: must be over 0 and under 1");
        d.problem(node, Code::InvalidValue, message);
        return None;
    }
    Some(value)
}

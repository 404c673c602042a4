//! Cube Studio's resource amounts: `2`, `5G`, `2~4`, `1(V100)`, `0.5`.

use cubeloom_domain::{Bytes, Cpu};
use serde_json::{Map, Value, json};

use super::ledger::At;
use crate::import::Fate;

/// Whether a text is an amount of a certain kind.
type IsAmount = fn(&str) -> bool;

/// The resources that a task requests, as our `resources`; empty if it requests none.
pub fn resources(task: &At<'_>) -> Map<String, Value> {
    let mut resources = Map::new();
    let amounts: [(&str, &str, IsAmount); 2] =
        [("resource_cpu", "cpu", is_cpu), ("resource_memory", "memory", is_memory)];
    for (key, ours, is_amount) in amounts {
        if let Some(at) = task.get(key)
            && let Some(amount) = range(&at, is_amount)
        {
            resources.insert(ours.into(), json!(amount));
        }
    }
    if let Some(at) = task.get("resource_gpu")
        && let Some(gpu) = gpu(&at)
    {
        resources.insert("gpu".into(), gpu);
    }
    if let Some(at) = task.get("resource_rdma") {
        match at.text().as_deref().map(str::parse::<u32>) {
            Some(Ok(0)) => {}
            Some(Ok(count)) => _ = resources.insert("rdma".into(), json!(count)),
            _ => at.tell(Fate::Problem, "is not a number of RDMA devices: set `resources.rdma`"),
        }
    }
    resources
}

fn is_cpu(text: &str) -> bool {
    text.parse::<Cpu>().is_ok_and(|cpu| cpu.0 > 0)
}

fn is_memory(text: &str) -> bool {
    text.parse::<Bytes>().is_ok_and(|bytes| bytes.0 > 0)
}

/// One amount, or the larger end of `2~4`, because a worker here is allocated its maximum.
fn range(at: &At<'_>, is_amount: IsAmount) -> Option<String> {
    let Some(text) = at.text() else {
        at.tell(Fate::Problem, "is not an amount: set it in `resources`");
        return None;
    };
    let ends: Vec<&str> = text.split('~').map(str::trim).collect();
    match ends.as_slice() {
        ["0"] => None,
        [amount] if is_amount(amount) => Some((*amount).to_owned()),
        [least, most] if is_amount(most) && (is_amount(least) || *least == "0") => {
            at.note(Fate::Changed, format!("{text} became {most}: a worker has a single amount here"));
            Some((*most).to_owned())
        }
        _ => {
            at.note(Fate::Problem, format!("`{text}` is not a supported amount: set it in `resources`"));
            None
        }
    }
}

/// `1`, `1(V100)`, `0.5`; `None` for 0.
fn gpu(at: &At<'_>) -> Option<Value> {
    let text = at.text().unwrap_or_default();
    let (count, kind) = match text.split_once('(') {
        Some((count, kind)) => (count.trim(), kind.trim_end_matches(')').trim()),
        None => (text.trim(), ""),
    };
    let amount = match count.parse::<f64>() {
        Ok(0.0) => return None,
        Ok(part) if part > 0.0 && part < 1.0 => json!({"fraction": part}),
        Ok(whole) if whole.fract() == 0.0 && (1.0..=1024.0).contains(&whole) => {
            json!({"count": count.parse::<f64>().map_or(1, |count| count.round() as u32)})
        }
        _ => {
            at.tell(Fate::Problem, format!("`{text}` is not a number of GPUs: set `resources.gpu`"));
            return None;
        }
    };
    let Value::Object(mut gpu) = amount else { return None };
    if !kind.is_empty() {
        gpu.insert("type".into(), json!(kind));
    }
    Some(Value::Object(gpu))
}

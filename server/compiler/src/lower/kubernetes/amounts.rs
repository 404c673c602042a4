//! What a container asks for. Requests and limits are the same, for CPU as on one machine, so that every pod is of the
//! class Guaranteed; with `cpu_exclusive` the CPU is whole, and a kubelet with the static policy gives cores of its own.

use cubeloom_domain::Bytes;
use cubeloom_domain::kubernetes::CardFacts;
use cubeloom_domain::resources::{GpuRequest, Resources};
use serde_json::{Map, Value, json};

use super::Frame;
use super::notes::Notes;

/// The `resources` of a container.
pub fn resources(frame: &Frame<'_>, wanted: &Resources, notes: &mut Notes) -> Value {
    let mut amounts = Map::new();
    amounts.insert("cpu".into(), wanted.cpu.to_string().into());
    amounts.insert("memory".into(), wanted.memory.to_string().into());
    if let Some(gpu) = &wanted.gpu {
        cards(&frame.facts.cards, gpu, notes).into_iter().for_each(|(name, amount)| {
            amounts.insert(name, amount.to_string().into());
        });
    }
    if let Some(devices) = wanted.rdma.filter(|devices| *devices > 0) {
        match &frame.facts.rdma {
            Some(name) => drop(amounts.insert(name.clone(), devices.to_string().into())),
            None => notes.refuse("resources/rdma", "this cluster has no RDMA devices; leave `rdma` out"),
        }
    }
    json!({"requests": amounts, "limits": amounts})
}

/// Graphics cards, by the names of who hands them out.
fn cards(facts: &CardFacts, gpu: &GpuRequest, notes: &mut Notes) -> Vec<(String, u64)> {
    let vendor = facts.resource.split('/').next().unwrap_or_default();
    if let Some(profile) = mig_profile(facts, gpu) {
        return vec![(format!("{vendor}/mig-{profile}"), gpu.count.unwrap_or(1).into())];
    }
    if let Some(count) = gpu.count {
        return vec![(facts.resource.clone(), count.into())];
    }
    if !facts.hami {
        let message =
            "this cluster hands out whole graphics cards only (HAMi is not there): ask for a `count`";
        notes.refuse("resources/gpu", message);
        return Vec::new();
    }
    let mut amounts = vec![(facts.resource.clone(), 1)];
    if let Some(fraction) = gpu.fraction {
        let percent = (fraction * 100.0).round().clamp(1.0, 100.0) as u64;
        amounts.push((format!("{vendor}/gpucores"), percent));
        amounts.push((format!("{vendor}/gpumem-percentage"), percent));
    }
    if let Some(Bytes(memory)) = gpu.memory {
        amounts.push((format!("{vendor}/gpumem"), memory.div_ceil(1 << 20)));
    }
    amounts
}

/// The profile of MIG that a type names: `1g.10gb`, or `mig-1g.10gb`.
fn mig_profile<'f>(facts: &'f CardFacts, gpu: &GpuRequest) -> Option<&'f String> {
    let kind = gpu.kind.as_ref()?.to_lowercase();
    let kind = kind.strip_prefix("mig-").unwrap_or(&kind);
    facts.mig.iter().find(|profile| *profile == kind)
}

/// The label and its values by which nodes with cards of the right type are found; `None` where any will do.
pub fn card_nodes(facts: &CardFacts, wanted: &Resources, notes: &mut Notes) -> Option<(String, Vec<String>)> {
    let gpu = wanted.gpu.as_ref()?;
    let kind = gpu.kind.as_ref().filter(|_| mig_profile(facts, gpu).is_none())?;
    let lower = kind.to_lowercase();
    let products: Vec<String> =
        facts.products.iter().filter(|product| product.to_lowercase().contains(&lower)).cloned().collect();
    if products.is_empty() {
        let names: Vec<&str> = facts.products.iter().chain(&facts.mig).map(String::as_str).collect();
        let has = match names.is_empty() {
            true => "the cluster's facts name no types; leave `type` out".to_owned(),
            false => format!("there are: {}", crate::nearest::listing(names.into_iter())),
        };
        notes.refuse("resources/gpu", format!("no node has graphics cards of the type `{kind}`; {has}"));
        return None;
    }
    Some((facts.product_label.clone(), products))
}

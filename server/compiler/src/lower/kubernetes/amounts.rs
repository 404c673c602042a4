//! The resources of a container. CPU is a request, as on one machine, and a limit only if the task has one;
//! for all else both are equal. With `cpu_exclusive`, the CPUs are whole and limited as well. The pod is then
//! of the QoS class Guaranteed, and a kubelet with the static policy assigns dedicated CPUs.

use cubeloom_domain::Bytes;
use cubeloom_domain::kubernetes::{CardFacts, KubernetesFacts};
use cubeloom_domain::resources::{GpuRequest, Resources};
use serde_json::{Map, Value, json};

use super::Frame;
use super::kai;
use super::notes::Notes;

/// The `resources` of a container.
pub(super) fn resources(frame: &Frame<'_>, wanted: &Resources, notes: &mut Notes) -> Value {
    let mut amounts = Map::new();
    amounts.insert("cpu".into(), wanted.cpu.to_string().into());
    amounts.insert("memory".into(), wanted.memory.to_string().into());
    if let Some(gpu) = &wanted.gpu {
        cards(frame, gpu, notes).into_iter().for_each(|(name, amount)| {
            amounts.insert(name, amount.to_string().into());
        });
    }
    if let Some(devices) = wanted.rdma.filter(|devices| *devices > 0) {
        match &frame.facts.rdma {
            Some(name) => drop(amounts.insert(name.clone(), devices.to_string().into())),
            None => notes.refuse("resources/rdma", "this cluster has no RDMA devices; remove `rdma`"),
        }
    }
    asked(amounts, wanted)
}

/// The requests of a container, which are also its limits, except for CPU.
pub fn asked(amounts: Map<String, Value>, wanted: &Resources) -> Value {
    let mut limits = amounts.clone();
    match wanted.most_cpu() {
        Some(most) => limits.insert("cpu".into(), most.to_string().into()),
        None => limits.remove("cpu"),
    };
    json!({"requests": amounts, "limits": limits})
}

/// GPUs, by the resource names of their device plugins.
fn cards(frame: &Frame<'_>, gpu: &GpuRequest, notes: &mut Notes) -> Vec<(String, u64)> {
    let facts = frame.facts;
    let resource = &facts.cards.resource;
    if let Some(profile) = mig_profile(&facts.cards, gpu) {
        return vec![(facts.cards.slices(profile), gpu.count.unwrap_or(1).into())];
    }
    if let Some(count) = gpu.count {
        return vec![(resource.clone(), count.into())];
    }
    if kai::queue(facts, gpu).is_some() {
        kai::refuse_several(frame, notes);
        return Vec::new();
    }
    match share(facts, gpu) {
        Ok(amounts) => amounts,
        Err(message) => {
            notes.refuse("resources/gpu", message);
            Vec::new()
        }
    }
}

/// A GPU fraction: Volcano's if it places the pods, else HAMi's, which has its own scheduler for it.
fn share(facts: &KubernetesFacts, gpu: &GpuRequest) -> Result<Vec<(String, u64)>, String> {
    let mebibytes = gpu.memory.map(|Bytes(memory)| memory.div_ceil(1 << 20));
    let (cards, vendor) = (&facts.cards, facts.cards.vendor());
    let others = [("HAMi", cards.hami), ("KAI-Scheduler", cards.kai.is_some())];
    let other = others.into_iter().find_map(|(name, is_there)| is_there.then_some(name));
    match (facts.volcano.is_some(), cards.vgpu, other) {
        (true, true, _) => match mebibytes {
            Some(mebibytes) => {
                Ok(vec![("volcano.sh/vgpu-number".into(), 1), ("volcano.sh/vgpu-memory".into(), mebibytes)])
            }
            // Its name for a share of the memory is not a node resource: a pod that requests it is never
            // placed.
            None => {
                Err("Volcano shares GPUs by their memory: request an amount of GPU `memory`".into())
            }
        },
        (true, false, Some(other)) => Err(format!(
            "Volcano schedules all pods here, and does not support GPU shares of {other}: request a `count`, or install Volcano's vGPU device plugin (`volcano.sh/vgpu-number`)"
        )),
        (false, _, Some(_)) => {
            let percent = gpu.fraction.map(|fraction| (fraction * 100.0).round().clamp(1.0, 100.0) as u64);
            let names = ["gpucores", "gpumem-percentage", "gpumem"].map(|name| format!("{vendor}/{name}"));
            let amounts = names.into_iter().zip([percent, percent, mebibytes]);
            let asked = amounts.filter_map(|(name, amount)| Some((name, amount?)));
            Ok([(cards.resource.clone(), 1)].into_iter().chain(asked).collect())
        }
        (false, _, None) if kai::is_there(facts) => {
            Err("KAI-Scheduler is installed, but its queue is not set: request a `count`, or ask an administrator to set `kai_queue`"
                .into())
        }
        (_, _, None) => Err("this cluster allocates whole GPUs only (it has neither HAMi nor KAI-Scheduler): request a `count`"
            .into()),
    }
}

/// The MIG profile that a GPU type names, if nodes offer it.
pub fn mig_profile<'f>(facts: &'f CardFacts, gpu: &GpuRequest) -> Option<&'f String> {
    let wanted = gpu.mig_profile()?;
    facts.mig.iter().find(|profile| **profile == wanted)
}

/// The label and values that select nodes with GPUs of the right type; `None` if any node will do.
pub fn card_nodes(facts: &CardFacts, wanted: &Resources, notes: &mut Notes) -> Option<(String, Vec<String>)> {
    let gpu = wanted.gpu.as_ref()?;
    let kind = gpu.kind.as_ref().filter(|_| mig_profile(facts, gpu).is_none())?;
    let lower = kind.to_lowercase();
    let products: Vec<String> =
        facts.products.iter().filter(|product| product.to_lowercase().contains(&lower)).cloned().collect();
    if products.is_empty() {
        let names: Vec<&str> = facts.products.iter().chain(&facts.mig).map(String::as_str).collect();
        let has = match names.is_empty() {
            true => "the cluster's facts list no GPU types; remove `type`".to_owned(),
            false => format!("there are: {}", crate::nearest::listing(names.into_iter())),
        };
        notes.refuse("resources/gpu", format!("no node has GPUs of the type `{kind}`; {has}"));
        return None;
    }
    Some((facts.product_label.clone(), products))
}

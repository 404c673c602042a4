//! The resources of each worker: whole CPUs, memory per CPU, GPUs per worker. Resources that Slurm counts per
//! node need one worker per node.

use cubeloom_domain::resources::{GpuRequest, Resources};
use cubeloom_domain::slurm::SlurmCards;

use super::{Frame, placement};
use crate::lower::notes::Notes;
use crate::nearest::listing;

/// The resources of one worker of a component.
pub struct Amounts {
    cpus: u64,
    /// In MiB; `None` for all memory of the node.
    memory_per_cpu: Option<u64>,
    /// `h100:2`, and the number of GPUs.
    cards: Option<(String, u32)>,
    /// Generic resources that Slurm allocates per node: `shard:4`.
    by_node: Vec<String>,
    /// Whether it has dedicated whole CPUs.
    exclusive: bool,
}

/// From a request; refuses what the cluster cannot provide.
pub fn of(frame: &Frame<'_>, wanted: &Resources, notes: &mut Notes) -> Amounts {
    let cpus = wanted.cpu.0.div_ceil(1000).max(1);
    if cpus * 1000 != wanted.cpu.0 {
        let rounded = if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") };
        notes.decide(format!("`cpu: {}` becomes {rounded}: Slurm allocates whole CPUs", wanted.cpu));
    }
    if wanted.shm.is_some_and(|shm| shm.0 > 0) {
        notes.decide("`shm` has no effect: workers use the node's own /dev/shm");
    }
    if let Some(limit) = wanted.cpu_limit.filter(|limit| limit.0.div_ceil(1000) != cpus) {
        notes.decide(format!(
            "`cpu_limit: {limit}` has no effect: on Slurm a worker has exactly its dedicated CPUs"
        ));
    }
    let mut by_node = Vec::new();
    let cards = wanted.gpu.as_ref().and_then(|gpu| match cards(frame, gpu) {
        Ok(Given::Cards(cards)) => cards,
        Ok(Given::Shards(shards)) => {
            by_node.push(format!("shard:{shards}"));
            None
        }
        Err(message) => {
            notes.refuse("resources/gpu", message);
            None
        }
    });
    if let Some(devices) = wanted.rdma.filter(|devices| *devices > 0) {
        match &frame.facts.rdma {
            Some(name) => by_node.push(format!("{name}:{devices}")),
            None => notes.refuse("resources/rdma", "this cluster has no RDMA devices; remove `rdma`"),
        }
    }
    let memory_per_cpu =
        (!placement::whole_nodes(frame)).then(|| wanted.memory.0.div_ceil(cpus).div_ceil(1 << 20).max(1));
    Amounts { cpus, memory_per_cpu, cards, by_node, exclusive: wanted.cpu_exclusive }
}

impl Amounts {
    /// The resources that Slurm allocates per node, not per worker.
    pub fn by_node(&self) -> String {
        self.by_node.join(",")
    }

    /// Option lines for the job, and the options repeated for its step. `alone`: each worker has a whole
    /// node.
    pub fn written(self, workers: u32, alone: bool) -> (Vec<String>, Vec<String>) {
        let tasks = vec![format!("--ntasks={workers}"), format!("--cpus-per-task={}", self.cpus)];
        let memory = match self.memory_per_cpu {
            Some(mebibytes) => format!("--mem-per-cpu={mebibytes}M"),
            None => "--mem=0".to_owned(),
        };
        let mut both: Vec<String> = vec![memory];
        both.extend(self.cards.iter().map(|(cards, _)| format!("--gpus-per-task={cards}")));
        if !self.by_node.is_empty() {
            both.push(format!("--gres={}", self.by_node()));
        }
        if alone {
            both.push(format!("--nodes={workers} --ntasks-per-node=1"));
        }
        let mut asked = vec![tasks.join(" ")];
        asked.extend(both.iter().cloned());
        let mut layout = tasks;
        layout.extend(both);
        // Repeated without the type: with a typed request, Slurm 22.05 binds no GPUs to a step's tasks.
        layout.extend(self.cards.map(|(_, count)| format!("--gpu-bind=per_task:{count}")));
        if self.exclusive {
            asked.push("--threads-per-core=1".into());
            layout.push("--cpu-bind=cores".into());
        }
        (asked, layout)
    }
}

/// How GPUs are allocated.
enum Given {
    /// Whole GPUs, or none: `2`, `h100:2`, and their number.
    Cards(Option<(String, u32)>),
    /// A number of shards of one GPU.
    Shards(u64),
}

fn cards(frame: &Frame<'_>, gpu: &GpuRequest) -> Result<Given, String> {
    if gpu.count == Some(0) {
        return Ok(Given::Cards(None));
    }
    let Some(facts) = &frame.facts.cards else {
        return Err("this cluster has no GPUs; remove `gpu`".into());
    };
    match (gpu.count, gpu.fraction) {
        (Some(count), _) => {
            let kind = gpu.kind.as_deref().map(|kind| named(facts, kind)).transpose()?;
            let cards = kind.map_or(count.to_string(), |kind| format!("{kind}:{count}"));
            Ok(Given::Cards(Some((cards, count))))
        }
        (None, Some(fraction)) => shards(facts, gpu, fraction),
        (None, None) => Err("Slurm does not share GPUs by memory: request a `fraction` or a `count`".into()),
    }
}

/// A GPU fraction, rounded up to shards.
fn shards(facts: &SlurmCards, gpu: &GpuRequest, fraction: f64) -> Result<Given, String> {
    let Some(shards) = facts.shards else {
        return Err("this cluster allocates whole GPUs only (it has no shards): request a `count`".into());
    };
    if gpu.kind.is_some() {
        return Err("Slurm's shards have no types: remove `type`, or request a `count`".into());
    }
    Ok(Given::Shards((fraction * f64::from(shards)).ceil().clamp(1.0, f64::from(shards)) as u64))
}

/// The one type that a request matches.
fn named<'f>(facts: &'f SlurmCards, wanted: &str) -> Result<&'f str, String> {
    let lower = wanted.to_lowercase();
    let alike = |kind: &&str| kind.to_lowercase().contains(&lower);
    let types = || facts.types.iter().map(String::as_str);
    if let Some(exact) = types().find(|kind| kind.to_lowercase() == lower) {
        return Ok(exact);
    }
    let found: Vec<&str> = types().filter(alike).collect();
    match found[..] {
        [one] => Ok(one),
        [] if facts.types.is_empty() => Err(format!(
            "no node has GPUs of the type `{wanted}`; the cluster's facts list no GPU types, remove `type`"
        )),
        [] => Err(format!("no node has GPUs of the type `{wanted}`; there are: {}", listing(types()))),
        _ => Err(format!("`{wanted}` matches several types, but Slurm accepts only one: {}", listing(found))),
    }
}

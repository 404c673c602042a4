//! The resources of each worker of a role: layers that override each other.

use cubeloom_domain::pipeline::Task;
use cubeloom_domain::plan::LateMap;
use cubeloom_domain::resources::{GpuRequest, ResourceRequest, Resources};
use cubeloom_domain::sizing::{Keeper, Kept};
use cubeloom_domain::{Bytes, Code, Cpu, Problem};
use serde_json::Value;

use super::Planner;
use super::env::known_text;
use super::prepared::{Prepared, Role};
use super::resolve::Sight;
use crate::parse::{Decoder, Node, resources};

/// A worker's resources if none are set.
const DEFAULT_CPU: Cpu = Cpu(1000);
const DEFAULT_MEMORY: Bytes = Bytes(1 << 30);

impl Planner<'_> {
    /// Platform < template's role < task < task's role < resources that the template fixes. Also returns the
    /// resources that right-sizing does not change.
    pub fn resources(
        &mut self,
        prefix: &str,
        task: &Task,
        prepared: &Prepared<'_>,
        role: &Role<'_>,
        inside: &Sight<'_>,
        fixed: &ResourceRequest,
    ) -> (Resources, Kept) {
        let evaluated =
            if role.fixed.is_none() { self.evaluated(prefix, prepared, role, inside) } else { None };
        let own = task.role_resources.get(&role.template.name);
        let layers = [role.fixed.as_ref(), evaluated.as_ref(), task.resources.as_deref(), own, Some(fixed)];
        let mut resources = Resources { cpu: DEFAULT_CPU, memory: DEFAULT_MEMORY, ..Resources::default() };
        layers.into_iter().flatten().for_each(|layer| lay(&mut resources, layer));
        let pinned = layers.into_iter().flatten().filter_map(|layer| layer.pinned).next_back();
        let kept = kept(prepared, fixed, pinned == Some(true), resources.cpu_exclusive);
        for message in contradictions(&resources) {
            let place = if own.is_some() {
                format!("role_resources/{}", role.template.name)
            } else {
                "resources".into()
            };
            self.problem(Code::Conflict, format!("{prefix}/{place}"), message);
        }
        (resources, kept)
    }

    /// The template's resources that depend on arguments.
    fn evaluated(
        &mut self,
        prefix: &str,
        prepared: &Prepared<'_>,
        role: &Role<'_>,
        inside: &Sight<'_>,
    ) -> Option<ResourceRequest> {
        let value = role.template.resources.as_ref()?;
        let value = self.template_value(prefix, prepared, value, inside, "the resources")?;
        decode_resources(&value)
            .map_err(|problem| {
                let message = format!(
                    "the task template `{}`, role `{}`, resources{}: {}",
                    prepared.template.name, role.template.name, problem.path, problem.message
                );
                self.problem(problem.code, format!("{prefix}/arguments"), message);
            })
            .ok()
    }

    /// `TASK_RESOURCE_...` in the template's env fixes a resource, whatever the task says.
    pub fn fixed_amounts(&mut self, prefix: &str, prepared: &Prepared<'_>, env: &LateMap) -> ResourceRequest {
        let mut request = serde_json::Map::new();
        let names = [
            ("TASK_RESOURCE_CPU", "cpu"),
            ("TASK_RESOURCE_MEM", "memory"),
            ("TASK_RESOURCE_MEMORY", "memory"),
            ("TASK_RESOURCE_GPU", "gpu"),
        ];
        for (name, key) in names {
            if !prepared.template.env.contains_key(name) {
                continue;
            }
            let Some(text) = known_text(env, name).map(str::trim).filter(|text| !text.is_empty()) else {
                continue;
            };
            let value = match (key, text.parse::<u32>()) {
                ("gpu", Ok(count)) => serde_json::json!({ "count": count }),
                _ => Value::String(text.to_owned()),
            };
            request.insert(key.to_owned(), value);
        }
        decode_resources(&Value::Object(request)).unwrap_or_else(|problem| {
            let message = format!(
                "the task template `{}`: TASK_RESOURCE_{}: {}",
                prepared.template.name,
                problem.path.trim_start_matches('/').to_uppercase(),
                problem.message
            );
            self.problem(problem.code, format!("{prefix}/template"), message);
            ResourceRequest::default()
        })
    }
}

/// The resources that right-sizing does not change, by the strongest reason: fixed by the template,
/// `NO_RESOURCE_CHECK` in its env (with any value), the task's pin, dedicated CPUs.
fn kept(prepared: &Prepared<'_>, fixed: &ResourceRequest, is_pinned: bool, is_exclusive: bool) -> Kept {
    let unchecked = prepared.template.env.contains_key("NO_RESOURCE_CHECK").then_some(Keeper::Unchecked);
    let others = unchecked.or(is_pinned.then_some(Keeper::Pinned));
    Kept {
        cpu: fixed.cpu.map(|_| Keeper::Template).or(others).or(is_exclusive.then_some(Keeper::Exclusive)),
        memory: fixed.memory.map(|_| Keeper::Template).or(others),
    }
}

/// Contradictions between a worker's resources.
fn contradictions(resources: &Resources) -> impl Iterator<Item = String> {
    let Resources { cpu, cpu_limit, cpu_exclusive, .. } = resources;
    let parts = (*cpu_exclusive && !cpu.0.is_multiple_of(1000))
        .then(|| format!("{cpu} CPU cannot be exclusive: cpu_exclusive needs whole CPUs"));
    let below = cpu_limit.filter(|limit| limit < cpu);
    let below =
        below.map(|limit| format!("the CPU limit {limit} is below the {cpu} CPU that are guaranteed"));
    let beyond = cpu_limit.filter(|limit| *cpu_exclusive && limit > cpu);
    let beyond = beyond
        .map(|limit| format!("with cpu_exclusive it has {cpu} dedicated CPU only: remove the limit {limit}"));
    [parts, below, beyond].into_iter().flatten()
}

/// Applies one layer of resources over the previous ones.
fn lay(resources: &mut Resources, layer: &ResourceRequest) {
    resources.cpu = layer.cpu.unwrap_or(resources.cpu);
    resources.cpu_limit = layer.cpu_limit.or(resources.cpu_limit);
    resources.memory = layer.memory.unwrap_or(resources.memory);
    if let Some(gpu) = &layer.gpu {
        // Zero GPUs equal no request.
        resources.gpu = Some(gpu.clone()).filter(|gpu: &GpuRequest| gpu.count != Some(0));
    }
    resources.processes_per_gpu = layer.processes_per_gpu.or(resources.processes_per_gpu);
    resources.shm = layer.shm.or(resources.shm);
    resources.rdma = layer.rdma.or(resources.rdma);
    resources.cpu_exclusive = layer.cpu_exclusive.unwrap_or(resources.cpu_exclusive);
}

/// Decodes resources from an expression or a template.
///
/// # Errors
/// The first problem; its path is relative to the resources.
pub fn decode_resources(value: &Value) -> Result<ResourceRequest, Problem> {
    let mut decoder = Decoder::default();
    let request = resources::resources(&mut decoder, &Node::from_json(value));
    match decoder.problems.into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok(request.unwrap_or_default()),
    }
}

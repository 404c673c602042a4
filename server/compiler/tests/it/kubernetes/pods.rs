//! Requirements of a task's settings on its pods, in every kind of manifest: placement, content, permissions.

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, pull_secret};
use cubeloom_domain::pipeline::{Spread, SpreadBy, WorkerPlacement};
use cubeloom_domain::resources::Resources;
use serde_json::{Value, json};

use super::shape::Findings;

/// Everything that is wrong with a pod's template.
pub fn check(template: &Value, job: &Job, facts: &KubernetesFacts, found: &mut Findings) {
    let spec = &template["spec"];
    let role = template["metadata"]["labels"]["cubeloom/role"].as_str().unwrap();
    let resources = &job.roles.iter().find(|one| one.name == role).unwrap().resources;
    place(spec, job, facts, found);
    nodes(spec, resources, facts, found);
    others(spec, job, resources, found);
    let own = job.registry.as_ref().map(|_| pull_secret(&job.key.object_name()));
    let secrets: Vec<&str> = own.iter().chain(&facts.pull_secrets).map(String::as_str).collect();
    found.expect(names(&spec["imagePullSecrets"]) == secrets, "the Secrets that images are pulled with");
    shm(spec, resources, found);
    for key in ["containers", "initContainers"] {
        for container in spec[key].as_array().into_iter().flatten() {
            amounts(&container["resources"], resources, facts, found);
            let closed = container["securityContext"]["readOnlyRootFilesystem"] == true;
            found.expect(closed != job.writable_root, "the root file system");
        }
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|one| one["name"].as_str().unwrap()).collect()
}

/// The node group, selector, tolerations and network in the document.
fn place(spec: &Value, job: &Job, facts: &KubernetesFacts, found: &mut Findings) {
    let mut selector = job.placement.selector.clone();
    let known = job.placement.node_group.as_ref().and_then(|name| facts.node_groups.get(name));
    match (&job.placement.node_group, known) {
        (Some(_), Some(group)) => selector.extend(group.selector.clone()),
        (Some(name), None) => _ = selector.insert("cubeloom/node-group".into(), name.clone()),
        (None, _) => {}
    }
    let wanted = if selector.is_empty() { Value::Null } else { json!(selector) };
    found.expect(spec["nodeSelector"] == wanted, format!("the selector {}", spec["nodeSelector"]));
    let tolerated = spec["tolerations"].as_array().map_or(&[][..], Vec::as_slice);
    let more = known.map_or(0, |group| group.tolerations.len());
    found.expect(tolerated.len() == job.placement.tolerations.len() + more, "the tolerations");
    for one in &job.placement.tolerations {
        let operator = if one.value.is_some() { "Equal" } else { "Exists" };
        let is_it = |seen: &Value| {
            seen["key"] == one.key
                && seen["operator"] == operator
                && seen["value"].as_str() == one.value.as_deref()
                && seen["effect"].as_str() == one.effect.as_deref()
        };
        found.expect(tolerated.iter().any(is_it), format!("it tolerates {}", one.key));
    }
    let network = job.placement.host_network == Some(true);
    found.expect((spec["hostNetwork"] == true) == network, "the network of its node");
    found.expect((spec["dnsPolicy"] == "ClusterFirstWithHostNet") == network, "names in that network");
}

/// The nodes with GPUs of the type; for slices, the resource name selects them.
fn nodes(spec: &Value, resources: &Resources, facts: &KubernetesFacts, found: &mut Findings) {
    let by_product = resources.gpu.as_ref().filter(|gpu| gpu.mig_profile().is_none());
    let kind = by_product.and_then(|gpu| gpu.kind.as_deref());
    let terms = spec
        .pointer("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0");
    found.expect(terms.is_some() == kind.is_some(), "a rule about nodes where a type is asked for");
    if let (Some(terms), Some(kind)) = (terms, kind) {
        let rule = &terms["matchExpressions"][0];
        let values = rule["values"].as_array().unwrap();
        let fits = |value: &Value| value.as_str().unwrap().to_lowercase().contains(&kind.to_lowercase());
        found.expect(rule["key"] == facts.cards.product_label && rule["operator"] == "In", "the product");
        found.expect(!values.is_empty() && values.iter().all(fits), format!("{values:?} are {kind}"));
    }
}

/// The rules about other pods: those of the same run and another task, and those of the same job.
fn others(spec: &Value, job: &Job, resources: &Resources, found: &mut Findings) {
    let rules = |path: &str| -> Vec<&Value> {
        let rules = spec["affinity"].pointer(path).and_then(Value::as_array);
        let term = |rule: &'_ Value| -> bool { rule.get("podAffinityTerm").is_some() };
        rules
            .into_iter()
            .flatten()
            .map(|rule| if term(rule) { &rule["podAffinityTerm"] } else { rule })
            .collect()
    };
    let [required, apart, together] = [
        "/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution",
        "/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution",
        "/podAffinity/preferredDuringSchedulingIgnoredDuringExecution",
    ]
    .map(rules);
    let topology = match job.placement.spread_by {
        Some(SpreadBy::Zone) => "topology.kubernetes.io/zone",
        Some(SpreadBy::Host) | None => "kubernetes.io/hostname",
    };
    let of_run = |term: &&Value| {
        let rules = term["labelSelector"]["matchExpressions"].as_array();
        let is = |rule: &Value, key: &str, operator: &str, value: &str| {
            rule["key"] == key && rule["operator"] == operator && rule["values"] == json!([value])
        };
        // A rule about the run alone would separate a gang.
        rules.is_some_and(|rules| {
            rules.len() == 2
                && is(&rules[0], "cubeloom/root-run", "In", job.root().as_str())
                && is(&rules[1], "cubeloom/job", "NotIn", &job.key.object_name())
                && term["topologyKey"] == topology
        })
    };
    let count = |terms: &[&Value]| terms.iter().filter(|term| of_run(term)).count();
    let wanted = match job.placement.spread.unwrap_or(Spread::Preferred) {
        Spread::Required => (1, 0),
        Spread::Preferred => (0, 1),
        Spread::None => (0, 0),
    };
    found.expect((count(&required), count(&apart)) == wanted, "tasks of a run are kept apart as it says");
    found.expect(required.len() == count(&required), "nothing else is required");
    let own = |terms: &[&Value]| {
        let name = job.key.object_name();
        let of_job = |term: &&&Value| term["labelSelector"]["matchLabels"]["cubeloom/job"] == name.as_str();
        terms.iter().filter(of_job).count()
    };
    let packs = match job.placement.workers {
        Some(wish) => wish == WorkerPlacement::Pack,
        None => resources.gpu.is_some(),
    };
    let several = usize::from(job.workers() > 1);
    let wanted = if packs { (several, 0) } else { (0, several) };
    found.expect((own(&together), own(&apart)) == wanted, "workers are packed or spread as it says");
}

/// Shared memory is a memory-backed volume of the requested size.
fn shm(spec: &Value, resources: &Resources, found: &mut Findings) {
    let volumes = spec["volumes"].as_array().unwrap();
    let volume = volumes.iter().find(|volume| volume["name"] == "shm");
    let size = volume.map(|volume| {
        found.expect(volume["emptyDir"]["medium"] == "Memory", "shared memory is memory");
        volume["emptyDir"]["sizeLimit"].as_str().unwrap().to_owned()
    });
    found.expect(size == resources.shm.map(|shm| shm.to_string()), format!("shared memory: {size:?}"));
    let mounts = spec["containers"][0]["volumeMounts"].as_array().unwrap();
    let mounted = mounts.iter().any(|mount| mount["name"] == "shm" && mount["mountPath"] == "/dev/shm");
    found.expect(mounted == resources.shm.is_some(), "it is where programs look for it");
}

/// CPU, memory, GPUs and RDMA devices.
fn amounts(asked: &Value, resources: &Resources, facts: &KubernetesFacts, found: &mut Findings) {
    let mut wanted = json!({"cpu": resources.cpu.to_string(), "memory": resources.memory.to_string()});
    let mut put = |name: &str, amount: u64| wanted[name] = amount.to_string().into();
    if let Some(gpu) = &resources.gpu {
        let mebibytes = gpu.memory.map(|memory| memory.0 >> 20);
        match (gpu.mig_profile(), gpu.count) {
            (Some(profile), count) => {
                put(&format!("nvidia.com/mig-{profile}"), count.unwrap_or(1).into());
            }
            (None, Some(count)) => put("nvidia.com/gpu", count.into()),
            (None, None) if facts.volcano.is_some() => {
                put("volcano.sh/vgpu-number", 1);
                put("volcano.sh/vgpu-memory", mebibytes.unwrap());
            }
            (None, None) => {
                put("nvidia.com/gpu", 1);
                let percent = gpu.fraction.map(|fraction| (fraction * 100.0) as u64);
                percent.into_iter().for_each(|percent| {
                    put("nvidia.com/gpucores", percent);
                    put("nvidia.com/gpumem-percentage", percent);
                });
                mebibytes.into_iter().for_each(|memory| put("nvidia.com/gpumem", memory));
            }
        }
    }
    if let Some(devices) = resources.rdma {
        put(facts.rdma.as_deref().unwrap(), devices.into());
    }
    found.expect(asked["requests"] == wanted, format!("{asked} instead of {wanted}"));
    match resources.cpu_limit.or(resources.cpu_exclusive.then_some(resources.cpu)) {
        Some(most) => wanted["cpu"] = most.to_string().into(),
        None => _ = wanted.as_object_mut().unwrap().remove("cpu"),
    }
    found.expect(asked["limits"] == wanted, format!("limits {asked} instead of {wanted}"));
    let whole = asked["requests"]["cpu"].as_str().unwrap().parse::<u32>().is_ok();
    found.expect(whole || !resources.cpu_exclusive, "whole cores where they are its own");
}

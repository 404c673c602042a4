//! GPU fractions: the components that allocate them, their resource names, and whether any node has them.

use cubeloom_domain::Severity;
use serde_json::{Value, json};

use super::{cluster, lowered, try_job};

const ECHO: &str = "template: echo, arguments: {words: [a]}";

/// Sliced GPUs on two nodes of a group, and whole ones on a third.
const SLICES: &str = "\
cluster: c
nodes:
  - {name: a, cpu: '16', memory: 64Gi, mig: {1g.10gb: 4}, groups: [slices]}
  - {name: b, cpu: '16', memory: 64Gi, mig: {1g.10gb: 2, 3g.40gb: 1}, groups: [slices]}
  - {name: c, cpu: '16', memory: 64Gi, gpus: [{uuid: c/0, name: NVIDIA-H100-80GB-HBM3, memory: 80Gi}], groups: [whole]}
kubernetes:
  volcano: {queue: q}
  cards: {products: [NVIDIA-H100-80GB-HBM3], mig: [1g.10gb, 3g.40gb]}
  node_groups:
    slices: {selector: {pool: slices}, tolerations: [{key: slices, effect: NoSchedule}], env: {NCCL_SOCKET_IFNAME: ib0, NCCL_DEBUG: INFO}}
    whole: {selector: {pool: whole}}
";

/// The template of the first pods, and their resources.
fn pod(task: &str, facts: &str) -> (Value, Value) {
    let made = lowered(task, &cluster(facts));
    let object = made.objects.last().unwrap();
    let of_volcano = object["spec"]["tasks"].get(0).map(|task| &task["template"]);
    let template = of_volcano.unwrap_or_else(|| super::template(object))["spec"].clone();
    let mut limits = template["containers"][0]["resources"]["limits"].clone();
    for usual in ["cpu", "memory"] {
        limits.as_object_mut().unwrap().remove(usual);
    }
    (template, limits)
}

/// Planning's refusal; empty if it can run.
fn said(task: &str, facts: &str) -> String {
    let problems = try_job(task, &cluster(facts).0).err().unwrap_or_default();
    let errors = problems.into_iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| problem.message).collect::<Vec<_>>().join("; ")
}

/// Workers get the variables that their nodes' network requires; a task may override them.
#[test]
fn workers_get_the_variables_of_their_nodes() {
    let told = |more: &str| {
        let (template, _) = pod(&format!("{ECHO}{more}"), SLICES);
        let env = template["containers"][0]["env"].as_array().unwrap().clone();
        let nccl = env.iter().filter(|one| one["name"].as_str().unwrap().starts_with("NCCL_"));
        nccl.map(|one| (one["name"].clone(), one["value"].clone())).collect::<Vec<_>>()
    };
    let pair = |name: &str, value: &str| (json!(name), json!(value));
    let placement = ", placement: {node_group: slices}";
    assert_eq!(told(placement), [pair("NCCL_DEBUG", "INFO"), pair("NCCL_SOCKET_IFNAME", "ib0")]);
    let own = format!("{placement}, env: {{NCCL_DEBUG: WARN}}");
    assert_eq!(told(&own), [pair("NCCL_DEBUG", "WARN"), pair("NCCL_SOCKET_IFNAME", "ib0")]);
    assert!(told(", placement: {node_group: whole}").is_empty() && told("").is_empty());
}

#[test]
fn slices_are_asked_for_where_a_node_has_enough_of_them() {
    let task = |gpu: &str, more: &str| format!("{ECHO}, resources: {{gpu: {{{gpu}}}}}{more}");
    let (template, limits) =
        pod(&task("count: 2, type: MIG-1g.10gb", ", placement: {node_group: slices}"), SLICES);
    assert_eq!(limits, json!({"nvidia.com/mig-1g.10gb": "2"}));
    assert_eq!(template["nodeSelector"], json!({"pool": "slices"}));
    let tolerated = json!([{"key": "slices", "operator": "Exists", "effect": "NoSchedule"}]);
    assert_eq!(template["tolerations"], tolerated);
    assert!(template["affinity"].get("nodeAffinity").is_none(), "the resource itself names the nodes");
    assert_eq!(said(&task("count: 4, type: 1g.10gb", ""), SLICES), "");
    let too_many = said(&task("count: 5, type: 1g.10gb", ""), SLICES);
    assert!(too_many.contains("no node has the requested 1g.10gb GPUs"), "{too_many}");
    assert!(too_many.contains("(the most on one node: 4)"), "{too_many}");
    let elsewhere = said(&task("count: 1, type: 1g.10gb", ", placement: {node_group: whole}"), SLICES);
    assert!(elsewhere.contains("in the node group `whole`"), "{elsewhere}");
    assert!(said(&task("count: 1, type: 2g.20gb", ""), SLICES).contains("2g.20gb"));
}

#[test]
fn slices_and_whole_cards_are_counted_apart() {
    let task = |workers: u32, gpu: &str| {
        format!("template: crowd, arguments: {{workers: {workers}}}, resources: {{gpu: {{{gpu}}}}}")
    };
    assert_eq!(said(&task(6, "count: 1, type: 1g.10gb"), SLICES), "");
    let slices = said(&task(7, "count: 1, type: 1g.10gb"), SLICES);
    let both = "they need 7 slices `1g.10gb` of GPUs, and the cluster has 6 slices `1g.10gb`";
    assert!(slices.contains(both), "{slices}");
    assert_eq!(said(&task(1, "count: 1"), SLICES), "");
    assert!(said(&task(2, "count: 1"), SLICES).contains("they need 2 x 1 GPUs"), "slices are no GPUs");
}

/// If all slices of a node are alike, they count as its GPUs, and the product's name contains the profile.
#[test]
fn cards_cut_alike_are_asked_for_as_cards() {
    let facts = "\
cluster: c
nodes: [{name: a, cpu: '16', memory: 64Gi, gpus: [{uuid: a/0, name: NVIDIA-A100-SXM4-80GB-MIG-1g.10gb, memory: 10Gi}]}]
kubernetes: {cards: {products: [NVIDIA-A100-SXM4-80GB-MIG-1g.10gb]}}
";
    let task = |count: u32| format!("{ECHO}, resources: {{gpu: {{count: {count}, type: 1g.10gb}}}}");
    assert_eq!(pod(&task(1), facts).1, json!({"nvidia.com/gpu": "1"}));
    assert!(!said(&task(2), facts).is_empty());
}

#[test]
fn shares_are_asked_for_by_the_names_of_who_hands_them_out() {
    let share = |gpu: &str| format!("{ECHO}, resources: {{gpu: {{{gpu}}}}}");
    let (hami, volcano) =
        ("kubernetes: {cards: {hami: true}}", "kubernetes: {volcano: {queue: q}, cards: {vgpu: true}}");
    let fraction =
        json!({"nvidia.com/gpu": "1", "nvidia.com/gpucores": "25", "nvidia.com/gpumem-percentage": "25"});
    assert_eq!(pod(&share("fraction: 0.25"), hami).1, fraction);
    assert_eq!(
        pod(&share("memory: 8Gi"), hami).1,
        json!({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8192"})
    );
    let memory = json!({"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": "8192"});
    assert_eq!(pod(&share("memory: 8Gi"), volcano).1, memory);
    assert!(said(&share("fraction: 0.25"), volcano).contains("request an amount of GPU `memory`"));
    let both = "kubernetes: {volcano: {queue: q}, cards: {hami: true}}";
    for gpu in ["fraction: 0.25", "memory: 8Gi"] {
        let said = said(&share(gpu), both);
        assert!(
            said.contains("Volcano schedules all pods here") && said.contains("volcano.sh/vgpu-number"),
            "{said}"
        );
    }
    assert_eq!(pod(&share("count: 1"), both).1, json!({"nvidia.com/gpu": "1"}));
}

/// Only single pods: KAI-Scheduler would start a part of a gang.
#[test]
fn kai_places_single_pods_with_parts_of_cards() {
    let kai = "kubernetes: {cards: {products: [NVIDIA-H100-80GB-HBM3], kai: {queue: vision, priority_class: train}}}";
    let share = |gpu: &str| format!("{ECHO}, resources: {{gpu: {{{gpu}}}}}");
    let (spec, limits) = pod(&share("fraction: 0.25, type: h100"), kai);
    assert_eq!((&spec["schedulerName"], limits), (&json!("kai-scheduler"), json!({})));
    assert!(spec.to_string().contains("NVIDIA-H100-80GB-HBM3"), "it goes to GPUs of its type");
    let told = |gpu: &str| {
        let made = lowered(&share(gpu), &cluster(kai));
        let metadata = super::template(made.objects.last().unwrap())["metadata"].clone();
        let of = |place: &str, name: &str| metadata[place].get(name).cloned().unwrap_or_default();
        [
            of("labels", "kai.scheduler/queue"),
            of("labels", "priorityClassName"),
            of("annotations", "gpu-fraction"),
            of("annotations", "gpu-memory"),
        ]
    };
    assert_eq!(told("fraction: 0.5"), [json!("vision"), json!("train"), json!("0.5"), json!(null)]);
    assert_eq!(told("memory: 8Gi"), [json!("vision"), json!("train"), json!(null), json!("8192")]);
    let (whole, limits) = pod(&share("count: 1"), kai);
    assert_eq!((whole.get("schedulerName"), limits), (None, json!({"nvidia.com/gpu": "1"})));
    let of_each = cluster("kubernetes: {cards: {kai: {queue: \"{project}-cards\"}}}").1.of_project("vision");
    assert_eq!(of_each.cards.kai.unwrap().queue, "vision-cards");
    let crowd = "template: crowd, arguments: {workers: 2}, resources: {gpu: {fraction: 0.5}}";
    assert!(said(crowd, kai).contains("KAI-Scheduler schedules pods with GPU fractions one by one"));
    let beside = "kubernetes: {volcano: {queue: q}, cards: {kai: {queue: q}}}";
    let refused = said(&share("memory: 8Gi"), beside);
    assert!(refused.contains("does not support GPU shares of KAI-Scheduler"), "{refused}");
    let unnamed = "kubernetes: {kinds: {queues.scheduling.run.ai/v2: {}}}";
    assert!(said(&share("fraction: 0.5"), unnamed).contains("its queue is not set"));
}

/// Without feature discovery only the number of GPUs is known.
#[test]
fn a_share_is_refused_where_every_card_is_known_to_be_too_small() {
    let of = |memory: &str| {
        let card = format!("{{uuid: a/0, name: '', memory: {memory}}}");
        format!(
            "{{cluster: c, nodes: [{{name: a, cpu: '16', memory: 64Gi, gpus: [{card}]}}], \
             kubernetes: {{cards: {{hami: true}}}}}}"
        )
    };
    let task = format!("{ECHO}, resources: {{gpu: {{memory: 8Gi}}}}");
    assert!(said(&task, &of("4Gi")).contains("no node has"));
    assert_eq!((said(&task, &of("8Gi")), said(&task, &of("0"))), (String::new(), String::new()));
}

#[test]
fn a_node_with_shares_has_room_for_them_and_for_no_whole_card() {
    let facts = "\
cluster: c
nodes: [{name: a, cpu: '16', memory: 64Gi, vgpus: 10}]
kubernetes: {volcano: {queue: q}, cards: {vgpu: true}}
";
    assert_eq!(said(&format!("{ECHO}, resources: {{gpu: {{memory: 8Gi}}}}"), facts), "");
    assert!(said(&format!("{ECHO}, resources: {{gpu: {{count: 1}}}}"), facts).contains("no node has"));
}

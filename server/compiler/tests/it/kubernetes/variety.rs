//! Tasks and clusters of every kind, for property tests.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Frameworks and sizes.
const TEMPLATES: [&str; 32] = [
    "template: echo, arguments: {words: [a, $(CUBELOOM_INDEX)]}",
    "template: crowd, arguments: {workers: 1}",
    "template: crowd, arguments: {workers: 5}",
    "template: pytorch, arguments: {workers: 1}",
    "template: pytorch, arguments: {workers: 4}",
    "template: pytorch, arguments: {elastic: {min: 2, max: 4}}",
    "template: pytorch, arguments: {elastic: {min: 3, max: 3}}",
    "template: mpi, arguments: {workers: 1}",
    "template: mpi, arguments: {workers: 12}",
    "template: xgboost, arguments: {workers: 1}",
    "template: xgboost, arguments: {workers: 3}",
    "template: tensorflow",
    "template: tensorflow, arguments: {chief: 0, workers: 3, ps: 2}",
    "template: tensorflow, arguments: {chief: 1, workers: 0, ps: 0}",
    "template: tensorflow, arguments: {workers: 12, evaluator: 1}",
    "template: horovod, arguments: {workers: 1}",
    "template: horovod, arguments: {workers: 3}",
    "template: ray, arguments: {workers: 0}",
    "template: ray, arguments: {workers: 12}",
    "template: ray, arguments: {workers: 100}",
    "template: spark, arguments: {executors: 1}",
    "template: spark, arguments: {executors: 3, args: [a b, $(CUBELOOM_RUN_DIR)/x, \"--conf\"]}",
    "template: spark, arguments: {executors: 3, master: local}",
    "template: spark, arguments: {mode: local, master: local}",
    "template: spark, arguments: {mode: yarn, master: yarn}",
    "template: jax, arguments: {workers: 1}",
    "template: jax, arguments: {workers: 4}",
    "template: paddle, arguments: {workers: 3}",
    "template: paddle, arguments: {masters: 2, workers: 2}",
    "template: mxnet, arguments: {servers: 2, workers: 3}",
    "template: kaldi, arguments: {workers: 3}",
    "template: nni, arguments: {workers: 3}",
];

/// Options that any task can have; at most one of each row.
const OPTIONS: [&[&str]; 8] = [
    &["setup: [mkdir, $(CUBELOOM_RUN_DIR)/x]", "setup: [echo, \"$(CUBELOOM_RANK)/$$(CUBELOOM_RANK)\"]"],
    &[
        "env: {A: \"$(CUBELOOM_RANK) of $(CUBELOOM_WORLD_SIZE)\", B: $$$$, PYTHONPATH: \"/p/$(CUBELOOM_INDEX)\"}",
    ],
    &["secrets: [s3-key]", "secrets: [{name: cert, file: cert.pem}, {name: token, env: API}]"],
    &["volumes: [big-disk]", "volumes: [{name: data, mount: /data, read_only: true}]"],
    &["timeout: 90s", "timeout: 250ms"],
    &[
        "resources: {cpu: \"2\", cpu_exclusive: true, shm: 2Gi}",
        "resources: {gpu: {count: 8}, rdma: 2}",
        "resources: {gpu: {fraction: 0.25, type: a100}}",
        "resources: {gpu: {memory: 8Gi}}",
        "resources: {gpu: {count: 2, type: mig-2g.20gb}}",
        "resources: {cpu: 100m, memory: 100M}",
    ],
    &[
        "placement: {spread: none, workers: pack}",
        "placement: {spread: required, spread_by: zone, workers: spread}",
        "placement: {node_group: big, selector: {disk: ssd}, host_network: true}",
        "placement: {tolerations: [{key: gpu}, {key: a, value: b, effect: NoExecute}]}",
    ],
    &["outputs: [rows]"],
];

/// Facts of a cluster besides GPUs, RDMA and the nodes' network.
const CLUSTERS: [&str; 6] = [
    "volcano: {queue: q}, spark_account: cubeloom-spark, kinds: {pytorchjobs.kubeflow.org/v1: {gang: true}, \
     xgboostjobs.kubeflow.org/v1: {gang: true}, mpijobs.kubeflow.org/v2beta1: {gang: true}, \
     tfjobs.kubeflow.org/v1: {gang: true}, jaxjobs.kubeflow.org/v1: {gang: true}, \
     paddlejobs.kubeflow.org/v1: {gang: true}, rayjobs.ray.io/v1: {gang: true}, \
     sparkapplications.sparkoperator.k8s.io/v1beta2: {gang: true}, \
     frameworks.frameworkcontroller.microsoft.com/v1: {}}",
    "volcano: {queue: q, priority_class: high}, spark_account: cubeloom-spark, kinds: {pytorchjobs.kubeflow.org/v1: {}, \
     mpijobs.kubeflow.org/v2beta1: {}, rayjobs.ray.io/v1: {gang: true}, \
     sparkapplications.sparkoperator.k8s.io/v1beta2: {gang: true}}",
    "volcano: {queue: q}",
    "kueue: {queue: q}, spark_account: cubeloom-spark, kinds: {pytorchjobs.kubeflow.org/v1: {}, \
     xgboostjobs.kubeflow.org/v1: {}, mpijobs.kubeflow.org/v2beta1: {}, tfjobs.kubeflow.org/v1: {}, \
     jaxjobs.kubeflow.org/v1: {}, paddlejobs.kubeflow.org/v1: {}, rayjobs.ray.io/v1: {}, \
     sparkapplications.sparkoperator.k8s.io/v1beta2: {}}",
    "kueue: {queue: q, priority_class: high}, kinds: {sparkapplications.sparkoperator.k8s.io/v1beta2: {}}",
    "pull_secrets: [registry], node_groups: {big: {selector: {pool: big}, tolerations: [{key: big, effect: NoSchedule}]}}, \
     kinds: {frameworks.frameworkcontroller.microsoft.com/v1: {}}",
];

pub fn task() -> impl Strategy<Value = String> {
    let options = subsequence(OPTIONS.to_vec(), 0..=OPTIONS.len())
        .prop_flat_map(|rows| rows.into_iter().map(|row| select(row.to_vec())).collect::<Vec<_>>());
    (select(TEMPLATES.to_vec()), options)
        .prop_map(|(template, options)| [vec![template], options].concat().join(", "))
}

fn facts() -> impl Strategy<Value = String> {
    (select(CLUSTERS.to_vec()), select(vec!["", "registry.test", "example.org"])).prop_map(|(cluster, account)| {
        format!(
            "registries: [{account}]\nkubernetes: {{{cluster}, rdma: rdma/hca, host_network: true, cards: {{hami: true, vgpu: true, \
             products: [NVIDIA-A100-SXM4-80GB], mig: [2g.20gb]}}}}"
        )
    })
}

/// Both. Volcano supports no GPU fractions.
pub fn task_on_cluster() -> impl Strategy<Value = (String, String)> {
    let fits = |(task, facts): &(String, String)| !task.contains("fraction") || !facts.contains("volcano");
    (task(), facts()).prop_filter("Volcano shares GPUs by memory", fits)
}

//! Lowering for Kubernetes: what each framework becomes on each kind of cluster, byte for byte, and what holds always.

mod contract;
mod crds;
mod names;
mod properties;
mod refusals;
mod shape;
mod variety;

use cubeloom_compiler::lower::kubernetes::{FULL_CLUSTER, lower, read_facts};
use cubeloom_compiler::{Outputs, job};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, KubernetesJob};
use cubeloom_domain::{JsonMap, Problem, TaskIx};

use crate::support::{fixtures, try_plan};

/// A cluster that facts describe.
fn cluster(text: &str) -> (Facts, KubernetesFacts) {
    read_facts(text).unwrap()
}

/// A cluster with everything.
fn full() -> (Facts, KubernetesFacts) {
    cluster(FULL_CLUSTER)
}

/// The fixtures' templates, with images: pods need one.
fn templates() -> cubeloom_domain::template::TemplateSet {
    let mut set = fixtures();
    for installed in set.values_mut().flat_map(std::collections::BTreeMap::values_mut) {
        let template = &mut installed.template;
        template.image = Some(format!("registry.test/{}:{}", template.name, template.version));
    }
    set
}

/// The job of a one-task pipeline.
fn try_job(task: &str, facts: &Facts) -> Result<Job, Vec<Problem>> {
    let text = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nenv: {{TEAM: vision}}\ntasks:\n  - {{name: train, {task}}}\n"
    );
    let planned = try_plan(&text, JsonMap::new(), &templates(), facts)?;
    Ok(job(&planned.plan, TaskIx(0), 0, None, 1, None, &Outputs::new()).unwrap())
}

fn lowered(task: &str, (facts, kubernetes): &(Facts, KubernetesFacts)) -> KubernetesJob {
    lower(&try_job(task, facts).unwrap(), kubernetes).unwrap()
}

#[test]
fn single() {
    let task = "template: echo, arguments: {words: [a, $(CUBELOOM_RANK), \"{{ run.dir }}/x\", $$(CUBELOOM_RANK), $$x]}, \
         setup: [mkdir, $(CUBELOOM_RUN_DIR)/x], env: {OMP_NUM_THREADS: \"7\", PYTHONPATH: /own}, \
         secrets: [s3-key, {name: cert, file: cert.pem}], volumes: [big-disk, {name: data, mount: /data, read_only: true}], \
         timeout: 1m, resources: {gpu: {fraction: 0.5, type: h100}, shm: 1Gi, rdma: 1}, \
         placement: {spread: required, spread_by: zone, node_group: big, host_network: true, selector: {disk: ssd}, \
         tolerations: [{key: gpu}, {key: team, value: vision, effect: NoSchedule}]}";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn indexed() {
    insta::assert_yaml_snapshot!(lowered("template: crowd, arguments: {workers: 3}", &full()));
}

#[test]
fn pytorch() {
    let task = "template: pytorch, arguments: {workers: 3}, resources: {gpu: {count: 2}}";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn pytorch_elastic() {
    insta::assert_yaml_snapshot!(lowered(
        "template: pytorch, arguments: {elastic: {min: 2, max: 4}}",
        &full()
    ));
}

#[test]
fn pytorch_by_volcano() {
    let task = "template: pytorch, arguments: {workers: 3}, env: {ME: \"worker $(RANK)\"}";
    insta::assert_yaml_snapshot!(lowered(
        task,
        &cluster("kubernetes: {volcano: {queue: q, priority_class: high}}")
    ));
}

#[test]
fn mpi() {
    let task = "template: mpi, role_resources: {worker: {cpu: \"3\", gpu: {count: 1, type: 1g.10gb}, cpu_exclusive: true}}";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn mpi_by_indexed_jobs() {
    insta::assert_yaml_snapshot!(lowered("template: mpi", &cluster("kubernetes: {}")));
}

#[test]
fn xgboost_under_kueue() {
    let facts = "kubernetes: {kinds: {xgboostjobs.kubeflow.org/v1: {}}, kueue: {queue: q, priority_class: high}, \
                 pull_secrets: [registry]}";
    insta::assert_yaml_snapshot!(lowered("template: xgboost", &cluster(facts)));
}

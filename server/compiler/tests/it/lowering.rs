//! Golden tests: the lowered job of each framework on this machine, byte for byte.

use std::collections::BTreeMap;

use cubeloom_compiler::{Outputs, job, lower};
use cubeloom_domain::job::{Job, SuccessRule};
use cubeloom_domain::lowered::{Bindings, LocalBindings, LocalJob, LocalPaths, Lowered, WorkerBinding};
use cubeloom_domain::{JsonMap, TaskIx};

use crate::support::{fixtures, machine, try_plan};

/// The job of a one-task pipeline.
fn job_of(task: &str, elastic_workers: Option<u32>) -> Job {
    let text = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nenv: {{TEAM: vision}}\ntasks:\n  - {{name: train, {task}}}\n"
    );
    let planned = try_plan(&text, JsonMap::new(), &fixtures(), &machine()).unwrap();
    job(&planned.plan, TaskIx(0), 0, None, 1, elastic_workers, &Outputs::new()).unwrap()
}

pub fn bindings(job: &Job) -> Bindings {
    let roles = job.roles.iter().flat_map(|role| (0..role.replicas).map(move |_| &role.resources));
    let workers = (0u16..).zip(roles).map(|(rank, resources)| WorkerBinding {
        address: format!("127.0.9.{}", rank + 1),
        port: 20_000 + rank,
        ports: (1..resources.processes()).map(|local| 21_000 + 100 * rank + local as u16).collect(),
        gpus: (0..resources.devices()).map(|card| format!("GPU-{rank}-{card}")).collect(),
    });
    let folder = |name: &str| format!("/data/{name}");
    let paths = LocalPaths {
        workspace: folder("workspace"),
        run_dir: folder("workspace/runs/r"),
        attempt_dir: folder("runs/r/train/0/1"),
        checkpoint_dir: folder("workspace/runs/r/.checkpoints/train/0"),
        code: folder("runs/r/code"),
        template_dir: job.template_folder.clone(),
        bin: "/usr/bin/cubeloom".into(),
        volumes: job.volumes.iter().map(|volume| (volume.name.clone(), folder(&volume.name))).collect(),
    };
    Bindings::Local(LocalBindings { workers: workers.collect(), paths })
}

pub fn lowered(job: &Job) -> LocalJob {
    match lower::lower(job, &bindings(job)) {
        Ok(Lowered::Local(local)) => local,
        other => panic!("local bindings give a local job: {other:?}"),
    }
}

#[test]
fn single() {
    let job = job_of(
        "template: echo, arguments: {words: [a, $(CUBELOOM_RANK), \"{{ run.dir }}/x\", $$(CUBELOOM_RANK)]}, \
         setup: [mkdir, $(CUBELOOM_RUN_DIR)/x], env: {OMP_NUM_THREADS: \"7\", HERE: \"{{ workspace }}\", PYTHONPATH: /own}, \
         secrets: [s3-key], volumes: [big-disk], timeout: 1m, resources: {gpu: {count: 0}}",
        None,
    );
    insta::assert_yaml_snapshot!(lowered(&job));
}

#[test]
fn indexed() {
    insta::assert_yaml_snapshot!(lowered(&job_of("template: crowd, arguments: {workers: 3}", None)));
}

#[test]
fn mpi() {
    let task =
        "template: mpi, env: {OMPI_MCA_oob_tcp_if_include: eth0}, role_resources: {worker: {cpu: 1500m}}";
    insta::assert_yaml_snapshot!(lowered(&job_of(task, None)));
}

#[test]
fn xgboost() {
    insta::assert_yaml_snapshot!(lowered(&job_of("template: xgboost", None)));
}

#[test]
fn pytorch() {
    insta::assert_yaml_snapshot!(lowered(&job_of("template: pytorch", None)));
}

#[test]
fn indexed_with_a_leader() {
    let job = job_of("template: dealer, arguments: {workers: 3}", Some(2));
    assert_eq!((job.workers(), job.gang), (2, 1), "it begins with its leader alone, if need be");
    assert_eq!(job.success, SuccessRule::First("worker".into()));
}

#[test]
fn pytorch_elastic() {
    let job = job_of("template: pytorch, arguments: {elastic: {min: 2, max: 4}}", Some(3));
    assert_eq!((job.workers(), job.gang), (3, 2));
    insta::assert_yaml_snapshot!(lowered(&job));
    let all = job_of("template: pytorch, arguments: {elastic: {min: 2, max: 4}}", None);
    assert_eq!(all.workers(), 4, "without a decision all are started");
}

#[test]
fn tensorflow() {
    let task = "template: tensorflow, arguments: {workers: 2, ps: 1, evaluator: 1}";
    insta::assert_yaml_snapshot!(lowered(&job_of(task, None)));
}

#[test]
fn horovod() {
    let task = "template: horovod, env: {HOROVOD_CPU_OPERATIONS: gloo}";
    insta::assert_yaml_snapshot!(lowered(&job_of(task, None)));
}

#[test]
fn ray() {
    insta::assert_yaml_snapshot!(lowered(&job_of("template: ray", None)));
}

#[test]
fn spark() {
    let task = "template: spark, arguments: {args: [$(CUBELOOM_RUN_DIR)/in]}, role_resources: {executor: {cpu: \"2\", memory: 5Gi}}";
    insta::assert_yaml_snapshot!(lowered(&job_of(task, None)));
}

#[test]
fn spark_alone() {
    let task = "template: spark, arguments: {mode: local, master: \"local[$(SPARK_WORKER_CORES)]\", user: etl}, resources: {cpu: \"3\"}";
    let job = job_of(task, None);
    assert_eq!((job.workers(), job.gang), (1, 1));
    insta::assert_yaml_snapshot!(lowered(&job));
}

#[test]
fn spark_with_executors_of_another_cluster() {
    let task = "template: spark, arguments: {mode: yarn, master: yarn}, role_resources: {executor: {cpu: \"99\", memory: 5Gi}}";
    let job = job_of(task, None);
    assert_eq!((job.workers(), job.gang), (1, 1), "what another cluster gives need not fit here");
    insta::assert_yaml_snapshot!(lowered(&job));
}

#[test]
fn jax() {
    insta::assert_yaml_snapshot!(lowered(&job_of("template: jax", None)));
}

#[test]
fn paddle() {
    insta::assert_yaml_snapshot!(lowered(&job_of(
        "template: paddle, arguments: {masters: 1, workers: 2}",
        None
    )));
}

#[test]
fn mxnet() {
    insta::assert_yaml_snapshot!(lowered(&job_of("template: mxnet", None)));
}

#[test]
fn kaldi() {
    insta::assert_yaml_snapshot!(lowered(&job_of("template: kaldi", None)));
}

#[test]
fn nni() {
    insta::assert_yaml_snapshot!(lowered(&job_of("template: nni", None)));
}

/// The preview differs from the submission only in its placeholders.
#[test]
fn the_preview_is_what_is_submitted() {
    let frameworks = ["tensorflow", "horovod", "ray", "spark", "jax", "paddle", "mxnet", "kaldi", "nni"];
    let more = frameworks.map(|name| format!("template: {name}"));
    let tasks = ["template: mpi", "template: pytorch", "template: crowd, volumes: [big-disk]"];
    for task in tasks.into_iter().chain(more.iter().map(String::as_str)) {
        let job = job_of(task, None);
        let Bindings::Local(bound) = bindings(&job) else { unreachable!() };
        let mut text = serde_json::to_string(&lower::preview(&job)).unwrap();
        let names = job
            .roles
            .iter()
            .flat_map(|role| (0..role.replicas).map(move |index| format!("{}-{index}", role.name)));
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        for (name, worker) in names.zip(&bound.workers) {
            values.insert(format!("<address of {name}>"), worker.address.clone());
            values.insert(format!("<port of {name}>"), worker.port.to_string());
        }
        let paths = &bound.paths;
        let folders = [
            ("<workspace>", &paths.workspace),
            ("<run folder>", &paths.run_dir),
            ("<attempt folder>", &paths.attempt_dir),
            ("<checkpoint folder>", &paths.checkpoint_dir),
            ("<code folder>", &paths.code),
            ("<cubeloom program>", &paths.bin),
        ];
        values.extend(folders.into_iter().map(|(name, value)| (name.to_owned(), value.clone())));
        values.extend(
            paths
                .volumes
                .iter()
                .map(|(name, value)| (format!("<folder of the volume {name}>"), value.clone())),
        );
        for (placeholder, value) in &values {
            text = text.replace(placeholder.as_str(), value);
        }
        assert_eq!(text, serde_json::to_string(&lowered(&job)).unwrap(), "{task}");
    }
}

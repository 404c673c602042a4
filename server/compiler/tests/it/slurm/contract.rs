//! Workers on Slurm get the variables of workers on one machine, once the nodes have replaced the tokens.

use cubeloom_compiler::lower::slurm::{FULL_CLUSTER, read_facts};
use cubeloom_compiler::lower::{self, slurm};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{Bindings, LocalBindings, LocalJob, LocalPaths, Lowered, WorkerBinding};
use cubeloom_domain::slurm::tokens;

use super::job_of;

/// A task of every framework that has workers.
const TASKS: &[&str] = &[
    "template: echo, arguments: {words: [$(CUBELOOM_HOST)]}",
    "template: crowd, arguments: {workers: 3}",
    "template: dealer, arguments: {workers: 3}",
    "template: mpi, role_resources: {worker: {cpu: \"3\"}}",
    "template: horovod",
    "template: xgboost",
    "template: pytorch, env: {ME: \"$(MASTER_ADDR):$(MASTER_PORT)\"}",
    "template: pytorch, arguments: {elastic: {min: 2, max: 4}}",
    "template: tensorflow, arguments: {workers: 2, ps: 1, evaluator: 1}",
    "template: jax",
    "template: paddle, arguments: {masters: 1}",
    "template: mxnet",
    "template: ray",
    "template: spark, arguments: {executors: 2}",
    "template: kaldi",
    "template: nni",
];

fn binding(rank: u32) -> WorkerBinding {
    WorkerBinding {
        address: format!("10.0.0.{rank}"),
        port: 10_000 + u16::try_from(rank).unwrap(),
        ports: Vec::new(),
        gpus: Vec::new(),
    }
}

/// The processes of a job, with the tokens replaced as on the nodes.
fn filled(job: &LocalJob) -> LocalJob {
    let mut text = serde_json::to_string(job).unwrap().replace(tokens::LINK, "10063");
    for rank in (0u32..).take(job.workers.len()) {
        let WorkerBinding { address, port, .. } = binding(rank);
        text = text.replace(&tokens::address(rank), &address).replace(&tokens::port(rank), &port.to_string());
    }
    assert!(!text.contains("@cubeloom-"), "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The same on one machine, in the same folders.
fn on_one_machine(job: &Job, like: &LocalJob) -> LocalJob {
    let told = |name: &str| like.workers[0].env.get(name).cloned().unwrap_or_default();
    let (folder, name) = (&like.workers[0].folder, like.workers[0].name.to_string());
    let paths = LocalPaths {
        workspace: told("CUBELOOM_WORKSPACE"),
        run_dir: told("CUBELOOM_RUN_DIR"),
        attempt_dir: folder.strip_suffix(&format!("/{name}")).unwrap().into(),
        checkpoint_dir: told("CUBELOOM_CHECKPOINT_DIR"),
        code: told("CUBELOOM_CODE"),
        template_dir: told("CUBELOOM_TEMPLATE_DIR"),
        bin: told("CUBELOOM_BIN"),
        volumes: Default::default(),
    };
    let workers = (0..job.workers()).map(binding).collect();
    match lower::lower(job, &Bindings::Local(LocalBindings { workers, paths })) {
        Ok(Lowered::Local(local)) => local,
        other => panic!("local bindings give a local job: {other:?}"),
    }
}

/// Variables of workers on one machine only: the loopback interface, and a loopback address for each.
const ON_ONE_MACHINE: &[&str] = &[
    "DMLC_INTERFACE",
    "DMLC_NODE_HOST",
    "HOROVOD_GLOO_IFACE",
    "OMPI_MCA_btl_tcp_if_include",
    "OMPI_MCA_oob_tcp_if_include",
    "POD_IP",
    "SPARK_LOCAL_IP",
];
/// Variables on Slurm only: the job's own port.
const ON_SLURM: &[&str] = &["CUBELOOM_LINK_PORT", "CUBELOOM_MPI_PORT"];

#[test]
fn every_framework_is_told_the_same_as_on_one_machine() {
    let (facts, cluster) = read_facts(FULL_CLUSTER).unwrap();
    for task in TASKS {
        let job = job_of(task, &facts);
        let there = filled(&slurm::lower(&job, &cluster).unwrap_or_else(|why| panic!("{task}: {why:?}")).job);
        let mut here = on_one_machine(&job, &there);
        for (mine, theirs) in here.workers.iter_mut().zip(&there.workers) {
            let mut told = theirs.env.clone();
            mine.env.retain(|name, _| !ON_ONE_MACHINE.contains(&name.as_str()));
            told.retain(|name, _| !ON_SLURM.contains(&name.as_str()));
            assert_eq!(mine.env, told, "{task}: {}", theirs.name);
            mine.env = theirs.env.clone();
        }
        assert_eq!(here, there, "{task}");
    }
}

//! `mpi` and `horovod` become MPIJobs of the mpi-operator (v2beta1), which writes the hostfile and manages
//! the launcher's Job.

use serde_json::{Value, json};

use super::Frame;
use super::gang;
use super::operator::{Commands, Operator, REPLICA_INDEX, Start, replica_specs};
use super::pods::RolePods;

/// The mpi-operator.
pub const OPERATOR: Operator = Operator {
    kind: "MPIJob",
    serves: "mpijobs.kubeflow.org/v2beta1",
    name: "the mpi-operator",
    container: |_| "mpi",
    gives: &[
        "OMPI_MCA_orte_default_hostfile",
        "OMPI_MCA_orte_keep_fqdn_hostnames",
        "OMPI_MCA_orte_set_default_slots",
    ],
    commands: |_| Commands::Task,
    numbers: |_| REPLICA_INDEX,
    start: Start::Gang,
    service: false,
    unfit: |_, _| None,
    address: |name, namespace, role, index| format!("{name}-{role}-{index}.{name}.{namespace}.svc"),
    object,
};

fn object(frame: &Frame<'_>, roles: &[RolePods]) -> Value {
    let workers = frame.job.roles.iter().find(|role| role.name == "worker");
    let slots = workers.map_or(1, |role| (role.resources.cpu.0 / 1000).max(1));
    json!({
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": gang::metadata(frame, None),
        "spec": {
            "mpiImplementation": "OpenMPI",
            "slotsPerWorker": slots,
            // The launcher is part of the gang: if it were created only when the workers run, none would ever
            // start.
            "launcherCreationPolicy": "AtStartup",
            // The template's own agents start the ranks. The operator's keys go to a path that needs no root.
            "sshAuthMountPath": "/cubeloom/ssh",
            "runPolicy": gang::run_policy(frame),
            "mpiReplicaSpecs": replica_specs(roles, "Never"),
        },
    })
}

//! `jax` becomes a JAXJob of Kubeflow's training operator (v1), which sets the workers' identity.

use super::operator::{Operator, replica_specs, training_job};

/// The training operator, for JAX.
pub const OPERATOR: Operator = Operator::training(
    "JAXJob",
    "jaxjobs.kubeflow.org/v1",
    |_| "jax",
    &["COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"],
    |frame, roles| training_job(frame, "JAXJob", "jaxReplicaSpecs", replica_specs(roles, "Never")),
);

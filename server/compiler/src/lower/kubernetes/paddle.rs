//! `paddle` becomes a PaddleJob of Kubeflow's training operator (v1), which sets the workers' identity.

use super::operator::{Operator, replica_specs, training_job};

/// The training operator, for Paddle.
pub const OPERATOR: Operator = Operator::training(
    "PaddleJob",
    "paddlejobs.kubeflow.org/v1",
    |_| "paddle",
    &["PADDLE_JOB_ID", "PADDLE_MASTER", "PADDLE_NNODES", "PADDLE_SERVER_NUM", "PADDLE_TRAINER_NUM"],
    |frame, roles| training_job(frame, "PaddleJob", "paddleReplicaSpecs", replica_specs(roles, "Never")),
);

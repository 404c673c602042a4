//! `xgboost` becomes an XGBoostJob of Kubeflow's training operator (v1), which sets the workers' identity.

use super::operator::{Operator, replica_specs, training_job};

/// The training operator, for XGBoost.
pub const OPERATOR: Operator = Operator::training(
    "XGBoostJob",
    "xgboostjobs.kubeflow.org/v1",
    |_| "xgboost",
    &["MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "WORKER_ADDRS", "WORKER_PORT"],
    |frame, roles| training_job(frame, "XGBoostJob", "xgbReplicaSpecs", replica_specs(roles, "Never")),
);

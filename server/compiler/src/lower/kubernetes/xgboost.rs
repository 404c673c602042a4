//! `xgboost` becomes an XGBoostJob of Kubeflow's training operator (v1), which tells workers who they are.

use serde_json::{Value, json};

use super::Frame;
use super::gang;
use super::operator::{Operator, replica_specs};
use super::pods::RolePods;

/// The training operator, for XGBoost.
pub const OPERATOR: Operator = Operator {
    kind: "XGBoostJob",
    serves: "xgboostjobs.kubeflow.org/v1",
    name: "Kubeflow's training operator",
    container: "xgboost",
    gives: &["MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "WORKER_ADDRS", "WORKER_PORT"],
    unfit: |_| None,
    address: |name, _, role, index| format!("{name}-{role}-{index}"),
    object,
};

fn object(frame: &Frame<'_>, roles: &[RolePods]) -> Value {
    json!({
        "apiVersion": "kubeflow.org/v1",
        "kind": "XGBoostJob",
        "metadata": gang::metadata(frame, None),
        "spec": {"runPolicy": gang::run_policy(frame), "xgbReplicaSpecs": replica_specs(roles, "Never")},
    })
}

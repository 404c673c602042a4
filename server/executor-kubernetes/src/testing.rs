//! What tests of several modules need.

use std::path::Path;
use std::time::Duration;

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::resources::Resources;
use cubeloom_domain::{Clock, Timestamp};
use serde_json::json;

use crate::access::Access;
use crate::config::KubernetesConfig;

/// A job of one role, `worker`, with four workers, of which it may have from 2 to 6.
pub fn elastic_job() -> Job {
    let key = format!("{}.train.0.1", "0".repeat(26));
    let role = json!({"name": "worker", "replicas": 4, "argv": ["true"], "resources": Resources::default()});
    let job = json!({
        "key": key,
        "project": "a", "pipeline": "p", "user": "ada", "framework": "pytorch", "template": "t@1",
        "template_digest": "", "template_folder": "", "roles": [role], "success": "any_worker", "gang": 2,
        "elastic": {"min": 2, "max": 6},
    });
    serde_json::from_value(job).unwrap()
}

/// A clock that stands still.
pub struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }
}

/// A cluster of which nothing is known, whose files lie in this folder.
pub fn config(folder: &Path, access: Access) -> KubernetesConfig {
    KubernetesConfig {
        name: "a".into(),
        access,
        facts: KubernetesFacts::default(),
        data: folder.to_owned(),
        workspace: folder.to_owned(),
        code: folder.to_owned(),
        owners: Default::default(),
        vault: None,
        keep: Duration::ZERO,
        keeps: None,
        patience: Duration::ZERO,
    }
}

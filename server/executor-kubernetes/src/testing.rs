//! What tests of several modules need.

use cubeloom_domain::job::Job;
use cubeloom_domain::resources::Resources;
use serde_json::json;

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

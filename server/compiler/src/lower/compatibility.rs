//! Variables of Cube Studio (`KFJ_*`), so that programs written for it run unchanged. Variables without a
//! meaning on a single machine (image registries, node selectors) are not set; lowering for other clusters
//! adds them.

use std::collections::BTreeMap;

use cubeloom_domain::job::Job;
use cubeloom_domain::resources::Resources;

/// The variables of one worker; `workspace` is the path of the project's storage.
pub fn variables(job: &Job, workspace: &str, resources: &Resources) -> BTreeMap<String, String> {
    let mut pairs = vec![
        ("KFJ_ARCHIVE_BASE_PATH", workspace.to_owned()),
        ("KFJ_CREATOR", job.user.clone()),
        ("KFJ_ENVIRONMENT", "local".into()),
        ("KFJ_NAMESPACE", job.project.clone()),
        ("KFJ_PIPELINE_ID", job.pipeline.clone()),
        ("KFJ_PIPELINE_NAME", job.pipeline.clone()),
        ("KFJ_RUNNER", job.user.clone()),
        ("KFJ_RUN_ID", job.key.run.to_string()),
        ("KFJ_TASK_ID", job.key.task.clone()),
        ("KFJ_TASK_NAME", job.key.task.clone()),
        ("KFJ_TASK_PROJECT_NAME", job.project.clone()),
        ("KFJ_TASK_RESOURCE_CPU", resources.cpu.to_string()),
        ("KFJ_TASK_RESOURCE_GPU", resources.gpu.as_ref().and_then(|gpu| gpu.count).unwrap_or(0).to_string()),
        ("KFJ_TASK_RESOURCE_MEMORY", resources.memory.to_string()),
        ("KFJ_TASK_RESOURCE_RDMA", resources.rdma.unwrap_or(0).to_string()),
        ("USERNAME", job.user.clone()),
    ];
    if let Some(image) = &job.image {
        pairs.push(("KFJ_TASK_IMAGES", image.clone()));
    }
    if let Some(timeout) = job.timeout {
        pairs.push(("KFJ_TASK_TIMEOUT", timeout.0.as_secs().to_string()));
    }
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

//! Whether this server sees the files of the claim with a project's workspace. The kubelet creates the folder
//! of a mount in the claim, and the server checks that the folder exists. A server without the claim mounted
//! would lose the outputs of tasks and give them no code.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesJob;
use cubeloom_domain::outcome::{Failure, FailureKind};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::cluster::Cluster;

/// The folder in which the kubelet creates one folder per probing attempt: in the shared claim, else in the
/// project's own.
pub const FOLDER: &str = ".seen";

/// Its mount path in a pod.
const MOUNT: &str = "/cubeloom/.seen";

/// How long a network file system may take to show a folder: NFS clients cache its absence for up to a
/// minute. The wait is shorter if the files were not visible before.
const PATIENCE: Duration = Duration::from_secs(75);
const AGAIN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(500);

/// Whether claims are visible, by project.
#[derive(Default)]
pub struct Claims(Mutex<HashMap<String, bool>>);

impl Claims {
    /// Whether this server sees the files of a project's claim; `None` until a pod has tested it.
    pub fn are_seen(&self, project: &str) -> Option<bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(project).copied()
    }

    fn note(&self, project: &str, seen: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(project.to_owned(), seen);
    }
}

/// Adds a mount to a bare Pod that tests whether the files are visible. `path` is the project's folder in the
/// claim. Returns `None` for other kinds.
#[must_use]
pub fn with_probe(job: &KubernetesJob, path: &str) -> Option<KubernetesJob> {
    let mut job = job.clone();
    let pod = job.objects.last_mut().filter(|object| object["kind"] == "Pod")?;
    let above = path.rsplit_once('/').map_or(String::new(), |(above, _)| format!("{above}/"));
    let folder = format!("{above}{FOLDER}/{}", job.key.object_name());
    let mount = json!({"name": "workspace", "mountPath": MOUNT, "subPath": folder, "readOnly": true});
    let mounts = pod["spec"]["containers"][0]["volumeMounts"].as_array_mut()?;
    mounts.push(mount);
    Some(job)
}

/// The job's project, if each project has a claim of its own; `None` if they share one.
#[must_use]
pub fn own(cluster: &Cluster, job: &Job) -> Option<String> {
    cluster.config.facts.workspace_path.is_empty().then(|| job.project.clone())
}

/// The failure of an attempt whose files this server does not see.
#[must_use]
pub fn unseen(cluster: &Cluster, job: &Job) -> Failure {
    let name = cluster.config.facts.of_project(&job.project).workspace_claim;
    let path = cluster.config.workspace.display();
    let message =
        format!("this server cannot access the files of the PVC `{name}`: mount it on the server at {path}");
    Failure::new(FailureKind::CouldNotStart, message)
}

/// Looks for the folder of a probing attempt. Waits for it if it `matters`; otherwise a missing folder counts
/// as seen.
pub async fn is_seen(cluster: &Cluster, job: &Job, matters: bool) -> bool {
    let known = cluster.claims.are_seen(&job.project);
    let patience = match known {
        _ if !matters => Duration::ZERO,
        Some(false) => AGAIN,
        Some(true) | None => PATIENCE,
    };
    let until = Instant::now() + patience;
    loop {
        let (folders, key) = (cluster.folders.clone(), job.key.clone());
        let own = own(cluster, job);
        let look = move || folders.take_probe(own.as_deref(), &key);
        if cluster.on_disk(look).await.unwrap_or_default() {
            cluster.claims.note(&job.project, true);
            return true;
        }
        if Instant::now() >= until {
            cluster.claims.note(&job.project, false);
            return !matters;
        }
        sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::{AttemptKey, RunId, Timestamp};

    use super::*;

    #[test]
    fn a_bare_pod_shows_it_beside_the_folder_of_its_project() {
        let key = AttemptKey { run: RunId::new(Timestamp(0), 0), task: "a".into(), instance: 0, n: 1 };
        let name = key.object_name();
        let of = |kind: &str, path: &str| {
            let spec = json!({"containers": [{"volumeMounts": []}]});
            let objects = vec![json!({"kind": "ConfigMap"}), json!({"kind": kind, "spec": spec})];
            let job = KubernetesJob { key: key.clone(), decisions: Vec::new(), objects };
            let probing = with_probe(&job, path)?;
            Some(probing.objects[1]["spec"]["containers"][0]["volumeMounts"][0]["subPath"].clone())
        };
        assert_eq!(of("Job", "vision"), None);
        assert_eq!(of("Pod", "teams/vision"), Some(format!("teams/.seen/{name}").into()));
        for own_or_top in ["", "vision"] {
            assert_eq!(of("Pod", own_or_top), Some(format!(".seen/{name}").into()));
        }
    }
}

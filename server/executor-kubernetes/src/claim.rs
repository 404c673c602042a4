//! Whether this server sees the files of the claim that holds a project's workspace. It is not asked of anybody: the kubelet
//! makes the folder of a mount in the claim, and the server looks whether it is there. A server that does not mount the claim would
//! lose the outputs of tasks and give them no code.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesJob;
use cubeloom_domain::outcome::{Failure, FailureKind};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::cluster::Cluster;

/// The folder in which the kubelet makes one for each attempt that looks: of the claim that projects share, else of the
/// project's own.
pub const FOLDER: &str = ".seen";

/// Where a pod has it.
const MOUNT: &str = "/cubeloom/.seen";

/// How long a file system of the network may take to show a folder: clients of NFS remember for up to a minute that there is
/// none. Where the files were not seen before, it is not waited so long again.
const PATIENCE: Duration = Duration::from_secs(75);
const AGAIN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(500);

/// What is known of the claims, by project.
#[derive(Default)]
pub struct Claims(Mutex<HashMap<String, bool>>);

impl Claims {
    /// Whether the files of a project's claim are seen here; `None` while no pod has shown it.
    pub fn are_seen(&self, project: &str) -> Option<bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(project).copied()
    }

    fn note(&self, project: &str, seen: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(project.to_owned(), seen);
    }
}

/// Lets a bare Pod show whether the files are seen, where that is not known. `path` is the project's folder in the claim.
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

/// The project whose claim it is, where projects share none.
#[must_use]
pub fn own(cluster: &Cluster, job: &Job) -> Option<String> {
    cluster.config.facts.workspace_path.is_empty().then(|| job.project.clone())
}

/// How an attempt ends whose files this server does not see.
#[must_use]
pub fn unseen(cluster: &Cluster, job: &Job) -> Failure {
    let name = cluster.config.facts.of_project(&job.project).workspace_claim;
    let path = cluster.config.workspace.display();
    let message = format!(
        "this server does not see the files of the claim `{name}`: mount it where the server runs, at {path}"
    );
    Failure::new(FailureKind::CouldNotStart, message)
}

/// Looks for the folder of an attempt whose pod was to show it; waits for it where it `matters`, and else does not mind.
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

//! Helpers for tests of several modules.

use std::path::Path;
use std::time::Duration;

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::resources::Resources;
use cubeloom_domain::{Clock, Timestamp};
use serde_json::json;

use crate::access::Access;
use crate::board::{PodSeen, Seen};
use crate::config::KubernetesConfig;
use crate::pods::{PodState, PodView};

/// A job of one role, `worker`, with four workers, elastic between 2 and 6.
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

/// A pod of the job `cl-a` in this state.
pub fn pod(role: &str, index: u32, state: PodState) -> PodView {
    PodView {
        name: format!("{role}-{index}"),
        uid: format!("{role}-{index}"),
        job: "cl-a".into(),
        worker: WorkerName { role: role.into(), index },
        containers: vec!["worker".into()],
        deleted: None,
        is_kept: false,
        deleted_at: None,
        node: None,
        takes: Default::default(),
        limit: Default::default(),
        memory: Default::default(),
        refused: None,
        has_cards: false,
        disruption: None,
        last_words: None,
        state,
    }
}

/// A snapshot of a job with these pods.
pub fn seen_with(pods: impl IntoIterator<Item = PodView>) -> Seen {
    let pods = pods.into_iter().map(|view| (view.uid.clone(), PodSeen { view: view.into(), gone: false }));
    Seen { pods: pods.collect(), ..Seen::default() }
}

/// A snapshot with this many pending workers.
pub fn seen(workers: u32) -> Seen {
    let waits = PodState::Waiting { note: None, obstacle: None };
    seen_with((0..workers).map(|index| pod("worker", index, waits.clone())))
}

/// A clock that stands still.
pub struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }
}

/// Configuration of a cluster whose files are in this folder.
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
        cards: None,
        pods: None,
        keep: Duration::ZERO,
        keeps: None,
        patience: Duration::ZERO,
    }
}

//! When the pods of a namespace were created and had succeeded, as seen by a watch.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::watch;

/// How long all of them together may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// Counts until dropped.
pub struct Tally {
    seen: watch::Receiver<HashMap<String, Times>>,
    watching: tokio::task::JoinHandle<()>,
}

#[derive(Clone, Copy)]
struct Times {
    made: Instant,
    done: Option<Instant>,
}

impl Tally {
    /// Starts watching. Existing pods have been seen when this returns.
    pub async fn watch(client: Client, namespace: &str) -> Self {
        let api: Api<Pod> = Api::namespaced(client, namespace);
        let (sender, seen) = watch::channel(HashMap::new());
        let (listed, ready) = tokio::sync::oneshot::channel();
        let mut listed = Some(listed);
        let watching = tokio::spawn(async move {
            let mut stream = watcher(api, watcher::Config::default()).default_backoff().boxed();
            while let Some(event) = stream.next().await {
                match event {
                    Ok(Event::Apply(pod) | Event::InitApply(pod)) => {
                        sender.send_modify(|seen| note(seen, &pod))
                    }
                    Ok(Event::InitDone) => _ = listed.take().map(|listed| listed.send(())),
                    _ => {}
                }
            }
        });
        ready.await.unwrap();
        Self { seen, watching }
    }

    /// Waits until `count` pods exist and have succeeded. Returns when the last was created, and when the
    /// last succeeded.
    pub async fn times(mut self, count: usize) -> (Instant, Instant) {
        let all = |seen: &HashMap<String, Times>| {
            seen.len() >= count && seen.values().all(|times| times.done.is_some())
        };
        let seen = tokio::time::timeout(PATIENCE, self.seen.wait_for(all)).await;
        let seen = seen.unwrap_or_else(|_| panic!("not all of {count} pods have succeeded")).unwrap();
        let made = seen.values().map(|times| times.made).max();
        let done = seen.values().filter_map(|times| times.done).max();
        (made.unwrap(), done.unwrap())
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

fn note(seen: &mut HashMap<String, Times>, pod: &Pod) {
    let now = Instant::now();
    let times = seen.entry(pod.name_any()).or_insert(Times { made: now, done: None });
    let succeeded = pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Succeeded");
    if succeeded && times.done.is_none() {
        times.done = Some(now);
    }
}

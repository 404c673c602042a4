//! Watches: one per kind of object and namespace with jobs, for as long as the server runs.
//!
//! kube's watcher lists, watches with bookmarks, relists when its version is too old (410 Gone), and backs
//! off while the server is unreachable. Its events go to the board.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cubeloom_domain::executor::Notice;
use cubeloom_domain::kubernetes::labels;
use futures::{StreamExt, pin_mut};
use k8s_openapi::api::core::v1::{Event as ClusterEvent, Pod};
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::WatchStreamExt;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::board::Told;
use crate::cluster::Cluster;
use crate::error::{Refused, pause};
use crate::objects::resource;
use crate::pods::{PodView, moment};
use crate::roots::RootView;

/// A watched namespace and kind.
type Feed = (String, String);

/// Delay before a relist.
const AGAIN: Duration = Duration::from_secs(1);

/// Maximum backoff of a watch. kube's own is 30 s, for thousands of controllers. Here there are few watches,
/// and users wait for their events once the server is back.
const LONGEST: Duration = Duration::from_secs(8);
/// How long a watch must last before the backoff is reset.
const HELD: Duration = Duration::from_secs(30);

/// Backoff of a broken watch: grows until a watch has lasted for a while.
#[derive(Default)]
pub struct Tries {
    count: u32,
    /// Start of the last delay.
    last: Option<Instant>,
}

impl Iterator for Tries {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(self.pause_at(Instant::now()))
    }
}

impl Tries {
    fn pause_at(&mut self, now: Instant) -> Duration {
        let held = self.last.replace(now).is_some_and(|last| now - last > HELD);
        self.count = if held { 1 } else { self.count + 1 };
        pause(self.count).min(LONGEST)
    }
}

impl Backoff for Tries {
    /// kube counts every event as a success, even [`Event::Init`], which a watch emits before any request.
    fn reset(&mut self) {}
}

/// Whether a watch event is a response of the API server.
fn is_answer<K>(event: &Event<K>) -> bool {
    !matches!(event, Event::Init)
}

/// Running watches.
#[derive(Default)]
pub struct Watches {
    feeds: Mutex<HashMap<Feed, watch::Receiver<bool>>>,
    /// Ends all of them.
    pub end: CancellationToken,
    /// Changes when all are to relist.
    again: watch::Sender<u64>,
}

impl Watches {
    /// Starts a watch, unless it exists. The receiver is true once everything of that kind was listed.
    fn begin(&self, feed: Feed, start: impl FnOnce(watch::Sender<bool>)) -> watch::Receiver<bool> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = feeds.entry(feed).or_insert_with(|| {
            let (sender, receiver) = watch::channel(false);
            start(sender);
            receiver
        });
        begun.clone()
    }

    /// Relists and watches everything again, on new connections.
    pub fn begin_again(&self) {
        self.again.send_modify(|count| *count += 1);
    }

    /// The current watches.
    fn feeds(&self) -> BTreeSet<Feed> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}

/// Name of the stored list of watches.
const WATCHED: &str = "watched";

/// Restores the watches of an earlier server: jobs that ended there must be cleaned up even if nothing new
/// starts.
pub fn watch_what_was_watched(cluster: &Arc<Cluster>) {
    let feeds: BTreeSet<Feed> = cluster.config.kept(WATCHED);
    for (namespace, kind) in &feeds {
        // Pods and events are watched along with any kind of job.
        let kind = kind.rsplit_once('/').map(|(api_version, kind)| resource(api_version, kind));
        watch_namespace(cluster, namespace, kind.as_slice());
    }
}

/// Watches the pods and events of a namespace, and the objects of these kinds in it.
pub fn watch_namespace(
    cluster: &Arc<Cluster>,
    namespace: &str,
    kinds: &[ApiResource],
) -> Vec<watch::Receiver<bool>> {
    let feed = |kind: &str| (namespace.to_owned(), kind.to_owned());
    let spawn = |task: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>| {
        let end = cluster.watches.end.clone();
        tokio::spawn(async move { end.run_until_cancelled(task).await });
    };
    let own = (Arc::clone(cluster), namespace.to_owned());
    let before = cluster.watches.feeds();
    let pods = cluster.watches.begin(feed("Pod"), |synced| {
        let (cluster, namespace) = own.clone();
        spawn(Box::pin(pods(cluster, namespace, synced)));
    });
    let events = cluster.watches.begin(feed("Event"), |synced| {
        let (cluster, namespace) = own.clone();
        spawn(Box::pin(events(cluster, namespace, synced)));
    });
    // A job starts whether or not its events are readable.
    drop(events);
    let mut all = vec![pods];
    for kind in kinds.iter().filter(|kind| kind.kind != "Pod") {
        all.push(cluster.watches.begin(feed(&format!("{}/{}", kind.api_version, kind.kind)), |synced| {
            let (cluster, namespace) = own.clone();
            spawn(Box::pin(roots(cluster, namespace, kind.clone(), synced)));
        }));
    }
    let now = cluster.watches.feeds();
    if now != before {
        cluster.config.keep(WATCHED, &now);
    }
    all
}

fn ours() -> watcher::Config {
    watcher::Config::default().labels(&format!("{}={}", labels::MANAGED_BY, labels::CUBELOOM))
}

/// An event of a watch.
enum Heard<K> {
    /// Exists, in this state.
    There(K),
    /// Deleted; this was its last state.
    Gone(K),
    /// Ids of all existing objects, after a complete list.
    Listed(HashSet<String>),
}

/// Forwards the events of a watch forever. `id` is the board's identifier of an object.
async fn follow<K>(
    cluster: &Cluster,
    what: &str,
    watched: (Api<K>, watcher::Config),
    id: impl Fn(&K) -> Option<String>,
    mut tell: impl FnMut(Heard<K>),
) where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let mut again = cluster.watches.again.subscribe();
    loop {
        let stream = watcher(watched.0.clone(), watched.1.clone()).backoff(Tries::default());
        pin_mut!(stream);
        let mut listed = HashSet::new();
        loop {
            let event = tokio::select! {
                event = stream.next() => event,
                Ok(()) = again.changed() => None,
            };
            let Some(event) = event else { break };
            let is_too_old = is_too_old(&event);
            match heard(cluster, what, event) {
                Some(Event::Init) => listed.clear(),
                Some(Event::InitApply(object)) => {
                    listed.extend(id(&object));
                    tell(Heard::There(object));
                }
                Some(Event::Apply(object)) => tell(Heard::There(object)),
                Some(Event::Delete(object)) => tell(Heard::Gone(object)),
                Some(Event::InitDone) => tell(Heard::Listed(std::mem::take(&mut listed))),
                None if is_too_old => break,
                None => {}
            }
        }
        sleep(AGAIN).await;
    }
}

/// Whether a watch failed with 410. kube's watcher relists if the 410 arrives within a watch, as API servers
/// send it. It does not if the 410 is the response itself, which a proxy may send.
fn is_too_old<K>(event: &Result<Event<K>, watcher::Error>) -> bool {
    matches!(event, Err(watcher::Error::WatchStartFailed(kube::Error::Api(status))) if status.code == 410)
}

async fn pods(cluster: Arc<Cluster>, namespace: String, synced: watch::Sender<bool>) {
    let api: Api<Pod> = Api::namespaced(cluster.client().await, &namespace);
    let board = &cluster.board;
    let tell = |heard| match heard {
        Heard::There(pod) => {
            let Some(view) = PodView::read(&pod) else { return };
            let root = RootView::of_pod(&pod, &view);
            board.pod(&namespace, view);
            if let Some(root) = root {
                board.root(&namespace, root);
            }
        }
        Heard::Gone(pod) => {
            let Some(mut view) = PodView::read(&pod) else { return };
            view.go();
            let root = RootView::of_pod(&pod, &view);
            board.pod_gone(&namespace, view);
            if let Some(root) = root {
                board.root_gone(&namespace, root);
            }
        }
        Heard::Listed(uids) => {
            board.only_pods(&namespace, &uids);
            synced.send_replace(true);
        }
    };
    follow(&cluster, "pods", (api, ours()), Pod::uid, tell).await;
}

async fn roots(cluster: Arc<Cluster>, namespace: String, kind: ApiResource, synced: watch::Sender<bool>) {
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client().await, &namespace, &kind);
    let (board, kind) = (&cluster.board, Arc::new(kind));
    let tell = |heard: Heard<DynamicObject>| match heard {
        Heard::There(object) => {
            _ = RootView::read(&kind, &object).map(|view| board.root(&namespace, view));
        }
        Heard::Gone(object) => {
            _ = RootView::read(&kind, &object).map(|view| board.root_gone(&namespace, view));
        }
        Heard::Listed(names) => {
            board.only_roots(&namespace, &kind, &names);
            synced.send_replace(true);
        }
    };
    let name = |object: &DynamicObject| Some(object.name_any());
    follow(&cluster, &kind.plural, (api, ours()), name, tell).await;
}

/// Watches the events of a namespace's objects: why a pod is pending, why one cannot be created.
async fn events(cluster: Arc<Cluster>, namespace: String, synced: watch::Sender<bool>) {
    let api: Api<ClusterEvent> = Api::namespaced(cluster.client().await, &namespace);
    let tell = |heard| match heard {
        Heard::There(event) => see_event(&cluster, &namespace, event),
        Heard::Gone(_) => {}
        Heard::Listed(_) => _ = synced.send_replace(true),
    };
    follow(&cluster, "events", (api, watcher::Config::default()), |_| None, tell).await;
}

fn see_event(cluster: &Cluster, namespace: &str, event: ClusterEvent) {
    let of = &event.involved_object;
    let kind = of.kind.as_deref().unwrap_or_default();
    let Some(name) = of.name.as_deref().and_then(|name| of_a_job(kind, name)) else { return };
    let at = event.last_timestamp.as_ref().or(event.metadata.creation_timestamp.as_ref());
    let notice = Notice {
        at: moment(at),
        of: format!("{kind}/{name}"),
        warning: event.type_.as_deref() == Some("Warning"),
        reason: event.reason.clone().unwrap_or_default(),
        message: event.message.clone().unwrap_or_default(),
    };
    let told = Told { uid: event.metadata.uid.clone().unwrap_or_default(), notice };
    cluster.board.event(namespace, name, told);
}

/// The part of an object's name that starts with the job's name. Kueue reports why a job is pending on a
/// Workload, which is named `<kind>-<job>-<hash>`:
/// <https://github.com/kubernetes-sigs/kueue/blob/main/pkg/controller/jobframework/workload_names.go>.
fn of_a_job<'a>(kind: &str, name: &'a str) -> Option<&'a str> {
    let name = if kind == "Workload" { name.split_once('-')?.1 } else { name };
    name.starts_with("cl-").then_some(name)
}

/// Records the cluster's connection state. The watcher retries by itself.
pub fn heard<K>(cluster: &Cluster, what: &str, event: Result<Event<K>, watcher::Error>) -> Option<Event<K>> {
    match event {
        Ok(event) => {
            if is_answer(&event) {
                cluster.standing.answered();
            }
            Some(event)
        }
        Err(error) => {
            let refused = match error {
                watcher::Error::InitialListFailed(error)
                | watcher::Error::WatchStartFailed(error)
                | watcher::Error::WatchFailed(error) => Refused::from(error),
                // The server ended the watch: it restarts, and lists what it missed.
                watcher::Error::WatchError(_) | watcher::Error::NoResourceVersion => return None,
            };
            cluster.standing.failed(&format!("watching {what}"), &refused);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_whatever_kube_takes_for_a_success_until_a_watch_has_held() {
        let (mut tries, mut now, mut last) = (Tries::default(), Instant::now(), Duration::ZERO);
        for _ in 0..6 {
            tries.reset();
            let pause = tries.pause_at(now);
            assert!(pause > last, "{pause:?} after {last:?}");
            (last, now) = (pause, now + pause);
        }
        assert_eq!(last, LONGEST);
        assert!(tries.pause_at(now + HELD) < Duration::from_secs(1));
    }

    #[test]
    fn that_a_watch_begins_is_no_answer() {
        assert!(!is_answer(&Event::<()>::Init));
        assert!(is_answer(&Event::<()>::InitDone) && is_answer(&Event::Apply(())));
    }

    #[test]
    fn what_kueue_says_is_told_of_the_job() {
        assert_eq!(of_a_job("Workload", "pytorchjob-cl-train-1-4fd0a"), Some("cl-train-1-4fd0a"));
        assert_eq!(of_a_job("Workload", "job-backup-4fd0a"), None);
        assert_eq!(of_a_job("Pod", "cl-train-1-worker-0"), Some("cl-train-1-worker-0"));
        assert_eq!(of_a_job("Pod", "job-cl-train-1"), None);
    }
}

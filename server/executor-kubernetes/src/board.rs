//! The shared state of all jobs on a cluster: watches write it, attempts read it.
//!
//! A change carries no data to its attempt: it only wakes the attempt, which reads the state. So the path is
//! the same after a restart as in normal operation.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cubeloom_domain::executor::Notice;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::{AttemptKey, Timestamp};
use kube::api::ApiResource;
use tokio::sync::Notify;

use crate::pods::PodView;
use crate::roots::{RootState, RootView};

/// Maximum number of events kept per job.
const EVENTS: usize = 64;

/// A job on a cluster: its namespace and name.
pub type JobName = (String, String);

/// Resource use of jobs by node.
pub type ByNode = HashMap<String, BTreeMap<AttemptKey, Amount>>;

/// An event of an object, with its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The event's uid; a repeated event has the same.
    pub uid: String,
    pub notice: Notice,
}

#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Its pods by uid, including deleted ones as last seen.
    pub pods: BTreeMap<String, PodSeen>,
    /// Its objects by kind and name.
    pub roots: BTreeMap<String, RootSeen>,
    /// Events of the objects, the latest last.
    pub events: VecDeque<Told>,
}

#[derive(Clone, Debug)]
pub struct PodSeen {
    /// The state as last seen; shared, since every snapshot has a copy.
    pub view: Arc<PodView>,
    /// Whether the pod no longer exists.
    pub gone: bool,
}

#[derive(Clone, Debug)]
pub struct RootSeen {
    pub view: Arc<RootView>,
    /// Whether the object no longer exists.
    pub gone: bool,
}

impl RootSeen {
    /// Whether it is the pod of a suspended job, which is recreated under its name.
    pub fn is_made_again(&self) -> bool {
        self.gone && self.view.is_pod() && self.view.suspended == Some(true)
    }
}

impl Seen {
    /// Pods in which something may still run.
    pub fn live_pods(&self) -> impl Iterator<Item = &PodView> {
        self.pods.values().filter(|pod| !pod.gone && !pod.view.has_ended()).map(|pod| &*pod.view)
    }

    /// Pods on lost nodes, for which only a confirmation is missing.
    pub fn lost_pods(&self) -> impl Iterator<Item = &PodView> {
        self.pods.values().filter(|pod| !pod.gone && pod.view.is_lost()).map(|pod| &*pod.view)
    }

    /// Objects that exist, and deleted ones whose end was known before.
    pub fn known_roots(&self) -> impl Iterator<Item = &RootView> + Clone {
        let known = |root: &&RootSeen| !root.gone || !matches!(root.view.state, RootState::Open { .. });
        self.roots.values().filter(known).map(|root| &*root.view)
    }

    /// Events of the job, the latest last.
    pub fn notices(&self) -> Vec<Notice> {
        self.events.iter().map(|told| told.notice.clone()).collect()
    }

    /// Objects that exist.
    pub fn live_roots(&self) -> impl Iterator<Item = &RootView> + Clone {
        self.roots.values().filter(|root| !root.gone).map(|root| &*root.view)
    }
}

#[derive(Default)]
struct Entry {
    seen: Seen,
    /// The attempt to wake on changes.
    wake: Option<Arc<Notify>>,
}

impl Entry {
    fn news(&self) {
        if let Some(wake) = &self.wake {
            wake.notify_one();
        }
    }

    /// Keeps the time of the first deletion: the node deletes a pod again when it has ended.
    fn keep_deletion(&self, view: &mut PodView) {
        let before = self.seen.pods.get(&view.uid).and_then(|pod| pod.view.deleted_at);
        view.deleted_at = before.into_iter().chain(view.deleted_at).min();
    }

    fn is_idle(&self) -> bool {
        self.wake.is_none()
            && self.seen.pods.values().all(|pod| pod.gone)
            && self.seen.roots.values().all(|root| root.gone)
    }
}

/// Identifies an object among those of a job.
fn key(root: &RootView) -> String {
    format!("{}/{}/{}", root.resource.api_version, root.resource.kind, root.name)
}

/// The state of a cluster.
#[derive(Default)]
pub struct Board(Mutex<HashMap<JobName, Entry>>);

impl Board {
    fn lock(&self) -> MutexGuard<'_, HashMap<JobName, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A snapshot of a job.
    pub fn look(&self, job: &JobName, now: Timestamp) -> Seen {
        let mut seen = self.lock().get(job).map(|entry| entry.seen.clone()).unwrap_or_default();
        for pod in seen.pods.values_mut().filter(|pod| !pod.gone && pod.view.deleted.is_some()) {
            Arc::make_mut(&mut pod.view).lose(now);
        }
        seen
    }

    pub fn of_pod(&self, job: &JobName, uid: &str) -> Option<PodSeen> {
        self.lock().get(job)?.seen.pods.get(uid).cloned()
    }

    /// Resource use of jobs' pods by node and attempt, and the names of these jobs. Covers jobs whose objects
    /// carry the attempt's key.
    pub fn by_node(&self) -> (ByNode, HashSet<JobName>) {
        let (mut taken, mut jobs) = (ByNode::new(), HashSet::new());
        for (job, entry) in self.lock().iter() {
            let Some(key) = entry.seen.roots.values().find_map(|root| root.view.key.clone()) else {
                continue;
            };
            jobs.insert(job.clone());
            for pod in entry.seen.live_pods() {
                let Some(node) = &pod.node else { continue };
                let sum = taken.entry(node.clone()).or_default().entry(key.clone()).or_default();
                *sum = sum.plus(pod.takes);
            }
        }
        (taken, jobs)
    }

    /// The job of this name, and its namespace.
    pub fn find(&self, name: &str) -> Option<(String, Seen)> {
        let all = self.lock();
        let found = all.iter().find(|((_, job), _)| job == name);
        found.map(|((namespace, _), entry)| (namespace.clone(), entry.seen.clone()))
    }

    /// Namespaces of jobs that an attempt listens to.
    pub fn namespaces(&self) -> BTreeSet<String> {
        let all = self.lock();
        let asked = all.iter().filter(|(_, entry)| entry.wake.is_some());
        asked.map(|((namespace, _), _)| namespace.clone()).collect()
    }

    /// The pod of this name, as last seen, if an attempt listens to its job.
    pub fn asked_pod(&self, job: &JobName, name: &str) -> Option<Arc<PodView>> {
        let all = self.lock();
        let entry = all.get(job).filter(|entry| entry.wake.is_some())?;
        let found = entry.seen.pods.values().find(|pod| pod.view.name == name)?;
        Some(Arc::clone(&found.view))
    }

    /// Forgets a job's deleted pods: a suspension removed them, so they say nothing about its outcome.
    pub fn forget_gone(&self, job: &JobName) {
        if let Some(entry) = self.lock().get_mut(job) {
            entry.seen.pods.retain(|_, pod| !pod.gone);
        }
    }

    /// Events of the job of this name, in any namespace.
    pub fn told(&self, name: &str) -> Vec<Notice> {
        let all = self.lock();
        let of_job = all.iter().filter(|((_, job), _)| job == name);
        of_job.flat_map(|(_, entry)| entry.seen.notices()).collect()
    }

    /// Wakes `wake` on every change of the job.
    pub fn listen(&self, job: &JobName, wake: Arc<Notify>) {
        self.lock().entry(job.clone()).or_default().wake = Some(wake);
    }

    /// Stops listening to the job.
    pub fn forget(&self, job: &JobName) {
        let mut all = self.lock();
        if let Some(entry) = all.get_mut(job) {
            entry.wake = None;
            if entry.is_idle() {
                all.remove(job);
            }
        }
    }

    /// Adds or updates a pod.
    pub fn pod(&self, namespace: &str, mut view: PodView) {
        let mut all = self.lock();
        let entry = all.entry((namespace.to_owned(), view.job.clone())).or_default();
        entry.keep_deletion(&mut view);
        // The end of a suspended pod says nothing about its replacement.
        entry.seen.pods.retain(|uid, pod| *uid == view.uid || !pod.view.is_kept);
        entry.seen.pods.insert(view.uid.clone(), PodSeen { view: Arc::new(view), gone: false });
        entry.news();
    }

    /// Marks a pod as deleted; `last` is its last known state.
    pub fn pod_gone(&self, namespace: &str, mut last: PodView) {
        last.go();
        self.change(&(namespace.to_owned(), last.job.clone()), |entry| {
            let uid = last.uid.clone();
            entry.keep_deletion(&mut last);
            entry.seen.pods.insert(uid, PodSeen { view: Arc::new(last), gone: true });
        });
    }

    /// Adds or updates an object.
    pub fn root(&self, namespace: &str, view: RootView) {
        let mut all = self.lock();
        let entry = all.entry((namespace.to_owned(), view.job.clone())).or_default();
        let name = key(&view);
        entry.seen.roots.insert(name, RootSeen { view: Arc::new(view), gone: false });
        entry.news();
    }

    /// Marks an object as deleted.
    pub fn root_gone(&self, namespace: &str, last: RootView) {
        self.change(&(namespace.to_owned(), last.job.clone()), |entry| {
            let name = key(&last);
            entry.seen.roots.insert(name, RootSeen { view: Arc::new(last), gone: true });
        });
    }

    /// Adds an event of the object `name`, which belongs to the job whose name is a prefix of `name`.
    pub fn event(&self, namespace: &str, name: &str, event: Told) {
        let mut all = self.lock();
        // Job names contain hyphens themselves: the longest matching prefix wins.
        let ends = name.match_indices('-').map(|(at, _)| at).chain([name.len()]);
        for end in ends.collect::<Vec<_>>().into_iter().rev() {
            let Some(entry) = all.get_mut(&(namespace.to_owned(), name[..end].to_owned())) else { continue };
            let events = &mut entry.seen.events;
            events.retain(|other| other.uid != event.uid);
            events.push_back(event);
            while events.len() > EVENTS {
                events.pop_front();
            }
            return entry.news();
        }
    }

    /// After a relist: marks every pod that is not in it as deleted.
    pub fn only_pods(&self, namespace: &str, there: &HashSet<String>) {
        self.each(namespace, |seen| {
            let roots = seen.roots.values_mut().filter(|root| root.view.is_pod());
            roots.filter(|root| !there.contains(&root.view.uid)).for_each(|root| root.gone = true);
            let gone = seen.pods.iter_mut().filter(|(uid, pod)| !pod.gone && !there.contains(uid.as_str()));
            gone.map(|(_, pod)| {
                Arc::make_mut(&mut pod.view).go();
                pod.gone = true;
            })
            .count()
        });
    }

    /// The same for objects of one kind, by name.
    pub fn only_roots(&self, namespace: &str, kind: &ApiResource, there: &HashSet<String>) {
        self.each(namespace, |seen| {
            let of_kind = seen.roots.values_mut().filter(|root| *root.view.resource == *kind && !root.gone);
            let gone = of_kind.filter(|root| !there.contains(&root.view.name));
            gone.map(|root| root.gone = true).count()
        });
    }

    /// The objects of ended jobs that no attempt listens to.
    pub fn ended(&self) -> HashMap<JobName, Vec<RootView>> {
        let all = self.lock();
        let idle = all.iter().filter(|(_, entry)| entry.wake.is_none());
        idle.filter_map(|(job, entry)| {
            let roots: Vec<RootView> = entry.seen.live_roots().cloned().collect();
            let over = roots.iter().any(|root| !matches!(root.state, RootState::Open { .. }));
            over.then(|| (job.clone(), roots))
        })
        .collect()
    }

    fn change(&self, job: &JobName, change: impl FnOnce(&mut Entry)) {
        let mut all = self.lock();
        let Some(entry) = all.get_mut(job) else { return };
        change(entry);
        entry.news();
        if entry.is_idle() {
            all.remove(job);
        }
    }

    fn each(&self, namespace: &str, mut change: impl FnMut(&mut Seen) -> usize) {
        let mut all = self.lock();
        for ((_, _), entry) in all.iter_mut().filter(|((of, _), _)| of == namespace) {
            if change(&mut entry.seen) > 0 {
                entry.news();
            }
        }
        all.retain(|_, entry| !entry.is_idle());
    }
}

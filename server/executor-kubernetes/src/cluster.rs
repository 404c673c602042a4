//! State shared by all attempts on one cluster.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use cubeloom_domain::executor::{Ended, Event, Facts, Observation, Observer, StopCause};
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::{AttemptKey, Clock};
use cubeloom_workers::reports::Reports;
use kube::Client;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinError;

use crate::access::AccessError;
use crate::aside::Aside;
use crate::board::{Board, JobName, Seen};
use crate::cards::Trouble;
use crate::claim::Claims;
use crate::config::KubernetesConfig;
use crate::error::{Refused, pause};
use crate::folders::Folders;
use crate::node_use::NodeUse;
use crate::pace::Pace;
use crate::queues::Mirror;
use crate::resizes::Resizes;
use crate::standing::Watched;
use crate::taken::Others;
use crate::used::Meter;
use crate::watch::Watches;

/// Maximum number of logs followed at once. Each takes a connection; the others are read when their pods have
/// ended.
const FOLLOWED: usize = 256;
/// Maximum number of ended pods' logs read at once, in addition to followed ones.
const READ: usize = 32;

/// Maximum number of attempts that access their folders at once. Each takes a thread.
const ON_DISK: usize = 8;

/// Request timeout: longer than the API server waits for webhooks. A network may drop packets silently.
const ANSWER: Duration = Duration::from_secs(60);

/// A command to stop an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    pub cause: StopCause,
    /// Time between TERM and KILL.
    pub grace: Duration,
}

/// A command to resize an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Over all roles.
    pub workers: u32,
    /// Time between TERM and KILL for released workers.
    pub grace: Duration,
}

/// A command for an attempt.
#[derive(Clone, Debug)]
pub enum Wish {
    Stop(Stop),
    Scale(Scale),
    /// Give its workers at least the memory in this job.
    Grow(Arc<Job>),
}

/// State of an attempt.
pub enum Slot {
    /// Running; accepts commands.
    Live(UnboundedSender<Wish>),
    Ended(Box<Ended>),
}

/// State shared by all attempts on one cluster.
pub struct Cluster {
    pub config: KubernetesConfig,
    pub clock: Arc<dyn Clock>,
    /// Paths of files.
    pub folders: Folders,
    /// Receives the attempts' events.
    pub observer: OnceLock<Arc<dyn Observer>>,
    /// Connection state.
    pub standing: Watched,
    /// State of its jobs.
    pub board: Board,
    pub watches: Watches,
    /// Mirrors the quota tree into the cluster's queues.
    pub queues: Mirror,
    /// Whether the server sees the files of the projects' claims.
    pub claims: Claims,
    /// Cordoned nodes.
    pub aside: Aside,
    /// Nodes and installed components.
    pub facts: RwLock<Facts>,
    /// Limits concurrent requests.
    pub pace: Pace,
    /// Permits to follow a log.
    pub followers: Semaphore,
    /// Permits to read the log of an ended pod.
    pub readers: Semaphore,
    /// Permits to access a folder.
    disk: Semaphore,
    /// Last reports of running workers.
    pub reports: Reports,
    /// Other users' pods on its nodes.
    pub others: Others,
    /// Namespaces in which running pods can get more memory.
    pub resizes: Resizes,
    /// Resource use of pods.
    pub meter: Meter,
    /// Resource use of nodes.
    pub node_use: NodeUse,
    /// Lost GPUs by node.
    troubles: Mutex<HashMap<String, Trouble>>,
    client: OnceCell<Client>,
    attempts: Mutex<HashMap<AttemptKey, Slot>>,
}

impl Cluster {
    /// Creates the state without a request to the cluster. `facts` are the last known ones.
    pub fn new(config: KubernetesConfig, facts: Facts, clock: Arc<dyn Clock>) -> Self {
        Self {
            folders: Folders::new(&config),
            standing: Watched::new(&config.name, Arc::clone(&clock)),
            queues: Mirror::new(&config),
            claims: Claims::default(),
            aside: Aside::default(),
            config,
            clock,
            observer: OnceLock::new(),
            board: Board::default(),
            watches: Watches::default(),
            facts: RwLock::new(facts),
            pace: Pace::default(),
            followers: Semaphore::new(FOLLOWED),
            readers: Semaphore::new(READ),
            disk: Semaphore::new(ON_DISK),
            reports: Reports::default(),
            others: Others::default(),
            resizes: Resizes::default(),
            meter: Meter::default(),
            node_use: NodeUse::default(),
            troubles: Mutex::default(),
            client: OnceCell::new(),
            attempts: Mutex::default(),
        }
    }

    /// The client. If none can be created (the server no longer runs in a cluster), retries forever and
    /// reports it.
    pub async fn client(&self) -> Client {
        let mut tries = 0;
        loop {
            let made: Result<&Client, AccessError> =
                self.client.get_or_try_init(|| self.config.access.client(&self.config.name)).await;
            match made {
                Ok(client) => return client.clone(),
                Err(error) => {
                    self.standing.failed("connecting", &Refused::Credentials(error.to_string()));
                    tries += 1;
                    tokio::time::sleep(pause(tries)).await;
                }
            }
        }
    }

    /// The attempts that this server knows.
    pub fn attempts(&self) -> MutexGuard<'_, HashMap<AttemptKey, Slot>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a node's current GPU fault.
    pub fn note_trouble(&self, node: &str, trouble: Option<Trouble>) {
        let mut all = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        match trouble {
            Some(trouble) => _ = all.insert(node.to_owned(), trouble),
            None => _ = all.remove(node),
        }
    }

    /// The GPU fault of a node.
    pub fn trouble(&self, node: &str) -> Option<Trouble> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).get(node).cloned()
    }

    /// Reports an event to the engine.
    pub fn report(&self, key: &AttemptKey, event: Event) {
        if let Some(observer) = self.observer.get() {
            observer.observed(Observation { key: key.clone(), event });
        }
    }

    /// The last known nodes and components.
    pub fn facts(&self) -> Facts {
        self.facts.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn has_nodes(&self) -> bool {
        !self.facts.read().unwrap_or_else(PoisonError::into_inner).nodes.is_empty()
    }

    /// The facts that manifests are generated from.
    pub fn kubernetes(&self) -> Option<KubernetesFacts> {
        self.facts.read().unwrap_or_else(PoisonError::into_inner).kubernetes.clone()
    }

    /// A snapshot of a job.
    pub fn look(&self, job: &JobName) -> Seen {
        self.board.look(job, self.clock.now())
    }

    /// Runs blocking file access on another thread.
    ///
    /// # Errors
    /// The work panicked, or the runtime shuts down.
    pub async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        // Never closed.
        let _leave = self.disk.acquire().await;
        tokio::task::spawn_blocking(work).await
    }

    /// Sends a request when the rate limit allows it, and records whether the API server responds.
    pub async fn ask<T>(
        &self,
        what: &str,
        request: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, Refused> {
        let leave = self.pace.leave().await;
        let answer = match tokio::time::timeout(ANSWER, request).await {
            Ok(answer) => answer.map_err(Refused::from),
            Err(_) => Err(Refused::ForNow(format!("no response within {} seconds", ANSWER.as_secs()))),
        };
        leave.came(&answer);
        match &answer {
            Ok(_) | Err(Refused::ForGood(_) | Refused::Busy(_) | Refused::NotFound | Refused::Exists) => {
                self.standing.answered()
            }
            Err(refused) => self.standing.failed(what, refused),
        }
        answer
    }
}

//! What all attempts on one cluster share.

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

/// How many logs are followed at once. Each is a connection; others are read when their pods have ended.
const FOLLOWED: usize = 256;
/// How many logs of pods that have ended are read at once, however many are followed.
const READ: usize = 32;

/// How many attempts write to their folders, or read them, at once. Each takes a thread.
const ON_DISK: usize = 8;

/// How long an answer may take: longer than the API server waits for webhooks. A network may fail without a word.
const ANSWER: Duration = Duration::from_secs(60);

/// A wish to stop an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Reason.
    pub cause: StopCause,
    /// The time between TERM and KILL.
    pub grace: Duration,
}

/// A wish that an attempt has so many workers.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Of all roles.
    pub workers: u32,
    /// The time between TERM and KILL of those that go.
    pub grace: Duration,
}

/// What is wanted of an attempt.
#[derive(Clone, Debug)]
pub enum Wish {
    /// That it stops.
    Stop(Stop),
    /// That it has another size.
    Scale(Scale),
    /// That its workers have at least the memory that they have in this job.
    Grow(Arc<Job>),
}

/// What is known of an attempt.
pub enum Slot {
    /// It goes on; it can be told to stop, or to have another size.
    Live(UnboundedSender<Wish>),
    /// It has ended like this.
    Ended(Box<Ended>),
}

/// What all attempts on one cluster share.
pub struct Cluster {
    /// What was configured.
    pub config: KubernetesConfig,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where files lie.
    pub folders: Folders,
    /// Where to report.
    pub observer: OnceLock<Arc<dyn Observer>>,
    /// Connection state.
    pub standing: Watched,
    /// What is known of the jobs on it.
    pub board: Board,
    /// What is watched.
    pub watches: Watches,
    /// The tree of quotas, as its queues.
    pub queues: Mirror,
    /// Whether the files of the projects' claims are seen here.
    pub claims: Claims,
    /// The nodes that are set aside.
    pub aside: Aside,
    /// What it has.
    pub facts: RwLock<Facts>,
    /// How many requests may be under way.
    pub pace: Pace,
    /// Leave to follow a log.
    pub followers: Semaphore,
    /// Leave to read one to its end.
    pub readers: Semaphore,
    /// Leave to write to a folder.
    disk: Semaphore,
    /// What live workers have reported.
    pub reports: Reports,
    /// The pods of others on its nodes.
    pub others: Others,
    /// Where pods that run can be given more memory.
    pub resizes: Resizes,
    /// What pods use.
    pub meter: Meter,
    /// What nodes use.
    pub node_use: NodeUse,
    /// Cards that nodes have lost.
    troubles: Mutex<HashMap<String, Trouble>>,
    client: OnceCell<Client>,
    attempts: Mutex<HashMap<AttemptKey, Slot>>,
}

impl Cluster {
    /// A cluster that nothing was asked of yet. `facts` is what was known of it last.
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

    /// The client. Where none can be made (the server is in no cluster any more), it is tried again for ever, and said.
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

    /// The attempts that are known here.
    pub fn attempts(&self) -> MutexGuard<'_, HashMap<AttemptKey, Slot>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a node says of its cards now.
    pub fn note_trouble(&self, node: &str, trouble: Option<Trouble>) {
        let mut all = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        match trouble {
            Some(trouble) => _ = all.insert(node.to_owned(), trouble),
            None => _ = all.remove(node),
        }
    }

    /// The card that a node has lost.
    pub fn trouble(&self, node: &str) -> Option<Trouble> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).get(node).cloned()
    }

    /// Tells the engine.
    pub fn report(&self, key: &AttemptKey, event: Event) {
        if let Some(observer) = self.observer.get() {
            observer.observed(Observation { key: key.clone(), event });
        }
    }

    /// What the cluster has, as far as is known.
    pub fn facts(&self) -> Facts {
        self.facts.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it is known of any node.
    pub fn has_nodes(&self) -> bool {
        !self.facts.read().unwrap_or_else(PoisonError::into_inner).nodes.is_empty()
    }

    /// What objects follow from now.
    pub fn kubernetes(&self) -> Option<KubernetesFacts> {
        self.facts.read().unwrap_or_else(PoisonError::into_inner).kubernetes.clone()
    }

    /// What is known of a job now.
    pub fn look(&self, job: &JobName) -> Seen {
        self.board.look(job, self.clock.now())
    }

    /// Does what waits for the disk.
    ///
    /// # Errors
    /// It panicked, or the server ends.
    pub async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        // Never closed.
        let _leave = self.disk.acquire().await;
        tokio::task::spawn_blocking(work).await
    }

    /// Asks something of the API server as soon as the pace allows, and notes whether it answers.
    pub async fn ask<T>(
        &self,
        what: &str,
        request: impl Future<Output = Result<T, kube::Error>>,
    ) -> Result<T, Refused> {
        let leave = self.pace.leave().await;
        let answer = match tokio::time::timeout(ANSWER, request).await {
            Ok(answer) => answer.map_err(Refused::from),
            Err(_) => Err(Refused::ForNow(format!("no answer within {} seconds", ANSWER.as_secs()))),
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

//! State shared by all attempts on one cluster.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::{Ended, Event, Facts, Observation, Observer};
use cubeloom_domain::slurm;
use cubeloom_domain::{AttemptKey, Clock};
use cubeloom_executor_local::StopWish;
use cubeloom_workers::reports::Reports;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::board::Board;
use crate::commands::{Commands, Trouble};
use crate::config::SlurmConfig;
use crate::folders::Folders;
use crate::full::FullQueues;
use crate::kept_off::KeptOff;
use crate::logs::blocking;
use crate::mirror::Mirror;
use crate::nodes::{self, SeenNode};
use crate::orders::Orders;
use crate::speech::Speech;
use crate::uids::Uids;

/// Maximum number of concurrent calls as users' accounts: each is a process or two.
const CALLS: usize = 8;

/// Additional calls for attempts that stop, so that they do not wait for submissions.
const STOPS: usize = 2;

/// Maximum number of concurrent reads of attempts' files: other work needs blocking threads, too.
const LOOKS: usize = 32;

/// Not submitted yet.
pub const NOT_SUBMITTED: &str = "NotSubmitted";
/// Its workers' records are unreadable at present.
pub const UNSEEN: &str = "RecordsUnseen";

/// State of an attempt.
pub enum Slot {
    /// Running; accepts stop requests.
    Live(UnboundedSender<StopWish>),
    Ended(Box<Ended>),
}

/// State shared by all attempts on one cluster.
pub struct Cluster {
    pub config: SlurmConfig,
    pub clock: Arc<dyn Clock>,
    /// Slurm's commands.
    pub commands: Commands,
    /// Client for Slurm, through its commands or slurmrestd.
    pub speech: Speech,
    /// The last state of all jobs.
    pub board: Board,
    /// Paths of files.
    pub folders: Folders,
    /// Last reports of running workers.
    pub reports: Reports,
    /// Receives the attempts' events.
    pub observer: OnceLock<Arc<dyn Observer>>,
    /// Permits for calls as users' accounts.
    pub calls: Semaphore,
    /// Permits for calls as users' accounts for attempts that stop.
    pub stops: Semaphore,
    /// Accounts whose queue in Slurm is full.
    pub full: FullQueues,
    /// Permits to read attempts' files.
    pub disk: Semaphore,
    /// Mirrors the quota tree into Slurm's accounts.
    pub mirror: Mirror,
    /// Batched work for attempts that stop.
    pub orders: Orders,
    /// Cancels all background work.
    pub end: CancellationToken,
    attempts: Mutex<HashMap<AttemptKey, Slot>>,
    standing: Mutex<Standing>,
    /// Pending reasons of attempts: a keyword, and a sentence.
    waiting: Mutex<HashMap<AttemptKey, (&'static str, String)>>,
    facts: RwLock<Facts>,
    kept_off: RwLock<KeptOff>,
    /// Cached uids of accounts.
    uids: Uids,
}

impl Cluster {
    /// Creates the state without a request to the cluster.
    pub fn new(config: SlurmConfig, clock: Arc<dyn Clock>) -> Self {
        Self {
            commands: Commands::new(config.calls.clone()),
            speech: Speech::new(&config.name, &config.calls, Arc::clone(&clock)),
            folders: Folders::new(&config.data),
            facts: RwLock::new(nodes::read(Vec::new(), &config.name, &config.facts)),
            board: Board::new(),
            reports: Reports::default(),
            observer: OnceLock::new(),
            calls: Semaphore::new(CALLS),
            stops: Semaphore::new(STOPS),
            full: FullQueues::default(),
            disk: Semaphore::new(LOOKS),
            mirror: Mirror::default(),
            orders: Orders::new(),
            end: CancellationToken::new(),
            kept_off: RwLock::default(),
            attempts: Mutex::default(),
            waiting: Mutex::default(),
            uids: Uids::new(),
            standing: Mutex::new(Standing::Unknown),
            clock,
            config,
        }
    }

    pub fn attempts(&self) -> MutexGuard<'_, HashMap<AttemptKey, Slot>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports an event of an attempt.
    pub fn report(&self, key: &AttemptKey, event: Event) {
        if let Some(observer) = self.observer.get() {
            observer.observed(Observation { key: key.clone(), event });
        }
    }

    /// Reads attempts' files on a blocking thread.
    pub async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        // Never closed.
        let _leave = self.disk.acquire().await;
        blocking(work).await
    }

    /// Records and reports an attempt's end.
    pub fn ended(&self, key: &AttemptKey, ended: Ended) {
        let ended = Box::new(ended);
        self.attempts().insert(key.clone(), Slot::Ended(ended.clone()));
        self.board.forget(key);
        self.waits_for(key, None);
        self.report(key, Event::Ended(ended));
    }

    /// Sets or clears an attempt's pending reason: a keyword, and a sentence.
    pub fn waits_for(&self, key: &AttemptKey, why: Option<(&'static str, String)>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match why {
            Some(why) => _ = waiting.insert(key.clone(), why),
            None => _ = waiting.remove(key),
        }
    }

    /// The pending reason of an attempt.
    pub fn waits(&self, key: &AttemptKey) -> Option<(&'static str, String)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// The uid of an account on this machine, which is the same on the cluster.
    ///
    /// # Errors
    /// There is no such account, jobs must not run as it, or this is unknown at present.
    pub async fn uid(&self, account: &str) -> Result<u32, Trouble> {
        self.uids.of(account, self.ask_uid(account)).await
    }

    async fn ask_uid(&self, account: &str) -> Result<u32, Trouble> {
        let uid = self.commands.uid(account).await?;
        let own = rustix::process::geteuid().as_raw();
        let runs_as_itself = self.config.calls.become_account.is_empty();
        if uid == 0 {
            return Err(Trouble::Refused(format!(
                "the account `{account}` belongs to root: jobs cannot run as root"
            )));
        }
        if (uid == own) != runs_as_itself {
            return Err(Trouble::Refused(if runs_as_itself {
                format!(
                    "all jobs run as the server's account, because `become` is empty in its settings: `{account}` is another account"
                )
            } else {
                format!(
                    "the account `{account}` belongs to the server: its tasks could read the server's data"
                )
            }));
        }
        Ok(uid)
    }

    /// The cluster's facts, without the nodes that get no jobs.
    pub fn facts(&self) -> Facts {
        let mut facts = self.facts.read().unwrap_or_else(PoisonError::into_inner).clone();
        let (aside, spares) = self.kept_off();
        facts.nodes.retain(|node| !aside.contains(&node.name) && !spares.contains(&node.name));
        if let Some(slurm) = &mut facts.slurm {
            (slurm.aside_nodes, slurm.spare_nodes) = (aside, spares);
        }
        facts
    }

    /// Replaces the set of cordoned nodes. Invalid node names are dropped, since they would end up in a
    /// script.
    pub fn set_aside(&self, nodes: impl Iterator<Item = String>) {
        let nodes = nodes.filter(|name| slurm::is_word(name));
        let all = self.config.facts.aside_nodes.iter().cloned().chain(nodes).collect();
        self.kept_off.write().unwrap_or_else(PoisonError::into_inner).set_aside(all, &self.config.facts);
    }

    /// Records the nodes that Slurm has now.
    pub fn saw(&self, seen: Vec<SeenNode>) {
        let facts = &self.config.facts;
        self.kept_off.write().unwrap_or_else(PoisonError::into_inner).saw(&seen, facts);
        let found = nodes::read(seen, &self.config.name, facts);
        *self.facts.write().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// Nodes that get no jobs: cordoned ones and standby nodes.
    pub fn kept_off(&self) -> (Vec<String>, Vec<String>) {
        let kept_off = self.kept_off.read().unwrap_or_else(PoisonError::into_inner);
        (kept_off.aside(), kept_off.spares().to_vec())
    }

    /// Connection state.
    pub fn standing(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records whether the cluster responds, or why not.
    pub fn stands(&self, trouble: Option<String>) {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let name = &self.config.name;
        *standing = match (&*standing, trouble) {
            (Standing::Connected, None) => return,
            (_, None) => {
                tracing::info!(cluster = name, "the cluster is reachable");
                Standing::Connected
            }
            (Standing::Away { since, .. }, Some(why)) => Standing::Away { since: *since, why },
            (_, Some(why)) => {
                tracing::warn!(cluster = name, why, "the cluster is unreachable");
                Standing::Away { since: self.clock.now(), why }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::executor::tests::executor;

    #[tokio::test]
    async fn not_all_attempts_look_at_their_files_at_once() {
        let data = tempfile::tempdir().unwrap();
        let executor = executor(data.path(), "/nonexistent", &[]);
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let look = || {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            let cluster = Arc::clone(&executor.cluster);
            tokio::spawn(async move {
                let work = move || {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    now.fetch_sub(1, Ordering::SeqCst);
                    Ok(())
                };
                cluster.on_disk(work).await
            })
        };
        let looks: Vec<_> = (0..LOOKS * 3).map(|_| look()).collect();
        for look in looks {
            look.await.unwrap().unwrap();
        }
        assert!((1..=LOOKS).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    }
}

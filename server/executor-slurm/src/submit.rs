//! Submits a job to Slurm: its files first, its script last. Every step is idempotent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::slurm::{SlurmJob, files};
use cubeloom_workers::place::{Guard, Place};
use tokio::sync::SemaphorePermit;

use crate::attempt::Attempt;
use crate::cluster::{Cluster, NOT_SUBMITTED};
use crate::commands::Trouble;
use crate::folders::Record;
use crate::full::is_full;
use crate::logs::blocking;
use crate::parcel::{self, Needed};
use crate::speech::Given;

/// Delay before a failed step is retried.
pub const PAUSE: Duration = Duration::from_secs(2);

/// A part of `sbatch`'s message when a job must not count for an account: "Invalid account or
/// account/partition combination specified".
const NO_ACCOUNT: &str = "nvalid account";

/// Data to submit a new attempt.
pub struct Parcel {
    pub job: SlurmJob,
    /// Its secrets' values, by name.
    pub secrets: BTreeMap<String, String>,
    /// Folders of this machine that it needs, and their paths on the nodes.
    pub folders: Vec<Needed>,
    /// Whether an earlier server may have submitted it.
    pub in_doubt: bool,
}

/// Result of a submission.
pub enum Submitted {
    /// Slurm has it.
    Done,
    /// A stop was requested, and it was never submitted.
    Stopped,
    /// A stop was requested, and Slurm may have it without having responded.
    InDoubt,
    /// It cannot start.
    Refused(Failure),
}

/// Folders of this machine that a job needs on its nodes, except those that its account has there. Blocking.
pub fn folders(cluster: &Cluster, job: &Job, slurm: &SlurmJob, record: &Record) -> Vec<Needed> {
    let told =
        |name: &str| slurm.job.workers.first().and_then(|worker| worker.env.get(name)).map(PathBuf::from);
    let template = told("CUBELOOM_TEMPLATE_DIR").filter(|_| !job.template_folder.is_empty());
    let template = template.map(|to| (PathBuf::from(&job.template_folder), to));
    let code = job.code.as_ref().zip(told("CUBELOOM_CODE"));
    let code = code.map(|(digest, to)| (cluster.config.code.join(digest), to));
    let facts = cluster.config.facts.of_project(&job.project);
    let tops = [record.top.clone(), facts.templates.into(), facts.code.into()];
    let needed = template.into_iter().chain(code).filter_map(|(from, to)| {
        let top = tops.iter().find(|top| !top.as_os_str().is_empty() && to.starts_with(top))?.clone();
        Some(Needed { from, top, to })
    });
    // Folders not visible from this machine are sent: the account checks again.
    needed.filter(|needed| !is_there(needed, record.uid)).collect()
}

fn is_there(needed: &Needed, uid: u32) -> bool {
    Guard::new(&needed.top, Some(uid))
        .is_ok_and(|guard| Place::guarded(Arc::new(guard), &needed.to).is_own_folder())
}

impl Attempt {
    /// Submits, however long the cluster is unreachable.
    pub async fn submit(&mut self, parcel: Parcel) -> Submitted {
        if parcel.in_doubt && self.is_there().await {
            return Submitted::Done;
        }
        if let Err(failure) = self.write(&parcel).await {
            return self.stopped_or(failure);
        }
        let script = format!("{}/{}", parcel.job.folder, files::SCRIPT);
        let (mut in_doubt, mut is_left_out) = (parcel.in_doubt, false);
        loop {
            if self.is_stopped() {
                return if in_doubt { Submitted::InDoubt } else { Submitted::Stopped };
            }
            if let Err(why) = self.cluster.full.may_ask(&self.record.account, Instant::now()) {
                self.in_line(why).await;
                continue;
            }
            let counted_as = match self.counted_as(&parcel, is_left_out).await {
                Ok(account) => account,
                // Nothing was submitted: a job must not escape its quota because Slurm is unreachable.
                Err(why) => {
                    self.later(why).await;
                    continue;
                }
            };
            let given =
                Given { script: &script, text: &parcel.job.script, counted_as: counted_as.as_deref() };
            let cluster = Arc::clone(&self.cluster);
            let Some(call) = self.turn(&cluster).await else { continue };
            let done = cluster.speech.submit(&self.record.account, &given).await;
            drop(call);
            match done {
                Ok(id) => return self.is_taken(id).await,
                Err(Trouble::Refused(why)) => {
                    // The message may not match what was done.
                    if self.is_there().await {
                        return Submitted::Done;
                    }
                    match counted_as {
                        // A partition may not accept the project's account, or an association was removed
                        // meanwhile. Neither is the job's fault: submit it without the account.
                        Some(account) if why.contains(NO_ACCOUNT) => {
                            self.cluster.leave_out(account, &self.record.account, why);
                            is_left_out = true;
                        }
                        _ => return Submitted::Refused(could_not(why)),
                    }
                }
                Err(Trouble::Away(why)) if is_full(&why) => self.has_no_room(why).await,
                Err(Trouble::Away(why)) => {
                    in_doubt = true;
                    self.later(why).await;
                    // Slurm may have accepted it, and only the response was lost.
                    if self.is_there().await {
                        return Submitted::Done;
                    }
                }
            }
        }
    }

    /// The account of its project's quota, unless that has refused it.
    async fn counted_as(&self, parcel: &Parcel, is_left_out: bool) -> Result<Option<String>, String> {
        if is_left_out {
            return Ok(None);
        }
        self.cluster.counted_as(&parcel.job.job.project, &self.record.account).await
    }

    /// Records that Slurm has it, under this id.
    async fn is_taken(&mut self, id: String) -> Submitted {
        self.cluster.full.took(&self.record.account, Instant::now());
        self.cluster.waits_for(&self.key, None);
        self.since = self.cluster.board.begun();
        self.cluster.board.learn(&self.key, [id.clone()]);
        self.note_id(id).await;
        Submitted::Done
    }

    /// Handles a full queue of its account.
    async fn has_no_room(&mut self, why: String) {
        self.cluster.full.refused(&self.record.account, &why, Instant::now());
        self.in_line(why).await;
    }

    /// Waits for a permit to call. `None`: a stop was requested.
    async fn turn<'c>(&mut self, cluster: &'c Cluster) -> Option<SemaphorePermit<'c>> {
        tokio::select! {
            // Never closed.
            call = cluster.calls.acquire() => call.ok(),
            Some(wish) = self.wishes.recv() => {
                self.wanted(wish);
                None
            }
        }
    }

    /// Waits for its turn in the account's queue, and reports why.
    async fn in_line(&mut self, why: String) {
        self.cluster.waits_for(&self.key, Some((NOT_SUBMITTED, why)));
        self.pause(PAUSE).await;
    }

    /// Waits for the next try, and reports why.
    async fn later(&mut self, why: String) {
        tracing::warn!(key = %self.key, why, "a job cannot be submitted now; retrying later");
        self.cluster.waits_for(&self.key, Some((NOT_SUBMITTED, why)));
        self.pause(PAUSE).await;
    }

    /// Records its id: the next server finds it by id, even if it was renamed.
    async fn note_id(&mut self, id: String) {
        self.record.ids.push(id);
        let (cluster, key, record) = (Arc::clone(&self.cluster), self.key.clone(), self.record.clone());
        if let Err(error) = blocking(move || cluster.folders.note_ids(&key, &record)).await {
            tracing::warn!(key = %self.key, %error, "the id of a job cannot be saved");
        }
    }

    fn stopped_or(&self, failure: Option<Failure>) -> Submitted {
        failure.map_or(Submitted::Stopped, Submitted::Refused)
    }

    /// Has the user's account write the files that the job needs. `None`: a stop was requested.
    async fn write(&mut self, parcel: &Parcel) -> Result<(), Option<Failure>> {
        let (job, secrets) = (parcel.job.clone(), parcel.secrets.clone());
        let (folders, top) = (parcel.folders.clone(), self.record.top.clone());
        let packed = blocking(move || Ok(parcel::pack(&top, &job, secrets, &folders))).await;
        let packed = packed.map_err(|error| Some(could_not(error.to_string())))?;
        let packed = packed.map_err(|error| Some(could_not(error.sentence())))?;
        loop {
            if self.is_stopped() {
                return Err(None);
            }
            let cluster = Arc::clone(&self.cluster);
            let Some(call) = self.turn(&cluster).await else { continue };
            let record = &self.record;
            let done = cluster.commands.parcel(&record.account, &record.program, &packed).await;
            drop(call);
            match done {
                Ok(()) => {
                    self.cluster.waits_for(&self.key, None);
                    return Ok(());
                }
                Err(Trouble::Refused(why)) => return Err(Some(could_not(why))),
                Err(Trouble::Away(why)) => {
                    tracing::warn!(key = %self.key, why, "the files of a job cannot be written now; retrying later");
                    self.cluster.waits_for(&self.key, Some((NOT_SUBMITTED, why)));
                    self.pause(PAUSE).await;
                }
            }
        }
    }

    /// Whether Slurm has, or had, the attempt. Waits while Slurm is unreachable.
    pub async fn is_there(&mut self) -> bool {
        let since = self.cluster.board.begun();
        self.jobs = self.cluster.board.find(&self.key).await;
        self.cluster.board.learn(&self.key, self.jobs.iter().map(|job| job.id.clone()));
        self.since = since;
        // If this is unknown, do not submit it a second time.
        self.has_begun().await.unwrap_or(true) || !self.jobs.is_empty()
    }
}

fn could_not(why: String) -> Failure {
    Failure::new(FailureKind::CouldNotStart, why)
}

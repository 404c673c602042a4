//! Starts handling jobs: submits new ones, and finds out the state of any other.

use std::sync::Arc;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{Event, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{LocalJob, Lowered};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::slurm::SlurmJob;
use cubeloom_domain::vault;
use cubeloom_executor_local::StopWish;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::attempt::{Attempt, Begin, tell, without_run};
use crate::cluster::{Cluster, NOT_SUBMITTED, Slot};
use crate::commands::Trouble;
use crate::folders::Record;
use crate::logs::blocking;
use crate::submit::{PAUSE, Parcel, folders};

/// Why a new attempt cannot be recorded.
enum NotYet {
    /// The uid of its account is unknown at present; the sentence says why.
    Away(String),
    /// It cannot start.
    Never(Failure),
}

/// An attempt being started or adopted.
struct Taken {
    job: Arc<Job>,
    slurm: Box<SlurmJob>,
    wishes: UnboundedReceiver<StopWish>,
    new: bool,
}

impl Cluster {
    /// Starts handling a job: submits a `new` one, and adopts any other.
    pub async fn take(self: &Arc<Self>, Submission { job, lowered }: Submission, new: bool) {
        let key = job.key.clone();
        let Lowered::Slurm(slurm) = &*lowered else {
            let message = "it was not compiled for Slurm; compile it with `--for slurm`";
            return self.refuse(&key, Failure::new(FailureKind::CouldNotStart, message));
        };
        let Some(wishes) = self.enter(&key) else { return };
        let taken = Taken { job, slurm: slurm.clone(), wishes, new };
        // An attempt stays with the account that it began as, whatever the user's account is now.
        if let Some(record) = self.noted(&key).await {
            return self.begin(taken, record, true).await;
        }
        match self.record(&taken.job, &taken.slurm).await {
            Ok(record) => self.begin(taken, record, false).await,
            Err(NotYet::Never(failure)) => self.end(&key, failure),
            Err(NotYet::Away(why)) => {
                // Other jobs must not wait for it.
                let later = Arc::clone(self).later(taken, why);
                tokio::spawn(self.end.clone().run_until_cancelled_owned(later));
            }
        }
    }

    /// Continues with an attempt once the uid of its account is known.
    async fn later(self: Arc<Self>, mut taken: Taken, mut why: String) {
        let key = taken.job.key.clone();
        loop {
            tracing::warn!(%key, why, "the uid of a job's account cannot be determined now; retrying");
            self.waits_for(&key, Some((NOT_SUBMITTED, why)));
            tokio::select! {
                Some(_) = taken.wishes.recv() => {
                    return self.ended(&key, without_run(Outcome::Cancelled, self.clock.now()));
                }
                () = tokio::time::sleep(PAUSE) => {}
            }
            match self.record(&taken.job, &taken.slurm).await {
                Ok(record) => {
                    self.waits_for(&key, None);
                    return self.begin(taken, record, false).await;
                }
                Err(NotYet::Never(failure)) => return self.end(&key, failure),
                Err(NotYet::Away(again)) => why = again,
            }
        }
    }

    /// Records an attempt, unless it is recorded, and starts it. `in_doubt`: an earlier server may have
    /// submitted it.
    async fn begin(self: &Arc<Self>, taken: Taken, record: Record, in_doubt: bool) {
        let Taken { job, slurm, wishes, new } = taken;
        let key = job.key.clone();
        let processes = Arc::new(slurm.job.clone());
        let begin = if new {
            match self.parcel(&job, &slurm, &record, in_doubt).await {
                Ok(parcel) => Begin::Submit(Box::new(parcel)),
                Err(failure) => return self.end(&key, failure),
            }
        } else {
            Begin::Adopt
        };
        let noted = {
            let (cluster, key) = (Arc::clone(self), key.clone());
            let (record, processes) = (record.clone(), Arc::clone(&processes));
            blocking(move || if in_doubt { Ok(()) } else { cluster.folders.note(&key, &record, &processes) })
                .await
        };
        if let Err(error) = noted {
            let message = format!("the submission cannot be saved in the server's data folder: {error}");
            return self.end(&key, Failure::new(FailureKind::CouldNotStart, message));
        }
        self.spawn(key, record, processes, job.watches.clone(), wishes, begin);
    }

    /// The record of a new attempt.
    async fn record(&self, job: &Job, slurm: &SlurmJob) -> Result<Record, NotYet> {
        let account = self.config.account(&job.project, &job.user).map_err(NotYet::Never)?;
        let uid = self.uid(&account).await.map_err(|trouble| match trouble {
            Trouble::Away(why) => NotYet::Away(why),
            Trouble::Refused(why) => NotYet::Never(Failure::new(FailureKind::CouldNotStart, why)),
        })?;
        let facts = self.config.facts.of_project(&job.project);
        let (folder, top) = ((&slurm.folder).into(), facts.workspace.into());
        Ok(Record { folder, top, account, uid, program: facts.program, ids: Vec::new() })
    }

    /// Adds an attempt to the table; `None` if it is there already.
    pub fn enter(&self, key: &AttemptKey) -> Option<UnboundedReceiver<StopWish>> {
        let mut attempts = self.attempts();
        match attempts.get(key) {
            Some(Slot::Live(_)) => None,
            Some(Slot::Ended(ended)) => {
                let event = Event::Ended(ended.clone());
                drop(attempts);
                self.report(key, event);
                None
            }
            None => {
                let (sender, wishes) = unbounded_channel();
                attempts.insert(key.clone(), Slot::Live(sender));
                Some(wishes)
            }
        }
    }

    /// Runs an attempt in the background.
    pub fn spawn(
        self: &Arc<Self>,
        key: AttemptKey,
        record: Record,
        job: Arc<LocalJob>,
        watches: Option<String>,
        wishes: UnboundedReceiver<StopWish>,
        begin: Begin,
    ) {
        let attempt = Attempt::new(Arc::clone(self), key, record, job, watches, wishes);
        tokio::spawn(self.end.clone().run_until_cancelled_owned(attempt.run(begin)));
    }

    /// The data to submit a job.
    async fn parcel(
        self: &Arc<Self>,
        job: &Arc<Job>,
        slurm: &SlurmJob,
        record: &Record,
        in_doubt: bool,
    ) -> Result<Parcel, Failure> {
        let secrets = vault::secrets_of(self.config.vault.as_deref(), job).await;
        let secrets = secrets.map_err(|message| Failure::new(FailureKind::CouldNotStart, message))?;
        let (cluster, job) = (Arc::clone(self), Arc::clone(job));
        let (wanted, record) = (slurm.clone(), record.clone());
        let folders = blocking(move || Ok(folders(&cluster, &job, &wanted, &record))).await;
        let folders = folders.map_err(|error| Failure::new(FailureKind::CouldNotStart, error.to_string()))?;
        Ok(Parcel { job: slurm.clone(), secrets, folders, in_doubt })
    }

    /// Ends an attempt that can never start.
    fn end(&self, key: &AttemptKey, failure: Failure) {
        self.ended(key, without_run(Outcome::Failed(failure), self.clock.now()));
    }

    /// The same for an attempt without a record.
    fn refuse(&self, key: &AttemptKey, failure: Failure) {
        let ended = without_run(Outcome::Failed(failure), self.clock.now());
        self.report(key, Event::Ended(Box::new(ended)));
    }

    /// This server's, or an earlier one's, record of an attempt.
    pub async fn noted(self: &Arc<Self>, key: &AttemptKey) -> Option<Record> {
        let (cluster, key) = (Arc::clone(self), key.clone());
        blocking(move || Ok(cluster.folders.record(&key))).await.ok().flatten()
    }

    /// Stops an attempt when only its key and its record are known.
    pub async fn stop_unknown(self: &Arc<Self>, key: &AttemptKey, record: Option<Record>, wish: StopWish) {
        let (cluster, wanted) = (Arc::clone(self), key.clone());
        let job = blocking(move || Ok(cluster.folders.job(&wanted))).await.ok().flatten();
        match record.zip(job) {
            Some((record, job)) => {
                let Some(wishes) = self.enter(key) else {
                    tell(self, key, wish);
                    return;
                };
                self.spawn(key.clone(), record, Arc::new(job), None, wishes, Begin::Adopt);
            }
            // It was never submitted, and never will be.
            None => self.ended(key, without_run(Outcome::Cancelled, self.clock.now())),
        }
    }
}

//! Takes jobs up: new ones are to be submitted, of others it is to be found out what became of them.

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

/// Why nothing can be noted of a new attempt.
enum NotYet {
    /// Who its account is cannot be found out now: a sentence.
    Away(String),
    /// It cannot start.
    Never(Failure),
}

/// An attempt that is taken up.
struct Taken {
    job: Arc<Job>,
    slurm: Box<SlurmJob>,
    wishes: UnboundedReceiver<StopWish>,
    new: bool,
}

impl Cluster {
    /// Takes up a job: `new` ones are to be submitted.
    pub async fn take(self: &Arc<Self>, Submission { job, lowered }: Submission, new: bool) {
        let key = job.key.clone();
        let Lowered::Slurm(slurm) = &*lowered else {
            let message = "it was not compiled for Slurm; compile it with `--for slurm`";
            return self.refuse(&key, Failure::new(FailureKind::CouldNotStart, message));
        };
        let Some(wishes) = self.enter(&key) else { return };
        let taken = Taken { job, slurm: slurm.clone(), wishes, new };
        // What was begun as one account is ended as it, whoever the person is now.
        if let Some(record) = self.noted(&key).await {
            return self.begin(taken, record, true).await;
        }
        match self.record(&taken.job, &taken.slurm).await {
            Ok(record) => self.begin(taken, record, false).await,
            Err(NotYet::Never(failure)) => self.end(&key, failure),
            Err(NotYet::Away(why)) => {
                // Others are not to wait for it.
                let later = Arc::clone(self).later(taken, why);
                tokio::spawn(self.end.clone().run_until_cancelled_owned(later));
            }
        }
    }

    /// Begins with an attempt when it is known again who its account is.
    async fn later(self: Arc<Self>, mut taken: Taken, mut why: String) {
        let key = taken.job.key.clone();
        loop {
            tracing::warn!(%key, why, "whose account it is cannot be found out now");
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

    /// Notes an attempt, unless it is noted, and begins with it. `in_doubt`: an earlier server may have submitted it.
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
            let message = format!("what is submitted cannot be noted in the server's data folder: {error}");
            return self.end(&key, Failure::new(FailureKind::CouldNotStart, message));
        }
        self.spawn(key, record, processes, job.watches.clone(), wishes, begin);
    }

    /// What is noted of a new attempt.
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

    /// Puts an attempt into the table; `None` when it is there already.
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

    /// An attempt goes on by itself from now on.
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

    /// What a job is submitted with.
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

    /// It cannot start, and never will.
    fn end(&self, key: &AttemptKey, failure: Failure) {
        self.ended(key, without_run(Outcome::Failed(failure), self.clock.now()));
    }

    /// The same where nothing is kept of it.
    fn refuse(&self, key: &AttemptKey, failure: Failure) {
        let ended = without_run(Outcome::Failed(failure), self.clock.now());
        self.report(key, Event::Ended(Box::new(ended)));
    }

    /// What this server, or an earlier one, has noted of an attempt.
    pub async fn noted(self: &Arc<Self>, key: &AttemptKey) -> Option<Record> {
        let (cluster, key) = (Arc::clone(self), key.clone());
        blocking(move || Ok(cluster.folders.record(&key))).await.ok().flatten()
    }

    /// Stops an attempt of which this server knows nothing but the key, and what is noted.
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
            // It was never submitted, and will not be.
            None => self.ended(key, without_run(Outcome::Cancelled, self.clock.now())),
        }
    }
}

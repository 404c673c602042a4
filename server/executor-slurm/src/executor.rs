//! The executor's port.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::clusters::{Finding, Standing, Subject, Survey};
use cubeloom_domain::executor::{BoxFuture, Event, Executor, Facts, Notice, Observer, StopCause, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::logs::Logs;
use cubeloom_domain::lowered::{Bindings, LocalJob, Lowered, SlurmBindings};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::slurm::{SlurmJob, files};
use cubeloom_domain::usage::UsageSeries;
use cubeloom_domain::{AttemptKey, Clock};
use cubeloom_executor_local::StopWish;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::AbortHandle;

use crate::attempt::{Attempt, Begin, tell, without_run};
use crate::cluster::{Cluster, Slot};
use crate::commands::Trouble;
use crate::config::SlurmConfig;
use crate::folders::Record;
use crate::seen::State;
use crate::submit::{Parcel, folders};
use crate::watch;

/// How many jobs are given to it at a time: what is sent of each lies in memory.
const AT_ONCE: usize = 32;

/// Runs jobs on a Slurm cluster.
pub struct SlurmExecutor {
    pub(crate) cluster: Arc<Cluster>,
    /// What ends with it.
    watching: std::sync::OnceLock<AbortHandle>,
}

impl SlurmExecutor {
    /// Nothing is asked of the cluster yet: that begins with [`Executor::attach`].
    #[must_use]
    pub fn new(config: SlurmConfig, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { cluster: Arc::new(Cluster::new(config, clock)), watching: Default::default() })
    }

    /// Takes up a job: `new` ones are to be submitted, of others it is to be found out what became of them.
    async fn take(&self, Submission { job, lowered }: Submission, new: bool) {
        let key = job.key.clone();
        let Lowered::Slurm(slurm) = &*lowered else {
            let message = "it was not compiled for Slurm; compile it with `--for slurm`";
            return self.refuse(&key, Failure::new(FailureKind::CouldNotStart, message));
        };
        let Some(wishes) = self.enter(&key) else { return };
        let earlier = self.cluster.folders.record(&key);
        let begin = if new {
            match self.parcel(&job, slurm, earlier.is_some()).await {
                Ok(parcel) => Begin::Submit(Box::new(parcel)),
                Err(failure) => return self.end(&key, failure),
            }
        } else {
            Begin::Adopt
        };
        let record = match (earlier, self.cluster.config.account(&job.user)) {
            // What was begun as one account is ended as it, whoever the person is now.
            (Some(record), _) => record,
            (None, Ok(account)) => {
                let program = self.cluster.config.facts.program.clone();
                Record { folder: (&slurm.folder).into(), account, program }
            }
            (None, Err(failure)) => return self.end(&key, failure),
        };
        if new && let Err(error) = self.cluster.folders.note(&key, &record) {
            let message = format!("what is submitted cannot be noted in the server's data folder: {error}");
            return self.end(&key, Failure::new(FailureKind::CouldNotStart, message));
        }
        self.spawn(key, record, Arc::new(slurm.job.clone()), job.watches.clone(), wishes, begin);
    }

    /// Puts an attempt into the table; `None` when it is there already.
    fn enter(&self, key: &AttemptKey) -> Option<UnboundedReceiver<StopWish>> {
        let mut attempts = self.cluster.attempts();
        match attempts.get(key) {
            Some(Slot::Live(_)) => None,
            Some(Slot::Ended(ended)) => {
                let event = Event::Ended(ended.clone());
                drop(attempts);
                self.cluster.report(key, event);
                None
            }
            None => {
                let (sender, wishes) = unbounded_channel();
                attempts.insert(key.clone(), Slot::Live(sender));
                Some(wishes)
            }
        }
    }

    fn spawn(
        &self,
        key: AttemptKey,
        record: Record,
        job: Arc<LocalJob>,
        watches: Option<String>,
        wishes: UnboundedReceiver<StopWish>,
        begin: Begin,
    ) {
        let attempt = Attempt::new(Arc::clone(&self.cluster), key, record, job, watches, wishes);
        tokio::spawn(attempt.run(begin));
    }

    /// What a job is submitted with.
    async fn parcel(&self, job: &Job, slurm: &SlurmJob, in_doubt: bool) -> Result<Parcel, Failure> {
        let secrets = self.secrets(job).await;
        let secrets = secrets.map_err(|message| Failure::new(FailureKind::CouldNotStart, message))?;
        Ok(Parcel { job: slurm.clone(), secrets, folders: folders(&self.cluster, job, slurm), in_doubt })
    }

    /// The values of the secrets that a job names.
    async fn secrets(&self, job: &Job) -> Result<BTreeMap<String, String>, String> {
        let mut values = BTreeMap::new();
        for mount in &job.secrets {
            let value = match &self.cluster.config.vault {
                Some(vault) => vault.secret(&job.project, &job.user, &mount.name).await?,
                None => None,
            };
            let value = value.ok_or_else(|| {
                format!("there is no secret `{}` any more: add it to the project", mount.name)
            })?;
            values.insert(mount.name.clone(), value);
        }
        Ok(values)
    }

    /// It cannot start, and never will.
    fn end(&self, key: &AttemptKey, failure: Failure) {
        self.cluster.ended(key, without_run(Outcome::Failed(failure), self.cluster.clock.now()));
    }

    /// The same where nothing is kept of it.
    fn refuse(&self, key: &AttemptKey, failure: Failure) {
        let ended = without_run(Outcome::Failed(failure), self.cluster.clock.now());
        self.cluster.report(key, Event::Ended(Box::new(ended)));
    }

    /// Stops an attempt of which this server knows nothing but the key.
    fn stop_unknown(&self, key: &AttemptKey, wish: StopWish) {
        let record = self.cluster.folders.record(key);
        let known = record.and_then(|record| {
            let text = fs::read(record.folder.join(files::JOB)).ok()?;
            Some((record, serde_json::from_slice::<LocalJob>(&text).ok()?))
        });
        match known {
            Some((record, job)) => {
                let Some(wishes) = self.enter(key) else {
                    tell(&self.cluster, key, wish);
                    return;
                };
                self.spawn(key.clone(), record, Arc::new(job), None, wishes, Begin::Adopt);
            }
            // It was never submitted, and will not be.
            None => self.cluster.ended(key, without_run(Outcome::Cancelled, self.cluster.clock.now())),
        }
    }

    async fn look(&self) -> Survey {
        let version = self.cluster.commands.version().await;
        let nodes = self.cluster.commands.nodes().await;
        let error = match (&version, &nodes) {
            (Err(Trouble::Away(why) | Trouble::Refused(why)), _)
            | (_, Err(Trouble::Away(why) | Trouble::Refused(why))) => Some(why.clone()),
            _ => None,
        };
        let accounting = match self.cluster.commands.sacct("cl-none").await {
            Ok(_) => None,
            Err(Trouble::Away(why) | Trouble::Refused(why)) => Some(why),
        };
        let finding = Finding {
            subject: Subject::Program,
            name: "slurmdbd".into(),
            found: accounting.is_none(),
            detail: accounting,
        };
        Survey { version: version.ok(), error, findings: vec![finding], refusals: None }
    }
}

impl Executor for SlurmExecutor {
    fn facts(&self) -> Facts {
        self.cluster.facts()
    }

    fn attach(&self, observer: Arc<dyn Observer>) {
        if self.cluster.observer.set(observer).is_err() {
            tracing::error!("an executor can be attached to one observer only");
            return;
        }
        let keeping = tokio::spawn(watch::keep(Arc::clone(&self.cluster)));
        let _ = self.watching.set(keeping.abort_handle());
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        self.cluster.config.account(&job.user)?;
        let cluster = self.cluster.config.name.clone();
        let facts = self.cluster.config.facts.of_project(&job.project);
        Ok(Bindings::Slurm(Box::new(SlurmBindings { cluster, facts })))
    }

    fn rebind(&self, _job: &Job, _bindings: &Bindings) {}

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(self.take(submission, true))
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(self.take(submission, false))
    }

    fn cancel(&self, key: &AttemptKey, cause: StopCause, grace: Duration) -> BoxFuture<'_, ()> {
        let (key, wish) = (key.clone(), StopWish::new(cause, grace));
        Box::pin(async move {
            // Noted first: a server that is killed now leaves it to the next.
            if self.cluster.folders.record(&key).is_some()
                && let Err(error) = self.cluster.folders.note_stop(&key, wish)
            {
                tracing::warn!(%key, %error, "a wish to stop cannot be noted");
            }
            if !tell(&self.cluster, &key, wish) {
                self.stop_unknown(&key, wish);
            }
        })
    }

    fn release(&self, key: &AttemptKey) {
        let mut attempts = self.cluster.attempts();
        if matches!(attempts.get(key), Some(Slot::Ended(_))) {
            attempts.remove(key);
        }
    }

    fn standing(&self) -> Standing {
        self.cluster.standing()
    }

    fn survey<'a>(&'a self, _project: &'a str) -> Option<BoxFuture<'a, Survey>> {
        Some(Box::pin(self.look()))
    }

    /// Why its jobs wait, in Slurm's own words, and why it is not submitted yet.
    fn notices<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, Vec<Notice>> {
        let now = self.cluster.clock.now();
        let (_, jobs) = self.cluster.board.jobs(key);
        let waiting = jobs.into_iter().filter(|job| job.state == State::Waiting);
        let notice = |job: crate::seen::SeenJob| Notice {
            at: now,
            of: format!("Job/{}", job.id),
            warning: false,
            message: format!("squeue: {}", job.reason),
            reason: job.reason,
        };
        let submitting = self.cluster.waits(key).map(|why| Notice {
            at: now,
            of: format!("Job/{}", key.object_name()),
            warning: true,
            reason: "NotSubmitted".into(),
            message: why,
        });
        Box::pin(std::future::ready(waiting.map(notice).chain(submitting).collect()))
    }

    fn logs(&self) -> Option<&dyn Logs> {
        Some(self)
    }

    fn usage(&self) -> Option<&dyn UsageSeries> {
        Some(self)
    }
}

impl Drop for SlurmExecutor {
    /// Nobody hears of the cluster any more.
    fn drop(&mut self) {
        if let Some(watching) = self.watching.get() {
            watching.abort();
        }
    }
}

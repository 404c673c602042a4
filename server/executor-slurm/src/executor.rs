//! The executor's port.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::clusters::{Finding, Standing, Subject, Survey};
use cubeloom_domain::executor::{BoxFuture, Event, Executor, Facts, Notice, Observer, StopCause, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::logs::Logs;
use cubeloom_domain::lowered::{Bindings, LocalJob, Lowered, SlurmBindings};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::slurm::SlurmJob;
use cubeloom_domain::usage::UsageSeries;
use cubeloom_domain::{AttemptKey, Clock};
use cubeloom_executor_local::StopWish;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::attempt::{Attempt, Begin, tell, without_run};
use crate::cluster::{Cluster, Slot};
use crate::commands::Trouble;
use crate::config::SlurmConfig;
use crate::folders::Record;
use crate::logs::blocking;
use crate::seen::State;
use crate::submit::{Parcel, folders};
use crate::{orders, watch};

/// How many jobs are given to it at a time: what is sent of each lies in memory.
const AT_ONCE: usize = 32;

/// Runs jobs on a Slurm cluster.
pub struct SlurmExecutor {
    pub(crate) cluster: Arc<Cluster>,
}

impl SlurmExecutor {
    /// Nothing is asked of the cluster yet: that begins with [`Executor::attach`].
    #[must_use]
    pub fn new(config: SlurmConfig, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { cluster: Arc::new(Cluster::new(config, clock)) })
    }

    /// Takes up a job: `new` ones are to be submitted, of others it is to be found out what became of them.
    async fn take(&self, Submission { job, lowered }: Submission, new: bool) {
        let key = job.key.clone();
        let Lowered::Slurm(slurm) = &*lowered else {
            let message = "it was not compiled for Slurm; compile it with `--for slurm`";
            return self.refuse(&key, Failure::new(FailureKind::CouldNotStart, message));
        };
        let Some(wishes) = self.enter(&key) else { return };
        let earlier = self.noted(&key).await;
        let in_doubt = earlier.is_some();
        let record = match earlier {
            // What was begun as one account is ended as it, whoever the person is now.
            Some(record) => record,
            None => match self.record(&job, slurm).await {
                Ok(record) => record,
                Err(failure) => return self.end(&key, failure),
            },
        };
        let processes = Arc::new(slurm.job.clone());
        let begin = if new {
            match self.parcel(&job, slurm, &record, in_doubt).await {
                Ok(parcel) => Begin::Submit(Box::new(parcel)),
                Err(failure) => return self.end(&key, failure),
            }
        } else {
            Begin::Adopt
        };
        let noted = {
            let (cluster, key) = (Arc::clone(&self.cluster), key.clone());
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
    async fn record(&self, job: &Job, slurm: &SlurmJob) -> Result<Record, Failure> {
        let account = self.cluster.config.account(&job.project, &job.user)?;
        let uid = self.cluster.uid(&account).await;
        let uid = uid.map_err(|why| Failure::new(FailureKind::CouldNotStart, why))?;
        let facts = self.cluster.config.facts.of_project(&job.project);
        let (folder, top) = ((&slurm.folder).into(), facts.workspace.into());
        Ok(Record { folder, top, account, uid, program: facts.program, ids: Vec::new() })
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
        let end = self.cluster.end.clone();
        tokio::spawn(end.run_until_cancelled_owned(attempt.run(begin)));
    }

    /// What a job is submitted with.
    async fn parcel(
        &self,
        job: &Arc<Job>,
        slurm: &SlurmJob,
        record: &Record,
        in_doubt: bool,
    ) -> Result<Parcel, Failure> {
        let secrets = self.secrets(job).await;
        let secrets = secrets.map_err(|message| Failure::new(FailureKind::CouldNotStart, message))?;
        let (cluster, job) = (Arc::clone(&self.cluster), Arc::clone(job));
        let (wanted, record) = (slurm.clone(), record.clone());
        let folders = blocking(move || Ok(folders(&cluster, &job, &wanted, &record))).await;
        let folders = folders.map_err(|error| Failure::new(FailureKind::CouldNotStart, error.to_string()))?;
        Ok(Parcel { job: slurm.clone(), secrets, folders, in_doubt })
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

    /// What this server, or an earlier one, has noted of an attempt.
    async fn noted(&self, key: &AttemptKey) -> Option<Record> {
        let (cluster, key) = (Arc::clone(&self.cluster), key.clone());
        blocking(move || Ok(cluster.folders.record(&key))).await.ok().flatten()
    }

    /// Stops an attempt of which this server knows nothing but the key, and what is noted.
    async fn stop_unknown(&self, key: &AttemptKey, record: Option<Record>, wish: StopWish) {
        let (cluster, wanted) = (Arc::clone(&self.cluster), key.clone());
        let job = blocking(move || Ok(cluster.folders.job(&wanted))).await.ok().flatten();
        match record.zip(job) {
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
        let accounting = match self.cluster.commands.sacct("--name=cl-none").await {
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
        let end = &self.cluster.end;
        tokio::spawn(end.clone().run_until_cancelled_owned(watch::keep(Arc::clone(&self.cluster))));
        tokio::spawn(end.clone().run_until_cancelled_owned(orders::keep(Arc::clone(&self.cluster))));
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        let account = self.cluster.config.account(&job.project, &job.user)?;
        let cluster = self.cluster.config.name.clone();
        let facts = self.cluster.config.facts.of_project(&job.project).of_account(&account);
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
            let record = self.noted(&key).await;
            if record.is_some() {
                // Noted first: a server that is killed now leaves it to the next.
                let (cluster, noted) = (Arc::clone(&self.cluster), key.clone());
                if let Err(error) = blocking(move || cluster.folders.note_stop(&noted, wish)).await {
                    tracing::warn!(%key, %error, "a wish to stop cannot be noted");
                }
            }
            if !tell(&self.cluster, &key, wish) {
                self.stop_unknown(&key, record, wish).await;
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
        let submitting = self.cluster.waits(key).map(|(reason, message)| Notice {
            at: now,
            of: format!("Job/{}", key.object_name()),
            warning: true,
            reason: reason.into(),
            message,
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
    /// Nobody hears of the cluster any more: what its attempts do goes on with the executor that takes its place.
    fn drop(&mut self) {
        self.cluster.end.cancel();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use cubeloom_domain::executor::Observation;
    use cubeloom_domain::job::SuccessRule;
    use cubeloom_domain::slurm::{SlurmCalls, SlurmFacts, SlurmWay};
    use cubeloom_domain::{RunId, Timestamp};

    use super::*;

    #[derive(Debug)]
    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }
    }

    pub(crate) struct Deaf;

    impl Observer for Deaf {
        fn observed(&self, _: Observation) {}
    }

    /// A cluster that does not answer.
    pub(crate) fn executor(data: &Path, path: &str, leads: &[&str]) -> Arc<SlurmExecutor> {
        let become_account = leads.iter().map(|word| (*word).to_owned()).collect();
        let calls = SlurmCalls { become_account, conf: None, path: path.into() };
        let config = SlurmConfig {
            name: "hall".into(),
            facts: SlurmFacts::default(),
            way: SlurmWay::default(),
            calls,
            data: data.into(),
            code: data.into(),
            vault: None,
            every: Duration::from_millis(10),
        };
        SlurmExecutor::new(config, Arc::new(Stopped))
    }

    /// An attempt that a server has noted.
    pub(crate) fn noted(data: &Path) -> (AttemptKey, Record, Arc<LocalJob>) {
        let key = AttemptKey { run: RunId::new(Timestamp(0), 1), task: "t".into(), instance: 0, n: 1 };
        let job = LocalJob {
            key: key.clone(),
            project: "p".into(),
            python: None,
            folders: Vec::new(),
            workers: Vec::new(),
            success: SuccessRule::AllWorkers,
            gang: 0,
            outputs: Vec::new(),
        };
        let record = Record {
            folder: data.join("attempt"),
            top: data.into(),
            account: "ann".into(),
            uid: 1000,
            program: "/nonexistent".into(),
            ids: Vec::new(),
        };
        (key, record, Arc::new(job))
    }

    #[tokio::test]
    async fn an_executor_that_is_replaced_leaves_nothing_at_work() {
        let data = tempfile::tempdir().unwrap();
        let executor = executor(data.path(), "/nonexistent", &["{account}"]);
        executor.attach(Arc::new(Deaf));
        let (key, record, job) = noted(data.path());
        let wishes = executor.enter(&key).unwrap();
        executor.spawn(key, record, job, None, wishes, Begin::Adopt);
        tokio::time::sleep(Duration::from_millis(100)).await;
        let cluster = Arc::downgrade(&executor.cluster);
        assert!(cluster.strong_count() > 1, "an attempt goes on");
        drop(executor);
        let began = tokio::time::Instant::now();
        while cluster.strong_count() > 0 {
            assert!(began.elapsed() < Duration::from_secs(10), "{} are left", cluster.strong_count());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn no_job_runs_as_root_or_as_the_server() {
        let data = tempfile::tempdir().unwrap();
        let executor = executor(data.path(), "/usr/bin:/bin", &["{account}"]);
        let why = executor.cluster.uid("root").await.unwrap_err();
        assert!(why.contains("root"), "{why}");
        let why = executor.cluster.uid("nobody-of-this-name").await.unwrap_err();
        assert!(why.contains("nobody-of-this-name"), "{why}");
    }
}

//! Implementation of the executor port.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::clusters::{Standing, Survey};
use cubeloom_domain::executor::{BoxFuture, Executor, Facts, Notice, Observer, StopCause, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::logs::Logs;
use cubeloom_domain::lowered::{Bindings, SlurmBindings};
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::quota::QueueRecord;
use cubeloom_domain::slurm::SlurmFacts;
use cubeloom_domain::usage::UsageSeries;
use cubeloom_domain::{AttemptKey, Clock};
use cubeloom_executor_local::StopWish;

use crate::attempt::tell;
use crate::cluster::{Cluster, Slot};
use crate::config::SlurmConfig;
use crate::logs::blocking;
use crate::{mirror, notices, orders, survey, watch};

/// How many jobs to process at a time: each one's data is in memory.
const AT_ONCE: usize = 32;

pub struct SlurmExecutor {
    pub(crate) cluster: Arc<Cluster>,
}

impl SlurmExecutor {
    /// Creates the executor without a request to the cluster: requests begin with [`Executor::attach`].
    #[must_use]
    pub fn new(config: SlurmConfig, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { cluster: Arc::new(Cluster::new(config, clock)) })
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
        if self.cluster.config.mirror.is_some() {
            tokio::spawn(end.clone().run_until_cancelled_owned(mirror::keep(Arc::clone(&self.cluster))));
        }
    }

    fn share(&self, queues: &Arc<Vec<QueueRecord>>) {
        self.cluster.mirror.share(queues);
    }

    fn set_aside(&self, nodes: BTreeMap<String, String>) {
        self.cluster.set_aside(nodes.into_keys());
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        let account = self.cluster.config.account(&job.project, &job.user)?;
        let cluster = self.cluster.config.name.clone();
        let facts = self.cluster.config.facts.of_project(&job.project).of_account(&account);
        let (aside_nodes, spare_nodes) = self.cluster.kept_off();
        let facts = SlurmFacts { aside_nodes, spare_nodes, ..facts };
        let counted_as = self.cluster.mirror.account(&job.project, &account);
        Ok(Bindings::Slurm(Box::new(SlurmBindings { cluster, facts, counted_as })))
    }

    fn foresee(&self, job: &Job) -> Result<Option<Bindings>, Failure> {
        self.bind(job).map(Some)
    }

    fn rebind(&self, _job: &Job, _bindings: &Bindings) {}

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(self.cluster.take(submission, true))
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(self.cluster.take(submission, false))
    }

    fn cancel(&self, key: &AttemptKey, cause: StopCause, grace: Duration) -> BoxFuture<'_, ()> {
        let (key, wish) = (key.clone(), StopWish::new(cause, grace));
        Box::pin(async move {
            let record = self.cluster.noted(&key).await;
            if record.is_some() {
                // Record it first: if this server is killed now, the next one continues.
                let (cluster, noted) = (Arc::clone(&self.cluster), key.clone());
                if let Err(error) = blocking(move || cluster.folders.note_stop(&noted, wish)).await {
                    tracing::warn!(%key, %error, "a stop request cannot be saved");
                }
            }
            if !tell(&self.cluster, &key, wish) {
                self.cluster.stop_unknown(&key, record, wish).await;
            }
        })
    }

    fn release(&self, key: &AttemptKey) {
        let mut attempts = self.cluster.attempts();
        if matches!(attempts.get(key), Some(Slot::Ended(_))) {
            attempts.remove(key);
        }
    }

    fn held_up(&self) -> Option<String> {
        self.cluster.standing().held_up(true)
    }

    fn standing(&self) -> Standing {
        self.cluster.standing()
    }

    fn survey<'a>(&'a self, project: &'a str) -> Option<BoxFuture<'a, Survey>> {
        Some(Box::pin(survey::look(&self.cluster, project)))
    }

    fn notices<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, Vec<Notice>> {
        Box::pin(notices::of(&self.cluster, key))
    }

    fn logs(&self) -> Option<&dyn Logs> {
        Some(self)
    }

    fn usage(&self) -> Option<&dyn UsageSeries> {
        Some(self)
    }
}

impl Drop for SlurmExecutor {
    /// Stop reporting the cluster's metrics: the executor that replaces this one continues its attempts.
    fn drop(&mut self) {
        self.cluster.end.cancel();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use cubeloom_domain::executor::Observation;
    use cubeloom_domain::job::SuccessRule;
    use cubeloom_domain::lowered::LocalJob;
    use cubeloom_domain::slurm::{SlurmCalls, SlurmFacts, SlurmWay};
    use cubeloom_domain::{RunId, Timestamp};

    use super::*;
    use crate::attempt::Begin;
    use crate::commands::Trouble;
    use crate::folders::Record;

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

    /// A script in a folder, in place of one of Slurm's commands.
    pub(crate) fn program(folder: &Path, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        // Write it in another process: a process forked meanwhile would inherit the open file, which then
        // cannot be executed.
        let file = folder.join(name);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "printf %s \"$1\" >\"$0\""]).arg(&file).arg(text);
        assert!(shell.status().unwrap().success());
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// An unreachable cluster.
    pub(crate) fn executor(data: &Path, path: &str, leads: &[&str]) -> Arc<SlurmExecutor> {
        let become_account = leads.iter().map(|word| (*word).to_owned()).collect();
        let calls = SlurmCalls { become_account, conf: None, path: path.into(), slurmrestd: None, every: 1 };
        let config = SlurmConfig {
            name: "hall".into(),
            facts: SlurmFacts::default(),
            way: SlurmWay::default(),
            mirror: None,
            people: None,
            calls,
            data: data.into(),
            code: data.into(),
            vault: None,
            every: Duration::from_millis(10),
        };
        SlurmExecutor::new(config, Arc::new(Stopped))
    }

    /// An attempt that a server has recorded.
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
        let wishes = executor.cluster.enter(&key).unwrap();
        executor.cluster.spawn(key, record, job, None, wishes, Begin::Adopt);
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
        for (account, said) in [("root", "root"), ("nobody-of-this-name", "nobody-of-this-name")] {
            let refused = executor.cluster.uid(account).await.unwrap_err();
            assert!(matches!(&refused, Trouble::Refused(why) if why.contains(said)), "{refused:?}");
        }
    }
}

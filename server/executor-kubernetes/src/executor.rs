//! Implementation of the executor port.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cubeloom_domain::clusters::{Standing, Survey};
use cubeloom_domain::executor::{
    BoxFuture, Ended, Event, Executor, Facts, Growth, Notice, Observer, Report, Scaling, StopCause,
    Submission,
};
use cubeloom_domain::hang::WorkerStack;
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, KubernetesJob};
use cubeloom_domain::logs::Logs;
use cubeloom_domain::lowered::{Bindings, KubernetesBindings, Lowered};
use cubeloom_domain::monitoring::Reading;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::quota::QueueRecord;
use cubeloom_domain::terminal::Terminals;
use cubeloom_domain::usage::{UsageSeries, UsageSummary};
use cubeloom_domain::vault;
use cubeloom_domain::{AttemptKey, Clock};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::attempt::{Attempt, Begin, Known, masks};
use crate::cluster::{Cluster, Scale, Slot, Stop, Wish};
use crate::config::KubernetesConfig;
use crate::objects::{Names, Packed};
use crate::submit::{Given, Parcel};
use crate::watch::watch_what_was_watched;
use crate::{aside, claim, facts, janitor, pulse, queues, stacks, survey, suspend, taken, used};

/// Manifests of thousands of jobs at once would take a hundred megabytes.
const AT_ONCE: usize = 128;

pub struct KubernetesExecutor {
    pub(crate) cluster: Arc<Cluster>,
    /// The jobs that this server knows.
    jobs: Mutex<HashMap<AttemptKey, Known>>,
}

impl KubernetesExecutor {
    /// Creates the executor without a request to the cluster: requests begin with [`Executor::attach`] or
    /// [`Executor::survey`]. The last known facts come from the data folder.
    #[must_use]
    pub fn new(config: KubernetesConfig, clock: Arc<dyn Clock>) -> Arc<Self> {
        let known = facts::last_known(&config);
        let cluster = Arc::new(Cluster::new(config, known, clock));
        Arc::new(Self { cluster, jobs: Mutex::default() })
    }

    pub(crate) fn jobs(&self) -> MutexGuard<'_, HashMap<AttemptKey, Known>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts handling a job: submits a `new` one, and finds out the state of any other.
    async fn take(&self, Submission { job, lowered }: Submission, new: bool) {
        let key = job.key.clone();
        let Lowered::Kubernetes(objects) = &*lowered else {
            let message = "it was not compiled for Kubernetes; compile it with `--for kubernetes`";
            let failure = Failure::new(FailureKind::CouldNotStart, message);
            return self.cluster.report(&key, self.without_run(Outcome::Failed(failure)));
        };
        let (sender, wishes) = unbounded_channel();
        {
            let mut attempts = self.cluster.attempts();
            match attempts.get(&key) {
                Some(Slot::Live(_)) => return,
                Some(Slot::Ended(ended)) => {
                    let event = Event::Ended(ended.clone());
                    drop(attempts);
                    return self.cluster.report(&key, event);
                }
                None => _ = attempts.insert(key.clone(), Slot::Live(sender)),
            }
        }
        let names = self.names(&key, objects, new);
        let probe = new && self.cluster.claims.are_seen(&job.project) != Some(true);
        let path = || self.cluster.config.facts.of_project(&job.project).workspace_path;
        let probing = probe.then(|| claim::with_probe(objects, &path())).flatten();
        let probes = probing.is_some();
        let objects: Vec<Packed> =
            probing.as_ref().unwrap_or(objects).objects.iter().filter(|_| new).map(Packed::of).collect();
        drop(lowered);
        let given = match self.given(&job, new).await {
            Ok(given) => given,
            // A running job no longer needs the secrets; only masking them in its logs is impossible.
            Err(message) if !new => {
                tracing::warn!(%key, message, "a job's secrets cannot be read to mask them");
                Given::default()
            }
            Err(message) => {
                let failure = Failure::new(FailureKind::CouldNotStart, message);
                let ended = self.without_run(Outcome::Failed(failure));
                if let Event::Ended(ended) = &ended {
                    self.cluster.attempts().insert(key.clone(), Slot::Ended(ended.clone()));
                }
                return self.cluster.report(&key, ended);
            }
        };
        let masks = masks(&given.secrets);
        let begin = if new { Begin::Submit(Parcel { objects, given }) } else { Begin::Adopt };
        let most = Arc::new(Job::clone(&job).at_most());
        // Volcano decides the number of workers.
        let is_lent = self.cluster.facts().kubernetes.is_some_and(|facts| facts.volcano.is_some());
        let workers = if is_lent { most.workers() } else { job.workers() };
        let job = most;
        self.spawn(Known { job, masks }, workers, names, probes, wishes, begin);
    }

    /// The names of a job's objects. For jobs of an earlier server they come from its record: another version
    /// may generate other manifests from the same run plan.
    fn names(&self, key: &AttemptKey, objects: &KubernetesJob, new: bool) -> Names {
        let submitted = if new { None } else { self.cluster.folders.record(key) };
        submitted.map_or_else(|| Names::of(objects), |(_, names)| names)
    }

    fn spawn(
        &self,
        known: Known,
        workers: u32,
        names: Names,
        probes: bool,
        wishes: UnboundedReceiver<Wish>,
        begin: Begin,
    ) {
        self.jobs().insert(known.job.key.clone(), known.clone());
        let cluster = Arc::clone(&self.cluster);
        let end = cluster.watches.end.clone();
        let attempt = Attempt { cluster, known, names: Arc::new(names), workers, probes, wishes };
        tokio::spawn(end.run_until_cancelled_owned(attempt.run(begin)));
    }

    /// The values of a job's secrets, and its image pull credentials.
    pub(crate) async fn given(&self, job: &Job, new: bool) -> Result<Given, String> {
        let secrets = vault::secrets_of(self.cluster.config.vault.as_deref(), job).await?;
        let login = match (&job.registry, &self.cluster.config.vault) {
            (Some(host), Some(vault)) if new => {
                let login = vault.login(job.into(), host).await?;
                Some(login.ok_or_else(|| {
                    format!("the account for the registry `{host}` no longer exists: add it to the project")
                })?)
            }
            _ => None,
        };
        Ok(Given { secrets, login })
    }

    fn without_run(&self, outcome: Outcome) -> Event {
        Event::Ended(Box::new(Ended {
            outcome,
            started_at: None,
            ended_at: self.cluster.clock.now(),
            report: Report::default(),
            usage: UsageSummary::default(),
            roles: Vec::new(),
        }))
    }
}

impl Executor for KubernetesExecutor {
    fn facts(&self) -> Facts {
        self.cluster.facts()
    }

    fn attach(&self, observer: Arc<dyn Observer>) {
        if self.cluster.observer.set(observer).is_err() {
            tracing::error!("an executor can be attached to one observer only");
            return;
        }
        let end = &self.cluster.watches.end;
        let cluster = || Arc::clone(&self.cluster);
        tokio::spawn(end.clone().run_until_cancelled_owned(facts::keep(cluster())));
        tokio::spawn(end.clone().run_until_cancelled_owned(janitor::sweep(cluster())));
        tokio::spawn(end.clone().run_until_cancelled_owned(queues::keep(cluster())));
        tokio::spawn(end.clone().run_until_cancelled_owned(aside::keep(cluster())));
        tokio::spawn(end.clone().run_until_cancelled_owned(pulse::keep(cluster())));
        tokio::spawn(end.clone().run_until_cancelled_owned(used::keep(cluster())));
        tokio::spawn(end.clone().run_until_cancelled_owned(taken::keep(cluster())));
        watch_what_was_watched(&self.cluster);
    }

    fn share(&self, queues: &Arc<Vec<QueueRecord>>) {
        self.cluster.queues.share(queues);
    }

    fn set_aside(&self, nodes: BTreeMap<String, String>) {
        self.cluster.aside.tell(nodes);
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        let facts = self.cluster.kubernetes().unwrap_or_else(|| self.cluster.config.facts.clone());
        let cluster = self.cluster.config.name.clone();
        let uid = self.cluster.config.uid(&job.project);
        let mut facts = KubernetesFacts { uid, ..facts.of_project(&job.project) };
        if let (Some(volcano), Some(queue)) =
            (&mut facts.volcano, self.cluster.queues.of_project(&job.project))
        {
            volcano.queue = queue;
        }
        Ok(Bindings::Kubernetes(Box::new(KubernetesBindings { cluster, facts })))
    }

    fn foresee(&self, job: &Job) -> Result<Option<Bindings>, Failure> {
        self.bind(job).map(Some)
    }

    fn held_up(&self) -> Option<String> {
        self.cluster.standing.now().held_up(self.cluster.has_nodes())
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    fn rebind(&self, _job: &Job, _bindings: &Bindings) {}

    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(self.take(submission, true))
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(self.take(submission, false))
    }

    fn cancel(&self, key: &AttemptKey, cause: StopCause, grace: Duration) -> BoxFuture<'_, ()> {
        let key = key.clone();
        Box::pin(async move {
            let mut attempts = self.cluster.attempts();
            match attempts.get(&key) {
                Some(Slot::Live(sender)) => _ = sender.send(Wish::Stop(Stop { cause, grace })),
                Some(Slot::Ended(_)) => {}
                None => {
                    // An earlier server may have submitted it.
                    if let Some((job, names)) = self.cluster.folders.record(&key) {
                        let (sender, wishes) = unbounded_channel();
                        let _ = sender.send(Wish::Stop(Stop { cause, grace }));
                        attempts.insert(key.clone(), Slot::Live(sender));
                        drop(attempts);
                        let known = Known { job, masks: Arc::default() };
                        let workers = known.job.workers();
                        return self.spawn(known, workers, names, false, wishes, Begin::Adopt);
                    }
                    // It was never submitted, and never will be.
                    let Event::Ended(ended) = self.without_run(Outcome::Cancelled) else { return };
                    attempts.insert(key.clone(), Slot::Ended(ended.clone()));
                    drop(attempts);
                    self.cluster.report(&key, Event::Ended(ended));
                }
            }
        })
    }

    fn release(&self, key: &AttemptKey) {
        let mut attempts = self.cluster.attempts();
        if matches!(attempts.get(key), Some(Slot::Ended(_))) {
            attempts.remove(key);
        }
        drop(attempts);
        // A job that was never submitted has no folder.
        let _ = self.cluster.folders.mark_released(key);
        self.jobs().remove(key);
    }

    fn scaling(&self) -> Option<&dyn Scaling> {
        Some(self)
    }

    fn growth(&self) -> Option<&dyn Growth> {
        self.cluster.resizes.any().then_some(self)
    }

    fn standing(&self) -> Standing {
        self.cluster.standing.now()
    }

    fn survey<'a>(&'a self, project: &'a str) -> Option<BoxFuture<'a, Survey>> {
        Some(Box::pin(survey::survey(&self.cluster, project)))
    }

    fn told_use(&self) -> Option<Reading> {
        let reading = self.cluster.node_use.reading(self.cluster.clock.now())?;
        Some(Reading { pods: self.cluster.meter.pods(), ..reading })
    }

    fn notices<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, Vec<Notice>> {
        let live = self.cluster.board.told(&key.object_name());
        if !live.is_empty() {
            return Box::pin(std::future::ready(live));
        }
        let (folders, key) = (self.cluster.folders.clone(), key.clone());
        let read = tokio::task::spawn_blocking(move || folders.told(&key));
        Box::pin(async move { read.await.unwrap_or_default() })
    }

    fn stacks<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, Vec<WorkerStack>> {
        Box::pin(stacks::take(&self.cluster, key))
    }

    fn logs(&self) -> Option<&dyn Logs> {
        Some(self)
    }

    fn cards(&self) -> Option<&dyn UsageSeries> {
        self.cluster.config.cards.is_some().then_some(self)
    }

    fn terminals(&self) -> Option<&dyn Terminals> {
        Some(self)
    }

    fn suspended(&self, key: &AttemptKey) -> Option<bool> {
        if !matches!(self.cluster.attempts().get(key), Some(Slot::Live(_))) {
            return None;
        }
        self.cluster.board.find(&key.object_name()).and_then(|(_, seen)| suspend::of_job(&seen))
    }

    fn suspend<'a>(&'a self, key: &'a AttemptKey, suspended: bool) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(suspend::suspend(&self.cluster, key, suspended))
    }
}

impl Scaling for KubernetesExecutor {
    /// New workers are pods like the existing ones, so they need no reservation.
    fn resize(&self, _: &Job, bound: &Bindings) -> Result<Bindings, Failure> {
        Ok(bound.clone())
    }

    fn scale(&self, submission: Submission, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(Slot::Live(sender)) = self.cluster.attempts().get(&submission.job.key) {
                let workers = submission.job.workers();
                let _ = sender.send(Wish::Scale(Scale { workers, grace }));
            }
        })
    }
}

impl Growth for KubernetesExecutor {
    fn may_grow(&self, project: &str) -> bool {
        self.cluster.resizes.may(&self.cluster.config.facts.of_project(project).namespace)
    }

    fn grow(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(Slot::Live(sender)) = self.cluster.attempts().get(&submission.job.key) {
                let _ = sender.send(Wish::Grow(submission.job));
            }
        })
    }
}

impl Drop for KubernetesExecutor {
    /// Stop reporting the cluster's metrics.
    fn drop(&mut self) {
        self.cluster.watches.end.cancel();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::access::Access;
    use crate::objects::Named;
    use crate::testing::{Still, config, elastic_job};

    #[test]
    fn what_an_earlier_version_has_submitted_keeps_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let config = config(folder.path(), Access::InCluster);
        let executor = KubernetesExecutor::new(config, Arc::new(Still));
        let job = elastic_job();
        let object = json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "cl-a", "namespace": "a"},
        });
        let objects = KubernetesJob { key: job.key.clone(), decisions: Vec::new(), objects: vec![object] };
        let now = Names::of(&objects);
        assert_eq!(executor.names(&job.key, &objects, false), now, "nothing else is known");
        let root =
            Named { api_version: "kubeflow.org/v1".into(), kind: "PyTorchJob".into(), name: "cl-a".into() };
        let before = Names { namespace: "a".into(), roots: vec![root] };
        executor.cluster.folders.write_record(&job, &before).unwrap();
        assert_eq!(executor.names(&job.key, &objects, false), before);
        assert_eq!(executor.names(&job.key, &objects, true), now, "a new one is what it is lowered to");
    }
}

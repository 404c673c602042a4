//! The end of an attempt: finds the first cause, stops what still runs and assembles the result.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::executor::Ended;
use cubeloom_domain::job::DEFAULT_GRACE;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_workers::{logs, outputs as reported};
use tokio::time::{Instant, sleep, timeout};

use super::{Attempt, Going, LOOK};
use crate::board::Seen;
use crate::cluster::Stop;
use crate::folders::LOG;
use crate::judge::{self, Blame};
use crate::pods::PodView;
use crate::roots::Cause;
use crate::{cards, claim, deleted, lost, outputs, stop};

/// How long the cluster may take to report the failed pod after it reported the job's failure.
const SETTLE: Duration = Duration::from_secs(3);
/// How many of a failed worker's last log lines to keep.
const LAST_LINES: usize = 20;

impl Attempt {
    /// The failure of an attempt, when only its pods show the cause.
    pub(super) fn failure(&self, seen: &Seen) -> Failure {
        let cause = Cause::default();
        self.failure_of(seen, judge::blame(seen, &cause), &cause)
    }

    /// The attempt's failure. For an elastic job a deleted pod is no cause: this server also deletes pods to
    /// release workers.
    fn failure_of(&self, seen: &Seen, blame: Option<Blame>, cause: &Cause) -> Failure {
        let is_fixed = self.known.job.elastic.is_none();
        let deleted = is_fixed.then(|| deleted::by_another(seen, cause)).flatten();
        deleted.unwrap_or_else(|| judge::failure(&self.names, seen, blame, cause))
    }

    /// Concludes an attempt whose object reports the end: finds the first cause and stops what still runs.
    pub(super) async fn conclude(&mut self, going: &mut Going, verdict: Result<(), Cause>) -> Ended {
        let job = Arc::clone(&self.known.job);
        // Outputs are lost if the server cannot see them. A program may have failed because its code was
        // missing.
        let matters = if verdict.is_ok() { !job.outputs.is_empty() } else { job.code.is_some() };
        let has_begun =
            || self.cluster.look(&going.name).pods.values().any(|pod| judge::has_begun(&pod.view));
        let is_seen = !(self.probes && has_begun()) || claim::is_seen(&self.cluster, &job, matters).await;
        let outcome = match verdict {
            Ok(()) if !is_seen => Outcome::Failed(claim::unseen(&self.cluster, &job)),
            Ok(()) => Outcome::Succeeded,
            Err(cause) => {
                let (mut blame, seen) = self.blame(going, &cause).await;
                if let Some(blame) = &mut blame {
                    blame.pod = cards::explained(&self.cluster, blame.pod.clone()).await;
                }
                let mut failure = self.failure_of(&seen, blame, &cause);
                if !is_seen {
                    let unseen = claim::unseen(&self.cluster, &job).message;
                    failure.message.push_str("; ");
                    failure.message.push_str(&unseen);
                }
                Outcome::Failed(failure)
            }
        };
        self.end(going, outcome, DEFAULT_GRACE, false).await
    }

    /// Stops an attempt that cannot continue.
    pub(super) async fn give_up(&mut self, going: &mut Going, failure: Failure) -> Ended {
        stop::remove(&self.cluster, &self.names, DEFAULT_GRACE).await;
        self.end(going, Outcome::Failed(failure), DEFAULT_GRACE, true).await
    }

    /// Waits briefly for the failed pod, which arrives on another watch than its job. Waits longer while a
    /// pod is being deleted: its exit is no cause, unless its node stays silent.
    async fn blame(&self, going: &mut Going, cause: &Cause) -> (Option<Blame>, Seen) {
        let until = Instant::now() + SETTLE;
        loop {
            let seen = going.scaling.kept(self.cluster.look(&going.name));
            let late = Instant::now() >= until;
            let blame = judge::blame(&seen, cause).filter(|blame| !late || blame.pod.is_lost());
            let leaves = seen.live_pods().any(|pod| pod.deleted.is_some());
            if blame.is_some() || (late && !leaves) {
                return (blame, seen);
            }
            let _ = timeout(LOOK, going.wake.notified()).await;
        }
    }

    /// Stops the attempt on request.
    pub(super) async fn stop(&mut self, going: &mut Going, stop: Stop) -> Ended {
        stop::write(&self.cluster, &self.names, stop).await;
        stop::remove(&self.cluster, &self.names, stop.grace).await;
        self.end(going, stop::outcome(stop.cause), stop.grace, true).await
    }

    /// Stops what still runs, waits until nothing does, and assembles the result. Objects that were `removed`
    /// must be gone first, since they may still create unseen pods. The exception is an object that only a
    /// finalizer keeps.
    async fn end(&mut self, going: &mut Going, outcome: Outcome, grace: Duration, removed: bool) -> Ended {
        let mut told: HashSet<String> = HashSet::new();
        loop {
            let seen = self.cluster.look(&going.name);
            self.follow_logs(going, &seen);
            for pod in seen.lost_pods() {
                stop::strike(&self.cluster, &going.name.0, pod).await;
            }
            let live: Vec<_> = seen.live_pods().cloned().collect();
            let is_over = !removed || lost::is_held(&seen, self.cluster.clock.now());
            if live.is_empty() && (is_over || stop::is_gone(&self.cluster, &self.names).await) {
                return self.put_together(going, outcome).await;
            }
            for pod in live.iter().filter(|pod| told.insert(pod.uid.clone())) {
                stop::pod(&self.cluster, &going.name.0, pod, grace).await;
            }
            tokio::select! {
                () = going.wake.notified() => {}
                () = sleep(LOOK) => {}
            }
        }
    }

    async fn put_together(&mut self, going: &mut Going, mut outcome: Outcome) -> Ended {
        stop::forget_secrets(&self.cluster, &self.names, &self.known.job).await;
        let of_pods = self.cluster.look(&going.name);
        let (from, to) = judge::times(&of_pods);
        let ran = from.map(|from| (from, to.unwrap_or_else(|| self.cluster.clock.now())));
        // Concurrently, so that the three waits do not add up.
        let namespace = going.name.0.clone();
        let (cards, pods) = (self.cards_worked(ran, &of_pods), self.take_over_use(ran, &namespace, &of_pods));
        let (card_us, (), ()) = tokio::join!(cards, pods, self.read_logs(going));
        // Report its last progress before its end.
        self.tell_progress(going);
        let (cluster, known) = (Arc::clone(&self.cluster), self.known.clone());
        let told = self.cluster.look(&going.name).notices();
        let report = self.cluster.on_disk(move || {
            // Diagnostic data must not delay the end: ignore errors.
            let _ = cluster.folders.keep_told(&known.job.key, &told);
            outputs::whole(&cluster, &known)
        });
        let report = report.await.unwrap_or_default();
        let job = &self.known.job;
        if outcome == Outcome::Succeeded
            && let Some(missing) = reported::missing(&job.outputs, &report)
        {
            outcome = Outcome::Failed(missing);
        }
        if let Outcome::Failed(Failure { worker: Some(worker), kind, last_lines, .. }) = &mut outcome
            && *kind != FailureKind::CouldNotStart
        {
            let log = self.cluster.folders.worker(&job.key, worker).join(LOG);
            *last_lines = logs::tail(&log, LAST_LINES).unwrap_or_default();
            if last_lines.is_empty() {
                let seen = self.cluster.look(&going.name);
                *last_lines = judge::last_words(&seen, worker, &self.known.masks, LAST_LINES);
            }
        }
        let seen = self.cluster.look(&going.name);
        let (started_at, ended_at) = judge::times(&seen);
        let ended_at = ended_at.unwrap_or_else(|| self.cluster.clock.now());
        self.tell_never_given(going);
        let had = |pod: &PodView| going.growing.had(&pod.uid).or(Some(pod.memory));
        let (mut usage, roles) = self.cluster.meter.summary(&going.name.0, &seen, had);
        self.cluster.meter.forget(&going.name);
        usage.card_us = card_us;
        Ended { outcome, started_at, ended_at, report, usage, roles }
    }

    pub(super) fn never_ran(&self, outcome: Outcome) -> Ended {
        let ended_at = self.cluster.clock.now();
        let (report, usage, roles) = Default::default();
        Ended { outcome, started_at: None, ended_at, report, usage, roles }
    }
}

/// The failure of an attempt whose object another user deleted.
pub(super) fn removed() -> Failure {
    Failure::new(FailureKind::Lost, "another user deleted it from the cluster")
}

//! Running elastic jobs: scale-up and scale-down.
//!
//! New workers are stored first and started afterwards, so that a server that dies in between starts them
//! later. Of removed workers, nothing is stored until they are gone: after a crash the decision is made
//! again.

use std::sync::Arc;

use cubeloom_admission::Scaler;
use cubeloom_domain::Timestamp;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::state::AttemptState;

use super::admit::submission;
use super::{Action, At, Core};

impl Core {
    /// Scales an instance's attempt up to this many elastic workers.
    pub(super) fn grow(&mut self, at: At, workers: u32, now: Timestamp) {
        if self.resize(at, workers, now).is_ok() {
            return self.scale(at, workers);
        }
        // It has ended meanwhile, or it lacks a resource that the scheduler does not count, such as ports.
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let Some(has) = run.elastic_workers(at) else { return };
        if let Some(place) = self.places.get_mut(run.place_of(at.task)) {
            place.not_resized(at, has, now);
        }
    }

    /// Removed workers are gone.
    pub(super) fn resized(&mut self, at: At, workers: u32, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let left = run.plan.task(at.task).elastic_of(workers);
        if run.elastic_workers(at).is_none_or(|has| has <= left) {
            return;
        }
        if let Err(failure) = self.resize(at, left, now) {
            return tracing::error!(%failure.message, "workers ended, and the job cannot be built without them");
        }
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        if let Some(place) = self.places.get_mut(run.place_of(at.task)) {
            place.resized(at, left, now);
        }
    }

    /// Updates the number of running workers of a job that the cluster's own scheduler scales: what they hold
    /// is counted from now on. The scheduler here relies only on the minimum.
    pub(super) fn runs_with(&mut self, at: At, workers: u32, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let is_scaled =
            self.places.get(run.place_of(at.task)).is_some_and(|place| place.scaling == Scaler::Cluster);
        let planned = run.plan.task(at.task);
        let (Some(range), Some(live)) = (planned.elastic.filter(|_| is_scaled), run.live(at)) else { return };
        if !matches!(live.record.state, AttemptState::Running { .. }) {
            return;
        }
        let elastic = planned.elastic_of(workers).clamp(range.min, range.max);
        let job = match run.job_with(&live.record, elastic) {
            Ok(job) => job,
            Err(failure) => {
                return tracing::error!(%failure.message, "the resources of a job cannot be computed");
            }
        };
        let least = job.workers() - elastic + range.min;
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        live.record.runs_with(&job, least, now);
        live.dirty = true;
        self.touch(at);
    }

    /// Applies a decision that was made before the attempt ran.
    pub(super) fn scale_as_owed(&mut self, at: At) {
        let live = self.instance_mut(at).and_then(|instance| instance.live.as_mut());
        if let Some(workers) = live.and_then(|live| live.owed.take()) {
            self.scale(at, workers);
        }
    }

    /// Records an attempt's number of elastic workers.
    fn resize(&mut self, at: At, workers: u32, now: Timestamp) -> Result<(), Failure> {
        let gone = || Failure::new(FailureKind::CouldNotStart, "it has ended");
        let executor = self.executor(at).ok_or_else(gone)?;
        let run = self.runs[at.slot].as_ref().ok_or_else(gone)?;
        let live = run.live(at).ok_or_else(gone)?;
        if matches!(live.record.state, AttemptState::Ended { .. }) {
            return Err(gone());
        }
        let job = run.job_with(&live.record, workers)?;
        let bindings = executor.scaling().ok_or_else(gone)?.resize(&job, &live.record.bindings)?;
        let live = self.instance_mut(at).and_then(|instance| instance.live.as_mut()).ok_or_else(gone)?;
        live.record.resize(&job, bindings, now);
        live.dirty = true;
        self.touch(at);
        Ok(())
    }

    /// Asks the executor to give an attempt this many elastic workers, once the attempt runs.
    pub(super) fn scale(&mut self, at: At, workers: u32) {
        let Some(executor) = self.executor(at) else { return };
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        match live.record.state {
            AttemptState::Submitting => live.owed = Some(workers),
            AttemptState::Running { .. } => {
                let Some(run) = self.runs[at.slot].as_ref() else { return };
                let Some(live) = run.live(at) else { return };
                let job = run.job_with(&live.record, workers);
                let bound = |job: Job| {
                    let bindings = live.record.bindings.of_first(job.workers());
                    submission(job, &bindings)
                };
                match job.and_then(bound) {
                    Ok(submission) => {
                        self.output.actions.push(Action::Scale(Arc::clone(&executor), submission));
                    }
                    Err(failure) => {
                        tracing::error!(%failure.message, "the number of workers of a job cannot be changed");
                    }
                }
            }
            AttemptState::Stopping { .. } | AttemptState::Ended { .. } => {}
        }
    }
}

//! Concurrency limits hold across all clusters and servers: each scheduler gets the holders elsewhere, and
//! the recent starts.

use std::time::Duration;

use cubeloom_admission::NamedLimit;
use cubeloom_domain::Timestamp;
use cubeloom_domain::limit::Limit;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_store::{Holding, LimitedStart};

use super::{At, Core};

const MINUTE: Duration = Duration::from_secs(60);

impl Core {
    /// Updates the limits. Jobs that wait for a changed limit are evaluated again.
    pub fn set_limits(&mut self, limits: Vec<Limit>) {
        let named =
            |limit: Limit| NamedLimit { name: limit.name, at_once: limit.at_once, a_minute: limit.a_minute };
        let limits: Vec<NamedLimit> = limits.into_iter().map(named).collect();
        if limits == self.limits {
            return;
        }
        let counted =
            |name: &String| self.limits.iter().any(|limit| limit.name == *name && limit.a_minute.is_some());
        let newly: Vec<String> =
            limits.iter().map(|limit| limit.name.clone()).filter(|name| !counted(name)).collect();
        self.limits = limits;
        for place in self.places.values_mut() {
            place.set_limits(&self.limits);
            // The schedulers already have those that were counted before.
            for (at, names) in self.limited.values() {
                let names: Vec<String> = names.iter().filter(|name| newly.contains(name)).cloned().collect();
                place.desk.started_elsewhere(&names, *at);
            }
        }
        if !self.counts_starts() {
            self.limited.clear();
        }
    }

    /// Whether any limit is per minute, so that the starts of other servers are needed.
    pub fn counts_starts(&self) -> bool {
        self.limits.iter().any(|limit| limit.a_minute.is_some())
    }

    /// Updates the starts with limits within the last minute: by other servers, and by this one before its
    /// restart.
    pub fn set_limited_starts(&mut self, starts: Vec<LimitedStart>, now: Timestamp) {
        self.limited.retain(|_, (at, _)| now.since(*at) < MINUTE);
        for start in starts {
            if self.limited.contains_key(&start.attempt) {
                continue;
            }
            for place in self.places.values_mut() {
                place.desk.started_elsewhere(&start.limits, start.at);
            }
            self.limited.insert(start.attempt, (start.at, start.limits));
        }
    }

    /// Gives a new cluster's scheduler the holders of limits, and the starts with them.
    pub(super) fn tell_limits(&mut self, cluster: &str) {
        let now = self.now;
        let Some(place) = self.places.get_mut(cluster) else { return };
        place.set_limits(&self.limits);
        for (at, names) in self.limited.values() {
            place.desk.started_elsewhere(names, *at);
        }
        for at in self.live.values() {
            let Some(run) = self.runs[at.slot].as_ref().filter(|run| run.place_of(at.task) != cluster) else {
                continue;
            };
            let instance = &run.tasks[at.task.index()].instances[at.instance as usize];
            if let Some(live) = instance.live.as_ref().filter(|live| !live.record.limits.is_empty()) {
                place.hold_away(*at, &holding(run, &live.record), now);
            }
        }
    }

    /// An attempt takes its limits, on the other clusters, too. `is_new` means that it starts now.
    pub(super) fn take_limits(&mut self, at: At, attempt: &AttemptRecord, is_new: bool) {
        if attempt.limits.is_empty() {
            return;
        }
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let held = holding(run, attempt);
        for (cluster, place) in &mut self.places {
            if cluster == run.place_of(at.task) {
                continue;
            }
            place.hold_away(at, &held, self.now);
            if is_new {
                place.desk.started_elsewhere(&attempt.limits, attempt.created_at);
            }
        }
        if is_new && self.counts_starts() {
            self.limited.insert(attempt.key.clone(), (attempt.created_at, attempt.limits.clone()));
        }
    }

    /// An attempt releases its limits.
    pub(super) fn drop_limits(&mut self, at: At, attempt: &AttemptRecord) {
        if attempt.limits.is_empty() {
            return;
        }
        for place in self.places.values_mut() {
            place.remove_away(at, self.now);
        }
    }
}

fn holding(run: &super::active::ActiveRun, attempt: &AttemptRecord) -> Holding {
    let record = &run.record;
    Holding {
        project: record.project.clone(),
        pipeline: record.pipeline.clone(),
        user: record.person().to_owned(),
        attempt: attempt.clone(),
    }
}

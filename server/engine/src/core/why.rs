//! Pending reasons: what the scheduler says of an instance, as shown and stored.

use std::collections::BTreeSet;
use std::time::Duration;

use cubeloom_admission::{Block, JobId, used_up};
use cubeloom_domain::Timestamp;
use cubeloom_domain::state::{InstanceState, WaitReason};
use cubeloom_domain::waiting::{Explanation, WaitRule};

use super::place::Place;
use super::{At, Core};

/// Maximum number of reasons that one cycle computes: the holders are found by trial.
const EXPLAINED: usize = 32;
/// After this time a reason is computed again even if nothing shows that it has changed: new jobs may be
/// ahead, and amounts change.
const STALE: Duration = Duration::from_secs(10);
/// How many of these one cycle computes again, oldest first.
const AGAIN: usize = 8;

impl Core {
    /// Records why the jobs that a cycle visited are pending, if that has changed.
    pub(super) fn explain_waits(&mut self, cluster: &str, waits: &[(JobId, Block)], now: Timestamp) {
        let Some(place) = self.places.get(cluster) else { return };
        let looked_at = waits.iter().filter_map(|(id, block)| Some((place.at(*id)?, *id, block.rule)));
        // A cycle skips jobs that name a concurrency limit that it has found exhausted.
        let shut_out = place.shut_out(EXPLAINED, now).into_iter();
        let shut_out = shut_out.map(|(at, id)| (at, id, WaitRule::NamedLimit));
        let (mut explained, mut stale) = (BTreeSet::new(), BTreeSet::new());
        for (at, id, rule) in looked_at.chain(shut_out).collect::<Vec<_>>() {
            let Some(place) = self.places.get(cluster) else { return };
            if self.is_explained(place, at, rule, now) {
                let since = place.explained_at(id).unwrap_or_default();
                if now.since(since) >= STALE {
                    stale.insert((since, at, id));
                }
                continue;
            }
            if explained.len() >= EXPLAINED || !explained.insert(at) {
                continue;
            }
            self.find_reason(cluster, at, id, now, Self::explain);
        }
        for (_, at, id) in stale.into_iter().take(AGAIN) {
            self.find_reason(cluster, at, id, now, Self::explain_anew);
        }
    }

    /// Computes why a job is pending. There may be no reason: the job would start if the executor accepted
    /// more jobs at a time.
    fn find_reason(
        &mut self,
        cluster: &str,
        at: At,
        id: JobId,
        now: Timestamp,
        note: fn(&mut Self, At, WaitReason),
    ) {
        let Some(place) = self.places.get_mut(cluster) else { return };
        place.set_explained(id, now);
        if let Some(reason) = place.desk.reason(id, now) {
            note(self, at, reason);
        }
    }

    /// Whether the recorded reason is still true: the same rule applies, and the named holders still hold
    /// what they held.
    fn is_explained(&self, place: &Place, at: At, rule: WaitRule, now: Timestamp) -> bool {
        let instance = self.runs[at.slot]
            .as_ref()
            .map(|run| &run.tasks[at.task.index()].instances[at.instance as usize]);
        let Some(InstanceState::Waiting { reason: Some(reason), .. }) =
            instance.map(|instance| &instance.state)
        else {
            return false;
        };
        let alive = |key: &str| key.parse().is_ok_and(|key| self.live.contains_key(&key));
        // After a change of its limit, a job may be pending for another reason, or for more.
        let is_so = |why: &Explanation| match why.named.as_deref() {
            Some(name) => used_up(name, place.desk.named_use(name, now)) == reason.message(),
            None => true,
        };
        reason.explanation().is_some_and(|why| {
            why.rule == rule && is_so(why) && why.holders.iter().all(|holder| alive(&holder.key))
        })
    }
}

//! Why an instance waits: what the desk says of it, as it is shown and stored.

use std::collections::BTreeSet;
use std::time::Duration;

use cubeloom_admission::{Block, JobId, used_up};
use cubeloom_domain::Timestamp;
use cubeloom_domain::state::{InstanceState, WaitReason};
use cubeloom_domain::waiting::{Explanation, WaitRule};

use super::place::Place;
use super::{At, Core};

/// How many reasons one pass works out anew: who holds what is found by trying.
const EXPLAINED: usize = 32;
/// After this long a reason is looked at again though nothing shows that it is no longer true: who came since may be ahead,
/// and amounts move.
const STALE: Duration = Duration::from_secs(10);
/// How many of these one pass looks at, the oldest first.
const AGAIN: usize = 8;

impl Core {
    /// Notes why those wait that a pass has looked at, where that has changed.
    pub(super) fn explain_waits(&mut self, cluster: &str, waits: &[(JobId, Block)], now: Timestamp) {
        let Some(place) = self.places.get(cluster) else { return };
        let looked_at = waits.iter().filter_map(|(id, block)| Some((place.at(*id)?, *id, block.rule)));
        // A pass passes over those that name a limit which it has found used up.
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

    /// Works out why a job waits. It may say nothing: the job would start, were it not for those that the executor takes
    /// at a time.
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

    /// Whether the reason that is noted is still true: the same rule, and those that it names hold what they held.
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
        // A limit that was changed may let it wait for something else, or for more.
        let is_so = |why: &Explanation| match why.named.as_deref() {
            Some(name) => used_up(name, place.desk.named_use(name, now)) == reason.message(),
            None => true,
        };
        reason.explanation().is_some_and(|why| {
            why.rule == rule && is_so(why) && why.holders.iter().all(|holder| alive(&holder.key))
        })
    }
}

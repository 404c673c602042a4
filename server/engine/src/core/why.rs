//! Why an instance waits: what the desk says of it, as it is shown and stored.

use cubeloom_admission::{Block, JobId, sentence};
use cubeloom_domain::Timestamp;
use cubeloom_domain::state::{InstanceState, WaitReason};
use cubeloom_domain::waiting::{Explanation, WaitRule};

use super::{At, Core};

/// How many reasons one pass works out anew: who holds what is found by trying.
const EXPLAINED: usize = 32;

impl Core {
    /// Notes why those wait that a pass has looked at, where that has changed.
    pub(super) fn explain_waits(&mut self, cluster: &str, waits: &[(JobId, Block)], now: Timestamp) {
        let mut explained = 0;
        for (id, block) in waits {
            let Some(place) = self.places.get(cluster) else { return };
            let Some(at) = place.at(*id) else { continue };
            if explained >= EXPLAINED || self.is_explained(at, block.rule) {
                continue;
            }
            explained += 1;
            // It would start, were it not for those that the executor takes at a time.
            let Some(why) = place.desk.explain(*id, now) else { continue };
            let person = place.desk.spec(*id).map(|spec| spec.person.clone()).unwrap_or_default();
            self.explain(at, reason(why, &person));
        }
    }

    /// Whether the reason that is noted is still true: the same rule, and those that it names hold what they held.
    fn is_explained(&self, at: At, rule: WaitRule) -> bool {
        let instance = self.runs[at.slot]
            .as_ref()
            .map(|run| &run.tasks[at.task.index()].instances[at.instance as usize]);
        let Some(InstanceState::Waiting { reason: Some(reason), .. }) =
            instance.map(|instance| &instance.state)
        else {
            return false;
        };
        let alive = |key: &str| key.parse().is_ok_and(|key| self.live.contains_key(&key));
        reason
            .explanation()
            .is_some_and(|why| why.rule == rule && why.holders.iter().all(|holder| alive(&holder.key)))
    }
}

/// The reason that is shown and stored.
fn reason(why: Explanation, person: &str) -> WaitReason {
    let message = sentence(&why, person);
    let rule = why.rule;
    let why = Some(Box::new(why));
    match rule {
        WaitRule::Capacity | WaitRule::NeverFits | WaitRule::Leaving | WaitRule::Apart => {
            WaitReason::Capacity { message, why }
        }
        WaitRule::Behind => WaitReason::Behind { message, why },
        WaitRule::NamedLimit => WaitReason::NamedLimit { message, why },
        WaitRule::NotLent
        | WaitRule::Limit
        | WaitRule::NoBorrowing
        | WaitRule::PersonsCap
        | WaitRule::CoolDown => WaitReason::Quota { message, why },
    }
}

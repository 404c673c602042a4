//! Why an instance waits: what the desk says of it, as it is shown and stored.

use std::collections::BTreeSet;

use cubeloom_admission::{Block, JobId, NamedUse, sentence};
use cubeloom_domain::Timestamp;
use cubeloom_domain::state::{InstanceState, WaitReason};
use cubeloom_domain::waiting::{Explanation, WaitRule};

use super::place::Place;
use super::{At, Core};

/// How many reasons one pass works out anew: who holds what is found by trying.
const EXPLAINED: usize = 32;

impl Core {
    /// Notes why those wait that a pass has looked at, where that has changed.
    pub(super) fn explain_waits(&mut self, cluster: &str, waits: &[(JobId, Block)], now: Timestamp) {
        let Some(place) = self.places.get(cluster) else { return };
        let looked_at = waits.iter().filter_map(|(id, block)| Some((place.at(*id)?, *id, block.rule)));
        // A pass passes over those that name a limit which it has found used up.
        let shut_out = place.shut_out(EXPLAINED, now).into_iter();
        let shut_out = shut_out.map(|(at, id)| (at, id, WaitRule::NamedLimit));
        let mut explained = BTreeSet::new();
        for (at, id, rule) in looked_at.chain(shut_out).collect::<Vec<_>>() {
            let Some(place) = self.places.get(cluster) else { return };
            if explained.len() >= EXPLAINED || self.is_explained(place, at, rule, now) {
                continue;
            }
            if !explained.insert(at) {
                continue;
            }
            // It would start, were it not for those that the executor takes at a time.
            let Some(why) = place.desk.explain(id, now) else { continue };
            let used = why.named.as_deref().and_then(|name| place.desk.named_use(name, now));
            let person = place.desk.spec(id).map(|spec| spec.person.clone()).unwrap_or_default();
            self.explain(at, reason(why, used, &person));
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

/// The reason that is shown and stored.
fn reason(why: Explanation, used: Option<NamedUse>, person: &str) -> WaitReason {
    let message = match why.named.as_deref() {
        Some(name) => used_up(name, used),
        None => sentence(&why, person),
    };
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

/// How many hold a limit, or have been started with it, of how many that may.
fn used_up(name: &str, used: Option<NamedUse>) -> String {
    match used {
        Some(NamedUse { held, at_once: Some(limit), .. }) if held >= limit => {
            format!("the limit `{name}` is used up: {held} hold it, and {limit} may at once")
        }
        Some(NamedUse { a_minute: Some(limit), .. }) => {
            format!("the limit `{name}` is used up: {limit} may start within a minute, and have")
        }
        _ => format!("the limit `{name}` is used up"),
    }
}

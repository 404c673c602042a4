//! Limits frequent entries. Per minute, the first entries of a user and an action are written, and the rest
//! are counted. After the minute, one entry records the count.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use super::{Act, Actor};
use crate::state::Web;
use crate::time::Time;

/// A minute in microseconds.
const MINUTE: i64 = 60_000_000;
/// Interval at which ended minutes are checked.
const PERIOD: Duration = Duration::from_secs(5);
/// Maximum number of counts kept while the database is unreachable.
const KEPT: usize = 1000;

/// Entries and counts of the current minute.
#[derive(Default)]
pub(crate) struct AuditLimit(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// Minutes since the epoch.
    minute: i64,
    /// By user or address, and action.
    seen: HashMap<(String, String), u32>,
    /// Counts of entries that were not written, also by project.
    more: HashMap<(String, String, Option<String>), Overflow>,
    /// Those of earlier minutes.
    ended: Vec<Overflow>,
}

/// Entries that were not written.
#[derive(Clone, Debug)]
struct Overflow {
    /// User at the last of them.
    actor: Actor,
    action: String,
    count: u64,
    minute: i64,
}

impl AuditLimit {
    /// Whether another entry of this user or address may be written: at most `most` per action and minute.
    pub(super) fn admits(&self, actor: &Actor, action: &str, most: u32, now: Timestamp) -> bool {
        let mut counts = self.at(now);
        let whose = actor.user_id.as_deref().unwrap_or(&actor.address);
        let seen = counts.seen.entry((whose.to_owned(), action.to_owned())).or_default();
        *seen = seen.saturating_add(1);
        if *seen <= most {
            return true;
        }
        let minute = counts.minute;
        let key = (whose.to_owned(), action.to_owned(), actor.project.clone());
        let none = || Overflow { actor: actor.clone(), action: action.to_owned(), count: 0, minute };
        let more = counts.more.entry(key).or_insert_with(none);
        more.actor = actor.clone();
        more.count += 1;
        false
    }

    /// The counts of the current minute.
    fn at(&self, now: Timestamp) -> MutexGuard<'_, Counts> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.minute != now.0 / MINUTE {
            counts.end();
            counts.minute = now.0 / MINUTE;
        }
        counts
    }

    /// Takes the counts of ended minutes. `all` includes the current one.
    fn take(&self, now: Timestamp, all: bool) -> Vec<Overflow> {
        let mut counts = self.at(now);
        if all {
            counts.end();
        }
        std::mem::take(&mut counts.ended)
    }

    fn put_back(&self, more: Overflow) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.ended.len() < KEPT {
            counts.ended.push(more);
        }
    }
}

impl Counts {
    fn end(&mut self) {
        self.seen.clear();
        let more = self.more.drain().map(|(_, more)| more);
        self.ended.extend(more);
    }
}

/// Starts writing the counts of ended minutes.
pub(crate) fn start(web: &Web) {
    let web = web.downgrade();
    tokio::spawn(async move {
        let mut period = interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            period.tick().await;
            let Some(web) = web.upgrade() else { return };
            write(&web, false).await;
        }
    });
}

/// Also writes the counts of the current minute, as the server stops.
pub async fn write_counts(web: &Web) {
    write(web, true).await;
}

async fn write(web: &Web, all: bool) {
    for more in web.audit_limit().take(web.now(), all) {
        let act = Act::by(web, more.actor.clone());
        let minute = Time(Timestamp(more.minute * MINUTE)).to_string();
        let entry = act.entry(&more.action, "").after(json!({"more": more.count, "minute": minute}));
        if let Err(error) = web.store().audit(&entry).await {
            tracing::warn!(%error, action = more.action, "cannot write a count to the audit log yet");
            web.audit_limit().put_back(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: &str, project: &str) -> Actor {
        Actor { user_id: Some(id.into()), project: Some(project.into()), ..Actor::server() }
    }

    #[test]
    fn the_first_of_each_minute_are_written_and_the_others_counted() {
        let limit = AuditLimit::default();
        let at = |minute: i64| Timestamp(minute * MINUTE + 5);
        let written = |id: &str, action: &str, minute: i64| {
            (0..15).filter(|_| limit.admits(&of(id, "shop"), action, 10, at(minute))).count()
        };
        assert_eq!((written("a", "x", 1), written("b", "x", 1), written("a", "y", 1)), (10, 10, 10));
        assert_eq!(written("a", "x", 1), 0);
        assert!(limit.take(at(1), false).is_empty(), "the minute has not ended");
        assert_eq!(written("a", "x", 2), 10);
        let mut ended: Vec<(String, String, u64, i64)> = limit
            .take(at(2), false)
            .into_iter()
            .map(|more| (more.actor.user_id.unwrap(), more.action, more.count, more.minute))
            .collect();
        ended.sort();
        let count = |id: &str, action: &str, count| (id.to_owned(), action.to_owned(), count, 1);
        assert_eq!(ended, [count("a", "x", 20), count("a", "y", 5), count("b", "x", 5)]);
        assert_eq!(limit.take(at(2), true).len(), 1, "the server ends within the minute");
        assert!(limit.take(at(3), true).is_empty());
    }

    #[test]
    fn each_project_has_its_count() {
        let limit = AuditLimit::default();
        for project in ["shop", "ads", "ads"] {
            limit.admits(&of("a", project), "x", 0, Timestamp(1));
        }
        let mut counts: Vec<u64> =
            limit.take(Timestamp(2), true).into_iter().map(|more| more.count).collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 2]);
    }
}

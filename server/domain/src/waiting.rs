//! Why a job waits, as data: the rule, the amounts, who holds them, and when it may start.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::faulty::FaultyCards;
use crate::quota::{Amounts, Pool, Queue, Resource};
use crate::shape::Misfit;

/// The rule that keeps a job waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitRule {
    /// Not enough of the pool is free.
    Capacity,
    /// What is free is guaranteed to others, who do not lend it.
    NotLent,
    /// Its project, or a group above it, holds all that it may.
    Limit,
    /// Its project, or a group above it, may not hold more than it is guaranteed.
    NoBorrowing,
    /// The person's jobs hold all that one person's may.
    PersonsCap,
    /// As many tasks as may hold a named limit do, or have been started with it lately.
    NamedLimit,
    /// It must not share its node with another job of its run.
    Apart,
    /// It would delay a job that is ahead of it.
    Behind,
    /// It had to give back what it had borrowed, and borrows again only after a while.
    CoolDown,
    /// There is room for it as soon as jobs that were told to stop have ended.
    Leaving,
    /// Enough is free in all, but not on single nodes for all of its workers.
    Scattered,
    /// It asks for more cards than jobs can get while some are faulty, whoever ends.
    Faulty,
    /// It asks for more than there is, or for workers that no nodes have the room for, or than its project may ever hold.
    NeverFits,
    /// As many instances of its task go on as may at once.
    TaskParallelism,
    /// As many jobs of its run go on as may at once.
    PipelineParallelism,
}

/// Why a job waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The rule.
    pub rule: WaitRule,
    /// The pool that it concerns.
    pub pool: Pool,
    /// Whose limit, guarantee or cap it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<Queue>,
    /// The name of the named limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub named: Option<String>,
    /// Insufficient resources.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shortages: Vec<Shortage>,
    /// Of what its workers are made, and the nodes, where these never fit on those.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub misfit: Option<Misfit>,
    /// Unhealthy GPUs excluded from scheduling. Set when GPUs are insufficient.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub faulty: Option<FaultyCards>,
    /// Who holds it: when all that are named here end, it starts in the next pass. Empty where that would not help.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub holders: Vec<Holder>,
    /// How many are before it in the order: jobs of the same pool, or of its task or run where the parallelism of those is the
    /// rule.
    pub ahead: u32,
    /// Concurrency limit, if the rule is about parallelism.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// How many of them have a place or wait for one, where somebody has counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub active: Option<u32>,
    /// The job that it must not delay, or must not share its node with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<Head>,
    /// When it may start, where that was estimated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<StartEstimate>,
}

/// A job that another must not delay. Whoever may not see its project is not told its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its attempt's key.
    pub key: String,
    /// What a person calls it: its task.
    pub name: String,
    /// Project.
    pub project: String,
}

/// An insufficient resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// `cpu`, `gpus/H100`, ...
    #[serde(with = "as_text")]
    pub resource: Resource,
    /// Requested amount.
    pub asked: u64,
    /// Amount currently available to it.
    pub free: u64,
    /// How much is guaranteed to its project there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guaranteed: Option<u64>,
    /// How much its project holds there beyond that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub borrowed: Option<u64>,
    /// How much whoever the rule concerns may hold, or the pool has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<u64>,
    /// How much of that is held.
    pub held: u64,
}

/// A job that holds what another waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its attempt's key.
    pub key: String,
    /// Project.
    pub project: String,
    /// User that it runs for.
    pub person: String,
    /// Allocated amount.
    pub amounts: Amounts,
}

/// When a job may start, made by simulating the queue with the run times that are known from history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartEstimate {
    /// 50th percentile of the estimated time.
    pub p50: Timestamp,
    /// 90th percentile of the estimated time.
    pub p90: Timestamp,
}

/// A resource as its name.
pub(crate) mod as_text {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::quota::Resource;

    pub fn serialize<S: Serializer>(resource: &Resource, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(resource)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Resource, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Explanation {
    /// What is known at once of what waits for so many others of its task or run: not its place among them, which changes with
    /// every end.
    #[must_use]
    pub fn of_parallelism(rule: WaitRule, pool: Pool, parallelism: u32) -> Self {
        Self {
            rule,
            pool,
            queue: None,
            named: None,
            shortages: Vec::new(),
            misfit: None,
            faulty: None,
            holders: Vec::new(),
            ahead: 0,
            parallelism: Some(parallelism),
            active: None,
            head: None,
            start: None,
        }
    }

    /// Whether another explanation tells a person the same: amounts and estimates that move are not worth being stored.
    #[must_use]
    pub fn tells_the_same(&self, other: &Self) -> bool {
        let key = |one: &Self| {
            (one.rule, one.queue.clone(), one.named.clone(), one.head.clone(), one.faulty.clone())
        };
        let holders = |one: &Self| one.holders.iter().map(|holder| holder.key.clone()).collect::<Vec<_>>();
        key(self) == key(other) && holders(self) == holders(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_is_read_as_it_is_written() {
        let shortage = Shortage {
            resource: Resource::GpusOf("H100".into()),
            asked: 8,
            free: 2,
            guaranteed: None,
            borrowed: None,
            limit: Some(16),
            held: 14,
        };
        let explanation = Explanation {
            rule: WaitRule::Capacity,
            pool: Pool { cluster: "local".into(), node_group: None },
            queue: None,
            named: None,
            shortages: vec![shortage],
            misfit: None,
            faulty: None,
            holders: Vec::new(),
            ahead: 3,
            parallelism: None,
            active: None,
            head: None,
            start: Some(StartEstimate { p50: Timestamp(1), p90: Timestamp(2) }),
        };
        let text = serde_json::to_string(&explanation).unwrap();
        assert!(text.contains(r#""resource":"gpus/H100""#), "{text}");
        assert_eq!(serde_json::from_str::<Explanation>(&text).unwrap(), explanation);
    }
}

//! Pending reasons as data: the rule, the amounts, the jobs that hold them, and the estimated start.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::faulty::FaultyCards;
use crate::quota::{Amounts, Pool, Queue, Resource};
use crate::shape::Misfit;

/// The rule that keeps a job pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitRule {
    /// Insufficient free capacity in the pool.
    Capacity,
    /// The free capacity is guaranteed to others, which do not lend it.
    NotLent,
    /// The limit of its project, or of a group above it, is exhausted.
    Limit,
    /// Its project, or a group above it, may not exceed its guarantee.
    NoBorrowing,
    /// The cap per person is exhausted.
    PersonsCap,
    /// A concurrency limit is exhausted, by tasks that hold it or by recent starts.
    NamedLimit,
    /// It must not share its node with another job of its run.
    Apart,
    /// Queued behind a job that it would delay.
    Behind,
    /// Its borrowed resources were reclaimed, and it may borrow again only after a cool-down.
    CoolDown,
    /// It fits once jobs that were asked to stop have ended.
    Leaving,
    /// Enough is free in total, but not on single nodes for all of its workers.
    Scattered,
    /// It requests more GPUs than are available while some are unhealthy, even if all jobs end.
    Faulty,
    /// It exceeds the capacity, its workers fit on no nodes, or it exceeds its project's limit.
    NeverFits,
    /// The task's parallelism is exhausted.
    TaskParallelism,
    /// The run's parallelism is exhausted.
    PipelineParallelism,
}

/// Why a job is pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    pub rule: WaitRule,
    /// The pool that it applies to.
    pub pool: Pool,
    /// The queue whose limit, guarantee or cap it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<Queue>,
    /// The concurrency limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub named: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shortages: Vec<Shortage>,
    /// The composition of its workers and of the nodes, if they never fit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub misfit: Option<Misfit>,
    /// Unhealthy GPUs excluded from scheduling. Set when GPUs are insufficient.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub faulty: Option<FaultyCards>,
    /// The jobs that hold it: if all named ones end, this job starts in the next cycle. Empty if that would
    /// not help.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub holders: Vec<Holder>,
    /// How many jobs are ahead: of the same pool, or of its task or run if the rule is about parallelism.
    pub ahead: u32,
    /// Concurrency limit, if the rule is about parallelism.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// How many of them are running or queued, if counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub active: Option<u32>,
    /// The job that it must not delay, or must not share its node with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<Head>,
    /// Estimated start, if available.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<StartEstimate>,
}

/// A job that another must not delay. Users without access to its project do not see its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The key of its attempt.
    pub key: String,
    /// Display name: its task.
    pub name: String,
    pub project: String,
}

/// An insufficient resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// `cpu`, `gpus/H100`, ...
    #[serde(with = "as_text")]
    pub resource: Resource,
    pub asked: u64,
    /// Amount currently available to it.
    pub free: u64,
    /// Its project's guarantee there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guaranteed: Option<u64>,
    /// Its project's usage above the guarantee.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub borrowed: Option<u64>,
    /// The limit that the rule applies, or the pool's capacity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<u64>,
    /// Usage of that.
    pub held: u64,
}

/// A job that holds what another waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The key of its attempt.
    pub key: String,
    pub project: String,
    /// The user that it runs as.
    pub person: String,
    pub amounts: Amounts,
}

/// Estimated start, from a simulation of the queue with known run times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartEstimate {
    /// 50th percentile of the estimated time.
    pub p50: Timestamp,
    /// 90th percentile of the estimated time.
    pub p90: Timestamp,
}

/// Serializes a resource as its name.
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
    /// What is known at once for jobs that wait for others of their task or run. It excludes their position,
    /// which changes with every end.
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

    /// Whether another explanation is equal for users: changed amounts and estimates are not worth storing.
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

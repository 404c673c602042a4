//! Quotas: what each project, and each group of projects, may use of a pool.

pub mod change;
pub mod check;
pub mod held;
pub mod room;
pub mod standing;
pub mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

use crate::quantity::{BadQuantity, Bytes, Cpu};

/// A pool with quotas: a node group of a cluster, or the whole cluster. Allocations in a node group count in
/// its cluster, too; their quota is that of the node group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// The cluster's name.
    pub cluster: String,
    /// The node group's name; absent: the whole cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node_group: Option<String>,
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node_group {
            Some(group) => write!(f, "{}/{group}", self.cluster),
            None => f.write_str(&self.cluster),
        }
    }
}

/// Why a text is not a pool.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a pool: write CLUSTER, or CLUSTER/NODE_GROUP")]
pub struct UnknownPool(String);

impl FromStr for Pool {
    type Err = UnknownPool;

    /// Parses the output of `Display`.
    fn from_str(text: &str) -> Result<Self, UnknownPool> {
        let (cluster, node_group) = match text.split_once('/') {
            Some((cluster, group)) => (cluster, Some(group)),
            None => (text, None),
        };
        if cluster.is_empty() || node_group.is_some_and(str::is_empty) {
            return Err(UnknownPool(text.to_owned()));
        }
        Ok(Self { cluster: cluster.to_owned(), node_group: node_group.map(ToOwned::to_owned) })
    }
}

impl Pool {
    /// The whole of a cluster.
    #[must_use]
    pub fn of(cluster: &str) -> Self {
        Self { cluster: cluster.to_owned(), node_group: None }
    }

    /// The whole of its cluster.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self::of(&self.cluster)
    }

    /// Whether allocations in `other` count in this pool, too.
    #[must_use]
    pub fn has(&self, other: &Self) -> bool {
        self == other || self.node_group.is_none() && self.cluster == other.cluster
    }
}

/// A counted resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// CPU, in millicores.
    Cpu,
    /// Memory, in bytes.
    Memory,
    /// Whole GPUs of any type.
    Gpus,
    /// Whole GPUs whose product name contains this, ignoring case: what a task requests as `gpu.type`.
    GpusOf(String),
    Pods,
    /// Runs with a job in the pool.
    Runs,
}

/// Why a text is not a resource.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` must be one of cpu, memory, gpus, gpus/TYPE, pods, runs")]
pub struct UnknownResource(String);

impl FromStr for Resource {
    type Err = UnknownResource;

    fn from_str(text: &str) -> Result<Self, UnknownResource> {
        match text {
            "cpu" => Ok(Self::Cpu),
            "memory" => Ok(Self::Memory),
            "gpus" => Ok(Self::Gpus),
            "pods" => Ok(Self::Pods),
            "runs" => Ok(Self::Runs),
            other => match other.strip_prefix("gpus/") {
                Some(kind) if !kind.is_empty() => Ok(Self::GpusOf(kind.to_owned())),
                _ => Err(UnknownResource(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Memory => f.write_str("memory"),
            Self::Gpus => f.write_str("gpus"),
            Self::GpusOf(kind) => write!(f, "gpus/{kind}"),
            Self::Pods => f.write_str("pods"),
            Self::Runs => f.write_str("runs"),
        }
    }
}

impl Resource {
    /// An amount as text: `4` for CPU, `16Gi` for memory, `8` for GPUs.
    #[must_use]
    pub fn written(&self, amount: u64) -> String {
        match self {
            Self::Cpu => Cpu(amount).to_string(),
            Self::Memory => Bytes(amount).to_string(),
            Self::Gpus | Self::GpusOf(_) | Self::Pods | Self::Runs => amount.to_string(),
        }
    }

    /// Parses an amount.
    ///
    /// # Errors
    /// It is not an amount; the message says what is expected.
    pub fn read(&self, text: &str) -> Result<u64, BadAmount> {
        match self {
            Self::Cpu => Ok(text.parse::<Cpu>()?.0),
            Self::Memory => Ok(text.parse::<Bytes>()?.0),
            Self::Gpus | Self::GpusOf(_) | Self::Pods | Self::Runs => {
                let count = text.trim().parse::<u32>().map_err(|_| BadAmount::Count(text.to_owned()))?;
                Ok(u64::from(count))
            }
        }
    }
}

/// Why a text is not an amount of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadAmount {
    /// Not an amount of CPU or memory.
    #[error(transparent)]
    Quantity(#[from] BadQuantity),
    /// Not a count.
    #[error("`{0}` is not a whole number from 0 to 4294967295")]
    Count(String),
}

/// Amounts by resource: `{cpu: 16, memory: 64Gi, gpus: 8, "gpus/H100": 4, pods: 100, runs: 5}`. An absent
/// resource is zero in guarantees and usage, and unlimited in limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts(pub BTreeMap<Resource, u64>);

impl Amounts {
    #[must_use]
    pub fn get(&self, resource: &Resource) -> Option<u64> {
        self.0.get(resource).copied()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Resource, u64)> for Amounts {
    fn from_iter<T: IntoIterator<Item = (Resource, u64)>>(amounts: T) -> Self {
        Self(amounts.into_iter().collect())
    }
}

impl Serialize for Amounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(resource, amount)| {
            let written = match resource {
                Resource::Cpu | Resource::Memory => Value::from(resource.written(*amount)),
                Resource::Gpus | Resource::GpusOf(_) | Resource::Pods | Resource::Runs => {
                    Value::from(*amount)
                }
            };
            (resource.to_string(), written)
        }))
    }
}

impl<'de> Deserialize<'de> for Amounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let read = |(name, amount): (String, Value)| {
            let resource = name.parse::<Resource>().map_err(D::Error::custom)?;
            let text = match amount {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                other => return Err(D::Error::custom(format_args!("{name}: {other} is not an amount"))),
            };
            let amount =
                resource.read(&text).map_err(|error| D::Error::custom(format_args!("{name}: {error}")))?;
            Ok((resource, amount))
        };
        BTreeMap::<String, Value>::deserialize(deserializer)?.into_iter().map(read).collect()
    }
}

impl JsonSchema for Amounts {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amounts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let cpu = generator.subschema_for::<Cpu>();
        let memory = generator.subschema_for::<Bytes>();
        let count = json_schema!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
        json_schema!({
            "type": "object",
            "properties": { "cpu": cpu, "memory": memory, "gpus": count, "pods": count, "runs": count },
            "patternProperties": { "^gpus/.+$": count },
            "additionalProperties": false,
        })
    }
}

/// A node of the quota tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Queue {
    /// A group of projects, or of groups.
    Group(String),
    /// A project.
    Project(String),
}

impl Queue {
    /// Its name. A group and a project may have the same.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Group(name) | Self::Project(name) => name,
        }
    }
}

/// A queue's quota of one pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// Guaranteed amounts. The queue gets what it needs of them, if necessary by reclaiming what others borrowed.
    #[serde(skip_serializing_if = "Amounts::is_empty", default)]
    pub guarantee: Amounts,
    /// Maximum usage, including what is borrowed. An absent resource is unlimited.
    #[serde(skip_serializing_if = "Amounts::is_empty", default)]
    pub limit: Amounts,
    /// Its weight among its siblings when unguaranteed or unused capacity is shared: from 1 to 1,000.
    #[serde(default = "Quota::usual_weight")]
    pub weight: u32,
    /// Whether it may borrow beyond its guarantee.
    #[serde(default = "yes")]
    pub borrow: bool,
    /// Whether others may borrow the unused part of its guarantee.
    #[serde(default = "yes")]
    pub lend: bool,
    /// Maximum amounts allocated to the jobs of one user. Applies to projects only.
    #[serde(skip_serializing_if = "Amounts::is_empty", default)]
    pub per_person: Amounts,
    /// Highest priority that its tasks may set. Omitted if any priority is allowed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(range(min = -1000, max = 1000))]
    pub max_priority: Option<i32>,
}

fn yes() -> bool {
    true
}

impl Quota {
    /// The default weight.
    #[must_use]
    pub fn usual_weight() -> u32 {
        100
    }
}

impl Default for Quota {
    /// The default quota of a queue: no guarantee, no limit.
    fn default() -> Self {
        Self {
            guarantee: Amounts::default(),
            limit: Amounts::default(),
            weight: Self::usual_weight(),
            borrow: true,
            lend: true,
            per_person: Amounts::default(),
            max_priority: None,
        }
    }
}

/// A queue with its position in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRecord {
    pub queue: Queue,
    /// Its parent group. `None` for a top-level queue.
    pub parent: Option<String>,
    /// Its quotas by pool. The default is [`Quota::default`].
    #[serde(with = "by_pool")]
    pub quotas: BTreeMap<Pool, Quota>,
    /// Counts its changes, from 1; 0 for a project without a record.
    pub revision: u64,
}

/// Quotas by pool as a list, because a pool cannot be a key of a JSON object:
/// `[{"pool": {"cluster": "local"}, "quota": {...}}]`.
pub mod by_pool {
    use super::{BTreeMap, Deserialize, Deserializer, Pool, Quota, Serialize, Serializer};

    #[derive(Serialize)]
    struct Written<'q> {
        pool: &'q Pool,
        quota: &'q Quota,
    }

    #[derive(Deserialize)]
    struct Read {
        pool: Pool,
        quota: Quota,
    }

    /// Serializes them, in the order of the pools.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(
        quotas: &BTreeMap<Pool, Quota>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(quotas.iter().map(|(pool, quota)| Written { pool, quota }))
    }

    /// Deserializes them. Of two quotas for one pool the last one counts.
    ///
    /// # Errors
    /// It is not such a list.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Pool, Quota>, D::Error> {
        let read = Vec::<Read>::deserialize(deserializer)?;
        Ok(read.into_iter().map(|Read { pool, quota }| (pool, quota)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_comes_back_as_it_was_written() {
        let pool = Pool { cluster: "prod".into(), node_group: Some("a100".into()) };
        let queue = QueueRecord {
            queue: Queue::Group("vision".into()),
            parent: None,
            quotas: [(pool, Quota { weight: 7, ..Quota::default() })].into(),
            revision: 3,
        };
        let text = serde_json::to_string(&queue).unwrap();
        assert_eq!(serde_json::from_str::<QueueRecord>(&text).unwrap(), queue);
    }

    #[test]
    fn amounts_are_written_as_they_are_read() {
        let text = r#"{"cpu":"1500m","memory":"64Gi","gpus":8,"gpus/H100":4,"pods":100,"runs":5}"#;
        let amounts: Amounts = serde_json::from_str(text).unwrap();
        assert_eq!(amounts.get(&Resource::Cpu), Some(1500));
        assert_eq!(amounts.get(&Resource::GpusOf("H100".into())), Some(4));
        assert_eq!(serde_json::to_string(&amounts).unwrap(), text);
    }

    #[test]
    fn what_is_no_amount_names_its_resource() {
        for (text, said) in [
            (r#"{"disk": 1}"#, "`disk` must be one of cpu"),
            (r#"{"gpus/": 1}"#, "`gpus/` must be one of"),
            (r#"{"cpu": "much"}"#, "cpu: `much` is not an amount of CPU"),
            (r#"{"gpus": -1}"#, "gpus: `-1` is not a whole number"),
            (r#"{"pods": null}"#, "pods: null is not an amount"),
        ] {
            let error = serde_json::from_str::<Amounts>(text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}

//! When rules speak.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The numbers of all rules. The defaults are those of [docs/monitoring.md](../../../../docs/monitoring.md).
/// Written down, times are spans such as `30m`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// How long a card must have been idle, in seconds.
    #[serde(with = "window")]
    pub idle_for: f64,
    /// It is idle when its mean use is below this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub idle_below: f64,
    /// It is never idle when it was ever used more than this meanwhile, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub idle_peak: f64,
    /// How long a task may take to begin, in seconds: low use is nothing before.
    #[serde(with = "span")]
    pub warm_up: f64,
    /// How long use is looked at together with what else the task does, in seconds.
    #[serde(with = "window")]
    pub saturated_for: f64,
    /// Use is low when its mean is below this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub low_below: f64,
    /// CPU is saturated when so much of what the task has was used, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub saturated_above: f64,
    /// A task waits for storage when something of it did for so much of the time, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub waiting_above: f64,
    /// How long dips are looked for, in seconds.
    #[serde(with = "window")]
    pub dips_for: f64,
    /// The use that a card has between dips must be above this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dips_level: f64,
    /// A dip goes below this share of the use between dips, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dip_below: f64,
    /// Dips must have taken at least so much of the time, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dips_least: f64,
    /// Dips that take more of the time than this are none: the card works in bursts then, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dips_most: f64,
    /// So many dips must begin.
    #[serde(deserialize_with = "several")]
    pub dips_count: usize,
    /// They are regular when the distances between them deviate by no more than this share of their mean, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dips_regular: f64,
    /// How long memory is looked at, in seconds.
    #[serde(with = "window")]
    pub empty_for: f64,
    /// Memory is nearly empty when never more than this was held, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub empty_below: f64,
    /// A card that is used more than this has no room for more, however empty its memory, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub room_below: f64,
    /// How much of a card, of its memory and of the cores may be given away when it is shared, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub share_up_to: f64,
    /// A gang has peers to be compared when a role has at least so many workers.
    #[serde(deserialize_with = "several")]
    pub peers: usize,
    /// A worker's use is another one when it differs from that of its peers by this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub far_use: f64,
    /// Peers are alike when their use differs by no more than this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub alike_use: f64,
    /// A worker's power or CPU is another one when it differs from that of its peers by this share of it, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub far_share: f64,
    /// Fewer cores more or less than those of its peers are no matter, however few these use.
    #[serde(with = "cores")]
    pub far_cores: f64,
    /// Peers are alike when their power or CPU differs by no more than this share of it, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub alike_share: f64,
    /// The share of values that must be known, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub known: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            idle_for: 1800.0,
            idle_below: 0.02,
            idle_peak: 0.2,
            warm_up: 900.0,
            saturated_for: 900.0,
            low_below: 0.5,
            saturated_above: 0.9,
            waiting_above: 0.3,
            dips_for: 2700.0,
            dips_level: 0.5,
            dip_below: 0.5,
            dips_least: 0.15,
            dips_most: 0.5,
            dips_count: 4,
            dips_regular: 0.25,
            empty_for: 1800.0,
            empty_below: 0.25,
            room_below: 0.7,
            share_up_to: 0.9,
            peers: 3,
            far_use: 0.3,
            alike_use: 0.2,
            far_share: 0.3,
            far_cores: 0.5,
            alike_share: 0.15,
            known: 0.8,
        }
    }
}

/// Seconds, written as a span.
mod span {
    use std::time::Duration;

    use cubeloom_domain::Span;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(super) fn serialize<S: Serializer>(seconds: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Span(Duration::from_secs_f64(*seconds)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Span::deserialize(deserializer)?.0.as_secs_f64())
    }
}

/// The same of what is looked at: only the last hour is known.
mod window {
    use serde::Deserializer;
    use serde::de::Error;

    pub(super) use super::span::serialize;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let seconds = super::span::deserialize(deserializer)?;
        if seconds > 0.0 && seconds <= 3600.0 {
            return Ok(seconds);
        }
        Err(D::Error::custom("it must be longer than nothing, and no longer than the hour that is known"))
    }
}

/// Cores, written as an amount of them.
mod cores {
    use cubeloom_domain::Cpu;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(super) fn serialize<S: Serializer>(cores: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Cpu((cores * 1000.0).round() as u64).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Cpu::deserialize(deserializer)?.0 as f64 / 1000.0)
    }
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(D::Error::custom(format!("{share} is not a number from 0 to 1")))
}

fn several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let count = usize::deserialize(deserializer)?;
    if count >= 2 {
        return Ok(count);
    }
    Err(D::Error::custom("it must be 2 or more"))
}

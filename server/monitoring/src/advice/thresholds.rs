//! Thresholds of the rules.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Thresholds of all rules. The defaults are documented in
/// [docs/monitoring.md](../../../../docs/monitoring.md). In the settings, durations are spans such as `30m`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Minimum idle time of a GPU, in seconds.
    #[serde(with = "window")]
    pub idle_for: f64,
    /// A GPU is idle if its mean use is below this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub idle_below: f64,
    /// A GPU is not idle if its use ever exceeded this meanwhile, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub idle_peak: f64,
    /// Warm-up time of a task, in seconds: low use is ignored before.
    #[serde(with = "span")]
    pub warm_up: f64,
    /// Window for comparing GPU use with the task's other metrics, in seconds.
    #[serde(with = "window")]
    pub saturated_for: f64,
    /// Use is low if its mean is below this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub low_below: f64,
    /// CPU is saturated if this share of the task's cores was used, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub saturated_above: f64,
    /// A task waits for storage if it did so for this share of the time, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub waiting_above: f64,
    /// Window for detecting dips, in seconds.
    #[serde(with = "window")]
    pub dips_for: f64,
    /// GPU use between dips must exceed this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dips_level: f64,
    /// A dip falls below this share of the use between dips, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dip_below: f64,
    /// Dips must take at least this share of the time, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dips_least: f64,
    /// Dips that take more than this share of the time are bursts of work instead, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dips_most: f64,
    /// Minimum number of dips that begin.
    #[serde(deserialize_with = "several")]
    pub dips_count: usize,
    /// Dips are regular if their intervals deviate by at most this share of the mean, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub dips_regular: f64,
    /// Window for memory, in seconds.
    #[serde(with = "window")]
    pub empty_for: f64,
    /// Memory is nearly empty if never more than this share was allocated, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub empty_below: f64,
    /// A GPU used more than this has no spare capacity, however empty its memory, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub room_below: f64,
    /// How much of a GPU, its memory and the cores sharing may use, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub share_up_to: f64,
    /// Minimum number of workers of a role for comparisons.
    #[serde(deserialize_with = "several")]
    pub peers: usize,
    /// A worker's use is different if it deviates from its peers by at least this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub far_use: f64,
    /// Peers are alike if their use differs by at most this, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub alike_use: f64,
    /// A worker's power or CPU is different if it deviates from its peers by at least this share, from 0 to
    /// 1.
    #[serde(deserialize_with = "share")]
    pub far_share: f64,
    /// Smaller differences in cores are ignored, however few cores the peers use.
    #[serde(with = "cores")]
    pub far_cores: f64,
    /// Peers are alike if their power or CPU differs by at most this share, from 0 to 1.
    #[serde(deserialize_with = "share")]
    pub alike_share: f64,
    /// Minimum share of known values, from 0 to 1.
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

/// Seconds, serialized as a span.
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

/// The same for windows, which are limited to the last hour.
mod window {
    use serde::Deserializer;
    use serde::de::Error;

    pub(super) use super::span::serialize;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let seconds = super::span::deserialize(deserializer)?;
        if seconds > 0.0 && seconds <= 3600.0 {
            return Ok(seconds);
        }
        Err(D::Error::custom("it must be longer than 0, and no longer than the hour of recorded metrics"))
    }
}

/// Cores, serialized as an amount.
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

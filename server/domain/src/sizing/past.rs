//! What is stored of an attempt that has ended.

use serde::{Deserialize, Serialize};

use super::Size;
use crate::clock::Timestamp;
use crate::outcome::{FailureKind, Outcome};
use crate::quantity::{Bytes, Cpu};
use crate::record::AttemptRecord;
use crate::state::AttemptState;

/// Minimum run time in microseconds. A shorter attempt does not show what it needs, except for an OOM kill.
/// Most programs have not loaded their data by then, and there are hardly any samples.
pub const SHORTEST: i64 = 1_000_000;

/// How a counting attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PastEnd {
    #[serde(rename = "ok")]
    Succeeded,
    /// A worker was OOM killed; in a job with several roles, one of this role.
    #[serde(rename = "oom")]
    OutOfMemory,
}

/// What the largest worker of a role in an earlier attempt had and used. Field names are short in the stored
/// form, because there are many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    #[serde(rename = "k")]
    pub attempt: String,
    #[serde(rename = "t")]
    pub ended_at: Timestamp,
    /// Run time, in microseconds.
    #[serde(rename = "d")]
    pub micros: u64,
    /// Its fingerprint.
    #[serde(rename = "m")]
    pub make: String,
    /// Request, in millicores and bytes.
    #[serde(rename = "a")]
    pub asked: (u64, u64),
    #[serde(rename = "h")]
    pub had: (u64, u64),
    /// Peak memory, in bytes.
    #[serde(rename = "p")]
    pub peak: u64,
    /// Distribution of the memory over time, if reported: the values not exceeded in 50 % and 95 % of its
    /// seconds.
    #[serde(rename = "q", skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<(u64, u64)>,
    /// CPU in millicores: the average, and the value not exceeded in 95 % of its seconds.
    #[serde(rename = "c")]
    pub cpu: (u64, u64),
    /// Throttled CFS periods, per thousand. `None` if not reported. Omitted if 0, for compatibility with
    /// stored data.
    #[serde(rename = "x", skip_serializing_if = "is_never", default = "never")]
    pub throttled: Option<u32>,
    /// Time spent waiting for a CPU, per thousand. `None` if not reported.
    #[serde(rename = "w", skip_serializing_if = "Option::is_none", default)]
    pub cpu_waited: Option<u32>,
    /// The size of its input, in bytes.
    #[serde(rename = "i", skip_serializing_if = "Option::is_none", default)]
    pub input: Option<u64>,
    #[serde(rename = "e")]
    pub end: PastEnd,
}

/// The value for an attempt that was never throttled.
fn never() -> Option<u32> {
    Some(0)
}

fn is_never(throttled: &Option<u32>) -> bool {
    *throttled == never()
}

impl Past {
    #[must_use]
    pub fn asked(&self) -> Size {
        Size { cpu: Cpu(self.asked.0), memory: Bytes(self.asked.1) }
    }

    #[must_use]
    pub fn had(&self) -> Size {
        Size { cpu: Cpu(self.had.0), memory: Bytes(self.had.1) }
    }

    /// The roles of an attempt that has ended. Empty if it does not count.
    ///
    /// Attempts count if they succeeded after at least [`SHORTEST`], or if they were OOM killed. Of the
    /// latter, only the role of the killed worker counts.
    pub fn of(attempt: &AttemptRecord) -> impl Iterator<Item = (&str, Self)> {
        let told = told(attempt);
        let sizing = attempt.sizing.as_ref().filter(|_| told.is_some());
        sizing.into_iter().flat_map(|sizing| &sizing.roles).filter_map(move |sized| {
            let Told { end, role, ended_at, micros } = told.as_ref()?;
            let used = match (end, &sized.used) {
                (PastEnd::OutOfMemory, _) if role.as_ref().is_some_and(|role| *role != sized.role) => {
                    return None;
                }
                // Even without usage, the OOM kill shows that the memory was not enough.
                (PastEnd::OutOfMemory, used) => used.clone().unwrap_or_default(),
                (PastEnd::Succeeded, used) => used.clone().filter(|used| used.peak_memory.0 > 0)?,
            };
            let past = Self {
                attempt: attempt.key.to_string(),
                ended_at: *ended_at,
                micros: *micros,
                make: attempt.sizing.as_ref()?.make.clone(),
                asked: (sized.asked.cpu.0, sized.asked.memory.0),
                had: (sized.gets.cpu.0, sized.gets.memory.0),
                peak: used.peak_memory.0,
                memory: used.memory.map(|memory| (memory.middle.0, memory.high.0)),
                cpu: (used.cpu.0, used.cpu_high.0),
                throttled: used.throttled,
                cpu_waited: used.cpu_waited,
                input: attempt.sizing.as_ref()?.input,
                end: *end,
            };
            Some((sized.role.as_str(), past))
        })
    }
}

/// How a counting attempt ended.
struct Told {
    end: PastEnd,
    /// The role of the OOM killed worker.
    role: Option<String>,
    ended_at: Timestamp,
    micros: u64,
}

/// How an attempt ended, if it counts.
fn told(attempt: &AttemptRecord) -> Option<Told> {
    let AttemptState::Ended { started_at, ended_at, outcome } = &attempt.state else { return None };
    let ran = started_at.map_or(0, |started| ended_at.0.saturating_sub(started.0)).max(0);
    let (end, role) = match outcome {
        Outcome::Succeeded if ran >= SHORTEST => (PastEnd::Succeeded, None),
        Outcome::Failed(failure) if failure.kind == FailureKind::OutOfMemory => {
            (PastEnd::OutOfMemory, failure.worker.as_ref().map(|worker| worker.role.clone()))
        }
        _ => return None,
    };
    Some(Told { end, role, ended_at: *ended_at, micros: ran.unsigned_abs() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_held_back_and_not_told_of_are_kept_apart() {
        let past = |throttled| Past {
            attempt: "R.a.0.1".into(),
            ended_at: Timestamp(1),
            micros: 2,
            make: "m".into(),
            asked: (1000, 2),
            had: (1000, 2),
            peak: 1,
            memory: None,
            cpu: (100, 200),
            throttled,
            cpu_waited: None,
            input: None,
            end: PastEnd::Succeeded,
        };
        for (throttled, written) in [(Some(0), false), (Some(250), true), (None, true)] {
            let document = serde_json::to_value(past(throttled)).unwrap();
            assert_eq!(document.get("x").is_some(), written, "0 is left out: {document}");
            assert_eq!(serde_json::from_value::<Past>(document).unwrap(), past(throttled));
        }
    }
}

//! What is kept of an attempt that has ended.

use serde::{Deserialize, Serialize};

use super::Size;
use crate::clock::Timestamp;
use crate::outcome::{FailureKind, Outcome};
use crate::quantity::{Bytes, Cpu};
use crate::record::AttemptRecord;
use crate::state::AttemptState;

/// An attempt that ran for less, in microseconds, says nothing of what it needs, unless memory ran out: most programs have
/// not even loaded their data by then, and hardly a sample was taken.
pub const SHORTEST: i64 = 1_000_000;

/// How an attempt that counts ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PastEnd {
    /// Well.
    #[serde(rename = "ok")]
    Succeeded,
    /// Its memory was not enough; of a job with several roles, at this one.
    #[serde(rename = "oom")]
    OutOfMemory,
}

/// What the largest worker of one role of an earlier attempt had and used. Its names are short as there are many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// Attempt.
    #[serde(rename = "k")]
    pub attempt: String,
    /// End time.
    #[serde(rename = "t")]
    pub ended_at: Timestamp,
    /// How long it ran, in microseconds.
    #[serde(rename = "d")]
    pub micros: u64,
    /// What it was made of.
    #[serde(rename = "m")]
    pub make: String,
    /// What was asked for: thousandths of a core, and bytes.
    #[serde(rename = "a")]
    pub asked: (u64, u64),
    /// What it had, in the same way.
    #[serde(rename = "h")]
    pub had: (u64, u64),
    /// The most memory, in bytes.
    #[serde(rename = "p")]
    pub peak: u64,
    /// How that was spread over its time, where it is told: what it did not go beyond in half of its seconds, and in 19 of 20.
    #[serde(rename = "q", skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<(u64, u64)>,
    /// The processing power, in thousandths of a core: on average, and in 19 of 20 seconds at the most.
    #[serde(rename = "c")]
    pub cpu: (u64, u64),
    /// In how many of a thousand of the scheduler's periods it was held back; `None` where that is not told. It is left out where it
    /// is 0, as it always was.
    #[serde(rename = "x", skip_serializing_if = "is_never", default = "never")]
    pub throttled: Option<u32>,
    /// In how many of a thousand microseconds of its time it waited for a CPU; `None` where that is not told.
    #[serde(rename = "w", skip_serializing_if = "Option::is_none", default)]
    pub cpu_waited: Option<u32>,
    /// The size of its input in bytes.
    #[serde(rename = "i", skip_serializing_if = "Option::is_none", default)]
    pub input: Option<u64>,
    /// How it ended.
    #[serde(rename = "e")]
    pub end: PastEnd,
}

/// Of an attempt that was never held back.
fn never() -> Option<u32> {
    Some(0)
}

fn is_never(throttled: &Option<u32>) -> bool {
    *throttled == never()
}

impl Past {
    /// Requested values.
    #[must_use]
    pub fn asked(&self) -> Size {
        Size { cpu: Cpu(self.asked.0), memory: Bytes(self.asked.1) }
    }

    /// Allocated amount.
    #[must_use]
    pub fn had(&self) -> Size {
        Size { cpu: Cpu(self.had.0), memory: Bytes(self.had.1) }
    }

    /// What an attempt that has ended says of each of its roles; nothing where it does not count.
    ///
    /// Those count that ended well after at least [`SHORTEST`], and those whose memory ran out, of which only the role counts
    /// whose worker it was.
    pub fn of(attempt: &AttemptRecord) -> impl Iterator<Item = (&str, Self)> {
        let told = told(attempt);
        let sizing = attempt.sizing.as_ref().filter(|_| told.is_some());
        sizing.into_iter().flat_map(|sizing| &sizing.roles).filter_map(move |sized| {
            let Told { end, role, ended_at, micros } = told.as_ref()?;
            let used = match (end, &sized.used) {
                (PastEnd::OutOfMemory, _) if role.as_ref().is_some_and(|role| *role != sized.role) => {
                    return None;
                }
                // A cluster that does not tell what was used still tells that it was not enough.
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

/// How an attempt that counts ended.
struct Told {
    end: PastEnd,
    /// The role whose worker's memory ran out.
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

//! Decides whether a due scheduled run may start.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::pipeline::Schedule;
use sha2::{Digest, Sha256};

/// The state of the previous date's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// There is none, or it needs no run: it blocks nothing.
    Settled,
    /// Its run is active, or has yet to start.
    Underway,
    Failed,
}

/// The inputs of a decision.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    pub past: Past,
    /// Number of active runs of the pipeline.
    pub running: u64,
    /// For a back-fill: the number of its active runs, and their limit.
    pub backfill: Option<(u64, u64)>,
}

/// The decision about a scheduled run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Start,
    /// It is checked again later.
    Wait(Why),
    /// It is skipped.
    Skip(Why),
}

/// The reason why a scheduled run does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its own moment within `jitter` has not come.
    NotYet,
    /// The run of the previous date is active.
    PastUnderway,
    /// The run of the previous date failed.
    PastFailed,
    /// Another run is active.
    Running,
    /// The back-fill has reached its limit of active runs.
    Full,
}

/// Decides about a scheduled run. A back-fill needs a run for each of its dates, whatever else runs.
#[must_use]
pub fn decide(schedule: &Schedule, now: Timestamp, starts_at: Timestamp, situation: Situation) -> Verdict {
    if situation.backfill.is_none() && now < starts_at {
        return Verdict::Wait(Why::NotYet);
    }
    if schedule.depends_on_past == Some(true) {
        match situation.past {
            Past::Settled => {}
            Past::Underway => return Verdict::Wait(Why::PastUnderway),
            Past::Failed => return Verdict::Wait(Why::PastFailed),
        }
    }
    match situation.backfill {
        Some((running, most)) if running >= most => Verdict::Wait(Why::Full),
        None if schedule.skip_if_running == Some(true) && situation.running > 0 => {
            Verdict::Skip(Why::Running)
        }
        _ => Verdict::Start,
    }
}

/// The start of the run of a date with trigger time `fired`. Each date has its own offset within `jitter`,
/// which is deterministic.
#[must_use]
pub fn starts_at(schedule: &Schedule, name: (&str, &str), date: Timestamp, fired: Timestamp) -> Timestamp {
    let Some(jitter) = schedule.jitter else { return fired };
    let (project, pipeline) = name;
    let digest = Sha256::digest(format!("{project}/{pipeline}/{}", date.0));
    let number = digest.iter().take(6).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let width = u64::try_from(jitter.0.as_micros()).unwrap_or(u64::MAX).max(1);
    fired.plus(Duration::from_micros(number % width))
}

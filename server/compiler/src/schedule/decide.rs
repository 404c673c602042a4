//! Whether a firing that is due may start its run.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::pipeline::Schedule;
use sha2::{Digest, Sha256};

/// What became of the date before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// There is none, or it asks for nothing: nobody has to wait for it.
    Settled,
    /// Its run goes on, or has still to start.
    Underway,
    /// Its run failed or was cancelled.
    Failed,
}

/// What a decision is made from.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// What became of the date before.
    pub past: Past,
    /// How many runs of the pipeline go on.
    pub running: u64,
    /// Of a back-fill: how many of its runs go on, and how many may.
    pub backfill: Option<(u64, u64)>,
}

/// What becomes of the firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its run starts.
    Start,
    /// It is looked at again.
    Wait(Why),
    /// It is left out.
    Skip(Why),
}

/// Why a firing does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its own moment of `jitter` has not come.
    NotYet,
    /// The run of the date before goes on.
    PastUnderway,
    /// The run of the date before failed.
    PastFailed,
    /// Another run goes on.
    Running,
    /// As many runs of the back-fill go on as may.
    Full,
}

/// Decides about a firing. Who fills in dates of the past wants each of them, whatever else runs.
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

/// When the run of a date starts that is fired at a moment: each at its own moment within `jitter`, the same whoever
/// asks.
#[must_use]
pub fn starts_at(schedule: &Schedule, name: (&str, &str), date: Timestamp, fired: Timestamp) -> Timestamp {
    let Some(jitter) = schedule.jitter else { return fired };
    let (project, pipeline) = name;
    let digest = Sha256::digest(format!("{project}/{pipeline}/{}", date.0));
    let number = digest.iter().take(6).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    let width = u64::try_from(jitter.0.as_micros()).unwrap_or(u64::MAX).max(1);
    fired.plus(Duration::from_micros(number % width))
}

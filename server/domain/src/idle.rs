//! Idle GPUs: a sign that a gang hangs, even if its program reports no steps. No side effects.
//!
//! A GPU that waits for its program has no utilization, and draws little of its working power. Programs have
//! such phases: they load data, write checkpoints, evaluate. So a gang only counts as hanging when all of its
//! GPUs have been idle at once for longer than ever before between two busy phases.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::hang::{FACTOR, Hang, HangPolicy};
use crate::outcome::WorkerName;
use crate::pace::Pace;
use crate::quantity::Bytes;
use crate::usage::{CardsSample, Measure, UsageSample, WorkerLines, WorkerUsage};

/// With less busy time in total, no pattern is known: the program may still load its data.
const WORKED: Duration = Duration::from_secs(60);
/// A GPU draws little if its power is in the lowest one of this many parts of its observed range.
const LOW: u64 = 4;
/// Samples become sparser as a worker gets older: intervals grow up to this factor. A worker whose last
/// sample is older than that is ignored.
const RARER: i64 = 3;
/// Maximum age of the first samples, in microseconds: one is taken each second.
const FRESH: i64 = 10_000_000;

/// State of an attempt's GPUs, all of them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Since when all are idle.
    pub since: Timestamp,
    /// Longest time for which all were idle between two busy phases, in microseconds.
    pub longest: u64,
    /// Total time for which all were idle between two busy phases, in microseconds.
    pub idled: u64,
    /// Total time for which any was busy, in microseconds.
    pub worked: u64,
    /// Usual interval between samples, in microseconds. Shorter phases are unknown.
    pub apart: u64,
}

impl Idle {
    /// Whether the GPUs became idle after this moment, with a busy phase in between. The same moment may
    /// differ slightly once samples have become sparser.
    #[must_use]
    pub fn began_after(&self, moment: Timestamp) -> bool {
        micros(moment, self.since) > 2 * self.apart
    }
}

/// A worker between two samples.
struct Step {
    at: Timestamp,
    worker: usize,
    idle: bool,
}

/// Converts a worker's series to samples, one for each timestamp with GPU utilization. Only that value is
/// required. The worker's name may be its pod's: which worker it is does not matter here.
#[must_use]
pub fn told(worker: WorkerLines) -> WorkerUsage {
    let line = |measure: Measure| worker.lines.get(&measure).into_iter().flatten();
    let moment = |[at, _]: &[f64; 2]| Timestamp((at * 1e6) as i64);
    let power: BTreeMap<Timestamp, f64> =
        line(Measure::CardPower).map(|point| (moment(point), point[1])).collect();
    let sample = |point: &[f64; 2]| {
        let at = moment(point);
        let power_mw = power.get(&at).map_or(0, |watts| (watts.max(0.0) * 1000.0) as u64);
        let cards =
            CardsSample { use_percent: point[1].max(0.0).ceil() as u32, power_mw, ..CardsSample::default() };
        // Nothing else is used here.
        UsageSample {
            at,
            cards: Some(cards),
            cpu_us: 0,
            memory: Bytes(0),
            throttled_us: None,
            cpu_wait_us: None,
            disk_read: None,
            disk_written: None,
            io_wait_us: None,
        }
    };
    let samples = line(Measure::CardUse).map(sample).collect();
    WorkerUsage { worker: WorkerName { role: worker.worker, index: 0 }, samples }
}

/// State of all workers' GPUs now, from their samples. `None` if one is busy or not reported.
///
/// `has` is the attempt's number of workers. Samples of removed workers are kept, too: if there are more
/// workers than `has`, those that stopped reporting do not count. Names cannot identify them: on some
/// clusters any worker may be removed.
#[must_use]
pub fn look(workers: &[WorkerUsage], has: u32, now: Timestamp) -> Option<Idle> {
    let mut steps: Vec<Step> = Vec::new();
    let mut count = 0;
    let mut gone = workers.len().saturating_sub(has as usize);
    let mut rule = 0;
    for worker in workers {
        let sampled: Vec<(Timestamp, CardsSample)> =
            worker.samples.iter().filter_map(|sample| Some((sample.at, sample.cards?))).collect();
        let Some((last, _)) = sampled.last() else { continue };
        let mut apart: Vec<i64> = sampled.windows(2).map(|two| two[1].0.0 - two[0].0.0).collect();
        apart.sort_unstable();
        let widest = apart.last().copied().unwrap_or(0);
        if now.0 - last.0 > (widest * RARER).max(FRESH) {
            gone = gone.checked_sub(1)?;
            continue;
        }
        rule = rule.max(apart.get(apart.len() / 2).copied().unwrap_or(0));
        let low = low(&sampled);
        steps.extend(sampled.iter().map(|(at, cards)| Step {
            at: *at,
            worker: count,
            idle: is_idle(cards, low),
        }));
        count += 1;
    }
    steps.sort_by_key(|step| step.at);
    let (mut idle, mut idle_count) = (vec![false; count], 0);
    let (mut since, mut began): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    let (mut longest, mut idled, mut worked) = (0, 0, 0);
    for step in steps {
        let was = std::mem::replace(&mut idle[step.worker], step.idle);
        idle_count = idle_count + usize::from(step.idle) - usize::from(was);
        match (since, idle_count == count) {
            (None, true) => {
                since = Some(step.at);
                worked += began.take().map_or(0, |began| micros(began, step.at));
            }
            (Some(from), false) => {
                since = None;
                // Before it was first busy it was starting.
                if worked > 0 {
                    let lasted = micros(from, step.at);
                    longest = longest.max(lasted);
                    idled += lasted;
                }
                began = Some(step.at);
            }
            (None, false) => {
                began.get_or_insert(step.at);
            }
            (Some(_), true) => {}
        }
    }
    since.map(|since| Idle { since, longest, idled, worked, apart: u64::try_from(rule).unwrap_or(0) })
}

/// The maximum power that counts as low.
fn low(sampled: &[(Timestamp, CardsSample)]) -> u64 {
    let power = || sampled.iter().map(|(_, cards)| cards.power_mw);
    let (least, most) = (power().min().unwrap_or(0), power().max().unwrap_or(0));
    least + (most - least) / LOW
}

/// Whether GPUs are idle. Without power readings, utilization alone decides.
fn is_idle(cards: &CardsSample, low: u64) -> bool {
    cards.use_percent == 0 && cards.power_mw <= low
}

fn micros(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.since(from).as_micros()).unwrap_or(u64::MAX)
}

/// The hang of an attempt whose GPUs are in this state, if it hangs. A program that reports steps must also
/// have reported none since, and have steps left. An attempt with mostly idle GPUs, or with too little busy
/// time, depends on requests from others, like a server or a notebook. Its idle time is no pattern of its
/// own. Too little means less than the idle time that would be too long.
#[must_use]
pub fn judge(idle: &Idle, pace: Option<&Pace>, policy: &HangPolicy, now: Timestamp) -> Option<Hang> {
    let is_at_work = pace.is_some_and(|pace| pace.last.at > idle.since || pace.behind.is_none());
    // An idle phase between two samples was never observed.
    let pattern = Duration::from_micros(idle.longest.max(idle.apart)).saturating_mul(FACTOR);
    let due = idle.since.plus(policy.after.0.max(pattern));
    let enough = WORKED.max(policy.after.0).max(Duration::from_micros(idle.idled));
    if is_at_work || Duration::from_micros(idle.worked) < enough || due > now {
        return None;
    }
    let behind = pace.and_then(|pace| pace.behind);
    Some(Hang {
        rank: behind.map_or(0, |behind| behind.rank),
        step: behind.map(|behind| behind.step),
        since: idle.since,
        seen_at: now,
        longest: idle.longest,
        by_cards: true,
        over: None,
        stacks: Vec::new(),
    })
}

#[cfg(test)]
mod tests;

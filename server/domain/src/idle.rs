//! Cards that have fallen idle: a sign that a gang hangs, also where its program reports no steps. Pure.
//!
//! A card that waits for its program is used for none of its time, and draws little of what it draws at work. Programs have such
//! times: they load data, write checkpoints, evaluate. So a gang is only said to hang when all of its cards have been idle at once
//! for longer than they ever were between two times at work.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::hang::{FACTOR, Hang, HangPolicy};
use crate::outcome::WorkerName;
use crate::pace::Pace;
use crate::quantity::Bytes;
use crate::usage::{CardsSample, Measure, UsageSample, WorkerLines, WorkerUsage};

/// For less time at work in all nothing is known of a pattern: it may still load its data.
const WORKED: Duration = Duration::from_secs(60);
/// A card draws little in the lowest part of what it drew at the least and at the most: one in so many.
const LOW: u64 = 4;
/// Samples become rarer as a worker gets older, up to so many times as far apart as those before; one whose last is older than
/// that is not looked at any more.
const RARER: i64 = 3;
/// No sample is as old as this to begin with, in microseconds: one is taken each second.
const FRESH: i64 = 10_000_000;

/// How the cards of an attempt are, all of them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Since when all are idle.
    pub since: Timestamp,
    /// The longest time for which all were idle between two times at work, in microseconds.
    pub longest: u64,
    /// For how long all were idle between two times at work, altogether, in microseconds.
    pub idled: u64,
    /// For how long any was at work, in microseconds.
    pub worked: u64,
    /// How far apart samples are as a rule, in microseconds: of what was shorter than this nothing is known.
    pub apart: u64,
}

impl Idle {
    /// Whether the cards fell idle after this moment, and were at work in between. The same moment is told a little differently once
    /// samples have become rarer.
    #[must_use]
    pub fn began_after(&self, moment: Timestamp) -> bool {
        micros(moment, self.since) > 2 * self.apart
    }
}

/// A worker from one sample to the next.
struct Step {
    at: Timestamp,
    worker: usize,
    idle: bool,
}

/// The lines of one worker as samples, one for each moment at which the use of its cards was told. The least use is some. Of the
/// worker's name its pod's own is known: which worker it is does not matter here.
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
        // Nothing else is looked at here.
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

/// How the cards of all workers are now, from what was sampled of them; `None` where one is at work, or is not told of.
///
/// `has` is how many workers the attempt has. What was sampled of those that it has given back is kept, too: of more workers than it
/// has, those count no more of which nothing is told any longer. Their names do not tell them from others: on some clusters any
/// worker may go.
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
                // Before it first worked it was about to begin.
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

/// What cards that draw little draw at the most.
fn low(sampled: &[(Timestamp, CardsSample)]) -> u64 {
    let power = || sampled.iter().map(|(_, cards)| cards.power_mw);
    let (least, most) = (power().min().unwrap_or(0), power().max().unwrap_or(0));
    least + (most - least) / LOW
}

/// Whether cards wait. Where they do not tell what they draw, by their use alone.
fn is_idle(cards: &CardsSample, low: u64) -> bool {
    cards.use_percent == 0 && cards.power_mw <= low
}

fn micros(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.since(from).as_micros()).unwrap_or(u64::MAX)
}

/// How an attempt hangs whose cards are like this, if it does: a program that reports steps has reported none since either, and has
/// more to do. One whose cards were mostly idle before, or that has worked for less than the time that would be too long, waits
/// for what others want of it, as a server or a notebook does: how long that takes is no pattern of its own.
#[must_use]
pub fn judge(idle: &Idle, pace: Option<&Pace>, policy: &HangPolicy, now: Timestamp) -> Option<Hang> {
    let is_at_work = pace.is_some_and(|pace| pace.last.at > idle.since || pace.behind.is_none());
    // A time that lay between two samples was never seen.
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

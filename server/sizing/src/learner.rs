//! Predicts what the next attempt of a task should get.

use std::collections::{HashMap, VecDeque};

use crate::line::Line;
use crate::shares::{Shares, share_used};
use crate::tail::{Tail, Value, chance_beyond};
use crate::trace::{Attempt, Status};

/// Parameters of the rules. They were chosen on synthetic traces, before any real one was available.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Accepted share of attempts with too little memory.
    pub risk: f64,
    /// The number of latest attempts of a task whose peaks count.
    pub window: usize,
    /// Margin added to every bound, as a share of it.
    pub margin: f64,
    /// Minimum recommendation, in bytes.
    pub floor: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { risk: 0.002, window: 60, margin: 0.1, floor: 64.0 * 1024.0 * 1024.0 }
    }
}

/// Recommendation for an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Memory, in bytes.
    pub memory: f64,
    /// CPU cores.
    pub cpu: f64,
    /// Basis of the recommendation.
    pub basis: Basis,
}

/// The basis of a recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Too little is known: the request, or the usage of a failed attempt that exceeded it.
    Request,
    /// The peaks of this many attempts.
    Peaks(usize),
    /// A linear regression over the inputs of this many attempts.
    Inputs(usize),
    /// Usage of this many other tasks relative to their requests: no attempt of this one has ended.
    Others(usize),
    /// An OOM kill: more than the request.
    OutOfMemory,
}

/// The model, updated with each attempt.
#[derive(Clone, Debug)]
pub struct Learner {
    settings: Settings,
    tasks: HashMap<String, Known>,
    /// Usage of tasks relative to their requests.
    shares: Shares,
    /// Sum of the tasks' scales, and their number.
    scales: (f64, usize),
    /// Stretch factor of distances, by how much is known of a task: it increases with each prediction that
    /// was too low.
    strictness: [Strictness; BUCKETS],
    /// Mean of what attempts held, in byte-hours, and their number.
    weight: (f64, u64),
}

/// Buckets of 1, 2, 3, 4 to 6, 7 to 12, 13 to 30 and more attempts.
const BUCKETS: usize = 7;

fn bucket(count: usize) -> usize {
    match count {
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4..=6 => 3,
        7..=12 => 4,
        13..=30 => 5,
        _ => 6,
    }
}

/// Stretches distances until the accepted share of attempts runs out of memory (adaptive conformal inference,
/// Gibbs and Candès 2021).
#[derive(Clone, Copy, Debug)]
struct Strictness(f64);

impl Default for Strictness {
    fn default() -> Self {
        Self(1.0)
    }
}

impl Strictness {
    const STEP: f64 = 0.3;
    const LEAST: f64 = 0.5;
    const MOST: f64 = 8.0;

    fn learn(&mut self, too_little: bool, risk: f64) {
        let change = if too_little { 1.0 - risk } else { -risk };
        self.0 = (self.0 + Self::STEP * change).clamp(Self::LEAST, Self::MOST);
    }
}

/// What is known of a task.
#[derive(Clone, Debug, Default)]
struct Known {
    seen: VecDeque<Seen>,
    /// Failed attempts, without those dominated by a later one, each with how many attempts had been seen by
    /// then. They may not have needed their memory yet, so they only give a lower bound.
    failed: Vec<(Seen, usize)>,
    scale: Option<f64>,
    /// Number of attempts that have ended, without failed ones.
    ended: usize,
    /// Memory that was recently not enough, in bytes, and the number of attempts before that.
    too_little: Option<(f64, usize)>,
    /// Run time of its attempts, in hours.
    hours: f64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    peak: f64,
    /// Requested memory.
    asked: f64,
    cpu: f64,
    input: Option<f64>,
    /// It was OOM killed: it would have used more.
    ran_out: bool,
}

impl Seen {
    fn of(attempt: &Attempt) -> Self {
        let ran_out = attempt.status == Status::OutOfMemory;
        Self {
            peak: attempt.needs(),
            // OOM kills are handled separately.
            asked: if ran_out { f64::INFINITY } else { attempt.requested_memory },
            cpu: attempt.cpu_used,
            input: attempt.input,
            ran_out,
        }
    }

    /// Whether a failed attempt dominates another one: in peak, in usage above the request, and in usage for
    /// an input.
    fn says_all_of(&self, other: &Self) -> bool {
        let input = other.input.is_none_or(|input| self.input.is_some_and(|own| own <= input));
        self.peak >= other.peak && self.asked <= other.asked && input
    }

    fn log(&self) -> f64 {
        self.peak.max(1.0).ln()
    }
}

/// A linear regression of peaks on inputs.
struct Lined {
    line: Line,
    /// The lowest peak, in bytes.
    least: f64,
    /// The tail of the distances from the line.
    tail: Tail,
}

impl Lined {
    /// Logarithm of the prediction for an input.
    fn at(&self, input: f64) -> f64 {
        on(&self.line, self.least, input)
    }

    /// Added distance for an input larger than any before.
    fn beyond(&self, input: f64) -> f64 {
        (input / self.line.largest.max(1.0)).max(1.0).ln() * 0.3
    }
}

fn on(line: &Line, least: f64, input: f64) -> f64 {
    line.at(input).max(least * 0.5).max(1.0).ln()
}

/// Prior scale of tasks.
const UNKNOWN_SCALE: f64 = 0.15;
/// Weight of the prior, as a number of tasks.
const UNKNOWN_WEIGHT: f64 = 4.0;
/// With fewer ended attempts, and more than twice as many running, the peaks are not representative: of
/// attempts that start together, the smallest end first. Fewer tasks say too little about a new one.
pub const ENOUGH: usize = 10;
/// Beyond this, the number of other running attempts makes no difference.
pub const MANY: usize = 100;
/// Factor after an OOM kill.
pub(crate) const GROWTH: f64 = 1.5;
/// Of `n` attempts, the recommendation is at least this share of the request divided by `n`: the first
/// attempts may have had nothing to do. Before any has ended, it is at least this share.
const TRUST: f64 = 0.5;
/// A recommendation this close to the request becomes the request.
pub(crate) const NEAR: f64 = 0.97;
/// Factors of the risk: minimum for attempts that hold almost nothing, maximum for those that hold much more
/// than most.
const STAKES: (f64, f64) = (0.001, 15.0);
/// The reference for tasks' scales in the risk allocation, and its maximum factor in either direction.
const USUAL_SCALE: (f64, f64) = (0.1, 5.0);
/// How far an OOM killed attempt would have gone is unknown: at least this many times the scale of other
/// tasks.
const UNSEEN: f64 = 2.0;
/// This many consecutive attempts that all need less than all before them belong to another version: earlier
/// ones no longer count.
const ANOTHER: usize = 10;

impl Learner {
    /// An empty model.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            tasks: HashMap::new(),
            shares: Shares::default(),
            scales: (0.0, 0),
            strictness: [Strictness::default(); BUCKETS],
            weight: (0.0, 0),
        }
    }

    /// Recommendation for the next attempt of a task with these requests, while `running` other attempts of
    /// it run.
    #[must_use]
    pub fn advise(&self, task: &str, memory: f64, cpu: f64, input: Option<f64>, running: usize) -> Advice {
        let asked = Advice { memory, cpu, basis: Basis::Request };
        let Some(known) = self.tasks.get(task).filter(|known| !known.is_new()) else {
            return self.by_others(memory).map_or(asked, |(memory, basis)| Advice { memory, cpu, basis });
        };
        let margin = self.settings.margin;
        let used_beyond = known.used_beyond(memory);
        let used = used_beyond.unwrap_or(0.0) * (1.0 + margin);
        if let Some(too_little) = known.too_little(self.settings.window).filter(|it| it * GROWTH > memory) {
            let memory = used.max(too_little * GROWTH);
            return Advice { memory, cpu: known.cpu(cpu), basis: Basis::OutOfMemory };
        }
        let Some(tail) = known.peaks() else {
            return Advice { memory: memory.max(used), ..asked };
        };
        let others = self.others();
        let risk = self.risk_of(known, &tail);
        let strictness = self.strictness[bucket(known.seen.len())].0;
        let plain = tail.bound(others, risk, strictness) + margin;
        let beyond = known.still_to_come(running, &tail, others);
        let lined = known.lined(input).map(|(input, lined)| {
            let distance = lined.tail.bound(others, risk, strictness) + margin + lined.beyond(input);
            (lined.at(input) + distance, Basis::Inputs(lined.tail.count))
        });
        // For inputs that have occurred, the peaks alone are sufficient, so the lower of the two bounds is
        // good enough.
        let (bound, basis) = match lined {
            Some(lined) if lined.0 <= plain || !input.is_some_and(|input| known.has_had(input)) => lined,
            _ => (plain + beyond, Basis::Peaks(tail.count)),
        };
        // If all were OOM killed with less than the request, only the request is known to be better.
        let all_ran_out = known.seen.iter().all(|seen| seen.ran_out);
        let least = if all_ran_out { memory } else { memory * TRUST / known.seen.len() as f64 };
        let wanted = bound.exp().max(self.settings.floor);
        // Attempts that used more than they requested show that the request is not enough.
        if used_beyond.is_some() && wanted > memory {
            return Advice { memory: wanted, cpu: known.cpu(cpu), basis };
        }
        if wanted.max(least) >= memory * NEAR {
            return asked;
        }
        Advice { memory: wanted.max(least), cpu: known.cpu(cpu), basis }
    }

    /// Memory of a task's first attempts, by other tasks' usage relative to their requests, if that is less
    /// than its request.
    fn by_others(&self, asked: f64) -> Option<(f64, Basis)> {
        let (share, tasks) = self.shares.bound()?;
        let gets = (asked * share.max(TRUST)).max(self.settings.floor);
        (gets < asked * NEAR).then_some((gets, Basis::Others(tasks)))
    }

    /// Probability that this memory, in bytes, is not enough for the first attempts of a task with this
    /// request. `None` if the task is known, or too few others are.
    #[must_use]
    pub fn chance_of_new(&self, task: &str, asked: f64, gets: f64) -> Option<f64> {
        let is_known = self.tasks.get(task).is_some_and(|known| !known.is_new());
        if is_known { None } else { self.shares.chance(gets / asked.max(1.0)) }
    }

    /// Probability that this memory, in bytes, is not enough for a task's next attempt while `running` others
    /// run, by history. `None` without history.
    #[must_use]
    pub fn chance(&self, task: &str, gets: f64, input: Option<f64>, running: usize) -> Option<f64> {
        let known = self.tasks.get(task)?;
        let values = known.values(known.too_little(self.settings.window));
        if values.is_empty() {
            return None;
        }
        let (bound, tail) = (gets.max(1.0).ln(), known.peaks());
        // The allowance for running attempts does not reduce the probability.
        let beyond = tail.map_or(0.0, |tail| known.still_to_come(running, &tail, self.others()));
        let plain = chance_beyond(&values, largest(tail), self.scale(known, tail, &values), bound - beyond);
        let Some((input, lined)) = known.lined(input) else { return Some(plain) };
        let distances = known.distances(&lined);
        let scale = self.scale(known, Some(lined.tail), &distances);
        let distance = bound - lined.at(input) - lined.beyond(input);
        let by_line = chance_beyond(&distances, lined.tail.largest, scale, distance);
        Some(if known.has_had(input) { by_line.min(plain) } else { by_line })
    }

    /// The same for an attempt that is known to need more than `had`.
    #[must_use]
    pub fn chance_after(&self, task: &str, gets: f64, had: f64) -> f64 {
        let unknown = Known::default();
        let known = self.tasks.get(task).unwrap_or(&unknown);
        let (values, tail) = (known.values(Some(had)), known.peaks());
        let scale = self.scale(known, tail, &values);
        let chance = |memory: f64| chance_beyond(&values, largest(tail), scale, memory.max(1.0).ln());
        (chance(gets) / chance(had)).min(1.0)
    }

    /// The scale by which probabilities decrease: that of the tail, stretched if distances were too small.
    fn scale(&self, known: &Known, tail: Option<Tail>, values: &[Value]) -> f64 {
        let others = self.others();
        let strictness = self.strictness[bucket(known.seen.len())].0.max(1.0);
        let scale = tail.map_or(0.0, |tail| strictness * tail.mixed(others));
        let has_open = values.iter().any(|value| value.is_open);
        if has_open { scale.max(UNSEEN * others) } else { scale }
    }

    /// Learns an attempt's usage relative to its request, for tasks without an ended attempt.
    pub fn learn_share(&mut self, attempt: &Attempt) {
        if let Some(share) = share_used(attempt.status, attempt.peak_memory, attempt.requested_memory) {
            self.shares.learn(&attempt.task, share);
        }
    }

    /// The same for the largest of several shares.
    pub(crate) fn learn_largest_share(&mut self, task: &str, share: f64) {
        self.shares.learn(task, share);
    }

    /// Learns from an attempt that has ended; `advised` is the recommendation at its submission. A failed
    /// attempt may not have needed its memory yet. It counts as a lower bound if it used more than others,
    /// and teaches nothing else.
    pub fn learn(&mut self, attempt: &Attempt, advised: Option<&Advice>) {
        let window = self.settings.window;
        if attempt.status == Status::Failed {
            if attempt.peak_memory > 0.0 {
                let known = self.tasks.entry(attempt.task.clone()).or_default();
                known.add_failed(Seen::of(attempt), window);
            }
            return;
        }
        let count = self.tasks.get(&attempt.task).map_or(0, |known| known.seen.len());
        if let Some(advised) =
            advised.filter(|advised| matches!(advised.basis, Basis::Peaks(_) | Basis::Inputs(_)))
        {
            let too_little = advised.memory < attempt.needs();
            self.strictness[bucket(count)].learn(too_little, self.settings.risk);
        }
        let held = attempt.hours() * attempt.peak_memory;
        self.weight.1 += 1;
        self.weight.0 += (held - self.weight.0) / self.weight.1 as f64;
        let known = self.tasks.entry(attempt.task.clone()).or_default();
        if attempt.status == Status::OutOfMemory {
            let had = attempt.requested_memory.max(attempt.peak_memory);
            let earlier = known.too_little(window).unwrap_or(0.0);
            known.too_little = Some((earlier.max(had), known.ended));
        }
        known.ended += 1;
        known.hours =
            if known.seen.is_empty() { attempt.hours() } else { 0.8 * known.hours + 0.2 * attempt.hours() };
        if attempt.peak_memory > 0.0 {
            known.add(Seen::of(attempt), window);
        }
        let before = known.scale;
        if known.seen.len() >= 4 {
            known.scale = known.peaks().map(|tail| tail.scale.min(1.0));
        }
        let after = known.scale;
        self.scales.0 += after.unwrap_or(0.0) - before.unwrap_or(0.0);
        self.scales.1 += usize::from(before.is_none() && after.is_some());
    }

    /// Mean scale of all tasks.
    fn others(&self) -> f64 {
        (self.scales.0 + UNKNOWN_SCALE * UNKNOWN_WEIGHT) / (self.scales.1 as f64 + UNKNOWN_WEIGHT)
    }

    /// A distance of one scale costs what an attempt holds, times the scale; slightly less of it increases
    /// the risk by the same amount. So the sum is minimal if each takes risk in proportion to that product.
    fn risk_of(&self, known: &Known, tail: &Tail) -> f64 {
        let holds = known.hours * tail.largest.exp() / self.weight.0.max(1.0);
        let (usual, most) = USUAL_SCALE;
        let scale = tail.mixed(self.others()) / usual;
        self.settings.risk * holds.clamp(STAKES.0, STAKES.1) * scale.clamp(1.0 / most, most)
    }
}

impl Known {
    /// Whether no attempt has ended.
    fn is_new(&self) -> bool {
        self.seen.is_empty() && self.failed.is_empty() && self.too_little.is_none()
    }

    fn add(&mut self, seen: Seen, window: usize) {
        self.seen.push_back(seen);
        if self.seen.len() > window {
            self.seen.pop_front();
        }
        for (_, after) in &mut self.failed {
            *after += 1;
        }
        self.failed.retain(|(_, after)| *after < window);
    }

    /// Drops the smallest if there are too many.
    fn add_failed(&mut self, failed: Seen, window: usize) {
        self.failed.retain(|(before, _)| !failed.says_all_of(before));
        self.failed.push((failed, 0));
        if self.failed.len() > window {
            let peak = |at: &usize| self.failed[*at].0.peak;
            let least = (0..self.failed.len()).min_by(|one, other| peak(one).total_cmp(&peak(other)));
            least.map(|at| self.failed.remove(at));
        }
    }

    /// The highest usage by an attempt above its own request, and above this one.
    fn used_beyond(&self, asked: f64) -> Option<f64> {
        let failed = self.failed.iter().map(|(seen, _)| seen);
        let beyond = self.seen.iter().chain(failed).filter(|seen| seen.peak > seen.asked.max(asked));
        beyond.map(|seen| seen.peak).reduce(f64::max)
    }

    /// Memory that was not enough for one of the latest attempts.
    fn too_little(&self, window: usize) -> Option<f64> {
        self.too_little.filter(|(_, at)| self.ended - at <= window).map(|(had, _)| had)
    }

    /// How far running attempts may exceed the ended ones.
    fn still_to_come(&self, running: usize, tail: &Tail, others: f64) -> f64 {
        let crowd = running.min(MANY) as f64 / self.ended.max(1) as f64;
        let scales = if self.ended < ENOUGH && crowd > 2.0 { crowd.ln() } else { 0.0 };
        scales * tail.scale.max(others / 2.0)
    }

    /// Whether an attempt had an input at least this large.
    fn has_had(&self, input: f64) -> bool {
        self.seen.iter().any(|seen| seen.input.is_some_and(|other| other >= input))
    }

    /// How many of the oldest belong to another version, which needed more.
    fn outdated(&self) -> usize {
        // For each of them, the minimum of those before.
        let before: Vec<f64> = self
            .seen
            .iter()
            .scan(f64::INFINITY, |least, seen| {
                let before = *least;
                *least = least.min(seen.peak);
                Some(before)
            })
            .collect();
        let mut most: f64 = 0.0;
        for (at, seen) in self.seen.iter().enumerate().skip(3).rev() {
            most = most.max(seen.peak);
            if self.seen.len() - at >= ANOTHER && most < before[at] {
                return at;
            }
        }
        0
    }

    /// The tail of the peaks.
    fn peaks(&self) -> Option<Tail> {
        let outdated = self.outdated();
        let mut logs: Vec<f64> = self.seen.iter().skip(outdated).map(Seen::log).collect();
        // Failed attempts from before all remaining ones belong to the other version, too.
        let is_of_now = |after: usize| outdated == 0 || after < self.seen.len() - outdated;
        let failed = self.failed.iter().filter(|(_, after)| is_of_now(*after)).map(|(seen, _)| seen.log());
        Some(Tail::of(&mut logs)?.at_least(failed))
    }

    /// Logarithms of the peaks, and of the memory in bytes that was not enough, if it is not among them: it
    /// may not have been measured.
    fn values(&self, too_little: Option<f64>) -> Vec<Value> {
        let seen = self.seen.iter().skip(self.outdated());
        let mut values: Vec<Value> =
            seen.map(|seen| Value { at: seen.log(), is_open: seen.ran_out }).collect();
        if let Some(at) = too_little.map(|bytes| bytes.max(1.0).ln())
            && !values.iter().any(|value| value.is_open && value.at >= at)
        {
            values.push(Value { at, is_open: true });
        }
        values
    }

    /// Distances of the peaks' logarithms from a line.
    fn distances(&self, lined: &Lined) -> Vec<Value> {
        let of = |seen: &Seen| Some(Value { at: seen.log() - lined.at(seen.input?), is_open: seen.ran_out });
        self.seen.iter().filter_map(of).collect()
    }

    /// An attempt's input, and the line, if it predicts better than the peaks alone.
    fn lined(&self, input: Option<f64>) -> Option<(f64, Lined)> {
        let input = input?;
        let points: Vec<(f64, f64)> =
            self.seen.iter().filter_map(|seen| Some((seen.input?, seen.peak))).collect();
        // A line has two parameters of its own.
        if points.len() < 6 || points.len() * 10 < self.seen.len() * 9 || self.has_failed_beyond_all() {
            return None;
        }
        let line = Line::through(&points)?;
        if line.each <= 0.0 {
            return None;
        }
        let least = points.iter().map(|(_, peak)| *peak).fold(f64::INFINITY, f64::min);
        let mut distances: Vec<f64> =
            points.iter().map(|(input, peak)| peak.max(1.0).ln() - on(&line, least, *input)).collect();
        let spread = deviation(&distances);
        let logs: Vec<f64> = points.iter().map(|(_, peak)| peak.max(1.0).ln()).collect();
        if spread > 0.6 * deviation(&logs) {
            return None;
        }
        let distance = |(seen, _): &(Seen, usize)| Some(seen.log() - on(&line, least, seen.input?));
        let tail = Tail::of(&mut distances)?.at_least(self.failed.iter().filter_map(distance));
        Some((input, Lined { line, least, tail }))
    }

    /// Whether a failed attempt without a known input used more than all others.
    fn has_failed_beyond_all(&self) -> bool {
        let most = self.seen.iter().map(|seen| seen.peak).fold(0.0, f64::max);
        self.failed.iter().any(|(failed, _)| failed.input.is_none() && failed.peak > most)
    }

    /// CPU cores: the recent maximum plus a margin, at most the request.
    fn cpu(&self, asked: f64) -> f64 {
        let most = self.seen.iter().rev().take(20).map(|seen| seen.cpu).fold(0.0, f64::max);
        if self.seen.len() < 3 { asked } else { (most * 1.1).max(0.1).min(asked) }
    }
}

fn largest(tail: Option<Tail>) -> f64 {
    tail.map_or(f64::NEG_INFINITY, |tail| tail.largest)
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

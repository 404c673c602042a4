//! The month: events in order of time, a cycle after those of each moment, and the invariants that hold
//! afterwards.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::history::{History, KEPT, Lengths};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::waiting::StartEstimate;

use super::Scenario;
use super::report::{Report, at, queue};
use super::world::{self, Planned};
use crate::desk::{Desk, JobId};
use crate::job::{Length, State, TakenUp};
use crate::pass::Victim;
use crate::random::Random;
use crate::settings::Settings;

/// GPUs per node.
const NODE: u64 = 8;
/// Maximum number of attempts per job.
const TRIES: u32 = 3;
/// Interval of server restarts.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// How long a worker takes to stop.
const WORKER_GOES: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives(usize),
    /// An attempt ends on its own, unless it was stopped before.
    Ends(usize, u32),
    /// A job that was asked to stop has stopped.
    Stopped(usize, u32),
    /// Workers that were asked to stop have stopped.
    Shrunk(usize, u32, u32),
    NodeDown,
    /// A node has recovered.
    NodeUp,
    Restart,
    /// The passage of time alone may change the result.
    Look,
}

#[derive(Clone, Debug, Default)]
struct Fate {
    id: Option<JobId>,
    /// Number of attempts.
    attempt: u32,
    failures: u32,
    preempted: u32,
    waits_since: Option<Timestamp>,
    first_start: Option<Timestamp>,
    estimate: Option<StartEstimate>,
    done: bool,
}

pub(super) struct Month<'s> {
    scenario: &'s Scenario,
    random: Random,
    desk: Desk,
    plan: Vec<Planned>,
    fates: Vec<Fate>,
    of: HashMap<JobId, usize>,
    events: BTreeSet<(Timestamp, Event)>,
    now: Timestamp,
    down: u64,
    /// By project and task: durations of its last successful attempts.
    lengths: BTreeMap<(String, String), VecDeque<u64>>,
    /// GPU-seconds in use, and in total.
    used: f64,
    had: f64,
    owed_since: BTreeMap<usize, Timestamp>,
    owed: Vec<Duration>,
    succeeded: usize,
    failed: usize,
    preempted: usize,
    given_back: usize,
    restarts: usize,
    owed_with_less: usize,
}

impl<'s> Month<'s> {
    pub(super) fn new(scenario: &'s Scenario) -> Self {
        let mut random = Random::new(scenario.seed);
        let plan = world::jobs(scenario, &mut random);
        let desk = world::desk(scenario.gpus, scenario.gpus);
        let mut events: BTreeSet<(Timestamp, Event)> = plan
            .iter()
            .enumerate()
            .map(|(at, job)| (Timestamp(0).plus(job.at), Event::Arrives(at)))
            .collect();
        events.insert((Timestamp(0).plus(Duration::from_secs(40 * 3600)), Event::NodeDown));
        events.insert((Timestamp(0).plus(DAY), Event::Restart));
        Self {
            scenario,
            random,
            desk,
            fates: vec![Fate::default(); plan.len()],
            plan,
            of: HashMap::new(),
            events,
            now: Timestamp(0),
            down: 0,
            lengths: BTreeMap::new(),
            used: 0.0,
            had: 0.0,
            owed_since: BTreeMap::new(),
            owed: Vec::new(),
            succeeded: 0,
            failed: 0,
            preempted: 0,
            given_back: 0,
            restarts: 0,
            owed_with_less: 0,
        }
    }

    pub(super) fn run(mut self) -> Result<Report, String> {
        let mut steps = 0;
        while let Some((at, _)) = self.events.first().copied() {
            if self.fates.iter().all(|fate| fate.done) {
                break;
            }
            self.account(at);
            self.now = at;
            while let Some((_, event)) = self.events.first().copied().filter(|(moment, _)| *moment == at) {
                self.events.pop_first();
                self.happens(event);
            }
            self.pass();
            self.look().map_err(|error| format!("at {} s: {error}", at.0 / 1_000_000))?;
            steps += 1;
        }
        Ok(self.report(steps))
    }

    fn account(&mut self, until: Timestamp) {
        let seconds = until.since(self.now).as_secs_f64();
        // The last nights, when the final jobs run alone, say nothing about sharing.
        if until > Timestamp(0).plus(self.scenario.length) {
            return;
        }
        self.used += seconds * self.desk.ledger.in_pool[0][2] as f64;
        self.had += seconds * self.desk.pools[0].capacity[2] as f64;
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Arrives(job) => {
                self.plan[job].spec.length = self.known_length(job);
                self.waits(job, None);
            }
            Event::Ends(job, attempt) if self.fates[job].attempt == attempt => self.ends(job),
            Event::Stopped(job, attempt) if self.fates[job].attempt == attempt => {
                self.preempted += 1;
                self.fates[job].preempted += 1;
                self.leaves(job);
                self.waits(job, Some(self.now.plus(Settings::default().cool_down)));
            }
            Event::Shrunk(job, attempt, keeps) if self.fates[job].attempt == attempt => {
                if let Some(id) = self.fates[job].id {
                    self.desk.resized(id, keeps, self.now);
                }
            }
            Event::NodeDown => self.node_down(),
            Event::NodeUp => {
                self.down -= 1;
                self.set_room();
            }
            Event::Restart => self.restart(),
            Event::Ends(..) | Event::Stopped(..) | Event::Shrunk(..) | Event::Look => {}
        }
    }

    /// Another server continues with the stored state of each job; the rest of the scheduler's state is lost.
    fn restart(&mut self) {
        let fresh = world::desk(self.scenario.gpus, self.capacity());
        let before = std::mem::replace(&mut self.desk, fresh);
        self.of.clear();
        self.restarts += 1;
        for (job, fate) in self.fates.iter_mut().enumerate() {
            let Some(entry) = fate.id.and_then(|id| before.entry(id)) else { continue };
            let spec = entry.known.spec.clone();
            let id = match &entry.state {
                State::Waiting { since, cool_until } => self.desk.wait(spec, *since, *cool_until),
                State::Held(held) => {
                    let cool_down = Settings::default().cool_down;
                    let gave_at = (held.grows_from > Timestamp(0)).then(|| held.grows_from.minus(cool_down));
                    let waited_since = Timestamp(0).plus(self.plan[job].at);
                    let was = TakenUp { workers: held.workers, waited_since, since: held.since, gave_at };
                    let id = self.desk.take_up(spec, was, self.now);
                    if held.leaving.is_some() {
                        self.desk.leave(id, self.now);
                    }
                    id
                }
            };
            fate.id = Some(id);
            self.of.insert(id, job);
        }
        self.events.insert((self.now.plus(DAY), Event::Restart));
    }

    fn waits(&mut self, job: usize, cool_until: Option<Timestamp>) {
        let since = Timestamp(0).plus(self.plan[job].at);
        let id = self.desk.wait(self.plan[job].spec.clone(), since, cool_until);
        self.of.insert(id, job);
        let fate = &mut self.fates[job];
        (fate.id, fate.waits_since) = (Some(id), Some(self.now));
    }

    fn leaves(&mut self, job: usize) {
        self.fates[job].attempt += 1;
        if let Some(id) = self.fates[job].id.take() {
            self.desk.remove(id, self.now);
            self.of.remove(&id);
        }
        self.owed_since.remove(&job);
    }

    /// The duration that a new run knows for a task: that of its project's last attempts.
    fn known_length(&self, job: usize) -> Option<Length> {
        let spec = &self.plan[job].spec;
        let pool = Pool::of("sim");
        let micros = self.lengths.get(&(spec.project.clone(), spec.name.clone()))?;
        let task = Lengths {
            task: Some(spec.name.clone()),
            template: String::new(),
            pool: pool.clone(),
            micros: micros.iter().copied().collect(),
        };
        History::from_iter([task]).of(&spec.name, "", &pool).map(Into::into)
    }

    /// Records a successful attempt.
    fn learn(&mut self, job: usize) {
        let spec = &self.plan[job].spec;
        let held = self.fates[job].id.and_then(|id| self.desk.entry(id)).and_then(|entry| entry.held());
        let Some(took) = held.map(|held| self.now.since(held.since)) else { return };
        let known = self.lengths.entry((spec.project.clone(), spec.name.clone())).or_default();
        known.push_back(took.as_micros() as u64);
        known.drain(..known.len().saturating_sub(KEPT));
    }

    /// One attempt in twenty fails.
    fn ends(&mut self, job: usize) {
        let fails = self.random.below(20) == 0;
        if !fails {
            self.learn(job);
        }
        self.leaves(job);
        self.fates[job].failures += u32::from(fails);
        if fails && self.fates[job].failures < TRIES {
            return self.waits(job, None);
        }
        self.fates[job].done = true;
        if fails { self.failed += 1 } else { self.succeeded += 1 }
    }

    /// Number of GPUs now.
    fn capacity(&self) -> u64 {
        self.scenario.gpus - self.down * NODE
    }

    fn set_room(&mut self) {
        self.desk.set_room(world::room(self.capacity()), BTreeMap::new());
    }

    /// Jobs on a lost node fail and are retried: as many random jobs as no longer fit.
    fn node_down(&mut self) {
        self.down += 1;
        while self.desk.ledger.in_pool[0][2] > self.capacity() {
            let held: Vec<JobId> = self.desk.held.iter().copied().collect();
            let Some(job) = self.of.get(&held[self.random.below(held.len() as u64) as usize]).copied() else {
                break;
            };
            self.leaves(job);
            self.waits(job, None);
        }
        self.set_room();
        // A preemption target may be among the lost jobs: others are preempted and get their grace period.
        self.owed_since.clear();
        let back = self.now.plus(Duration::from_secs(4 * 3600));
        self.events.insert((back, Event::NodeUp));
        let next = Duration::from_secs_f64(self.random.wait(72.0 * 3600.0).min(1e6) + 5.0 * 3600.0);
        if self.now < Timestamp(0).plus(self.scenario.length) {
            self.events.insert((self.now.plus(next), Event::NodeDown));
        }
    }

    fn pass(&mut self) {
        let pass = self.desk.pass(self.now, usize::MAX);
        for start in &pass.starts {
            self.starts(start.job);
        }
        for victim in &pass.victims {
            let Some(job) = self.of.get(&victim.job()).copied() else { continue };
            let attempt = self.fates[job].attempt;
            match *victim {
                Victim::Whole { .. } => {
                    // From now on its own end does not count.
                    self.fates[job].attempt += 1;
                    let grace = Settings::default().grace.mul_f64(0.2 + 0.8 * self.random.unit());
                    self.events.insert((self.now.plus(grace), Event::Stopped(job, attempt + 1)));
                }
                Victim::Workers { keeps, .. } => {
                    self.given_back += 1;
                    self.events.insert((self.now.plus(WORKER_GOES), Event::Shrunk(job, attempt, keeps)));
                }
            }
        }
        self.events.extend(pass.again.map(|again| (again.max(Timestamp(self.now.0 + 1)), Event::Look)));
        self.estimate();
    }

    fn starts(&mut self, id: JobId) {
        let Some(job) = self.of.get(&id).copied() else { return };
        let fate = &mut self.fates[job];
        fate.first_start.get_or_insert(self.now);
        fate.waits_since = None;
        let takes = self.plan[job].takes;
        let takes = self.plan[job].spec.timeout.map_or(takes, |timeout| takes.min(timeout));
        let attempt = fate.attempt;
        self.events.insert((self.now.plus(takes), Event::Ends(job, attempt)));
        if let Some(since) = self.owed_since.remove(&job) {
            self.owed.push(self.now.since(since));
            self.owed_with_less += usize::from(self.down > 0);
        }
    }

    /// Estimates the start of a job that has just arrived and is pending.
    fn estimate(&mut self) {
        let every = self.scenario.estimate_every;
        let arrived: Vec<(JobId, usize)> = self
            .of
            .iter()
            .filter(|(_, job)| every > 0 && job.is_multiple_of(every) && self.fates[**job].attempt == 0)
            .filter(|(_, job)| Timestamp(0).plus(self.plan[**job].at) == self.now)
            .filter(|(_, job)| self.fates[**job].first_start.is_none())
            .map(|(id, job)| (*id, *job))
            .collect();
        for (id, job) in arrived {
            self.fates[job].estimate = self.desk.estimate(id, self.now, self.scenario.seed ^ job as u64);
        }
    }

    /// Checks the invariants after every step.
    fn look(&mut self) -> Result<(), String> {
        self.desk.check()?;
        // With lost nodes, capacity may be lower than the reservations.
        if self.down == 0 && !self.desk.keeps_what_is_not_lent() {
            return Err("what is guaranteed and not lent is not free".into());
        }
        let claimed = self.desk.claims.iter().filter_map(|job| self.of.get(job).copied());
        let candidates: Vec<usize> = self.firsts().into_iter().chain(claimed).collect();
        let owed: BTreeSet<usize> = candidates.into_iter().filter(|job| self.is_owed(*job)).collect();
        let now = self.now;
        self.owed_since.retain(|job, _| owed.contains(job));
        for job in owed {
            let since = *self.owed_since.entry(job).or_insert(now);
            if now.since(since) > Settings::default().grace + Duration::from_secs(1) {
                let why = self.fates[job].id.and_then(|id| self.desk.explain(id, now));
                let spec = &self.plan[job].spec;
                return Err(format!(
                    "{} does not get what is guaranteed to {}: {why:?}",
                    spec.key, spec.project
                ));
            }
        }
        let late = self
            .fates
            .iter()
            .position(|fate| fate.waits_since.is_some_and(|since| now.since(since) > self.scenario.patience));
        late.map_or(Ok(()), |job| {
            let why = self.fates[job].id.and_then(|id| self.desk.explain(id, now));
            Err(format!("{} of {} starves: {why:?}", self.plan[job].spec.key, self.plan[job].spec.project))
        })
    }

    /// The first job of each project, in queue order.
    fn firsts(&self) -> Vec<usize> {
        let first = |lane: &crate::order::Lane| {
            let heads = lane.iter().filter_map(|(priority, jobs)| Some((priority.0, *jobs.first()?)));
            let ranked = heads.map(|(priority, (age, job))| {
                (std::cmp::Reverse(self.desk.class(priority, age.0, self.now)), age, job)
            });
            ranked.min().and_then(|(.., job)| self.of.get(&job).copied())
        };
        self.desk.lanes.values().filter_map(first).collect()
    }

    /// Whether a pending job is within its project's guarantee, and no rule of its own blocks it.
    fn is_owed(&self, job: usize) -> bool {
        let Some(id) = self.fates[job].id else { return false };
        let Some(entry) = self.desk.entry(id) else { return false };
        let known = &entry.known;
        // Jobs of the project with reservations will use the guarantee, too.
        let of_project =
            |job: &&JobId| self.desk.entry(**job).is_some_and(|one| one.known.leaf == known.leaf);
        if self.desk.claims.iter().filter(of_project).any(|claim| *claim != id) {
            return false;
        }
        let quota = self.desk.tree.quota(known.leaf, known.pool);
        let held = self.desk.ledger.held[self.desk.tree.at(known.leaf, known.pool)];
        let least = known.least();
        self.guarantees_fit()
            && held[2] + least[2] <= quota.guarantee[2]
            && self.desk.bound_block(&self.desk.ledger, known, &least).is_none()
    }

    /// Whether the guarantees fit the capacity, also while nodes are lost.
    fn guarantees_fit(&self) -> bool {
        let tree = &self.desk.tree;
        let tops = (0..tree.len() as u32).filter(|node| tree.parents[*node as usize].is_none());
        tops.map(|node| tree.quota(node, 0).guarantee[2]).sum::<u64>() <= self.capacity()
    }

    fn report(self, steps: usize) -> Report {
        let mut waits: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
        let (mut errors, mut within) = (Vec::new(), 0);
        for (fate, plan) in self.fates.iter().zip(&self.plan) {
            let Some(start) = fate.first_start else { continue };
            let arrived = Timestamp(0).plus(plan.at);
            waits.entry(plan.spec.project.clone()).or_default().push(start.since(arrived));
            if let Some(estimate) = fate.estimate {
                errors.push(start.since(estimate.p50).max(estimate.p50.since(start)));
                within += usize::from(start <= estimate.p90);
            }
        }
        errors.sort_unstable();
        Report {
            succeeded: self.succeeded,
            failed: self.failed,
            preempted: self.preempted,
            preempted_most: self.fates.iter().map(|fate| fate.preempted).max().unwrap_or_default(),
            workers_given_back: self.given_back,
            steps,
            offered: world::offered(&self.plan, self.scenario),
            utilisation: self.used / self.had.max(1.0),
            queues: waits.into_iter().map(|(name, waits)| (name, queue(waits))).collect(),
            longest_owed: self.owed.iter().max().copied().unwrap_or_default(),
            owed: self.owed.len(),
            owed_with_less: self.owed_with_less,
            restarts: self.restarts,
            estimates: errors.len(),
            error_median: at(&errors, 0.5),
            error_p90: at(&errors, 0.9),
            within_p90: within as f64 / errors.len().max(1) as f64,
        }
    }
}

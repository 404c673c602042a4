//! One scheduling cycle: what starts, what is preempted, what stays pending and why.

use std::collections::{HashMap, HashSet};

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::WaitRule;

use crate::amounts::{GPUS, TYPES, Vector, typed};
use crate::desk::{Desk, JobId};
use crate::fits::Block;
use crate::head::{Head, Scope};
use crate::job::{Known, State};
use crate::ledger::Ledger;
use crate::nodes::Places;
use crate::order::{Turn, Walk};
use crate::scattered::Scattered;

/// How many jobs of a lane one cycle leaves pending before it skips the rest, and how many once it has left
/// many.
const LOOKS: u32 = 256;
const LOOKS_LATER: u32 = 2;
const MANY: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    pub job: JobId,
    pub workers: u32,
}

/// Why a whole job is preempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preemption {
    /// It uses another queue's guarantee.
    Reclaimed,
    /// The other job has a higher priority, of a class that preempts.
    Outranked,
}

/// A preemption target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// It shrinks to this many elastic workers.
    Workers {
        job: JobId,
        keeps: u32,
        /// The job that preempts it.
        by: JobId,
    },
    /// It stops and is pending again.
    Whole {
        job: JobId,
        /// The job that preempts it.
        by: JobId,
        why: Preemption,
    },
}

impl Victim {
    /// The preempted job.
    #[must_use]
    pub fn job(&self) -> JobId {
        match self {
            Self::Workers { job, .. } | Self::Whole { job, .. } => *job,
        }
    }
}

/// The decisions of a cycle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    pub starts: Vec<Start>,
    /// Running jobs that grow to this many elastic workers.
    pub grows: Vec<Start>,
    /// Preemption targets.
    pub victims: Vec<Victim>,
    /// Jobs that stay pending, in order, of those visited.
    pub waits: Vec<(JobId, Block)>,
    /// Whether another cycle could start more.
    pub more: bool,
    /// When the passage of time alone may change the result.
    pub again: Option<Timestamp>,
}

/// A cycle in progress.
pub(crate) struct Passing<'d> {
    pub(crate) desk: &'d Desk,
    pub(crate) now: Timestamp,
    /// What is in use now.
    pub(crate) present: Ledger,
    /// What is in use once preempted jobs are gone and the jobs that preempt them run.
    pub(crate) future: Ledger,
    /// What is in use now plus reservations. `None` without reservations.
    pub(crate) promised: Option<Ledger>,
    /// Jobs treated as ended.
    pub(crate) gone: HashSet<JobId>,
    pub(crate) heads: Vec<Head>,
    pub(crate) begun: Vec<(JobId, u32)>,
    pub(crate) out: Pass,
    /// What jobs keep that this cycle preempts or shrinks.
    pub(crate) keeps: HashMap<JobId, Option<u32>>,
    /// Running jobs, in the order of preemption.
    pub(crate) givers: Option<Vec<JobId>>,
    /// How many more searches for preemption targets are allowed.
    pub(crate) searches: u32,
    /// Where and for which resource a person has reached the cap, and exhausted concurrency limits.
    capped: HashSet<(u32, u32, u32, usize)>,
    full: HashSet<u32>,
    pub(crate) claimed: Vec<JobId>,
    /// Jobs with enough capacity in total, but on no nodes. At most one per pool, because reserved capacity
    /// is idle.
    pub(crate) scattered: Vec<Scattered<'d>>,
    /// Jobs of other replicas that fit now.
    pub(crate) kept_for: Vec<JobId>,
    /// Use of each concurrency limit before the cycle.
    pub(crate) named_before: Vec<u32>,
    /// Jobs with earlier reservations, which are decided before the others.
    settled: HashSet<JobId>,
    pub(crate) places: Places,
    /// Set during scale-up: the elastic jobs that have grown. Only other jobs' borrowed workers are reclaimed
    /// for them.
    pub(crate) growing: Option<HashSet<JobId>>,
}

impl Desk {
    /// Runs a scheduling cycle and applies its decisions. At most `most` jobs start.
    pub fn pass(&mut self, now: Timestamp, most: usize) -> Pass {
        self.remember(now);
        let passing = Passing::new(self, now, &[]).run(most, None);
        let scattered: Vec<_> = passing.scattered.iter().map(|one| (one.job, one.since)).collect();
        let (pass, claimed, kept_for) = (passing.out, passing.claimed, passing.kept_for);
        self.firsts.extend(passing.heads.iter().map(|head| (head.job, head.first)));
        self.scattered.extend(scattered);
        self.note_kept(&kept_for, pass.more, now);
        for start in &pass.starts {
            self.begin(start.job, start.workers, now);
        }
        for victim in &pass.victims {
            match victim {
                Victim::Workers { job, keeps, by } => self.shrink(*job, *keeps, *by, now),
                Victim::Whole { job, by, why } => self.give_way(*job, *by, *why, now),
            }
        }
        for grown in &pass.grows {
            self.resized(grown.job, grown.workers, now);
        }
        // A reservation lasts until the job's own replica has started it.
        let still: Vec<JobId> = kept_for.into_iter().filter(|job| self.claims.contains(job)).collect();
        self.claims = claimed
            .into_iter()
            .chain(still)
            .filter(|job| self.entry(*job).is_some_and(|entry| entry.held().is_none()))
            .collect();
        pass
    }
}

impl<'d> Passing<'d> {
    /// A cycle over a scheduler, as if `gone` had ended.
    pub(crate) fn new(desk: &'d Desk, now: Timestamp, gone: &[JobId]) -> Self {
        let mut present = desk.ledger.clone();
        for job in gone {
            if let Some(entry) = desk.entry(*job)
                && let Some(held) = entry.held()
            {
                present.remove(&desk.tree, &entry.known, &entry.known.with(held.workers));
            }
        }
        let gone: HashSet<JobId> = gone.iter().copied().collect();
        let mut future = present.clone();
        for job in desk.held.iter().filter(|job| !gone.contains(job)) {
            let Some((known, held)) = desk.entry(*job).and_then(|entry| Some((&entry.known, entry.held()?)))
            else {
                continue;
            };
            if held.leaving.is_some() {
                future.remove(&desk.tree, known, &known.with(held.workers));
            } else if held.keeps < held.workers {
                let given = crate::amounts::times(&known.each, held.workers - held.keeps);
                future.shrink(&desk.tree, known, &given);
            }
        }
        let named_before = future.named.clone();
        Self {
            desk,
            now,
            present,
            future,
            promised: None,
            gone,
            heads: Vec::new(),
            begun: Vec::new(),
            out: Pass::default(),
            keeps: HashMap::new(),
            givers: None,
            searches: 64,
            capped: HashSet::new(),
            full: HashSet::new(),
            claimed: Vec::new(),
            scattered: Vec::new(),
            kept_for: Vec::new(),
            named_before,
            settled: HashSet::new(),
            places: Places::default(),
            growing: None,
        }
    }

    /// Visits pending jobs in order. With `only`, it stops after that job.
    pub(crate) fn run(mut self, most: usize, only: Option<JobId>) -> Self {
        for job in self.desk.claims.clone() {
            if self.out.starts.len() < most && self.decide(job).is_ok() {
                self.settled.insert(job);
                if only == Some(job) {
                    return self;
                }
            }
        }
        let mut walk = Walk::new(self.desk, &self.future, self.now);
        while let Some(turn) = walk.next() {
            if self.out.starts.len() >= most {
                self.out.more = true;
                break;
            }
            let decision = if self.settled.contains(&turn.job) { Ok(()) } else { self.decide(turn.job) };
            let left = match decision {
                Ok(()) => None,
                Err(block) => {
                    let many = self.out.waits.len() > MANY;
                    self.leave_waiting(turn.job, block);
                    Some(if many { LOOKS_LATER } else { LOOKS })
                }
            };
            if only == Some(turn.job) {
                return self;
            }
            self.go_on(&mut walk, turn, left, only);
        }
        self.grow();
        self
    }

    fn go_on(&self, walk: &mut Walk<'d>, turn: Turn, left: Option<u32>, only: Option<JobId>) {
        let personal = self.out.waits.last().is_some_and(|(job, block)| {
            *job == turn.job
                && matches!(
                    block.rule,
                    WaitRule::PersonsCap
                        | WaitRule::NamedLimit
                        | WaitRule::Faulty
                        | WaitRule::NeverFits
                        | WaitRule::Apart
                )
        });
        // One person's jobs must not block those of others in the same project.
        let left = left.filter(|_| !personal);
        walk.pass_over(turn, &self.future, left, |job| only != Some(job) && self.is_shut_out(job));
    }

    /// Whether a job can be skipped, because an earlier job is blocked on the same thing.
    fn is_shut_out(&self, job: JobId) -> bool {
        let Some(entry) = self.desk.entry(job) else { return true };
        let known = &entry.known;
        if known.named.iter().any(|name| self.full.contains(name)) {
            return true;
        }
        self.is_at_a_cap(known, |kind| known.fixed[kind] > 0 || known.each[kind] > 0)
    }

    /// Whether a job is pending at the cap of the same person, for something that this one takes.
    pub(crate) fn is_at_a_cap(&self, known: &Known, takes: impl Fn(usize) -> bool) -> bool {
        let at = |kind: usize| (known.leaf, known.pool, known.person, kind);
        !self.capped.is_empty()
            && self.desk.kinds.indices().any(|kind| takes(kind) && self.capped.contains(&at(kind)))
    }

    /// Decides about the next job in order: it starts, preempts others, or stays pending.
    fn decide(&mut self, job: JobId) -> Result<(), Block> {
        let Some(entry) = self.desk.entry(job) else { return Ok(()) };
        let State::Waiting { cool_until, .. } = &entry.state else { return Ok(()) };
        let known = &entry.known;
        if self.desk.has_lapsed(job, known, self.now) || self.desk.closed.contains(&known.spec.project) {
            return Ok(());
        }
        if let Some(block) = self.refused(job, known, *cool_until) {
            return Err(block);
        }
        if self.waits_for_others(known) {
            return Err(Block::new(WaitRule::Scattered, known.pool));
        }
        let is_free = self.desk.pool_block(&self.present, known, &known.least()).is_none();
        let is_scattered = is_free && !self.has_nodes_for(known, known.shapes(known.min()));
        if is_scattered && !self.has_its_turn(job, known) {
            return Err(Block::new(WaitRule::Scattered, known.pool));
        }
        self.enter(job, known)?;
        // It fits. Whether it fits now, and on which nodes, are separate questions.
        if is_scattered {
            self.keep_until_it_finds_nodes(job, known);
            self.out.waits.push((job, Block::new(WaitRule::Scattered, known.pool)));
            return Ok(());
        }
        let has_nodes = is_free || self.has_nodes_for(known, known.shapes(known.min()));
        if !has_nodes || !self.takes_now(known) {
            self.claim(job, known);
            self.keep_nodes(job, known);
            self.out.waits.push((job, Block::new(WaitRule::Leaving, known.pool)));
            return Ok(());
        }
        self.place(job, known, known.shapes(known.min()));
        for head in &mut self.heads {
            if self.desk.is_in(known, head.scope) {
                head.passed(known, self.now);
            }
        }
        self.begun.push((job, known.min()));
        if self.desk.is_anothers(known) {
            self.keep_for(job, known);
        } else {
            self.out.starts.push(Start { job, workers: known.min() });
        }
        Ok(())
    }

    /// Why a job does not start, regardless of capacity.
    fn refused(&mut self, job: JobId, known: &Known, cool_until: Option<Timestamp>) -> Option<Block> {
        if let Some(block) = self.desk.never(known) {
            return Some(block);
        }
        if let Some(other) = self.kept_apart(known) {
            return Some(Block { behind: Some(other), ..Block::new(WaitRule::Apart, known.pool) });
        }
        if let Some(until) = cool_until.filter(|until| *until > self.now)
            && self.borrows(known)
        {
            self.look_again(until);
            return Some(Block { until: Some(until), ..Block::new(WaitRule::CoolDown, known.pool) });
        }
        if let Some(block) = self.desk.named_block(&self.future, &self.named_before, known, self.now) {
            if let Some(until) = block.until {
                self.look_again(until);
            }
            return Some(block);
        }
        // Nothing is reserved for it: when its GPUs recover is unknown.
        self.desk.faulty_block(job, known)
    }

    /// Accounts for a job: it fits, or others are preempted for it.
    fn enter(&mut self, job: JobId, known: &Known) -> Result<(), Block> {
        let (block, ahead) = match self.take_in_future(known) {
            Ok(()) => {
                // Restore the state without the job.
                self.forget(known);
                (None, self.held_back(job, known))
            }
            Err(block) => (Some(block), self.head_before(job, known)),
        };
        if let Some(ahead) = ahead {
            if ahead.within.is_none() {
                return Err(Block { behind: Some(ahead.job), ..Block::new(WaitRule::Behind, known.pool) });
            }
            let block = block.unwrap_or(Block::new(WaitRule::Capacity, known.pool));
            if self.make_room(job, known, block, Some(&ahead)) {
                return Ok(());
            }
        }
        match block {
            None => {
                self.future.add(&self.desk.tree, known, &known.least());
                Ok(())
            }
            Some(block) if self.make_room(job, known, block, None) => Ok(()),
            Some(block) => Err(block),
        }
    }

    pub(crate) fn forget(&mut self, known: &Known) {
        self.future.remove(&self.desk.tree, known, &known.least());
    }

    /// A job of the same run that must not share the node with this one.
    fn kept_apart(&self, known: &Known) -> Option<JobId> {
        let own = known.spec.apart?;
        let run = known.spec.run;
        let held = self.desk.apart.range((run, JobId(0))..=(run, JobId(u32::MAX))).map(|(_, job)| *job);
        let begun = self.begun.iter().map(|(job, _)| *job);
        held.filter(|job| !self.gone.contains(job)).chain(begun).find(|job| {
            let other = self.desk.spec(*job).filter(|spec| spec.run == run).and_then(|spec| spec.apart);
            other.is_some_and(|other| other.required || own.required)
        })
    }

    pub(crate) fn look_again(&mut self, at: Timestamp) {
        self.out.again = Some(self.out.again.map_or(at, |known| known.min(at)));
    }

    /// Whether a job would use more than its project's guarantee.
    fn borrows(&self, known: &Known) -> bool {
        !self.entitled(known).contains(&known.leaf)
    }

    /// The queues, from the job's up, that stay within their guarantee with the job.
    pub(crate) fn entitled(&self, known: &Known) -> Vec<u32> {
        self.desk.tree.path(known.leaf).filter(|node| self.is_entitled(known, *node)).collect()
    }

    /// Whether a queue above a job stays within its guarantee with the job, for the resources that the
    /// guarantee names.
    pub(crate) fn is_entitled(&self, known: &Known, node: u32) -> bool {
        self.is_entitled_to(known, &known.least(), node)
    }

    /// The same for an additional amount of a job.
    pub(crate) fn is_entitled_to(&self, known: &Known, amount: &Vector, node: u32) -> bool {
        let guarantee = &self.desk.tree.quota(node, known.pool).guarantee;
        let mut named =
            self.desk.kinds.indices().filter(|kind| guarantee[*kind] > 0 && amount[*kind] > 0).peekable();
        named.peek().is_some() && named.all(|kind| self.is_within(known, amount, node, kind))
    }

    /// Whether a queue above a job stays within its guarantee with this amount. What the queue must reserve
    /// for its descendants counts as used. A guarantee of a GPU type also counts as one of GPUs of any type.
    pub(crate) fn is_within(&self, known: &Known, amount: &Vector, node: u32, kind: usize) -> bool {
        let guarantee = &self.desk.tree.quota(node, known.pool).guarantee;
        let is_typed = kind == GPUS && typed(|kind| amount[kind].min(guarantee[kind])) >= amount[GPUS];
        // A GPU may count as several types. Types narrower than the guaranteed ones do not matter.
        let mut types = TYPES.filter(|kind| amount[*kind] > 0 && guarantee[*kind] > 0);
        self.keeps_within(known, amount[kind], node, kind)
            || is_typed && types.all(|kind| self.keeps_within(known, amount[kind], node, kind))
    }

    fn keeps_within(&self, known: &Known, amount: u64, node: u32, kind: usize) -> bool {
        let tree = &self.desk.tree;
        let below = tree.path(known.leaf).take_while(|one| *one != node).last();
        let kept = self.future.kept_below(tree.at(node, known.pool), kind);
        let own = below.map_or(0, |below| self.future.keeps_for(tree.at(below, known.pool), kind));
        let kept = kept.saturating_sub(own.min(amount));
        let held = self.future.held[tree.at(node, known.pool)][kind];
        held.saturating_add(amount).saturating_add(kept) <= tree.quota(node, known.pool).guarantee[kind]
    }

    /// Records that a job stays pending, and the consequences for the jobs behind it.
    fn leave_waiting(&mut self, job: JobId, block: Block) {
        let Some(entry) = self.desk.entry(job) else { return };
        let known = &entry.known;
        self.out.waits.push((job, self.told(known, block)));
        let scope = match block.rule {
            WaitRule::Capacity | WaitRule::NotLent => Scope::Pool(block.pool),
            WaitRule::Limit | WaitRule::NoBorrowing => match block.node {
                Some(node) => Scope::Node(node, block.pool),
                None => return,
            },
            WaitRule::PersonsCap => {
                self.capped.insert((known.leaf, known.pool, known.person, block.kind));
                return;
            }
            WaitRule::NamedLimit => {
                self.full.extend(block.named);
                return;
            }
            WaitRule::Behind
            | WaitRule::CoolDown
            | WaitRule::Leaving
            | WaitRule::Scattered
            | WaitRule::Apart
            | WaitRule::Faulty
            | WaitRule::NeverFits
            // These rules apply outside the scheduler, which never sees such jobs.
            | WaitRule::TaskParallelism
            | WaitRule::PipelineParallelism => return,
        };
        if !self.heads.iter().any(|head| head.scope == scope) {
            let first = self.desk.firsts.get(&job).copied().unwrap_or(self.now);
            self.heads.push(Head::new(job, scope, known.least(), first));
        }
    }
}

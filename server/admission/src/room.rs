//! Preemption. Elastic workers go before whole jobs, and borrowed ones first; then the lowest priority and
//! the newest job.
//!
//! A job without capacity takes elastic workers of any job, including its own project's: every job's minimum
//! comes before any job's extra workers. Whole jobs are preempted only for a queue below its guarantee, and
//! only in queues above theirs, both relative to their common ancestor. The same holds for elastic workers
//! that are reclaimed for one more worker of a running job. Whole jobs are never preempted for that.
//!
//! A job of a preempting priority class also preempts whole jobs of lower priority: in its own queue, and in
//! others what they use above their guarantee. A running job counts with its priority at start, including
//! aging; the pending one without aging. So two jobs never preempt each other in turns.

use std::cmp::Reverse;

use cubeloom_domain::waiting::WaitRule;

use crate::amounts::{GPUS, NOTHING, PODS, RUNS, plus, typed};
use crate::behind::Ahead;
use crate::desk::JobId;
use crate::fits::Block;
use crate::job::Known;
use crate::pass::{Passing, Preemption, Victim};

/// A preempted job or worker, on trial.
#[derive(Clone, Copy, Debug)]
enum Given {
    Worker(JobId),
    Whole(JobId, u32, Preemption),
}

impl Passing<'_> {
    /// Finds preemption targets that make a job fit. If there are enough, it records them and accounts for
    /// the job. For a job behind another, targets in its own group must cover all that it takes.
    pub(crate) fn make_room(
        &mut self,
        job: JobId,
        known: &Known,
        block: Block,
        ahead: Option<&Ahead>,
    ) -> bool {
        if self.searches == 0 || self.waits_for_its_own_server(job, known) {
            return false;
        }
        if !matches!(
            block.rule,
            WaitRule::Capacity
                | WaitRule::NotLent
                | WaitRule::Limit
                | WaitRule::NoBorrowing
                | WaitRule::PersonsCap
        ) {
            return false;
        }
        let givers = self.givers.take().unwrap_or_else(|| self.sort_givers());
        self.searches -= u32::from(!(givers.is_empty() && self.begun.is_empty() && self.claimed.is_empty()));
        let mut given = Vec::new();
        let found = self.give_until_it_fits(&givers, known, block, ahead, &mut given);
        self.givers = Some(givers);
        if !found {
            for one in given.iter().rev() {
                self.undo(*one);
            }
            return false;
        }
        self.give_no_more_than_needed(known, ahead, &mut given);
        self.tell(job, &given);
        true
    }

    /// Jobs that could be preempted or shrunk, in order.
    fn sort_givers(&self) -> Vec<JobId> {
        let desk = self.desk;
        let mut givers: Vec<JobId> = desk
            .held
            .iter()
            .copied()
            .filter(|job| !self.gone.contains(job))
            .filter(|job| {
                let held =
                    desk.entry(*job).and_then(|entry| Some((entry.held()?, !entry.known.spec.is_foreign)));
                held.is_some_and(|(held, ours)| ours && held.leaving.is_none())
            })
            .collect();
        givers.sort_by_key(|job| {
            let entry = desk.entry(*job);
            let held = entry.and_then(|entry| entry.held());
            (
                held.map(|held| held.class),
                Reverse(held.map(|held| held.since)),
                Reverse(entry.map(|entry| entry.seq)),
            )
        });
        givers
    }

    /// Preempts one after the other until the job fits, and then accounts for it.
    fn give_until_it_fits(
        &mut self,
        givers: &[JobId],
        known: &Known,
        mut block: Block,
        ahead: Option<&Ahead>,
        given: &mut Vec<Given>,
    ) -> bool {
        loop {
            let lacks = self.not_given(known, ahead, given);
            if let Some(kind) = lacks {
                block = Block { kind, ..Block::new(WaitRule::Capacity, known.pool) };
            }
            let within = ahead.filter(|_| self.gives_only(known, ahead).is_some());
            let next = self
                .next_worker(givers, known, &block, within)
                .map(Given::Worker)
                .or_else(|| self.next_whole(givers, known, &block, within));
            let Some(next) = next else { return false };
            self.give(next);
            given.push(next);
            if self.not_given(known, ahead, given).is_none() {
                match self.desk.take(&mut self.future, known, known.min()) {
                    Ok(()) if self.finds_nodes(known) => return true,
                    // Enough in total, but on no nodes where its workers fit: no reason to preempt.
                    Ok(()) => self.forget(known),
                    Err(other) => block = other,
                }
            }
        }
    }

    /// The resource of which the job takes more than is reclaimed, while a job ahead waits for it. Applies as
    /// long as the queue that gives it up exceeds its guarantee even with the job.
    fn not_given(&self, known: &Known, ahead: Option<&Ahead>, given: &[Given]) -> Option<usize> {
        let (ahead, within) = (ahead?, self.gives_only(known, ahead)?);
        let amount = |one: &Given| {
            let (Given::Worker(job) | Given::Whole(job, ..)) = one;
            let giver = self.desk.entry(*job).filter(|_| self.desk.is_below(*job, within))?;
            Some(match one {
                Given::Worker(_) => giver.known.each,
                Given::Whole(_, keeps, _) => giver.known.with(*keeps),
            })
        };
        let sum = given.iter().filter_map(amount).fold(NOTHING, |sum, one| plus(&sum, &one));
        let least = known.least();
        ahead.short.iter().copied().find(|kind| sum[*kind] < least[*kind])
    }

    /// The queue that targets must belong to, for a job behind another, as long as that queue exceeds its
    /// guarantee.
    fn gives_only(&self, known: &Known, ahead: Option<&Ahead>) -> Option<u32> {
        ahead?.within.filter(|node| !self.is_entitled(known, *node))
    }

    /// An elastic worker that would help, preferably of a borrowing queue.
    fn next_worker(
        &self,
        givers: &[JobId],
        known: &Known,
        block: &Block,
        within: Option<&Ahead>,
    ) -> Option<JobId> {
        let helps = |job: &&JobId| {
            let Some((giver, keeps)) = self.giver(**job) else { return false };
            giver.scales()
                && keeps > giver.min()
                && giver.each[block.kind] > 0
                && self.is_in_the_way(giver, known, block, within)
        };
        let mut able = givers.iter().filter(helps);
        if let Some(grown) = &self.growing {
            let owed = self.owed(known, block.kind);
            // With node placement, only shrink jobs whose worker alone frees enough on a node. The growing
            // job has no reserved nodes, so smaller workers on several nodes would be stopped, restarted and
            // stopped again for nothing.
            let least = known.least();
            let is_enough = |giver: &Known| {
                let asked = least.iter().zip(&giver.each).enumerate();
                !self.desk.nodes.matter()
                    || asked
                        .filter(|(kind, _)| ![PODS, RUNS].contains(kind))
                        .all(|(_, (asked, given))| asked <= given)
            };
            let is_borrowed = |giver: JobId| {
                self.giver(giver).is_some_and(|(giver, _)| {
                    is_enough(giver) && self.is_owed_by(known, &owed, giver, block.kind)
                })
            };
            return able.find(|job| !grown.contains(*job) && is_borrowed(**job)).copied();
        }
        let first = able.clone().next();
        let borrowed = able.find(|job| {
            self.giver(**job).is_some_and(|(giver, _)| self.is_over(giver.leaf, giver.pool, block.kind))
        });
        borrowed.or(first).copied()
    }

    /// A whole job that would help and that the pending one may preempt.
    fn next_whole(
        &self,
        givers: &[JobId],
        known: &Known,
        block: &Block,
        within: Option<&Ahead>,
    ) -> Option<Given> {
        let owed = self.owed(known, block.kind);
        let outranks = known.spec.preempts && within.is_none();
        if owed.is_empty() && !outranks || self.growing.is_some() {
            return None;
        }
        // Jobs that this cycle starts or reserves for go first: they have not even started.
        let begun = self.begun.iter().rev().map(|(job, _)| job).chain(self.claimed.iter().rev());
        begun.chain(givers).find_map(|job| {
            let (giver, keeps) = self.giver(*job)?;
            let helps = within.is_none_or(|ahead| self.class_of(*job) < ahead.class)
                && giver.with(keeps)[block.kind] > 0
                && self.is_in_the_way(giver, known, block, within);
            let why = if !helps {
                None
            } else if self.is_owed_by(known, &owed, giver, block.kind) {
                Some(Preemption::Reclaimed)
            } else {
                let outranked = outranks && self.is_outranked(*job, giver, known, block.kind);
                outranked.then_some(Preemption::Outranked)
            };
            Some(Given::Whole(*job, keeps, why?))
        })
    }

    /// Whether a job has a lower priority than the pending one, and is not within another queue's guarantee.
    fn is_outranked(&self, job: JobId, giver: &Known, known: &Known, kind: usize) -> bool {
        let borrows = || {
            let above = |node: u32| self.desk.tree.path(known.leaf).any(|one| one == node);
            let mut theirs = self.desk.tree.path(giver.leaf).take_while(|node| !above(*node));
            theirs.all(|node| self.is_over(node, giver.pool, kind))
        };
        !giver.spec.protected && self.class_of(job) < i64::from(known.spec.priority) && borrows()
    }

    /// A running job, and how many elastic workers it keeps so far in this cycle. `None` when it is
    /// preempted.
    fn giver(&self, job: JobId) -> Option<(&Known, u32)> {
        let entry = self.desk.entry(job)?;
        let keeps = match self.keeps.get(&job) {
            Some(keeps) => (*keeps)?,
            None => match entry.held() {
                Some(held) => held.keeps,
                None => entry.known.min(),
            },
        };
        Some((&entry.known, keeps))
    }

    /// Whether a job counts against what blocks the other, and belongs to the queue that gives up resources.
    fn is_in_the_way(&self, giver: &Known, known: &Known, block: &Block, ahead: Option<&Ahead>) -> bool {
        let within = ahead.and_then(|ahead| ahead.within);
        if within.is_some_and(|within| self.desk.tree.path(giver.leaf).all(|node| node != within)) {
            return false;
        }
        match block.rule {
            WaitRule::PersonsCap => {
                (giver.leaf, giver.pool, giver.person) == (known.leaf, known.pool, known.person)
            }
            WaitRule::Limit | WaitRule::NoBorrowing => {
                giver.pool == known.pool
                    && self.desk.tree.path(giver.leaf).any(|node| Some(node) == block.node)
            }
            _ => block.pool == 0 || giver.pool == block.pool,
        }
    }

    /// Whether a queue uses more of a resource than its guarantee. What it must reserve for its descendants
    /// counts as used, as it does for what the queue is owed: no other queue can use it.
    fn is_over(&self, node: u32, pool: u32, kind: usize) -> bool {
        let at = self.desk.tree.at(node, pool);
        let held = |kind: usize| self.future.held[at][kind].saturating_add(self.future.kept_below(at, kind));
        let guarantee = &self.desk.tree.quota(node, pool).guarantee;
        let own = match kind {
            GPUS => guarantee[kind].max(typed(|kind| held(kind).min(guarantee[kind]))),
            _ => guarantee[kind],
        };
        held(kind) > own
    }

    /// The queues, from the job's up, that stay within their guarantee with the job.
    fn owed(&self, known: &Known, kind: usize) -> Vec<u32> {
        let least = known.least();
        self.desk.tree.path(known.leaf).filter(|node| self.is_within(known, &least, *node, kind)).collect()
    }

    /// Whether, below their common ancestor, the pending job's side is within its guarantee and every queue
    /// on the other side exceeds its own.
    fn is_owed_by(&self, known: &Known, owed: &[u32], giver: &Known, kind: usize) -> bool {
        let tree = &self.desk.tree;
        let above = |node: u32, leaf: u32| tree.path(leaf).any(|one| one == node);
        let mine = tree.path(known.leaf).take_while(|node| !above(*node, giver.leaf)).last();
        let theirs = tree.path(giver.leaf).take_while(|node| !above(*node, known.leaf));
        let Some(mine) = mine else { return false };
        owed.contains(&mine) && theirs.into_iter().all(|node| self.is_over(node, giver.pool, kind))
    }

    fn give(&mut self, given: Given) {
        let desk = self.desk;
        match given {
            Given::Worker(job) => {
                let Some(entry) = desk.entry(job) else { return };
                let keeps = self.giver(job).map_or(0, |(_, keeps)| keeps);
                self.keeps.insert(job, Some(keeps.saturating_sub(1)));
                self.future.shrink(&desk.tree, &entry.known, &entry.known.each);
            }
            Given::Whole(job, keeps, _) => {
                let Some(entry) = desk.entry(job) else { return };
                self.keeps.insert(job, None);
                self.future.remove(&desk.tree, &entry.known, &entry.known.with(keeps));
            }
        }
    }

    fn undo(&mut self, given: Given) {
        let desk = self.desk;
        match given {
            Given::Worker(job) => {
                let Some(entry) = desk.entry(job) else { return };
                if let Some(Some(keeps)) = self.keeps.get_mut(&job) {
                    *keeps += 1;
                }
                self.future.grow(&desk.tree, &entry.known, &entry.known.each);
            }
            Given::Whole(job, keeps, _) => {
                let Some(entry) = desk.entry(job) else { return };
                self.keeps.insert(job, Some(keeps));
                self.future.add(&desk.tree, &entry.known, &entry.known.with(keeps));
            }
        }
    }

    /// Spares targets without which the job still fits, the most expensive first.
    fn give_no_more_than_needed(&mut self, known: &Known, ahead: Option<&Ahead>, given: &mut Vec<Given>) {
        let mut at = given.len();
        let order = |one: &Given| matches!(one, Given::Whole(..));
        given.sort_by_key(order);
        while at > 0 {
            at -= 1;
            let one = given[at];
            // A whole job that is preempted cannot get single workers back.
            if let Given::Worker(job) = one
                && self.keeps.get(&job) == Some(&None)
            {
                continue;
            }
            self.undo(one);
            given.remove(at);
            if self.not_given(known, ahead, given).is_some() || !self.still_fits(known) {
                given.insert(at, one);
                self.give(one);
            }
        }
    }

    /// Whether everything accounted for fits, including the job.
    fn still_fits(&mut self, known: &Known) -> bool {
        self.future.remove(&self.desk.tree, known, &known.least());
        let fits = self.desk.take(&mut self.future, known, known.min()).is_ok();
        if !fits {
            self.future.add(&self.desk.tree, known, &known.least());
        }
        fits && self.finds_nodes(known)
    }

    /// Records the preemption targets of a job.
    fn tell(&mut self, by: JobId, given: &[Given]) {
        for one in given {
            let (Given::Worker(job) | Given::Whole(job, ..)) = *one;
            if self.does_not_begin(job, by) {
                continue;
            }
            self.out.victims.retain(|victim| victim.job() != job);
            self.out.victims.push(match (one, self.keeps.get(&job)) {
                (_, Some(Some(keeps))) => Victim::Workers { job, keeps: *keeps, by },
                (Given::Whole(_, _, why), _) => Victim::Whole { job, by, why: *why },
                // Its last elastic workers were taken before the whole job, which is recorded separately.
                (Given::Worker(_), _) => continue,
            });
        }
    }

    /// Undoes the start or the reservation of a job in this cycle. Returns true when it had one.
    fn does_not_begin(&mut self, job: JobId, by: JobId) -> bool {
        let Some(entry) = self.desk.entry(job) else { return false };
        let known = &entry.known;
        if let Some(at) = self.begun.iter().position(|(begun, _)| *begun == job) {
            let (_, workers) = self.begun.remove(at);
            self.out.starts.retain(|start| start.job != job);
            self.kept_for.retain(|kept| *kept != job);
            self.present.remove(&self.desk.tree, known, &known.with(workers));
            if let Some(promised) = &mut self.promised {
                promised.remove(&self.desk.tree, known, &known.with(workers));
            }
        } else if let Some(at) = self.claimed.iter().position(|claimed| *claimed == job) {
            self.claimed.remove(at);
            self.scattered.retain(|scattered| scattered.job != job);
        } else {
            return false;
        }
        self.leave_nodes(job);
        let block = Block { behind: Some(by), ..Block::new(WaitRule::Behind, known.pool) };
        self.out.waits.push((job, block));
        true
    }
}

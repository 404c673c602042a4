//! Who gives back. Elastic workers go before whole jobs, borrowed ones first; then the lowest priority and the newest job.
//!
//! A job that has no room takes elastic workers of anybody, also of its own project: what every job needs to start goes
//! before what any has beyond that. Whole jobs go only for a queue that does not have what it is guaranteed, and only jobs of
//! queues that hold more than they are guaranteed: both seen from the group that they have in common. The same holds of the
//! elastic workers that go for one more worker of a job that runs; whole jobs never go for that.
//!
//! A job whose priority class preempts takes whole jobs of a lower priority as well: those of its own queue, and of others what
//! these hold beyond their guarantee. The priority of a job that runs is the one with which it started, its time in the queue
//! included; that of the waiting one is without it. So two jobs never preempt each other by turns.

use std::cmp::Reverse;

use cubeloom_domain::waiting::WaitRule;

use crate::amounts::{GPUS, NOTHING, PODS, RUNS, plus, typed};
use crate::behind::Ahead;
use crate::desk::JobId;
use crate::fits::Block;
use crate::job::Known;
use crate::pass::{Passing, Preemption, Victim};

/// Something that was given back, for a try.
#[derive(Clone, Copy, Debug)]
enum Given {
    Worker(JobId),
    Whole(JobId, u32, Preemption),
}

impl Passing<'_> {
    /// Looks for those whose going makes room for a job; when there are enough, they are told, and the job is taken into
    /// account. Behind another job, those of its own group give all that it takes.
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

    /// Jobs of which something could be had, in the order in which they give.
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

    /// Takes from one after the other until the job fits. It is taken into account then.
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
                    // Enough in all, but on no nodes that its workers fit on: nobody goes for that alone.
                    Ok(()) => self.forget(known),
                    Err(other) => block = other,
                }
            }
        }
    }

    /// What the job takes more of than is given, while one before it waits for that; until the queue that gives has no more
    /// than its guarantee also with the job.
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

    /// The queue within which room must be made for a job behind another, as long as that has more than its guarantee.
    fn gives_only(&self, known: &Known, ahead: Option<&Ahead>) -> Option<u32> {
        ahead?.within.filter(|node| !self.is_entitled(known, *node))
    }

    /// An elastic worker that would help: of a borrower, if there is one.
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
            // Where nodes matter only who makes room for a worker wherever it goes itself: for the job that grows no node is kept,
            // so that smaller ones of several nodes would go for nothing, come back, and go again.
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

    /// A whole job that would help, and that the waiting one preempts.
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
        // What this pass has let in, or others were told to go for, goes first: it has not even begun.
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

    /// Whether a job is of a lower priority than the waiting one, and not within the guarantee of another queue.
    fn is_outranked(&self, job: JobId, giver: &Known, known: &Known, kind: usize) -> bool {
        let borrows = || {
            let above = |node: u32| self.desk.tree.path(known.leaf).any(|one| one == node);
            let mut theirs = self.desk.tree.path(giver.leaf).take_while(|node| !above(*node));
            theirs.all(|node| self.is_over(node, giver.pool, kind))
        };
        !giver.spec.protected && self.class_of(job) < i64::from(known.spec.priority) && borrows()
    }

    /// A job that holds something, and how many elastic workers it keeps as things stand in this pass; `None` when it goes.
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

    /// Whether what a job holds is counted where the other is blocked, and it is of the queue that gives.
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

    /// Whether a queue holds more of a resource than it is guaranteed; what it must keep free for others below it counts as
    /// held, as it does for what it is owed: nobody else has the use of it.
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

    /// The queues, from the job's up, that have not what they are guaranteed also with the job.
    fn owed(&self, known: &Known, kind: usize) -> Vec<u32> {
        let least = known.least();
        self.desk.tree.path(known.leaf).filter(|node| self.is_within(known, &least, *node, kind)).collect()
    }

    /// Whether, below the group that both have in common, the waiting one's side has less than it is guaranteed and the
    /// other's side more, all the way down.
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

    /// Lets those keep what they have without whom the job fits as well: the dearest first.
    fn give_no_more_than_needed(&mut self, known: &Known, ahead: Option<&Ahead>, given: &mut Vec<Given>) {
        let mut at = given.len();
        let order = |one: &Given| matches!(one, Given::Whole(..));
        given.sort_by_key(order);
        while at > 0 {
            at -= 1;
            let one = given[at];
            // A job that goes whole cannot be given back single workers.
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

    /// Whether everything that is taken into account fits, the job among it.
    fn still_fits(&mut self, known: &Known) -> bool {
        self.future.remove(&self.desk.tree, known, &known.least());
        let fits = self.desk.take(&mut self.future, known, known.min()).is_ok();
        if !fits {
            self.future.add(&self.desk.tree, known, &known.least());
        }
        fits && self.finds_nodes(known)
    }

    /// Notes who gives back for a job.
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
                // Its last elastic workers were taken before it was taken whole, which is noted by itself.
                (Given::Worker(_), _) => continue,
            });
        }
    }

    /// Takes back that this pass lets a job in, or that others go for it. True when it had.
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

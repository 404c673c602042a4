//! More workers than they must have, for elastic jobs: when no job was left without room.

use std::cmp::Reverse;

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::WaitRule;

use crate::desk::JobId;
use crate::head::{Head, Scope};
use crate::job::Known;
use crate::pass::{Passing, Start};

/// How many workers one pass gives beyond what jobs must have.
const MOST: usize = 4096;

impl Passing<'_> {
    /// Gives elastic jobs more workers, one each in turn, where nobody waits for the room.
    pub(crate) fn grow(&mut self) {
        // What a job keeps that finds no nodes is its own; others need not wait with it.
        let is_scattered = |job: &JobId| self.scattered.iter().any(|scattered| scattered.job == *job);
        if !self.claimed.iter().all(is_scattered) || self.out.more {
            return;
        }
        let is_ours = |job: JobId| self.desk.entry(job).is_some_and(|entry| !entry.known.spec.is_foreign);
        let mut able: Vec<(JobId, u32)> =
            self.begun.iter().copied().filter(|(job, _)| is_ours(*job)).collect();
        let mut later = None;
        for job in self.desk.held.iter().filter(|job| !self.gone.contains(job)) {
            let Some((job, workers)) = self.may_grow(*job) else { continue };
            match self.desk.entry(job).and_then(|entry| entry.held()).map(|held| held.grows_from) {
                Some(from) if from > self.now => {
                    later = Some(later.map_or(from, |known: Timestamp| known.min(from)))
                }
                _ => able.push((job, workers)),
            }
        }
        self.out.again = [self.out.again, later].into_iter().flatten().min();
        able.retain(|(job, workers)| {
            self.desk.entry(*job).is_some_and(|entry| {
                let known = &entry.known;
                let is_free = !self.is_wanted(known.pool) && (known.scales() || !self.anybody_waits());
                *workers < known.max() && is_free
            })
        });
        able.sort_by_key(|(job, _)| {
            let entry = self.desk.entry(*job);
            (Reverse(entry.map(|entry| entry.known.spec.priority)), entry.map(|entry| entry.seq))
        });
        let before = able.clone();
        let mut given = 0;
        while given < MOST {
            let round = given;
            for (job, workers) in &mut able {
                let Some(entry) = self.desk.entry(*job) else { continue };
                if *workers < entry.known.max() && self.take_one(&entry.known) {
                    *workers += 1;
                    given += 1;
                }
            }
            if round == given {
                break;
            }
        }
        for ((job, workers), (_, had)) in able.into_iter().zip(before) {
            if workers == had {
                continue;
            }
            match self.out.starts.iter_mut().find(|start| start.job == job) {
                Some(start) => start.workers = workers,
                None => self.out.grows.push(Start { job, workers }),
            }
        }
    }

    /// A job that runs and takes more workers, and how many it has.
    fn may_grow(&self, job: JobId) -> Option<(JobId, u32)> {
        let entry = self.desk.entry(job)?;
        let held = entry.held()?;
        let is_whole = held.keeps == held.workers && held.leaving.is_none() && !self.keeps.contains_key(&job);
        if !entry.known.scales() || !is_whole || held.workers >= entry.known.max() {
            return None;
        }
        Some((job, held.workers))
    }

    /// Takes one more worker, if there is room for it already now, and also when those who leave have left, and nobody waits
    /// for it at a bound.
    fn take_one(&mut self, known: &Known) -> bool {
        let one = || std::iter::once((known.each, 1));
        if self.is_wanted_at_a_bound(known)
            || !self.has_nodes_for(known, one())
            || !self.desk.take_worker(&mut self.future, known)
        {
            return false;
        }
        let fits = self.desk.take_worker(&mut self.present, known);
        if !fits {
            self.future.shrink(&self.desk.tree, known, &known.each);
            return false;
        }
        self.place(known, one());
        true
    }

    /// Whether a job waits for room of a pool.
    fn is_wanted(&self, pool: u32) -> bool {
        let wanted = |scope: &Scope| match scope {
            Scope::Pool(at) => *at == 0 || *at == pool || pool == 0,
            Scope::Node(..) => false,
        };
        self.heads.iter().any(|head| wanted(&head.scope))
    }

    /// Whether any job waits that could start some day. What gives no single workers back keeps for as long as it runs what it
    /// gets when it starts: it gets that only where nobody waits, whatever for.
    fn anybody_waits(&self) -> bool {
        self.out.waits.iter().any(|(_, block)| block.rule != WaitRule::NeverFits)
    }

    /// Whether a job waits at the bound of a queue, or of a person, for what one more worker of another would take of it.
    fn is_wanted_at_a_bound(&self, known: &Known) -> bool {
        let (desk, each) = (self.desk, &known.each);
        let of_queue = |head: &Head| {
            let is_bound = matches!(head.scope, Scope::Node(..)) && desk.is_in(known, head.scope);
            is_bound && head.short(desk, &self.future, each).next().is_some()
        };
        self.heads.iter().any(of_queue) || self.is_at_a_cap(known, |kind| each[kind] > 0)
    }
}

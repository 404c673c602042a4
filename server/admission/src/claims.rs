//! Reservations: capacity of jobs that are being preempted is reserved for the job that preempts them.

use crate::amounts::{NOTHING, Vector, minus, plus, times};
use crate::desk::JobId;
use crate::job::{Known, Taker};
use crate::pass::{Passing, Victim};

impl<'d> Passing<'d> {
    /// Accounts for a job that starts now, if that delays no job with a reservation.
    pub(crate) fn takes_now(&mut self, known: &Known) -> bool {
        // A job that was asked to stop holds its concurrency limits until it has stopped.
        let is_held = known.named.iter().any(|name| self.desk.is_held(&self.present, *name));
        if is_held || !self.take_unpromised(known) {
            return false;
        }
        let fits = self.desk.take(&mut self.present, known, known.min()).is_ok();
        if let Some(promised) = self.promised.as_mut().filter(|_| !fits) {
            promised.remove(&self.desk.tree, known, &known.least());
        }
        fits
    }

    /// Reserves capacity for a job whose preemption targets are leaving: what it needs beyond what they still
    /// hold. A queue's guarantee that is not lent stays reserved for the queue once its own jobs are gone, so
    /// the job does not get that part. Returns the reserved amount.
    pub(crate) fn claim(&mut self, job: JobId, known: &Known) -> Vector {
        let told = self.out.victims.iter().filter_map(|victim| self.gives_now(*victim, job));
        let before = self.desk.held.iter().filter_map(|giver| self.gives(*giver, job));
        let givers: Vec<_> = told.chain(before).collect();
        let tree = &self.desk.tree;
        let promised = self.promised.get_or_insert_with(|| self.present.clone());
        let mut coming = NOTHING;
        if !givers.is_empty() {
            let mut without = promised.clone();
            for (giver, gives) in givers {
                without.shrink(tree, giver, &gives);
                coming = plus(&coming, &gives);
            }
            // The job may be one of those with a reservation.
            without.grow(tree, known, &known.least());
            coming = minus(&coming, &minus(&without.kept_in(0), &promised.kept_in(0)));
        }
        let kept = minus(&known.least(), &coming);
        promised.add(tree, known, &kept);
        self.claimed.push(job);
        kept
    }

    /// What a job that this cycle preempts for another still holds of that.
    fn gives_now(&self, victim: Victim, to: JobId) -> Option<(&'d Known, Vector)> {
        let (Victim::Workers { by, .. } | Victim::Whole { by, .. }) = victim;
        let desk = self.desk;
        let entry = desk.entry(victim.job()).filter(|_| by == to)?;
        let held = entry.held()?;
        let gives = match victim {
            Victim::Workers { keeps, .. } => times(&entry.known.each, held.workers.saturating_sub(keeps)),
            Victim::Whole { .. } => entry.known.with(held.workers),
        };
        Some((&entry.known, gives))
    }

    /// What a job that was preempted in an earlier cycle still holds of that.
    fn gives(&self, giver: JobId, to: JobId) -> Option<(&'d Known, Vector)> {
        let desk = self.desk;
        let entry = desk.entry(giver)?;
        let seq = desk.entry(to)?.seq;
        let is_for_it = |taker: Taker| taker.job == to && taker.seq == seq;
        let held = entry.held().filter(|held| held.gives_to.is_some_and(is_for_it))?;
        if self.gone.contains(&giver) || self.keeps.contains_key(&giver) {
            return None;
        }
        let gives = match held.leaving {
            Some(_) => entry.known.with(held.workers),
            None => times(&entry.known.each, held.workers.saturating_sub(held.keeps)),
        };
        Some((&entry.known, gives))
    }
}

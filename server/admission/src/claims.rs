//! Room that others are on their way out of is kept for the job they go for.

use crate::amounts::{NOTHING, Vector, minus, plus, times};
use crate::desk::JobId;
use crate::job::Known;
use crate::pass::{Passing, Victim};

impl Passing<'_> {
    /// Takes a job into account as one that starts now, where that delays nobody for whom others are on their way out.
    pub(crate) fn takes_now(&mut self, known: &Known) -> bool {
        if let Some(promised) = &mut self.promised
            && self.desk.take(promised, known, known.min()).is_err()
        {
            return false;
        }
        let fits = self.desk.take(&mut self.present, known, known.min()).is_ok();
        if let Some(promised) = self.promised.as_mut().filter(|_| !fits) {
            promised.remove(&self.desk.tree, known, &known.least());
        }
        fits
    }

    /// Keeps room for a job for which others are on their way out: what it needs beyond what they still hold.
    pub(crate) fn claim(&mut self, job: JobId, known: &Known) {
        let told = self.out.victims.iter().filter_map(|victim| self.gives_now(*victim, job));
        let before = self.desk.held.iter().filter_map(|giver| self.gives(*giver, job));
        let coming = told.chain(before).fold(NOTHING, |sum, one| plus(&sum, &one));
        let promised = self.promised.get_or_insert_with(|| self.present.clone());
        promised.add(&self.desk.tree, known, &minus(&known.least(), &coming));
        self.claimed.push(job);
    }

    /// What a job that this pass tells to give way to another holds of that.
    fn gives_now(&self, victim: Victim, to: JobId) -> Option<Vector> {
        let (Victim::Workers { by, .. } | Victim::Whole { by, .. }) = victim;
        let entry = self.desk.entry(victim.job()).filter(|_| by == to)?;
        let held = entry.held()?;
        Some(match victim {
            Victim::Workers { keeps, .. } => times(&entry.known.each, held.workers.saturating_sub(keeps)),
            Victim::Whole { .. } => entry.known.with(held.workers),
        })
    }

    /// What a job that was told before still holds of that.
    fn gives(&self, giver: JobId, to: JobId) -> Option<Vector> {
        let entry = self.desk.entry(giver)?;
        let held = entry.held().filter(|held| held.gives_to == Some(to))?;
        if self.gone.contains(&giver) || self.keeps.contains_key(&giver) {
            return None;
        }
        Some(match held.leaving {
            Some(_) => entry.known.with(held.workers),
            None => times(&entry.known.each, held.workers.saturating_sub(held.keeps)),
        })
    }
}

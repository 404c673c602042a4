//! Does a trial continue? Asynchronous successive halving (Li et al., "A System for Massively Parallel
//! Hyperparameter Tuning", 2020), in its stopping variant. A trial that reaches a rung is compared with
//! those that have reached it.

use std::collections::BTreeMap;

use cubeloom_domain::InstanceIx;
use cubeloom_domain::search::{EarlyStop, Goal};

/// No step is beyond this rung.
const MOST_RUNGS: usize = 64;

/// The trials' values at the compared steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rungs(Vec<BTreeMap<InstanceIx, f64>>);

/// A trial that is not among the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Outdone {
    /// The step at which it was compared.
    pub step: f64,
    /// Its value there.
    pub value: f64,
    /// How many trials were better there.
    pub better: usize,
    /// How many trials have reached it, including this one.
    pub of: usize,
}

impl Rungs {
    /// Records a trial's value at a step, and returns whether the trial is outdone at a rung that it reaches
    /// with it. Idempotent.
    pub fn reach(
        &mut self,
        rule: &EarlyStop,
        goal: Goal,
        trial: InstanceIx,
        (step, value): (f64, f64),
    ) -> Option<Outdone> {
        let factor = rule.factor();
        let mut at = f64::from(rule.min_steps);
        let mut outdone = None;
        for rung in 0..MOST_RUNGS {
            if step < at {
                break;
            }
            if self.0.len() <= rung {
                self.0.push(BTreeMap::new());
            }
            let there = &mut self.0[rung];
            let before = there.len();
            there.entry(trial).or_insert(value);
            if there.len() > before {
                let better = there.values().filter(|other| goal.prefers(**other, value)).count();
                let places = (there.len() / factor as usize).max(1);
                if better >= places && outdone.is_none() {
                    outdone = Some(Outdone { step, value, better, of: there.len() });
                }
            }
            at *= f64::from(factor);
        }
        outdone
    }

    /// Forgets a trial's values, because it starts over.
    pub fn forget(&mut self, trial: InstanceIx) {
        for there in &mut self.0 {
            there.remove(&trial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: EarlyStop = EarlyStop { min_steps: 1, factor: Some(3) };

    fn reach(rungs: &mut Rungs, trial: InstanceIx, step: f64, value: f64) -> bool {
        rungs.reach(&RULE, Goal::Maximize, trial, (step, value)).is_some()
    }

    #[test]
    fn one_of_three_goes_on() {
        let mut rungs = Rungs::default();
        assert!(!reach(&mut rungs, 0, 1.0, 0.5), "the first has nobody to be compared with");
        assert!(reach(&mut rungs, 1, 1.0, 0.4));
        assert!(!reach(&mut rungs, 2, 1.0, 0.6));
        assert!(reach(&mut rungs, 3, 1.0, 0.5));
        assert!(reach(&mut rungs, 4, 1.0, 0.55));
        assert!(!reach(&mut rungs, 5, 1.0, 0.56), "the second of six");
        assert!(!reach(&mut rungs, 0, 2.0, 0.1), "between two rungs nothing is looked at");
        assert!(!reach(&mut rungs, 0, 3.0, 0.7));
        assert!(reach(&mut rungs, 2, 4.0, 0.6), "a rung is reached with the first step beyond it");
        assert!(!reach(&mut rungs, 2, 4.0, 0.6), "told twice is told once");
    }

    #[test]
    fn small_is_good_where_it_is_minimized_and_equals_go_on() {
        let mut rungs = Rungs::default();
        let mut reach = |trial, value| rungs.reach(&RULE, Goal::Minimize, trial, (1.0, value));
        assert_eq!(reach(0, 2.0), None);
        assert_eq!(reach(1, 2.0), None);
        assert_eq!(reach(2, 3.0), Some(Outdone { step: 1.0, value: 3.0, better: 2, of: 3 }));
        assert_eq!(reach(3, 1.0), None);
    }

    #[test]
    fn who_begins_anew_is_looked_at_anew() {
        let mut rungs = Rungs::default();
        assert!(!reach(&mut rungs, 0, 1.0, 0.5));
        rungs.forget(0);
        assert!(!reach(&mut rungs, 1, 1.0, 0.4), "nobody else is there");
    }

    #[test]
    fn a_step_that_has_no_end_ends() {
        assert!(!reach(&mut Rungs::default(), 0, f64::INFINITY, 0.5));
    }
}

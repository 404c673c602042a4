//! Playing a trace to a policy, in the order in which attempts were submitted or started: it learns only from those that had ended.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::policy::Policy;
use crate::trace::Attempt;

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// What a policy would have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Attempts of the trace.
    pub attempts: usize,
    /// What they held: GiB times hours. One that runs out of memory holds what it had for half of its time, and is tried
    /// again with twice as much, or with what was asked for where that is more.
    pub gb_hours: f64,
    /// Cores times hours, counted in the same way.
    pub core_hours: f64,
    /// How many ran out of memory the first time.
    pub out_of_memory: usize,
}

impl Score {
    /// The share that ran out of memory the first time.
    #[must_use]
    pub fn out_of_memory_rate(&self) -> f64 {
        self.out_of_memory as f64 / self.attempts.max(1) as f64
    }

    /// Adds one attempt with the memory and the cores that it was given.
    fn add(&mut self, attempt: &Attempt, memory: f64, cpu: f64) {
        let (hours, needs) = (attempt.hours(), attempt.needs());
        let mut memory = memory.max(1.0);
        self.attempts += 1;
        self.out_of_memory += usize::from(memory < needs);
        while memory < needs {
            self.gb_hours += memory / GIB * hours / 2.0;
            self.core_hours += cpu * hours / 2.0;
            memory = (memory * 2.0).max(attempt.requested_memory);
        }
        self.gb_hours += memory / GIB * hours;
        self.core_hours += cpu * hours;
    }
}

/// When it is decided what an attempt gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// When it is submitted.
    AtSubmission,
    /// When it starts, where the trace tells that.
    AtStart,
}

impl Decided {
    /// The moment of an attempt, in seconds.
    fn of(self, attempt: &Attempt) -> f64 {
        match self {
            Self::AtSubmission => attempt.submitted,
            Self::AtStart => attempt.started.unwrap_or(attempt.submitted),
        }
    }
}

/// Plays a trace to a policy.
#[must_use]
pub fn replay(trace: &[Attempt], policy: &mut dyn Policy, decided: Decided) -> Score {
    let mut order: Vec<(usize, &Attempt)> = trace.iter().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| decided.of(a).total_cmp(&decided.of(b)));
    let mut running: BinaryHeap<Ends<'_>> = BinaryHeap::new();
    let mut score = Score::default();
    for (index, attempt) in order {
        while let Some(first) = running.peek().filter(|first| first.1.finished <= decided.of(attempt)) {
            policy.learn(first.0, first.1);
            running.pop();
        }
        let (memory, cpu) = policy.size(index, attempt);
        score.add(attempt, memory, cpu);
        running.push(Ends(index, attempt));
    }
    score
}

/// An attempt and its index. The earliest end is the greatest.
struct Ends<'t>(usize, &'t Attempt);

impl PartialEq for Ends<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ends<'_> {}

impl PartialOrd for Ends<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ends<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.1.finished.total_cmp(&self.1.finished)
    }
}

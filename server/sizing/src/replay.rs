//! Plays a trace to a policy, in order of submission or start: the policy learns only from attempts that had
//! ended.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::policy::Policy;
use crate::trace::Attempt;

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// The cost of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Number of attempts in the trace.
    pub attempts: usize,
    /// Memory held, in GiB-hours. An OOM killed attempt holds its memory for half of its run time. It is
    /// retried with twice as much, or with the request if that is more.
    pub gb_hours: f64,
    /// CPU held, in core-hours, counted in the same way.
    pub core_hours: f64,
    /// Number of attempts OOM killed on their first try.
    pub out_of_memory: usize,
}

impl Score {
    /// Share of attempts OOM killed on their first try.
    #[must_use]
    pub fn out_of_memory_rate(&self) -> f64 {
        self.out_of_memory as f64 / self.attempts.max(1) as f64
    }

    /// Adds an attempt with its memory and cores.
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

/// When an attempt's resources are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// At submission.
    AtSubmission,
    /// At start, if the trace has it.
    AtStart,
}

impl Decided {
    /// The time of the decision, in seconds.
    fn of(self, attempt: &Attempt) -> f64 {
        match self {
            Self::AtSubmission => attempt.submitted,
            Self::AtStart => attempt.started.unwrap_or(attempt.submitted),
        }
    }
}

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

//! Policies that a replay compares.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::learner::{Advice, Learner, Settings};
use crate::line::Line;
use crate::trace::Attempt;

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

/// Decides what an attempt gets, and learns from those that have ended. `index` identifies an attempt in both
/// calls, even if many of a task are submitted at the same time.
pub trait Policy {
    /// Memory in bytes and CPU cores of an attempt. Only values known at submission may be used: the task,
    /// the request, the input.
    fn size(&mut self, index: usize, attempt: &Attempt) -> (f64, f64);

    /// An attempt has ended.
    fn learn(&mut self, index: usize, attempt: &Attempt);
}

/// The names of the built-in policies, ours first. The last one, the oracle, knows the future.
pub const BUILT_IN: [&str; 6] = ["cubeloom", "request", "cube-studio", "vpa", "line", "oracle"];

/// Bounds rather than policies: they know the future for some attempts, as the oracle does for all. They are
/// only played if named.
pub const BOUNDS: [&str; 1] = ["known-after-first"];

/// A built-in policy, or a bound, by its name.
#[must_use]
pub fn built_in(name: &str) -> Option<Box<dyn Policy>> {
    Some(match name {
        "cubeloom" => Box::new(Own::default()),
        "request" => Box::new(Request),
        "cube-studio" => Box::new(LastTen::default()),
        "vpa" => Box::new(Percentile::default()),
        "line" => Box::new(OverInput::default()),
        "known-after-first" => Box::new(KnownAfterFirst::default()),
        "oracle" => Box::new(Oracle),
        _ => return None,
    })
}

/// [`Learner`].
#[derive(Default)]
struct Own {
    learner: Learner,
    /// Recommendations for unfinished attempts, by index.
    advised: HashMap<usize, Advice>,
    /// Number of unfinished attempts by task.
    running: HashMap<String, usize>,
}

impl Policy for Own {
    fn size(&mut self, index: usize, attempt: &Attempt) -> (f64, f64) {
        let (memory, cpu) = (attempt.requested_memory, attempt.requested_cpu);
        let running = self.running.entry(attempt.task.clone()).or_default();
        let advice = self.learner.advise(&attempt.task, memory, cpu, attempt.input, *running);
        *running += 1;
        let size = (advice.memory, advice.cpu);
        self.advised.insert(index, advice);
        size
    }

    fn learn(&mut self, index: usize, attempt: &Attempt) {
        let advised = self.advised.remove(&index);
        if let Some(running) = self.running.get_mut(&attempt.task) {
            *running = running.saturating_sub(1);
        }
        self.learner.learn(attempt, advised.as_ref());
        self.learner.learn_share(attempt);
    }
}

/// The user's request.
struct Request;

impl Policy for Request {
    fn size(&mut self, _: usize, attempt: &Attempt) -> (f64, f64) {
        (attempt.requested_memory, attempt.requested_cpu)
    }

    fn learn(&mut self, _: usize, _: &Attempt) {}
}

/// The actual need, which is unknown in practice.
struct Oracle;

impl Policy for Oracle {
    fn size(&mut self, _: usize, attempt: &Attempt) -> (f64, f64) {
        (attempt.needs(), attempt.cpu_used)
    }

    fn learn(&mut self, _: usize, _: &Attempt) {}
}

/// The request until a task's first attempt has ended, and then the actual need: a limit for all rules that
/// learn from ended attempts.
#[derive(Default)]
struct KnownAfterFirst {
    known: HashSet<String>,
}

impl Policy for KnownAfterFirst {
    fn size(&mut self, index: usize, attempt: &Attempt) -> (f64, f64) {
        let is_known = self.known.contains(&attempt.task);
        if is_known { Oracle.size(index, attempt) } else { Request.size(index, attempt) }
    }

    fn learn(&mut self, _: usize, attempt: &Attempt) {
        if !self.known.contains(&attempt.task) {
            self.known.insert(attempt.task.clone());
        }
    }
}

/// Peaks and cores of a task's latest attempts.
#[derive(Default)]
struct Last {
    of: HashMap<String, VecDeque<(f64, f64)>>,
}

impl Last {
    fn add(&mut self, attempt: &Attempt, most: usize) {
        let last = self.of.entry(attempt.task.clone()).or_default();
        last.push_back((attempt.peak_memory, attempt.cpu_used));
        if last.len() > most {
            last.pop_front();
        }
    }

    fn of(&self, task: &str) -> Option<(Vec<f64>, Vec<f64>)> {
        let last = self.of.get(task).filter(|last| !last.is_empty())?;
        Some(last.iter().copied().unzip())
    }
}

/// Cube Studio's rule: `ceil(1.4 x the largest of the last ten) + 2`, in GiB and in cores.
#[derive(Default)]
struct LastTen(Last);

impl Policy for LastTen {
    fn size(&mut self, _: usize, attempt: &Attempt) -> (f64, f64) {
        let Some((peaks, cores)) = self.0.of(&attempt.task) else {
            return (attempt.requested_memory, attempt.requested_cpu);
        };
        let rule = |values: Vec<f64>, unit: f64| {
            let most = values.into_iter().fold(0.0, f64::max);
            ((1.4 * most / unit).ceil() + 2.0) * unit
        };
        (rule(peaks, GIB), rule(cores, 1.0))
    }

    fn learn(&mut self, _: usize, attempt: &Attempt) {
        self.0.add(attempt, 10);
    }
}

/// The rule of the Vertical Pod Autoscaler: the 90th percentile plus 15 %.
#[derive(Default)]
struct Percentile(Last);

impl Policy for Percentile {
    fn size(&mut self, _: usize, attempt: &Attempt) -> (f64, f64) {
        let Some((peaks, cores)) = self.0.of(&attempt.task) else {
            return (attempt.requested_memory, attempt.requested_cpu);
        };
        let rule = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            let at = ((values.len() as f64 * 0.9).ceil() as usize).clamp(1, values.len());
            values[at - 1] * 1.15
        };
        (rule(peaks), rule(cores))
    }

    fn learn(&mut self, _: usize, attempt: &Attempt) {
        self.0.add(attempt, 1000);
    }
}

/// A linear regression of the peak on the input, at most the request.
#[derive(Default)]
struct OverInput {
    points: HashMap<String, Vec<(f64, f64)>>,
}

impl Policy for OverInput {
    fn size(&mut self, _: usize, attempt: &Attempt) -> (f64, f64) {
        let points = self.points.get(&attempt.task);
        let line = points.and_then(|points| Line::through(points));
        let memory = match (line, attempt.input) {
            (Some(line), Some(input)) => line.at(input).clamp(1.0, attempt.requested_memory.max(1.0)),
            _ => attempt.requested_memory,
        };
        (memory, attempt.requested_cpu)
    }

    fn learn(&mut self, _: usize, attempt: &Attempt) {
        if let Some(input) = attempt.input {
            self.points.entry(attempt.task.clone()).or_default().push((input, attempt.peak_memory));
        }
    }
}

impl Default for Learner {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

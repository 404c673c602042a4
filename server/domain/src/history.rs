//! Expected task durations from the last successful attempts, by task and pool.
//!
//! Run times vary by factors rather than by amounts: their center is the median, and their spread the
//! standard deviation of their logarithms.

use std::time::Duration;

use crate::quota::Pool;

/// Number of latest durations kept per task and pool.
pub const KEPT: usize = 20;

/// Minimum number of attempts for an estimate.
pub const ENOUGH: usize = 3;

/// Durations of one task, or of one template, in one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The task. `None` for all tasks of the project with this template.
    pub task: Option<String>,
    /// The task template's name, without its version.
    pub template: String,
    pub pool: Pool,
    /// Duration of each in microseconds, newest last.
    pub micros: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunTime {
    /// Median duration of the attempts.
    pub median: Duration,
    /// The standard deviation of the durations' logarithms.
    pub spread: f64,
    /// Number of attempts.
    pub attempts: usize,
}

impl RunTime {
    /// Statistics of durations in microseconds. `None` if there are too few.
    #[must_use]
    pub fn of(mut micros: Vec<u64>) -> Option<Self> {
        let attempts = micros.len();
        if attempts < ENOUGH {
            return None;
        }
        micros.sort_unstable();
        let median = u64::midpoint(micros[(attempts - 1) / 2], micros[attempts / 2]);
        // Zero has no logarithm.
        let logarithms: Vec<f64> = micros.iter().map(|length| (*length).max(1) as f64).map(f64::ln).collect();
        let mean = logarithms.iter().sum::<f64>() / attempts as f64;
        let squares: f64 = logarithms.iter().map(|one| (one - mean).powi(2)).sum();
        let spread = (squares / (attempts - 1) as f64).sqrt();
        Some(Self { median: Duration::from_micros(median), spread, attempts })
    }

    /// 90th percentile.
    #[must_use]
    pub fn p90(&self) -> Duration {
        let factor = (1.281_55 * self.spread).exp().min(1e6);
        Duration::try_from_secs_f64(self.median.as_secs_f64() * factor).unwrap_or(Duration::MAX)
    }
}

/// Known durations of the tasks of one pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History(Vec<Lengths>);

impl FromIterator<Lengths> for History {
    fn from_iter<T: IntoIterator<Item = Lengths>>(lengths: T) -> Self {
        Self(lengths.into_iter().collect())
    }
}

impl History {
    /// Expected duration of a task in a pool: from its runs there, or else in any pool, or else from other
    /// tasks of its template.
    #[must_use]
    pub fn of(&self, task: &str, template: &str, pool: &Pool) -> Option<RunTime> {
        self.there(Some(task), template, pool)
            .or_else(|| self.anywhere(Some(task), template))
            .or_else(|| self.there(None, template, pool))
            .or_else(|| self.anywhere(None, template))
    }

    /// Expected duration of a task from its runs in that pool only, to compare pools.
    #[must_use]
    pub fn only_in(&self, task: &str, template: &str, pool: &Pool) -> Option<RunTime> {
        self.there(Some(task), template, pool).or_else(|| self.there(None, template, pool))
    }

    fn there(&self, task: Option<&str>, template: &str, pool: &Pool) -> Option<RunTime> {
        self.run_time(task, template, |lengths| lengths.pool == *pool)
    }

    fn anywhere(&self, task: Option<&str>, template: &str) -> Option<RunTime> {
        self.run_time(task, template, |_| true)
    }

    fn run_time(
        &self,
        task: Option<&str>,
        template: &str,
        counts: impl Fn(&Lengths) -> bool,
    ) -> Option<RunTime> {
        let is_of = |lengths: &&Lengths| lengths.task.as_deref() == task && lengths.template == template;
        let lengths = self.0.iter().filter(is_of).filter(|lengths| counts(lengths));
        RunTime::of(lengths.flat_map(|lengths| lengths.micros.iter().copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000_000;

    fn pool(cluster: &str) -> Pool {
        Pool { cluster: cluster.into(), node_group: None }
    }

    fn lengths(task: Option<&str>, cluster: &str, minutes: &[u64]) -> Lengths {
        Lengths {
            task: task.map(Into::into),
            template: "train".into(),
            pool: pool(cluster),
            micros: minutes.iter().map(|minutes| minutes * MINUTE).collect(),
        }
    }

    fn minutes(found: Option<RunTime>) -> Option<u64> {
        found.map(|found| found.median.as_secs() / 60)
    }

    #[test]
    fn of_two_attempts_nothing_is_said() {
        let history = History::from_iter([lengths(Some("fit"), "here", &[10, 12])]);
        assert_eq!(history.of("fit", "train", &pool("here")), None);
        let history = History::from_iter([lengths(Some("fit"), "here", &[10, 12, 90])]);
        assert_eq!(minutes(history.of("fit", "train", &pool("here"))), Some(12));
    }

    #[test]
    fn the_own_place_is_asked_first_then_the_task_then_the_template() {
        let all = [
            lengths(Some("fit"), "here", &[10, 10, 10]),
            lengths(Some("fit"), "there", &[30, 30, 30, 30]),
            lengths(None, "here", &[50, 50, 50]),
        ];
        let history = History::from_iter(all);
        assert_eq!(minutes(history.of("fit", "train", &pool("here"))), Some(10));
        assert_eq!(minutes(history.of("fit", "train", &pool("elsewhere"))), Some(30));
        assert_eq!(minutes(history.of("new", "train", &pool("here"))), Some(50));
        assert_eq!(history.of("new", "pull", &pool("here")), None);
        assert_eq!(history.only_in("fit", "train", &pool("elsewhere")), None);
    }

    #[test]
    fn the_spread_is_a_factor() {
        // Twice as long and half as long are equally far from the median.
        let found = RunTime::of(vec![MINUTE, 2 * MINUTE, 4 * MINUTE]).unwrap();
        assert_eq!((found.median, found.attempts), (Duration::from_secs(120), 3));
        assert!((found.spread - 2_f64.ln()).abs() < 1e-9, "{}", found.spread);
        assert_eq!(RunTime::of(vec![0; 5]).unwrap().spread, 0.0);
    }
}

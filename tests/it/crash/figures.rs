//! What `make crash-test` prints.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::baseline::Baseline;
use super::watch::Watch;

/// The usual limit for the server to resume work.
pub const BACK_WITHIN: Duration = Duration::from_secs(5);
/// The limit for an outlier, on a machine with other load.
const BACK_AT_LAST: Duration = Duration::from_secs(30);

/// Counts and findings.
#[derive(Default)]
pub struct Figures {
    /// Tasks per run.
    pub tasks: usize,
    pub declared: BTreeSet<String>,
    pub reached: BTreeSet<String>,
    pub killed_at: BTreeSet<String>,
    /// Kills at failpoints, including those at several hits of one failpoint.
    pub kills_at_points: u32,
    pub random_kills: u32,
    pub runs: u32,
    /// Worker executions, from the ledger.
    pub executions: u64,
    pub back_at_work: Vec<Duration>,
    pub findings: Vec<String>,
}

impl Figures {
    /// All counts zero.
    pub fn of(baseline: &Baseline) -> Self {
        Self { tasks: baseline.document.len(), ..Self::default() }
    }

    /// Adds the server's recovery times.
    pub fn take_times(&mut self, watch: &mut Watch) {
        for time in watch.back_at_work.drain(..) {
            if time > BACK_AT_LAST {
                self.findings.push(format!("slow: back at work after {time:?}"));
            }
            self.back_at_work.push(time);
        }
    }

    fn count(&self, kind: &str) -> usize {
        self.findings.iter().filter(|finding| finding.starts_with(kind)).count()
    }

    pub fn median(&self) -> Duration {
        let mut sorted = self.back_at_work.clone();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (declared, reached, killed) = (self.declared.len(), self.reached.len(), self.killed_at.len());
        if declared > 0 {
            writeln!(f, "failpoints      {declared} declared, {reached} reached, {killed} killed at")?;
            writeln!(f, "kills at points {}", self.kills_at_points)?;
        }
        writeln!(f, "random kills    {}", self.random_kills)?;
        writeln!(f, "runs            {} of {} tasks", self.runs, self.tasks)?;
        writeln!(f, "executions      {} workers, by their own ledger", self.executions)?;
        writeln!(f, "doubled         {}", self.count("doubled"))?;
        writeln!(f, "lost            {}", self.count("lost"))?;
        writeln!(f, "findings        {}", self.findings.len())?;
        let max = self.back_at_work.iter().max().copied().unwrap_or_default();
        let times = self.back_at_work.len();
        let (median, max) = (self.median().as_millis(), max.as_millis());
        write!(f, "back at work    median {median} ms, max {max} ms ({times} restarts)")
    }
}

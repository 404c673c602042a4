//! What `make crash-test` prints.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::baseline::Baseline;
use super::watch::Watch;

/// How long the server takes to be back at work, mostly.
pub const BACK_WITHIN: Duration = Duration::from_secs(5);
/// How long it may take once, on a machine that has other work as well.
const BACK_AT_LAST: Duration = Duration::from_secs(30);

/// What was done, and what was found.
#[derive(Default)]
pub struct Figures {
    /// Tasks of one run.
    pub tasks: usize,
    pub declared: BTreeSet<String>,
    pub reached: BTreeSet<String>,
    pub killed_at: BTreeSet<String>,
    /// Kills at named points, those at several times of one point included.
    pub kills_at_points: u32,
    pub random_kills: u32,
    pub runs: u32,
    /// Executions of workers, from the ledger.
    pub executions: u64,
    pub back_at_work: Vec<Duration>,
    pub findings: Vec<String>,
}

impl Figures {
    /// Nothing yet.
    pub fn of(baseline: &Baseline) -> Self {
        Self { tasks: baseline.document.len(), ..Self::default() }
    }

    /// Adds how long the server took each time.
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

//! Watches one run from outside: through the ledger, and only at the end through the database.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::state::RunState;

use super::site::Site;
use crate::support::processes;

/// Poll interval of the ledger.
const STEP: Duration = Duration::from_millis(1);
/// Poll interval of the database once the last task is done.
const ASK: Duration = Duration::from_millis(40);
/// Poll interval of the database before that: a failed run has no last task.
const ASK_RARELY: Duration = Duration::from_secs(3);
/// How long a run may go without progress.
const PATIENCE: Duration = Duration::from_secs(60);

/// The event that came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// The run ended.
    End,
    /// The given moment came.
    Moment,
    /// The server died.
    Death,
}

pub struct Watch {
    pub run: RunId,
    /// Byte offset up to which the ledger has been read.
    read: u64,
    /// Whether the last task has reported its end.
    nearly_over: bool,
    asked: Instant,
    /// When the server was restarted, until a worker has started.
    restarted: Option<Instant>,
    /// Shims of earlier servers, whose workers do not count as work of the current one.
    old_shims: HashSet<i32>,
    pub back_at_work: Vec<Duration>,
}

impl Watch {
    pub fn of(run: RunId) -> Self {
        Self {
            run,
            read: 0,
            nearly_over: false,
            asked: Instant::now(),
            restarted: None,
            old_shims: HashSet::new(),
            back_at_work: Vec::new(),
        }
    }

    /// Restarts the server after its death, and measures the time until a worker starts that no earlier
    /// server started.
    pub fn restart(&mut self, site: &mut Site, variables: &[(&str, &str)]) {
        self.old_shims.extend(processes::shims(&site.mark()));
        self.look(site);
        self.restarted = (!self.nearly_over).then(Instant::now);
        site.start(variables);
    }

    /// Whether the server has resumed work since its last start.
    pub fn is_back(&self) -> bool {
        self.restarted.is_none()
    }

    /// Waits for the first event. A moment counts from when the server has resumed work, or from now.
    pub fn wait(&mut self, site: &mut Site, moment: Option<Instant>) -> Came {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if site.has_died() {
                return Came::Death;
            }
            self.look(site);
            if self.has_ended(site) {
                return Came::End;
            }
            if moment.is_some_and(|moment| Instant::now() >= moment) {
                return Came::Moment;
            }
            assert!(Instant::now() < deadline, "run {} does not end\n{}", self.run, site.last_log());
            sleep(STEP);
        }
    }

    /// Waits until the server has resumed work, or no work is left.
    pub fn wait_until_back(&mut self, site: &mut Site) -> Option<Came> {
        while !self.is_back() {
            match self.wait(site, Some(Instant::now())) {
                Came::Moment => sleep(STEP),
                other => return Some(other),
            }
        }
        None
    }

    /// Reads the new lines of the ledger.
    fn look(&mut self, site: &Site) {
        let (lines, read) = site.ledger.lines(self.read);
        self.read = read;
        for line in lines.into_iter().filter(|line| line.key.run == self.run) {
            if !line.done && !self.old_shims.contains(&line.shim) {
                self.back_at_work.extend(self.restarted.take().map(|since| since.elapsed()));
            }
            self.nearly_over |= line.done && line.key.task == "end";
        }
    }

    /// Whether the run has ended. The database is polled rarely before the last task is done.
    fn has_ended(&mut self, site: &Site) -> bool {
        if self.asked.elapsed() < if self.nearly_over { ASK } else { ASK_RARELY } {
            return false;
        }
        let state = site.database.state(&self.run);
        self.asked = Instant::now();
        let ended = !matches!(state, RunState::Queued | RunState::Running | RunState::Cancelling);
        if ended {
            // The end itself was the work.
            self.restarted = None;
        }
        ended
    }
}

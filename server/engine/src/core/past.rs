//! Usage of projects before this server started, from daily accounting: it counts in their shares as if the
//! server had been running.

use std::time::Duration;

use cubeloom_admission::HeldBefore;
use cubeloom_domain::Timestamp;
use cubeloom_domain::accounting::{Day, Figures, Line, Period};

use super::Core;

/// After this many half-lives, the weight is negligible.
const HALF_LIVES: u32 = 8;
/// Maximum number of days to read.
const DAYS: i64 = 92;
const MIB: f64 = 1_048_576.0;

impl Core {
    /// The days whose usage must be read. `None` once it is known.
    pub fn wants_past(&self, now: Timestamp) -> Option<Period> {
        let counts = self.settings.half_life.saturating_mul(HALF_LIVES);
        let (first, last) = (Day::of(now.minus(counts)), Day::of(now));
        self.past.is_none().then_some(Period { first: first.max(last.plus(-DAYS)), last })
    }

    /// Updates usage by day, project and node group; running jobs are counted up to now.
    pub fn set_past(&mut self, usage: &[(Line, Figures)], now: Timestamp) {
        let past: Vec<_> =
            usage.iter().map(|(line, figures)| (line.cluster.clone(), held(line, *figures, now))).collect();
        for (name, place) in &mut self.places {
            place.tell_past(name, &past, now);
        }
        self.past = Some(past);
    }

    /// Gives a new cluster's scheduler its earlier usage.
    pub(super) fn tell_past(&mut self, cluster: &str) {
        if let (Some(place), Some(past)) = (self.places.get_mut(cluster), &self.past) {
            place.tell_past(cluster, past, self.now);
        }
    }
}

impl super::place::Place {
    fn tell_past(&mut self, cluster: &str, past: &[(String, HeldBefore)], now: Timestamp) {
        self.untold = past.iter().filter(|(of, _)| of == cluster).map(|(_, held)| held.clone()).collect();
        self.tell_the_rest(now);
    }

    /// Adds usage of node groups that the scheduler did not know before: some clusters report their node
    /// groups late.
    pub(super) fn tell_the_rest(&mut self, now: Timestamp) {
        let mut untold = std::mem::take(&mut self.untold);
        untold.retain(|held| !self.desk.held_before(held, now));
        self.untold = untold;
    }
}

/// Average usage on a day, because the times within the day are unknown.
fn held(line: &Line, figures: Figures, now: Timestamp) -> HeldBefore {
    let from = line.day.start();
    let until = line.day.next().start().min(now);
    let seconds = until.since(from).max(Duration::from_secs(1)).as_secs_f64();
    let average = |sum: i64| sum as f64 / seconds;
    HeldBefore {
        project: line.project.clone(),
        node_group: Some(line.node_group.clone()).filter(|name| !name.is_empty()),
        from,
        until,
        cpu: average(figures.cpu),
        memory: average(figures.memory) * MIB,
        gpus: average(figures.gpu) / 1000.0,
    }
}

//! What projects held before this server was started, as accounting has it by day: it counts in their shares as if it had been
//! there.

use std::time::Duration;

use cubeloom_admission::HeldBefore;
use cubeloom_domain::Timestamp;
use cubeloom_domain::accounting::{Day, Figures, Line, Period};

use super::Core;

/// After so many half-lives, next to nothing of it counts.
const HALF_LIVES: u32 = 8;
/// The most days that are looked at.
const DAYS: i64 = 92;
const MIB: f64 = 1_048_576.0;

impl Core {
    /// The days of which usage has to be known; none when it is.
    pub fn wants_past(&self, now: Timestamp) -> Option<Period> {
        let counts = self.settings.half_life.saturating_mul(HALF_LIVES);
        let (first, last) = (Day::of(now.minus(counts)), Day::of(now));
        self.past.is_none().then_some(Period { first: first.max(last.plus(-DAYS)), last })
    }

    /// Takes in usage by day, project and node group, what still ran counted up to now.
    pub fn set_past(&mut self, usage: &[(Line, Figures)], now: Timestamp) {
        let past: Vec<_> =
            usage.iter().map(|(line, figures)| (line.cluster.clone(), held(line, *figures, now))).collect();
        for (name, place) in &mut self.places {
            place.tell_past(name, &past, now);
        }
        self.past = Some(past);
    }

    /// Tells a cluster that is new what was held of it before.
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

    /// What was held in node groups that the desk has not known until now: some clusters say late what they have.
    pub(super) fn tell_the_rest(&mut self, now: Timestamp) {
        let mut untold = std::mem::take(&mut self.untold);
        untold.retain(|held| !self.desk.held_before(held, now));
        self.untold = untold;
    }
}

/// What was held on a day, on average: when in the day it was is not known.
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

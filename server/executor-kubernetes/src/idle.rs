//! What the cards of an attempt's workers do, as who measures the cluster tells: by that it is seen that all have fallen idle.

use std::collections::BTreeMap;
use std::io;

use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::usage::{
    CardsSample, Measure, Quantity, UsageSample, UsageSeries, WorkerLines, WorkerUsage,
};
use cubeloom_domain::{AttemptKey, Bytes, Timestamp};

use crate::executor::KubernetesExecutor;
use crate::judge;

impl UsageSeries for KubernetesExecutor {
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<WorkerUsage>>> {
        Box::pin(async move {
            let object = key.object_name();
            let began = self.cluster.board.find(&object).and_then(|(_, seen)| judge::times(&seen).0);
            let Some((meter, began)) = self.cluster.config.cards.as_ref().zip(began) else {
                return Ok(Vec::new());
            };
            let lines = (meter.lines)(object, (began, self.cluster.clock.now())).await;
            Ok(lines.map_err(io::Error::other)?.into_iter().map(usage).collect())
        })
    }

    /// Of their cards alone it is read here; the rest is read where it is shown.
    fn never_told(&self) -> &'static [Quantity] {
        &[]
    }
}

/// The lines of one worker as samples, one for each moment at which the use of its cards was told. The least use is some.
fn usage(worker: WorkerLines) -> WorkerUsage {
    let line = |measure: Measure| worker.lines.get(&measure).into_iter().flatten();
    let moment = |[at, _]: &[f64; 2]| Timestamp((at * 1e6) as i64);
    let power: BTreeMap<Timestamp, f64> =
        line(Measure::CardPower).map(|point| (moment(point), point[1])).collect();
    let sample = |point: &[f64; 2]| {
        let at = moment(point);
        let power_mw = power.get(&at).map_or(0, |watts| (watts.max(0.0) * 1000.0) as u64);
        let cards =
            CardsSample { use_percent: point[1].max(0.0).ceil() as u32, power_mw, ..CardsSample::default() };
        // Nothing else is asked for here.
        UsageSample {
            at,
            cards: Some(cards),
            cpu_us: 0,
            memory: Bytes(0),
            throttled_us: None,
            disk_read: None,
            disk_written: None,
            io_wait_us: None,
        }
    };
    let samples = line(Measure::CardUse).map(sample).collect();
    // The pod's own name: which worker it is does not matter here.
    WorkerUsage { worker: WorkerName { role: worker.worker, index: 0 }, samples }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cubeloom_domain::hang::HangPolicy;
    use cubeloom_domain::idle;

    use super::*;

    const EVERY: f64 = 15.0;

    /// Ten minutes of work, and then idle for so many minutes; cards that draw 300 W at work, and 60 W otherwise.
    fn worker(name: &str, idle: u32, tells_power: bool) -> WorkerUsage {
        let points = |at_work: f64, at_rest: f64| {
            let value = move |n: u32| if n < 40 { at_work } else { at_rest };
            (0..40 + idle * 4).map(|n| [f64::from(n) * EVERY, value(n)]).collect()
        };
        let mut lines = BTreeMap::from([(Measure::CardUse, points(80.5, 0.0))]);
        if tells_power {
            lines.insert(Measure::CardPower, points(300.0, 60.0));
        }
        usage(WorkerLines { worker: name.into(), lines, ..WorkerLines::default() })
    }

    fn hangs(workers: &[WorkerUsage], has: u32, minutes: i64) -> bool {
        let now = Timestamp(minutes * 60_000_000);
        let seen = idle::look(workers, has, now);
        seen.is_some_and(|seen| idle::judge(&seen, None, &HangPolicy::default(), now).is_some())
    }

    #[test]
    fn cards_that_fall_idle_are_a_sign_by_these_series_too() {
        for tells_power in [true, false] {
            let both = |idle| [worker("worker-0", idle, tells_power), worker("worker-1", idle, tells_power)];
            assert!(!hangs(&both(9), 2, 19), "not for long enough");
            assert!(hangs(&both(12), 2, 22));
            let [first, _] = both(12);
            assert!(!hangs(&[first], 2, 60), "nothing has been told for long");
        }
        let works = usage(WorkerLines {
            lines: [(Measure::CardUse, (0..88).map(|n| [f64::from(n) * EVERY, 0.2]).collect())].into(),
            ..WorkerLines::default()
        });
        assert!(!hangs(&[worker("worker-0", 12, true), works], 2, 22), "the least use is some");
        assert!(!hangs(&[], 2, 22) && Duration::from_secs(600) == HangPolicy::default().after.0);
    }
}

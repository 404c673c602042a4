//! What would shorten a run, from the times on its critical path.

use std::time::Duration;

use super::Step;
use crate::api::runs::critical_path::PathHintView;
use crate::show;

/// A wait, a start or retries of at least this share of the run are worth a hint.
const NOTABLE: f64 = 0.1;
/// A task that runs for at least this share of the run is worth a hint.
const LONG: f64 = 0.5;

/// A task on the path with what else is known of it.
pub(super) struct OnPath<'p> {
    pub(super) name: &'p str,
    pub(super) step: Step,
    /// Whether it is an approval: it waits for a person, not for the cluster.
    pub(super) asks: bool,
    /// Its maximum concurrency and its number of instances, if these are more.
    pub(super) limited: Option<(u32, u64)>,
    /// Why it is pending now.
    pub(super) pending: Option<String>,
}

/// Hints for a run of this length, those for the largest times first. There is always one for a path.
pub(super) fn hints(path: &[OnPath<'_>], whole: Duration) -> Vec<PathHintView> {
    if path.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<PathHintView> = path.iter().flat_map(|one| of_task(one, whole)).collect();
    found.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    if found.is_empty() {
        let message = "no wait, retry or single task stands out: the run gets shorter only if its tasks do";
        found.push(hint("balanced", None, Duration::ZERO, message.into()));
    }
    found
}

fn of_task(one: &OnPath<'_>, whole: Duration) -> Vec<PathHintView> {
    let OnPath { name, step, .. } = one;
    let is_at_least = |time: Duration, share: f64| time > Duration::ZERO && share_of(time, whole) >= share;
    let words = |time: Duration| (show::duration(time.as_secs_f64()), percent(time, whole));
    let mut found = Vec::new();
    let mut add = |kind, time, message| found.push(hint(kind, Some(*name), time, message));
    if is_at_least(step.queued(), NOTABLE) {
        let (time, percent) = words(step.queued());
        let (kind, message) = match &one.pending {
            _ if one.asks => {
                ("decision", format!("`{name}` waited {time} for a decision: {percent} % of the run's time"))
            }
            Some(reason) => ("pending", format!("`{name}` has been pending for {time}: {reason}")),
            None => {
                let message = format!(
                    "`{name}` waited {time} for capacity, quota or a concurrency limit: \
                     {percent} % of the run's time"
                );
                ("waiting", message)
            }
        };
        add(kind, step.queued(), message);
        if let Some((limit, all)) = one.limited {
            let kept = all.saturating_sub(limit.into());
            let message = format!(
                "the max concurrency of `{name}` is {limit}: {kept} of its {all} instances had to wait for others"
            );
            add("parallelism", step.queued(), message);
        }
    }
    if is_at_least(step.starting(), NOTABLE) {
        let (time, percent) = words(step.starting());
        let message = format!(
            "the workers of `{name}` started {time} after their submission: {percent} % of the run's time"
        );
        add("starting", step.starting(), message);
    }
    if is_at_least(step.retries(), NOTABLE) {
        let (time, percent) = words(step.retries());
        add(
            "retries",
            step.retries(),
            format!("retries of `{name}` took {time}: {percent} % of the run's time"),
        );
    }
    if is_at_least(step.running(), LONG) {
        let (time, percent) = words(step.running());
        add(
            "long_task",
            step.running(),
            format!("`{name}` alone ran for {time}: {percent} % of the run's time"),
        );
    }
    found
}

fn hint(kind: &'static str, task: Option<&str>, time: Duration, message: String) -> PathHintView {
    PathHintView { kind, task: task.map(Into::into), seconds: time.as_secs_f64(), message }
}

fn share_of(time: Duration, whole: Duration) -> f64 {
    time.as_secs_f64() / whole.as_secs_f64().max(1e-6)
}

fn percent(time: Duration, whole: Duration) -> u64 {
    (share_of(time, whole) * 100.0).round().min(100.0) as u64
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::{TaskIx, Timestamp};

    use super::*;

    /// A task whose parts end after these seconds.
    fn one(name: &str, [ready, submitted, started, last, until]: [i64; 5]) -> OnPath<'_> {
        let at = |second: i64| Timestamp(second * 1_000_000);
        let step = Step {
            task: TaskIx(0),
            instance: 0,
            ready_at: at(ready),
            submitted_at: at(submitted),
            started_at: at(started),
            final_start: at(last),
            until: at(until),
            attempts: 1,
        };
        OnPath { name, step, asks: false, limited: None, pending: None }
    }

    fn said(path: &[OnPath<'_>], whole: u64) -> Vec<(&'static str, String)> {
        let found = hints(path, Duration::from_secs(whole));
        found.into_iter().map(|hint| (hint.kind, hint.message)).collect()
    }

    #[test]
    fn the_largest_time_is_said_first() {
        let path = [one("pull", [0, 240, 240, 240, 250]), one("train", [250, 250, 300, 400, 1000])];
        let percent = |text: &str| format!("{text} % of the run's time");
        assert_eq!(
            said(&path, 1000),
            [
                ("long_task", percent("`train` alone ran for 10 min 00 s: 60")),
                (
                    "waiting",
                    percent("`pull` waited 4 min 00 s for capacity, quota or a concurrency limit: 24")
                ),
                ("retries", percent("retries of `train` took 1 min 40 s: 10")),
            ]
        );
    }

    #[test]
    fn a_wait_is_explained_as_far_as_it_is_known() {
        let waits = || one("train", [0, 60, 60, 60, 100]);
        let asks = OnPath { asks: true, ..waits() };
        assert_eq!(said(&[asks], 100)[0].0, "decision");
        let limited = OnPath { limited: Some((2, 6)), ..waits() };
        let found = said(&[limited], 100);
        let text = "the max concurrency of `train` is 2: 4 of its 6 instances had to wait for others";
        assert_eq!(found[1], ("parallelism", text.into()));
        let pending = OnPath { pending: Some("requests 8 CPU, 4 are free".into()), ..waits() };
        let text = "`train` has been pending for 1 min 00 s: requests 8 CPU, 4 are free";
        assert_eq!(said(&[pending], 100)[0], ("pending", text.into()));
        let starting = one("train", [0, 0, 30, 30, 50]);
        assert_eq!(said(&[starting], 100)[0].0, "starting");
    }

    #[test]
    fn a_balanced_path_has_nothing_to_gain() {
        let path =
            [one("a", [0, 1, 1, 1, 33]), one("b", [33, 34, 34, 34, 66]), one("c", [66, 66, 66, 66, 100])];
        assert_eq!(said(&path, 100).len(), 1);
        assert_eq!(said(&path, 100)[0].0, "balanced");
        assert!(said(&[], 100).is_empty());
    }
}

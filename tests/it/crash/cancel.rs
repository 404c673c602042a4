//! Cancels a run while its workers hang.

use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::state::RunState;

use super::figures::Figures;
use super::site::Site;
use super::verdict::Stored;

/// How many workers fit on this machine.
const AT_ONCE: usize = 8;
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until this many workers hang.
pub fn until_all_hang(site: &Site, run: &RunId) {
    let hang =
        || site.ledger.of_run(run).begun.keys().filter(|(key, _)| key.task.starts_with("hang")).count();
    wait(site, "the workers do not start", || hang() >= AT_ONCE);
}

/// Waits until the server dies at the failpoint.
pub fn until_death(site: &mut Site, point: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !site.has_died() {
        assert!(Instant::now() < deadline, "{point} is not reached\n{}", site.last_log());
        sleep(Duration::from_millis(5));
    }
}

/// The run ends as cancelled and leaves nothing behind.
pub fn check(site: &mut Site, run: &RunId, figures: &mut Figures) {
    let state = site.wait_for_end(run, PATIENCE);
    if state != RunState::Cancelled {
        figures.findings.push(format!("the cancelled run is {}", state.as_str()));
    }
    site.stop();
    let stored = Stored::of(site, run);
    let told = site.ledger.of_run(run);
    figures.runs += 1;
    figures.executions += told.executions();
    figures.findings.extend(stored.against(&told));
    figures.findings.extend(stored.left_over(site));
}

fn wait(site: &Site, what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "{what}\n{}", site.last_log());
        sleep(Duration::from_millis(5));
    }
}

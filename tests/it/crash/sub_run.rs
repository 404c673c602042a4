//! The server dies while a task of a run starts, follows or stops a run of another pipeline.

use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_store::RunFilter;

use super::document::Document;
use super::figures::Figures;
use super::points::POINT;
use super::site::Site;
use super::verdict::Stored;

/// Failpoints, each from its first to this hit: from the adoption of the run to the end of both runs.
const POINTS: [(&str, u64); 5] = [
    ("store.create_run.before", 1),
    ("store.create_run.after", 1),
    ("engine.submit.before", 4),
    ("store.commit.before", 7),
    ("store.commit.after", 7),
];
/// Failpoints at which the server dies during a cancel.
const OF_A_CANCEL: [&str; 2] = ["engine.cancel.before", "local.cancel.before"];
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills at each failpoint. There must be one child run that did its work once, and both runs must end as if
/// undisturbed.
pub fn kill(site: &mut Site, figures: &mut Figures) {
    let (steps, caller) = (Document::pair(), Document::calling("pair"));
    site.start_ready(&[]);
    // Running a document stores it: from now on it can be referenced by name.
    let stored = site.run(&steps);
    assert_eq!(site.wait_for_end(&stored, PATIENCE), RunState::Succeeded);
    site.stop();
    for (point, most) in POINTS {
        for time in 1..=most {
            let armed = format!("{point}:{time}");
            site.start_ready(&[(POINT, &armed)]);
            let run = site.run(&caller);
            if dies(site, &run) {
                figures.kills_at_points += 1;
                figures.killed_at.insert(point.into());
                site.start_ready(&[]);
            }
            let state = site.wait_for_end(&run, PATIENCE);
            check(site, &run, state, RunState::Succeeded, &armed, figures);
        }
    }
    cancel(site, figures);
}

/// Whether the server dies before the run has ended.
fn dies(site: &mut Site, run: &RunId) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !site.has_died() {
        if site.database.state(run).is_final() {
            return site.has_died();
        }
        assert!(Instant::now() < deadline, "the run does not end\n{}", site.last_log());
        sleep(Duration::from_millis(5));
    }
    true
}

fn cancel(site: &mut Site, figures: &mut Figures) {
    let (steps, caller) = (Document::endless(), Document::calling("endless"));
    site.start_ready(&[]);
    let stored = site.run(&steps);
    site.cancel(&stored);
    assert_eq!(site.wait_for_end(&stored, PATIENCE), RunState::Cancelled);
    site.stop();
    for point in OF_A_CANCEL {
        site.start_ready(&[(POINT, point)]);
        let run = site.run(&caller);
        let deadline = Instant::now() + PATIENCE;
        while !started(site, &run).iter().any(|child| site.ledger.of_run(&child.id).executions() > 1) {
            assert!(Instant::now() < deadline, "the other pipeline does not begin\n{}", site.last_log());
            sleep(Duration::from_millis(20));
        }
        site.cancel(&run);
        super::cancel::until_death(site, point);
        figures.kills_at_points += 1;
        figures.killed_at.insert(point.into());
        site.start_ready(&[]);
        let state = site.wait_for_end(&run, PATIENCE);
        check(site, &run, state, RunState::Cancelled, point, figures);
    }
}

/// The runs that a run's tasks have started.
fn started(site: &Site, run: &RunId) -> Vec<RunRecord> {
    let all = site.database.with_store(async |store| store.runs(&RunFilter::default()).await);
    let mut all = all.expect("the database answers");
    all.retain(|each| each.parent.as_ref().is_some_and(|parent| parent.run == *run));
    all
}

fn check(
    site: &mut Site,
    run: &RunId,
    state: RunState,
    wanted: RunState,
    point: &str,
    figures: &mut Figures,
) {
    site.stop();
    let children = started(site, run);
    let mut wrong = |what: String| figures.findings.push(format!("{point}: {what}"));
    if state != wanted {
        wrong(format!("the run is {}", state.as_str()));
    }
    let [child] = children.as_slice() else {
        return wrong(format!("{} runs were started for one task", children.len()));
    };
    if child.state != wanted {
        wrong(format!("the other run is {}", child.state.as_str()));
    }
    let (stored, told) = (Stored::of(site, &child.id), site.ledger.of_run(&child.id));
    figures.runs += 2;
    figures.executions += told.executions();
    figures.findings.extend(stored.against(&told));
    figures.findings.extend(stored.left_over(site));
}

//! The server dies while a schedule fires: each date has exactly one run.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::identity::{AuditEntry, Role, User};
use cubeloom_domain::schedule::{Firing, FiringState, Trigger};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{Clock, Timestamp};
use cubeloom_store::{Expected, FiringFilter, NewVersion, RunFilter, Store};

use cubeloom_testkit::clock::SystemClock;

use super::figures::Figures;
use super::points::POINT;
use super::site::Site;

/// Failpoints of the scheduler.
pub const POINTS: [&str; 4] =
    ["schedules.record.before", "schedules.record.after", "schedules.start.before", "schedules.start.after"];
/// Failpoints shared with other modules, which kill there, too.
const SHARED: [&str; 2] = ["store.create_run.before", "store.create_run.after"];
/// Interval of the schedule's dates, in microseconds.
const STEP: i64 = 1_000_000;
const PATIENCE: Duration = Duration::from_secs(60);
const PROJECT: &str = "default";
const NAME: &str = "ticking";

const DOCUMENT: &str = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: ticking\n\
    schedule: {every: 1s, catch_up: all}\ntasks: [{name: say, template: command, arguments: {command: [\"true\"]}}]\n";
/// The pipeline that runs after each run of the scheduled one.
const NEXT: &str = "following";
const NEXT_DOCUMENT: &str = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: following\n\
    schedule: {after: {pipeline: ticking}}\n\
    tasks: [{name: say, template: command, arguments: {command: [\"true\"]}}]\n";

/// Kills at each failpoint, at its first and at a later hit. A schedule with full catch-up misses no date.
pub fn kill(site: &mut Site, figures: &mut Figures) {
    site.start_ready(&[]);
    site.database.with_store(async |store| prepare(store).await);
    await_dates(site, 2);
    site.stop();
    for point in POINTS.into_iter().chain(SHARED) {
        for time in [1, 2] {
            let armed = format!("{point}:{time}");
            site.start(&[(POINT, &armed)]);
            super::cancel::until_death(site, &armed);
            figures.kills_at_points += 1;
            figures.killed_at.insert(point.into());
        }
    }
    let before = dates(site).len();
    site.start_ready(&[]);
    await_dates(site, before + 2);
    await_started(site, NEXT, 1);
    site.stop();
    check(site, figures);
    check_next(site, figures);
}

/// Each succeeded run has started one of the other pipeline, or is about to.
fn check_next(site: &Site, figures: &mut Figures) {
    let runs = |name: &str| {
        let filter = RunFilter { pipeline: Some(name.into()), ..RunFilter::default() };
        site.database.with_store(async |store| store.runs(&filter).await.expect("the database answers"))
    };
    let next = dates_of(site, NEXT);
    let mut wrong = |what: String| figures.findings.push(format!("after a pipeline: {what}"));
    let succeeded: Vec<_> = runs(NAME).into_iter().filter(|run| run.state == RunState::Succeeded).collect();
    for run in &succeeded {
        let of_it = next
            .iter()
            .filter(|date| date.event.as_ref().is_some_and(|event| event.what == run.id.to_string()));
        if of_it.count() != 1 {
            wrong(format!("the end of {} is not noted once", run.id));
        }
    }
    let started: Vec<_> = next.iter().filter_map(|date| date.run.clone()).collect();
    if started.is_empty() {
        wrong("nothing was started".into());
    }
    let mut of_dates = BTreeSet::new();
    for run in runs(NEXT) {
        if run.cause.trigger != Trigger::Pipeline
            || !started.contains(&run.id)
            || !of_dates.insert(run.cause.date)
        {
            wrong(format!("the run {} is of {:?}, of no date, or one too many", run.id, run.cause));
        }
    }
    for date in next.iter().filter(|date| !matches!(date.state, FiringState::Started | FiringState::Due)) {
        wrong(format!("the date {} is {}: {:?}", date.date, date.state.as_str(), date.detail));
    }
}

async fn prepare(store: &Store) {
    let now = SystemClock.now();
    let user = User {
        id: "id-of-ticker".into(),
        name: "ticker".into(),
        display_name: "Ticker".into(),
        email: None,
        admin: false,
        disabled: false,
        federated: None,
        created_at: now,
        seen_at: None,
        revision: 1,
        mails: true,
    };
    store.create_user(&user, None, &entry("user.create", now)).await.expect("a user");
    let joined = entry("member.put", now);
    store.put_member(PROJECT, &user.id, Role::Editor, None, &joined).await.expect("a member");
    // The triggered pipeline exists before its trigger.
    for (name, document) in [(NEXT, NEXT_DOCUMENT), (NAME, DOCUMENT)] {
        let new = NewVersion {
            project: PROJECT.into(),
            name: name.into(),
            document: document.into(),
            digest: name.into(),
            code: None,
            message: String::new(),
            description: String::new(),
            labels: Default::default(),
            user: user.name.clone(),
            now,
        };
        let entry = entry(&format!("pipeline.create.{name}"), now);
        store.put_pipeline(&new, Expected::New, &entry).await.expect("a pipeline");
    }
}

fn entry(action: &str, at: Timestamp) -> AuditEntry {
    AuditEntry {
        id: format!("entry-{action}"),
        at,
        user_id: None,
        user_name: "test".into(),
        via: "test".into(),
        address: String::new(),
        project: Some(PROJECT.into()),
        action: action.into(),
        subject: NAME.into(),
        before: None,
        after: None,
    }
}

fn dates(site: &Site) -> Vec<Firing> {
    dates_of(site, NAME)
}

fn dates_of(site: &Site, name: &str) -> Vec<Firing> {
    let filter = FiringFilter {
        pipeline: Some(name.into()),
        limit: 100_000,
        oldest_first: true,
        ..FiringFilter::default()
    };
    site.database.with_store(async |store| store.firings(&filter).await.expect("the database answers"))
}

fn await_dates(site: &mut Site, wanted: usize) {
    await_started(site, NAME, wanted);
}

/// Waits until this many dates of a pipeline have runs.
fn await_started(site: &mut Site, name: &str, wanted: usize) {
    let deadline = Instant::now() + PATIENCE;
    while dates_of(site, name).iter().filter(|date| date.state == FiringState::Started).count() < wanted {
        assert!(!site.has_died(), "the server was killed by somebody else");
        assert!(Instant::now() < deadline, "{name} is not started\n{}", site.last_log());
        sleep(Duration::from_millis(50));
    }
}

fn check(site: &Site, figures: &mut Figures) {
    let dates = dates(site);
    let filter = RunFilter { pipeline: Some(NAME.into()), ..RunFilter::default() };
    let runs =
        site.database.with_store(async |store| store.runs(&filter).await.expect("the database answers"));
    let mut wrong = |what: String| figures.findings.push(format!("schedule: {what}"));
    for pair in dates.windows(2) {
        if pair[1].date.0 - pair[0].date.0 != STEP {
            wrong(format!("dates are lost between {} and {}", pair[0].date, pair[1].date));
        }
    }
    let mut of_dates = BTreeSet::new();
    for run in &runs {
        if run.cause.trigger != Trigger::Schedule || run.user != "ticker" {
            wrong(format!("the run {} is of {:?} by {}", run.id, run.cause.trigger, run.user));
        }
        if !of_dates.insert(run.cause.date) {
            wrong(format!("a date has two runs, one is {}", run.id));
        }
        let entered =
            dates.iter().any(|date| date.run.as_ref() == Some(&run.id) && Some(date.date) == run.cause.date);
        if !entered {
            wrong(format!("the run {} is entered at no date", run.id));
        }
    }
    for date in dates.iter().filter(|date| date.state == FiringState::Started) {
        if !of_dates.contains(&Some(date.date)) {
            wrong(format!("the date {} has no run", date.date));
        }
    }
    let unfinished =
        dates.iter().filter(|date| !matches!(date.state, FiringState::Started | FiringState::Due));
    for date in unfinished {
        wrong(format!("the date {} is {}: {:?}", date.date, date.state.as_str(), date.detail));
    }
    figures.runs += u32::try_from(runs.len()).unwrap_or(u32::MAX);
}

//! Schedules, their dates, and back-fills: each date has one run, even with several starters.

use std::time::Duration;

use cubeloom_domain::alert::{Alert, AlertKind};
use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::schedule::{
    Backfill, BackfillCounts, Cause, Firing, FiringState, PipelineName, ScheduleState, Trigger,
};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{Span, Timestamp};
use cubeloom_store::{Deleted, Expected, FiringFilter, Store};

use crate::alerts::{channel, stored};
use crate::people::{audit, version};
use crate::records::{plan, run};
use crate::support::{Fixture, on_both};

on_both!(
    a_pipeline_is_looked_at_once_for_each_version,
    of_two_that_store_the_first_wins,
    a_date_is_noted_once_and_has_one_run,
    two_servers_start_one_run_of_a_date,
    a_date_is_settled_only_while_it_is_due,
    the_date_before_is_the_last_that_had_to_run,
    a_backfill_takes_up_what_has_no_run,
    a_cancelled_backfill_starts_nothing_more,
    a_deleted_run_leaves_its_date,
);

pub fn of(pipeline: &str) -> PipelineName {
    PipelineName { project: "shop".into(), pipeline: pipeline.into() }
}

pub fn state(pipeline: &str) -> ScheduleState {
    let every = Some(Span(Duration::from_secs(3600)));
    ScheduleState {
        of: of(pipeline),
        version: 1,
        schedule: Some(Schedule { every, ..Schedule::default() }),
        set_by: "ada".into(),
        set_at: Timestamp(10),
        handled_at: Timestamp(10),
        next_at: Some(Timestamp(100)),
        after: None,
        look: None,
        paused: None,
        revision: 1,
    }
}

fn firing(pipeline: &str, date: i64) -> Firing {
    Firing {
        of: of(pipeline),
        date: Timestamp(date),
        trigger: Trigger::Schedule,
        user: "ada".into(),
        state: FiringState::Due,
        run: None,
        why: None,
        detail: None,
        backfill: None,
        event: None,
        changed_at: Timestamp(date),
    }
}

fn run_of(n: u64, date: i64) -> RunRecord {
    let cause =
        Cause { trigger: Trigger::Schedule, date: Some(Timestamp(date)), late_at: Some(Timestamp(date + 5)) };
    RunRecord { cause, ..run(n) }
}

async fn start(store: &Store, record: &RunRecord) -> bool {
    let date = record.cause.date.unwrap();
    store.create_run_of_date(record, &plan(record, 1), date, &audit("run.start")).await.unwrap()
}

async fn ends(store: &Store, n: u64, record: RunRecord, state: RunState) {
    use cubeloom_domain::record::Changes;
    let owner = format!("owner-{n}");
    store.acquire(&owner, Timestamp(0), Duration::from_secs(60), 100).await.unwrap();
    let runs = vec![RunRecord { state, ended_at: Some(Timestamp(9)), ..record }];
    store.commit(&crate::support::lease(&owner), &Changes { runs, ..Changes::default() }).await.unwrap();
}

async fn dates(store: &Store, pipeline: &str) -> Vec<(i64, FiringState)> {
    let filter = FiringFilter {
        pipeline: Some(pipeline.into()),
        limit: 100,
        oldest_first: true,
        ..Default::default()
    };
    store.firings(&filter).await.unwrap().into_iter().map(|one| (one.date.0, one.state)).collect()
}

#[expect(clippy::cognitive_complexity, reason = "one story, of which each step asserts something")]
async fn a_pipeline_is_looked_at_once_for_each_version(fixture: Fixture) {
    let store = &fixture.store;
    let put = async |document: &str| {
        let new = cubeloom_store::NewVersion {
            document: document.into(),
            digest: document.into(),
            ..version("ctr")
        };
        store.put_pipeline(&new, Expected::Any, &audit("pipeline.put")).await.unwrap();
    };
    put("one").await;
    assert_eq!(store.unseen_schedules(10).await.unwrap(), [of("ctr")]);
    assert_eq!(store.schedule(&of("ctr")).await.unwrap(), None);
    assert!(store.put_schedule(&state("ctr"), 0, None).await.unwrap());
    assert_eq!(store.unseen_schedules(10).await.unwrap(), []);
    assert_eq!(store.schedule(&of("ctr")).await.unwrap(), Some(state("ctr")));
    assert_eq!(store.next_firing().await.unwrap(), Some(Timestamp(100)));
    assert_eq!(store.schedules_due(Timestamp(99), 10).await.unwrap(), []);
    assert_eq!(store.schedules_due(Timestamp(100), 10).await.unwrap(), [state("ctr")]);
    assert_eq!(store.schedules(Some(&["shop".to_owned()])).await.unwrap(), [state("ctr")]);
    assert_eq!(store.schedules(Some(&["ads".to_owned()])).await.unwrap(), []);
    put("two").await;
    assert_eq!(store.unseen_schedules(10).await.unwrap(), [of("ctr")]);
    store.forget_schedule(&of("ctr"), Timestamp(1)).await.unwrap();
    assert!(store.schedule(&of("ctr")).await.unwrap().is_some(), "it is not deleted");
    store.want_date(&firing("ctr", 200), false).await.unwrap();
    store.delete_pipeline("shop", "ctr", None, &audit("pipeline.delete")).await.unwrap();
    assert_eq!(store.unseen_schedules(10).await.unwrap(), [of("ctr")]);
    store.forget_schedule(&of("ctr"), Timestamp(1)).await.unwrap();
    assert_eq!(store.schedule(&of("ctr")).await.unwrap(), None);
    assert_eq!(store.unseen_schedules(10).await.unwrap(), []);
    assert_eq!(dates(store, "ctr").await, [(200, FiringState::Cancelled)]);
}

async fn of_two_that_store_the_first_wins(fixture: Fixture) {
    let (store, other) = (&fixture.store, fixture.second().await);
    assert!(store.put_schedule(&state("ctr"), 0, None).await.unwrap());
    assert!(!other.put_schedule(&state("ctr"), 0, None).await.unwrap());
    let paused = ScheduleState { paused: Some(("eve".into(), Timestamp(50))), next_at: None, ..state("ctr") };
    assert!(other.put_schedule(&paused, 1, Some(&audit("schedule.pause"))).await.unwrap());
    // A writer that read it before it was paused changes nothing.
    let later = ScheduleState { handled_at: Timestamp(100), ..state("ctr") };
    assert!(!store.record_firings(&later, 1, &[firing("ctr", 100)]).await.unwrap());
    assert_eq!(dates(store, "ctr").await, []);
    assert_eq!(store.schedule(&of("ctr")).await.unwrap(), Some(ScheduleState { revision: 2, ..paused }));
}

#[expect(clippy::cognitive_complexity, reason = "one story, of which each step asserts something")]
async fn a_date_is_noted_once_and_has_one_run(fixture: Fixture) {
    let store = &fixture.store;
    store.put_schedule(&state("ctr"), 0, None).await.unwrap();
    let later = ScheduleState { handled_at: Timestamp(100), ..state("ctr") };
    assert!(store.record_firings(&later, 1, &[firing("ctr", 90), firing("ctr", 100)]).await.unwrap());
    assert!(store.record_firings(&later, 2, &[firing("ctr", 100)]).await.unwrap());
    assert_eq!(store.pipelines_due().await.unwrap(), [(of("ctr"), None)]);
    let due = store.firings_due(&of("ctr"), None, 10).await.unwrap();
    assert_eq!(due, [firing("ctr", 90), firing("ctr", 100)]);
    assert!(start(store, &run_of(1, 90)).await);
    assert!(!start(store, &run_of(2, 90)).await, "the date has its run");
    assert!(!start(store, &run_of(3, 95)).await, "nobody noted this date");
    assert_eq!(store.run(&run(2).id).await.unwrap(), None);
    let stored = store.run(&run(1).id).await.unwrap().unwrap();
    assert_eq!(stored.cause, run_of(1, 90).cause);
    let found = store.firing(&of("ctr"), Timestamp(90)).await.unwrap().unwrap();
    assert_eq!((found.state, found.run), (FiringState::Started, Some(run(1).id)));
    assert_eq!(store.live_runs(&of("ctr")).await.unwrap(), 1);
    // A date with a run becomes due again only on request, and only if the run has ended.
    assert!(!store.want_date(&firing("ctr", 90), false).await.unwrap());
    assert!(!store.want_date(&firing("ctr", 90), true).await.unwrap());
    ends(store, 1, run_of(1, 90), RunState::Failed).await;
    assert!(!store.want_date(&firing("ctr", 90), false).await.unwrap());
    assert!(store.want_date(&firing("ctr", 90), true).await.unwrap());
    assert!(start(store, &run_of(4, 90)).await);
}

async fn two_servers_start_one_run_of_a_date(fixture: Fixture) {
    let other = fixture.second().await;
    for date in 1..=20_i64 {
        fixture.store.want_date(&firing("ctr", date), false).await.unwrap();
        let n = u64::try_from(date).unwrap() * 2;
        let (one, two) = (run_of(n, date), run_of(n + 1, date));
        let started = futures::join!(start(&fixture.store, &one), start(&other, &two));
        assert!(started.0 != started.1, "{date}: {started:?}");
    }
    assert_eq!(fixture.store.live_runs(&of("ctr")).await.unwrap(), 20);
}

async fn a_date_is_settled_only_while_it_is_due(fixture: Fixture) {
    let store = &fixture.store;
    store.want_date(&firing("ctr", 1), false).await.unwrap();
    let waits = ("past_failed", None);
    assert!(store.settle_firing(&firing("ctr", 1), FiringState::Due, waits, Timestamp(2)).await.unwrap());
    let found = store.firing(&of("ctr"), Timestamp(1)).await.unwrap().unwrap();
    assert_eq!(found.why.as_deref(), Some("past_failed"));
    assert!(
        !store.settle_firing(&found, FiringState::Due, waits, Timestamp(3)).await.unwrap(),
        "nothing is new"
    );
    let why = ("user_gone", Some("ada"));
    stored(store, channel("ops", &[AlertKind::RunFailed])).await;
    let alert = |at| Alert::of_date(&found, Timestamp(at), "nobody may".into());
    assert!(store.fail_firing(&found, FiringState::Refused, why, &alert(4)).await.unwrap());
    assert!(!store.fail_firing(&found, FiringState::Failed, why, &alert(5)).await.unwrap());
    let told = store.alert_deliveries("shop", None, None, 9).await.unwrap();
    let told: Vec<_> = told.iter().map(|one| (one.alert.at, one.alert.pipeline.as_deref())).collect();
    assert_eq!(told, [(Timestamp(4), Some("ctr"))]);
    assert_eq!(dates(store, "ctr").await, [(1, FiringState::Refused)]);
}

async fn the_date_before_is_the_last_that_had_to_run(fixture: Fixture) {
    let store = &fixture.store;
    for (date, state) in [(1, FiringState::Failed), (2, FiringState::Missed), (3, FiringState::Skipped)] {
        store.want_date(&Firing { state, ..firing("ctr", date) }, false).await.unwrap();
    }
    store.want_date(&firing("other", 3), false).await.unwrap();
    let before =
        async |date| store.firing_before(&of("ctr"), Timestamp(date)).await.unwrap().map(|one| one.date.0);
    assert_eq!((before(4).await, before(1).await), (Some(1), None));
}

fn backfill(id: &str, last: i64) -> Backfill {
    Backfill {
        id: id.into(),
        of: of("ctr"),
        first: Timestamp(1),
        last: Timestamp(last),
        parallelism: 2,
        total: 0,
        created_by: "bob".into(),
        created_at: Timestamp(50),
        cancelled: None,
    }
}

async fn create(store: &Store, backfill: &Backfill, again: bool) -> u32 {
    let dates: Vec<Timestamp> = (backfill.first.0..=backfill.last.0).map(Timestamp).collect();
    store.create_backfill(backfill, &dates, again, &audit("backfill.create")).await.unwrap()
}

#[expect(clippy::cognitive_complexity, reason = "one story, of which each step asserts something")]
async fn a_backfill_takes_up_what_has_no_run(fixture: Fixture) {
    let store = &fixture.store;
    store.want_date(&firing("ctr", 1), false).await.unwrap();
    assert!(start(store, &run_of(1, 1)).await);
    store.want_date(&Firing { state: FiringState::Missed, ..firing("ctr", 2) }, false).await.unwrap();
    store.want_date(&firing("ctr", 3), false).await.unwrap();
    // One has a run, one is due on its own.
    assert_eq!(create(store, &backfill("b1", 4), false).await, 2);
    let due = store.firings_due(&of("ctr"), Some("b1"), 10).await.unwrap();
    let found: Vec<_> = due.iter().map(|one| (one.date.0, one.trigger, one.user.as_str())).collect();
    assert_eq!(found, [(2, Trigger::Backfill, "bob"), (4, Trigger::Backfill, "bob")]);
    assert_eq!(store.firings_due(&of("ctr"), None, 10).await.unwrap().len(), 1);
    assert!(start(store, &run_of(2, 2)).await && start(store, &run_of(4, 4)).await);
    ends(store, 1, run_of(2, 2), RunState::Succeeded).await;
    let counts = BackfillCounts { succeeded: 1, running: 1, ..BackfillCounts::default() };
    assert_eq!(store.backfill_counts("b1").await.unwrap(), counts);
    let listed = store.backfills(&of("ctr"), None, 10).await.unwrap();
    assert_eq!(listed, [Backfill { total: 2, ..backfill("b1", 4) }]);
    assert_eq!(store.backfills(&of("ctr"), Some("b1"), 10).await.unwrap(), []);
    // `again` includes ended runs, but not active ones.
    assert_eq!(create(store, &backfill("b2", 4), true).await, 1);
    assert_eq!(store.firings_due(&of("ctr"), Some("b2"), 10).await.unwrap()[0].date, Timestamp(2));
}

async fn a_cancelled_backfill_starts_nothing_more(fixture: Fixture) {
    let store = &fixture.store;
    assert_eq!(create(store, &backfill("b1", 3), false).await, 3);
    assert!(start(store, &run_of(1, 1)).await);
    let cancel =
        async || store.cancel_backfill("b1", "eve", Timestamp(60), &audit("backfill.cancel")).await.unwrap();
    assert!(cancel().await);
    assert!(!cancel().await);
    assert!(!start(store, &run_of(2, 2)).await);
    let counts = BackfillCounts { running: 1, cancelled: 2, ..BackfillCounts::default() };
    assert_eq!(store.backfill_counts("b1").await.unwrap(), counts);
    let found = store.backfill("b1").await.unwrap().unwrap();
    assert_eq!(found.cancelled, Some(("eve".into(), Timestamp(60))));
    // Another back-fill may have the dates that it left.
    assert_eq!(create(store, &backfill("b2", 3), false).await, 2);
}

async fn a_deleted_run_leaves_its_date(fixture: Fixture) {
    let store = &fixture.store;
    store.want_date(&firing("ctr", 1), false).await.unwrap();
    assert!(start(store, &run_of(1, 1)).await);
    ends(store, 1, run_of(1, 1), RunState::Succeeded).await;
    let entry = cubeloom_domain::identity::AuditEntry { at: Timestamp(i64::MAX), ..audit("run.delete") };
    assert_eq!(store.delete_run(&run(1).id, &entry).await.unwrap(), Deleted::Done);
    let found = store.firing(&of("ctr"), Timestamp(1)).await.unwrap().unwrap();
    assert_eq!((found.state, found.run), (FiringState::Started, None));
}

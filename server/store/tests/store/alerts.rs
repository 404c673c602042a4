//! Alerts: written once with their event; leased by one server at a time; kept until delivered.

use std::time::Duration;

use cubeloom_domain::accounting::budget::Budget;
use cubeloom_domain::accounting::{Day, Money};
use cubeloom_domain::alert::{
    Alert, AlertKind, Channel, ChannelKind, Delivery, DeliveryState, Language, Rules,
};
use cubeloom_domain::record::{Changes, RunRecord};
use cubeloom_domain::schedule::Cause;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_store::{Change, IdleCards, QuotaUse, Settled, Store, StoreError};

use crate::people::{audit, id, project};
use crate::records::{instance, plan, run};
use crate::support::{Fixture, MINUTE, lease, leased_run, on_both};

on_both!(
    channels_are_changed_by_who_has_seen_them,
    a_run_that_ends_tells_each_channel_once,
    what_recovers_is_told_and_what_repeats_is_not,
    a_refused_commit_tells_nothing,
    what_waits_too_long_is_told_once,
    a_run_that_is_queued_for_long_is_told_once,
    a_run_that_is_late_is_told_once,
    a_quota_that_stays_nearly_used_is_told_once,
    idle_cards_are_told_of_once_until_they_were_busy,
    a_budget_is_told_at_its_mark_and_when_it_is_spent,
    two_servers_share_what_is_due,
    what_a_server_held_when_it_died_is_sent_again,
    what_is_held_goes_together,
    a_slow_server_settles_nothing,
    history_goes_with_its_channel_its_project_and_time,
);

const SECOND: Timestamp = Timestamp(1_000_000);

pub fn channel(name: &str, events: &[AlertKind]) -> Channel {
    Channel {
        id: id(),
        project: "shop".into(),
        name: name.into(),
        kind: ChannelKind::Webhook,
        shown: "https://a.example".into(),
        address: "v1:sealed".into(),
        secret: None,
        rules: Rules {
            events: events.to_vec(),
            pipelines: Vec::new(),
            waiting_seconds: 600,
            repeat_seconds: 0,
            language: Language::Zh,
            quiet: None,
        },
        enabled: true,
        created_by: "ada".into(),
        created_at: Timestamp(7),
        revision: 1,
    }
}

pub async fn stored(store: &Store, channel: Channel) -> Channel {
    store.create_alert_channel(&channel, &audit("alert.create")).await.unwrap();
    channel
}

fn ended(n: u64, state: RunState, at: i64) -> RunRecord {
    RunRecord { state, ended_at: Some(Timestamp(at)), ..run(n) }
}

async fn commit(store: &Store, run: RunRecord) {
    let changes = Changes { runs: vec![run], ..Changes::default() };
    store.commit(&lease("a"), &changes).await.unwrap();
}

pub async fn told(store: &Store, channel: &Channel) -> Vec<Delivery> {
    let mut found = store.alert_deliveries("shop", Some(&channel.id), None, 100).await.unwrap();
    found.reverse();
    found
}

async fn kinds(store: &Store, channel: &Channel) -> Vec<AlertKind> {
    told(store, channel).await.into_iter().map(|delivery| delivery.alert.kind).collect()
}

fn alert(key: &str, at: i64) -> Alert {
    Alert::new(AlertKind::RunFailed, Timestamp(at), "shop", key.into(), "topic".into())
}

async fn channels_are_changed_by_who_has_seen_them(Fixture { store, .. }: Fixture) {
    let mut made = stored(&store, channel("ops", &[AlertKind::RunFailed])).await;
    made.secret = Some("v1:other".into());
    made.enabled = false;
    let change = store.update_alert_channel(&made, Some(1), &audit("alert.update")).await.unwrap();
    assert_eq!(change, Change::Done(2));
    let stale = store.update_alert_channel(&made, Some(1), &audit("alert.update")).await.unwrap();
    assert_eq!(stale, Change::Stale(2));
    let present = Channel { revision: 2, ..made };
    assert_eq!(store.alert_channel(&present.id).await.unwrap().as_ref(), Some(&present));
    assert_eq!(store.alert_channels("shop").await.unwrap(), [present]);
    let nowhere = Channel { project: "nowhere".into(), ..channel("ops", &[]) };
    let refused = store.create_alert_channel(&nowhere, &audit("alert.create")).await;
    assert!(matches!(refused, Err(StoreError::NoSuchProject(_))));
}

async fn a_run_that_ends_tells_each_channel_once(Fixture { store, .. }: Fixture) {
    leased_run(&store, 1, 1, "a").await;
    let one = stored(&store, channel("one", &[AlertKind::RunFailed])).await;
    let off = stored(&store, Channel { enabled: false, ..channel("off", &[AlertKind::RunFailed]) }).await;
    let other = stored(&store, channel("other", &[AlertKind::RunRecovered])).await;
    commit(&store, ended(1, RunState::Failed, 50)).await;
    // A pass may repeat a write.
    commit(&store, ended(1, RunState::Failed, 50)).await;
    let found = told(&store, &one).await;
    assert_eq!(found.len(), 1);
    let Delivery { alert, state, due_at, tries, .. } = &found[0];
    assert_eq!((alert.pipeline.as_deref(), alert.user.as_deref()), (Some("ctr"), Some("ada")));
    assert_eq!((*state, *due_at, *tries), (DeliveryState::Waiting, Some(Timestamp(50)), 0));
    assert!(told(&store, &off).await.is_empty() && told(&store, &other).await.is_empty());
    // It was resumed, and failed again: that is another failure.
    commit(&store, ended(1, RunState::Failed, 90)).await;
    assert_eq!(told(&store, &one).await.len(), 2);
}

async fn what_recovers_is_told_and_what_repeats_is_not(Fixture { store, .. }: Fixture) {
    let both = [AlertKind::RunFailed, AlertKind::RunRecovered];
    let all = stored(&store, channel("all", &both)).await;
    let mut calm = channel("calm", &both);
    calm.rules.repeat_seconds = 60;
    let calm = stored(&store, calm).await;
    let states =
        [RunState::Succeeded, RunState::Failed, RunState::Failed, RunState::Cancelled, RunState::Succeeded];
    for (n, state) in (1..).zip(states) {
        leased_run(&store, n, 1, "a").await;
        commit(&store, ended(n, state, i64::try_from(n).unwrap() * SECOND.0)).await;
    }
    leased_run(&store, 6, 1, "a").await;
    commit(&store, ended(6, RunState::Failed, 6 * SECOND.0)).await;
    let (failed, recovered) = (AlertKind::RunFailed, AlertKind::RunRecovered);
    assert_eq!(kinds(&store, &all).await, [failed, failed, recovered, failed]);
    assert_eq!(
        kinds(&store, &calm).await,
        [failed, recovered, failed],
        "the second failure in a row is no news"
    );
    // It failed itself, was resumed, and succeeds.
    let resumed = RunRecord { acting: Some("emil".into()), ..ended(6, RunState::Succeeded, 7 * SECOND.0) };
    commit(&store, resumed).await;
    assert_eq!(kinds(&store, &all).await.last(), Some(&recovered));
    assert_eq!(told(&store, &all).await.last().unwrap().alert.user.as_deref(), Some("emil"));
}

async fn a_refused_commit_tells_nothing(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::RunFailed])).await;
    leased_run(&store, 1, 1, "a").await;
    let changes = Changes { runs: vec![ended(1, RunState::Failed, 50)], ..Changes::default() };
    assert!(store.commit(&lease("b"), &changes).await.is_err());
    assert!(told(&store, &one).await.is_empty());
}

async fn what_waits_too_long_is_told_once(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::TaskWaiting])).await;
    let mut patient = channel("patient", &[AlertKind::TaskWaiting]);
    patient.rules.waiting_seconds = 3600;
    let patient = stored(&store, patient).await;
    leased_run(&store, 1, 2, "a").await;
    let record = run(1);
    let mut instances: Vec<_> = (0..3).map(|n| instance(&record.id, 1, n)).collect();
    instances.push(instance(&record.id, 0, 0));
    instances[3].ready_at = Timestamp(600 * SECOND.0);
    store.commit(&lease("a"), &Changes { instances, ..Changes::default() }).await.unwrap();
    assert_eq!(store.raise_waiting(Timestamp(599 * SECOND.0)).await.unwrap(), 0);
    let now = Timestamp(601 * SECOND.0);
    assert_eq!(store.raise_waiting(now).await.unwrap(), 1);
    assert_eq!(store.raise_waiting(now).await.unwrap(), 0);
    let found = told(&store, &one).await;
    let alert = &found[0].alert;
    assert_eq!(
        (alert.task.as_deref(), alert.count, alert.since),
        (Some("task-1"), Some(3), Some(Timestamp(5)))
    );
    assert!(told(&store, &patient).await.is_empty());
    assert_eq!(
        store.raise_waiting(Timestamp(7200 * SECOND.0)).await.unwrap(),
        3,
        "the other task, and who is patient"
    );
}

async fn a_run_that_is_queued_for_long_is_told_once(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::TaskWaiting])).await;
    let queued = RunRecord { created_at: Timestamp(SECOND.0), ..run(1) };
    store.create_run(&queued, &plan(&queued, 1), None).await.unwrap();
    assert_eq!(store.raise_waiting(Timestamp(600 * SECOND.0)).await.unwrap(), 0);
    let now = Timestamp(601 * SECOND.0);
    assert_eq!(store.raise_waiting(now).await.unwrap(), 1);
    assert_eq!(store.raise_waiting(now).await.unwrap(), 0);
    let Delivery { alert, .. } = &told(&store, &one).await[0];
    assert_eq!((alert.run.as_ref(), alert.task.as_deref()), (Some(&queued.id), None));
    assert_eq!(alert.since, Some(queued.created_at));
}

async fn a_run_that_is_late_is_told_once(Fixture { store, .. }: Fixture) {
    let day = 24 * 3600 * SECOND.0;
    let one = stored(&store, channel("one", &[AlertKind::RunLate])).await;
    let other = channel("other", &[AlertKind::RunLate]);
    let rules = Rules { pipelines: vec!["other".into()], ..other.rules.clone() };
    let other = stored(&store, Channel { rules, ..other }).await;
    let late = |n, state, ended: Option<i64>, late: i64| RunRecord {
        state,
        ended_at: ended.map(Timestamp),
        cause: Cause { late_at: Some(Timestamp(late)), ..Cause::default() },
        ..run(n)
    };
    let at = 2 * day;
    for record in [
        late(1, RunState::Running, None, at),
        late(2, RunState::Succeeded, Some(at), at),
        late(3, RunState::Succeeded, Some(at + 1), at),
        late(4, RunState::Cancelled, Some(at + 1), at),
        late(5, RunState::Failed, Some(at - 9), at),
        late(6, RunState::Running, None, at - day - 9),
    ] {
        store.create_run(&record, &plan(&record, 1), None).await.unwrap();
    }
    assert_eq!(store.raise_late(Timestamp(at)).await.unwrap(), 0, "not before it is");
    assert_eq!(store.raise_late(Timestamp(at + 2)).await.unwrap(), 3);
    assert_eq!(store.raise_late(Timestamp(at + 2)).await.unwrap(), 0);
    let mut found: Vec<_> = told(&store, &one).await.into_iter().map(|one| one.alert.run.unwrap()).collect();
    found.sort();
    assert_eq!(found, [1, 3, 5].map(|n| run(n).id), "the others were in time, unwanted, or late long ago");
    assert!(told(&store, &other).await.is_empty());
}

async fn a_quota_that_stays_nearly_used_is_told_once(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::QuotaNearlyUsed])).await;
    assert!(store.is_wanted(AlertKind::QuotaNearlyUsed).await.unwrap());
    assert!(!store.is_wanted(AlertKind::RunLate).await.unwrap());
    let used = async |percent, minute: i64| {
        let held = QuotaUse {
            project: "shop".into(),
            pool: "local".into(),
            resource: "cpu".into(),
            percent,
            sentence: format!("it uses {percent} of 100 of cpu on local"),
        };
        store.raise_quotas(&[held], Timestamp(minute * 60 * SECOND.0)).await.unwrap()
    };
    for (percent, minute, told, why) in [
        (95, 0, 0, "not at once"),
        (91, 9, 0, "not for ten minutes"),
        (89, 9, 0, "less"),
        (95, 11, 0, "it was less in between"),
        (95, 20, 0, "not for ten minutes since"),
        (96, 21, 1, "for ten minutes"),
        (99, 22, 0, "it was told"),
        (85, 23, 0, "not much less"),
        (95, 60, 0, "it was told"),
        (79, 61, 0, "much less"),
        (95, 62, 0, "not at once"),
        (95, 72, 1, "for ten minutes again"),
    ] {
        assert_eq!(used(percent, minute).await, told, "{minute}: {why}");
    }
    let found = told(&store, &one).await;
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].alert.sentence.as_deref(), Some("it uses 96 of 100 of cpu on local"));
    assert_eq!(found[0].alert.since, Some(Timestamp(11 * 60 * SECOND.0)));
}

async fn idle_cards_are_told_of_once_until_they_were_busy(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::GpuIdle])).await;
    let other = stored(&store, channel("other", &[AlertKind::RunFailed])).await;
    let minutes = |n: i64| Timestamp(n * 60 * SECOND.0);
    let idle = |n, busy_at: Option<i64>| IdleCards {
        key: AttemptKey { run: run(1).id, task: "train".into(), instance: 0, n },
        project: "shop".into(),
        pipeline: "ctr".into(),
        user: "ada".into(),
        since: minutes(busy_at.unwrap_or(1)),
        busy_at: busy_at.map(minutes),
        sentence: "of its 2 GPUs, 1 were hardly used for 30 minutes".into(),
    };
    for (n, busy_at, minute, told, why) in [
        (1, None, 40, 1, "it is idle"),
        (1, None, 41, 0, "it was told"),
        (1, Some(9), 42, 0, "it was busy before it was told"),
        (2, None, 42, 1, "another attempt"),
        (1, Some(50), 80, 1, "it was busy in between"),
        (1, Some(50), 81, 0, "it was told"),
        (1, None, 300, 0, "an hour later nobody knows when it was busy"),
    ] {
        let made = store.raise_idle(&[idle(n, busy_at)], minutes(minute)).await.unwrap();
        assert_eq!(made, told, "{minute}: {why}");
    }
    let found = told(&store, &one).await;
    assert_eq!((found.len(), told(&store, &other).await.len()), (3, 0));
    let alert = &found[0].alert;
    assert_eq!((alert.task.as_deref(), alert.run.as_ref()), (Some("train"), Some(&run(1).id)));
    assert_eq!((alert.user.as_deref(), alert.since), (Some("ada"), Some(minutes(1))));
    let late = stored(&store, channel("late", &[AlertKind::GpuIdle])).await;
    assert_eq!(
        store.raise_idle(&[idle(1, Some(50))], minutes(301)).await.unwrap(),
        1,
        "it was told nothing yet"
    );
    assert_eq!(told(&store, &late).await.len(), 1);
}

async fn a_budget_is_told_at_its_mark_and_when_it_is_spent(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::BudgetNearlyUsed])).await;
    let now = Timestamp(1_700_000_000_000_000);
    let budget = |amount| Budget {
        project: "shop".into(),
        month: Day::of(now).month(),
        amount: Some(Money(amount)),
        warn_percent: 0,
        stop: false,
        revision: 1,
    };
    let raise = async |later| store.raise_budgets(Timestamp(now.0 + later * SECOND.0)).await.unwrap();
    assert_eq!(raise(0).await, 0, "there is none");
    store.put_budget(&budget(5), None, &audit("change")).await.unwrap();
    assert_eq!((raise(0).await, raise(1).await), (1, 0));
    // A budget of 0 is fully spent.
    store.put_budget(&budget(0), Some(1), &audit("change")).await.unwrap();
    assert_eq!((raise(2).await, raise(3).await), (1, 0));
    let said: Vec<_> = told(&store, &one).await.into_iter().map(|one| one.alert.topic).collect();
    assert_eq!(said, ["budget:warned", "budget:spent"]);
}

async fn two_servers_share_what_is_due(fixture: Fixture) {
    let (store, second) = (fixture.store.clone(), fixture.second().await);
    stored(&store, channel("one", &[AlertKind::RunFailed])).await;
    for n in 0..20 {
        assert_eq!(store.raise_alert(&alert(&format!("k{n}"), n)).await.unwrap(), 1);
    }
    assert_eq!(store.raise_alert(&alert("k3", 3)).await.unwrap(), 0, "it was told");
    let now = Timestamp(30);
    let (one, other) =
        tokio::join!(store.claim_alerts("a", now, MINUTE, 100), second.claim_alerts("b", now, MINUTE, 100));
    let mut ids: Vec<String> = [one.unwrap(), other.unwrap()]
        .concat()
        .into_iter()
        .flat_map(|batch| batch.deliveries)
        .map(|d| d.id)
        .collect();
    assert_eq!(ids.len(), 20);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20, "none is taken by both");
    assert!(store.claim_alerts("c", now, MINUTE, 100).await.unwrap().is_empty());
}

async fn what_a_server_held_when_it_died_is_sent_again(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::RunFailed])).await;
    store.raise_alert(&alert("k", 5)).await.unwrap();
    let first = store.claim_alerts("dead", Timestamp(9), MINUTE, 10).await.unwrap();
    let later = Timestamp(9).plus(MINUTE + Duration::from_secs(1));
    let again = store.claim_alerts("b", later, MINUTE, 10).await.unwrap();
    assert_eq!(first[0].deliveries[0].id, again[0].deliveries[0].id, "receivers know it again by its id");
    let deliveries = &again[0].deliveries;
    let at = later.plus(MINUTE);
    store.settle_alerts("b", deliveries, Settled::Again(at), "HTTP 500", later).await.unwrap();
    assert!(store.claim_alerts("b", later, MINUTE, 10).await.unwrap().is_empty());
    let third = store.claim_alerts("b", at, MINUTE, 10).await.unwrap();
    assert_eq!(
        (third[0].deliveries[0].tries, third[0].deliveries[0].answer.as_deref()),
        (1, Some("HTTP 500"))
    );
    store.settle_alerts("b", &third[0].deliveries, Settled::Sent, "HTTP 200", at).await.unwrap();
    let done = &told(&store, &one).await[0];
    assert_eq!(
        (done.state, done.due_at, done.ended_at, done.tries),
        (DeliveryState::Sent, None, Some(at), 2)
    );
    let never = Timestamp(i64::MAX / 2);
    assert!(store.claim_alerts("b", never, MINUTE, 10).await.unwrap().is_empty());
}

async fn what_is_held_goes_together(Fixture { store, .. }: Fixture) {
    stored(&store, channel("one", &[AlertKind::RunFailed])).await;
    let morning = Timestamp(1000);
    for n in 0..3 {
        store.raise_alert(&alert(&format!("k{n}"), n)).await.unwrap();
        for batch in store.claim_alerts("a", Timestamp(10), MINUTE, 10).await.unwrap() {
            store.hold_alerts("a", &batch.deliveries, morning, "night").await.unwrap();
        }
    }
    assert!(store.claim_alerts("a", Timestamp(999), MINUTE, 10).await.unwrap().is_empty());
    let batches = store.claim_alerts("a", morning, MINUTE, 10).await.unwrap();
    assert_eq!(batches.len(), 1);
    let keys: Vec<&str> = batches[0].deliveries.iter().map(|one| one.alert.key.as_str()).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["k0", "k1", "k2"]);
}

async fn a_slow_server_settles_nothing(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::RunFailed])).await;
    store.raise_alert(&alert("k", 5)).await.unwrap();
    let slow = store.claim_alerts("slow", Timestamp(9), Duration::from_micros(1), 10).await.unwrap();
    let quick = store.claim_alerts("quick", Timestamp(20), MINUTE, 10).await.unwrap();
    store
        .settle_alerts("slow", &slow[0].deliveries, Settled::Failed, "too late", Timestamp(21))
        .await
        .unwrap();
    assert_eq!(told(&store, &one).await[0].state, DeliveryState::Waiting);
    store.settle_alerts("quick", &quick[0].deliveries, Settled::Sent, "", Timestamp(22)).await.unwrap();
    assert_eq!(told(&store, &one).await[0].state, DeliveryState::Sent);
}

async fn history_goes_with_its_channel_its_project_and_time(Fixture { store, .. }: Fixture) {
    let one = stored(&store, channel("one", &[AlertKind::RunFailed])).await;
    for n in 0..3 {
        store.raise_alert(&alert(&format!("k{n}"), n)).await.unwrap();
    }
    let test = Delivery {
        state: DeliveryState::Sent,
        due_at: None,
        ended_at: Some(Timestamp(50)),
        ..Delivery::new(
            &one.id,
            Alert::new(AlertKind::Test, Timestamp(50), "shop", "test:1".into(), "test".into()),
        )
    };
    store.note_alert(&test, &audit("alert.test")).await.unwrap();
    assert_eq!(store.delete_old_alerts(Timestamp(50)).await.unwrap(), 0);
    assert_eq!(store.delete_old_alerts(Timestamp(51)).await.unwrap(), 1, "what is to be sent stays");
    let page = store.alert_deliveries("shop", None, None, 2).await.unwrap();
    let next = store.alert_deliveries("shop", None, Some(&page[1].id), 2).await.unwrap();
    assert_eq!((page.len(), next.len()), (2, 1));
    store.delete_alert_channel(&one.id, Some(1), &audit("alert.delete")).await.unwrap();
    assert!(told(&store, &one).await.is_empty());
    store.create_project(&project("lab"), &audit("project.create")).await.unwrap();
    let lab = Channel { project: "lab".into(), ..channel("lab", &[AlertKind::RunFailed]) };
    store.create_alert_channel(&lab, &audit("alert.create")).await.unwrap();
    let change = store.delete_project("lab", None, &audit("project.delete")).await.unwrap();
    assert!(matches!(change, Change::Done(_)));
    assert!(store.alert_channel(&lab.id).await.unwrap().is_none());
}

//! Mail to the user of a run: without any channel, once, and only to the affected user.

use cubeloom_domain::alert::{Alert, AlertKind, Channel, ChannelKind, Delivery, DeliveryState};
use cubeloom_domain::hang::Hang;
use cubeloom_domain::identity::{Role, User};
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::sizing::{AttemptSizing, Reason, Size, SizedRole};
use cubeloom_domain::{AttemptKey, Bytes, Cpu, Timestamp};
use cubeloom_store::{IdleCards, Options, Receiver, Settled, Store};

use crate::alerts::{channel, stored};
use crate::hangs::hangs;
use crate::people::{audit, user};
use crate::records::{attempt, changes, hang, run_id};
use crate::support::{Fixture, MINUTE, lease, leased_run, on_both};

on_both!(
    whose_task_hangs_is_mailed_once_without_any_channel,
    a_channel_that_mails_to_the_same_address_is_enough,
    who_wants_none_or_sees_nothing_of_the_project_is_not_mailed,
    many_instances_of_a_task_are_one_mail,
    whose_cards_are_idle_is_mailed_once_until_they_were_busy,
    whose_workers_get_other_amounts_is_mailed,
    a_mail_is_for_whom_wants_it_when_it_is_sent,
);

const HOUR: i64 = 3_600_000_000;

/// A server that sends e-mail, on the same database. Ada is a member of the project and leads run 1.
async fn mailing(fixture: &Fixture) -> Store {
    let store = Store::open(&Options { mails: true, ..Options::new(&fixture.url) }).await.unwrap();
    store.create_user(&user("ada"), None, &audit("user.create")).await.unwrap();
    store.put_member("shop", "id-of-ada", Role::Editor, None, &audit("member.put")).await.unwrap();
    leased_run(&store, 1, 1, "a").await;
    store
}

async fn write(store: &Store, attempt: AttemptRecord) {
    store.commit(&lease("a"), &changes(vec![attempt])).await.unwrap();
}

/// An instance of the first task of run 1 that hangs since a moment.
fn hung(instance: u32, since: i64) -> AttemptRecord {
    let present = Hang { over: None, since: Timestamp(since), seen_at: Timestamp(since + 1), ..hang() };
    hangs(attempt(&run_id(1), 0, instance, 1), present)
}

async fn mails(store: &Store) -> Vec<Delivery> {
    let mut found = store.alert_deliveries("shop", Some("id-of-ada"), None, 100).await.unwrap();
    found.reverse();
    found
}

async fn change(store: &Store, changed: User) {
    store.update_user(&changed, None, &audit("user.update")).await.unwrap();
}

fn of_mail(shown: &str, events: &[AlertKind]) -> Channel {
    Channel { kind: ChannelKind::Email, shown: shown.into(), ..channel("mail", events) }
}

async fn whose_task_hangs_is_mailed_once_without_any_channel(fixture: Fixture) {
    let store = mailing(&fixture).await;
    for _ in 0..2 {
        write(&store, hung(0, 7)).await;
    }
    let found = mails(&store).await;
    assert_eq!(found.len(), 1);
    let Delivery { alert, state, .. } = &found[0];
    assert_eq!((alert.kind, alert.user.as_deref()), (AlertKind::TaskHangs, Some("ada")));
    assert_eq!((alert.task.as_deref(), *state), (Some("task-0"), DeliveryState::Waiting));
    let [batch] =
        <[_; 1]>::try_from(store.claim_alerts("s", Timestamp(20), MINUTE, 9).await.unwrap()).unwrap();
    assert_eq!((&batch.to, &batch.deliveries[..]), (&Receiver::Person(user("ada")), &found[..]));
    // The sender was killed before it knew the outcome; the next one sends it again, under the same id.
    let later = Timestamp(20).plus(2 * MINUTE);
    let [batch] = <[_; 1]>::try_from(store.claim_alerts("t", later, MINUTE, 9).await.unwrap()).unwrap();
    assert_eq!(batch.deliveries[0].id, found[0].id);
    store.settle_alerts("t", &batch.deliveries, Settled::Sent, "SMTP 250", later).await.unwrap();
    write(&store, hung(0, 7)).await;
    assert!(store.claim_alerts("t", later.plus(2 * MINUTE), MINUTE, 9).await.unwrap().is_empty());
    assert_eq!(mails(&store).await.len(), 1);
    assert_eq!(store.delete_old_alerts(later).await.unwrap(), 0, "it is kept as long as those of channels");
    assert_eq!(store.delete_old_alerts(Timestamp(later.0 + 1)).await.unwrap(), 1);
}

async fn a_channel_that_mails_to_the_same_address_is_enough(fixture: Fixture) {
    let store = mailing(&fixture).await;
    let hears = [AlertKind::TaskHangs];
    stored(&store, channel("hook", &hears)).await;
    let other = "emil@example.org, bada@example.org";
    stored(&store, of_mail(other, &hears)).await;
    let deaf = stored(&store, of_mail("ada@example.org", &[AlertKind::RunFailed])).await;
    write(&store, hung(0, 7)).await;
    assert_eq!(mails(&store).await.len(), 1, "no channel mails it to ada");
    let both = "ops@example.org, Ada@example.org";
    let same = stored(&store, of_mail(both, &hears)).await;
    for _ in 0..2 {
        write(&store, hung(1, 7 + 2 * HOUR)).await;
    }
    let of = async |channel: &Channel| {
        store.alert_deliveries("shop", Some(&channel.id), None, 9).await.unwrap().len()
    };
    assert_eq!((of(&same).await, of(&deaf).await, mails(&store).await.len()), (1, 0, 1));
    let mut calm = store.alert_channel(&same.id).await.unwrap().unwrap();
    calm.rules.repeat_seconds = 86_400;
    store.update_alert_channel(&calm, None, &audit("alert.update")).await.unwrap();
    write(&store, hung(2, 7 + 4 * HOUR)).await;
    assert_eq!((of(&same).await, mails(&store).await.len()), (1, 2), "the channel keeps this one to itself");
}

async fn who_wants_none_or_sees_nothing_of_the_project_is_not_mailed(fixture: Fixture) {
    let (plain, store) = (fixture.store.clone(), mailing(&fixture).await);
    for (n, changed) in [
        User { mails: false, ..user("ada") },
        User { email: None, ..user("ada") },
        User { disabled: true, ..user("ada") },
    ]
    .into_iter()
    .enumerate()
    {
        change(&store, changed).await;
        assert!(!store.is_wanted(AlertKind::GpuIdle).await.unwrap());
        write(&store, hung(u32::try_from(n).unwrap(), 7)).await;
    }
    change(&store, user("ada")).await;
    assert!(store.is_wanted(AlertKind::GpuIdle).await.unwrap());
    assert!(!store.is_wanted(AlertKind::QuotaNearlyUsed).await.unwrap(), "that is for channels");
    assert!(!plain.is_wanted(AlertKind::GpuIdle).await.unwrap(), "that server sends no e-mail");
    write(&plain, hung(5, 7)).await;
    let failed = Alert {
        user: Some("ada".into()),
        ..Alert::new(AlertKind::RunFailed, Timestamp(7), "shop", "k".into(), "t".into())
    };
    assert_eq!(store.raise_alert(&failed).await.unwrap(), 0);
    store.remove_member("shop", "id-of-ada", None, &audit("member.remove")).await.unwrap();
    write(&store, hung(6, 7)).await;
    assert!(mails(&store).await.is_empty());
    // An administrator of the platform sees every project.
    change(&store, User { admin: true, ..user("ada") }).await;
    write(&store, hung(7, 7)).await;
    assert_eq!(mails(&store).await.len(), 1);
}

async fn many_instances_of_a_task_are_one_mail(fixture: Fixture) {
    let store = mailing(&fixture).await;
    let many = (0..9).map(|instance| hung(instance, 7)).collect();
    store.commit(&lease("a"), &changes(many)).await.unwrap();
    assert_eq!(mails(&store).await.len(), 1);
    write(&store, hung(3, 7 + HOUR / 2)).await;
    assert_eq!(mails(&store).await.len(), 1);
    write(&store, hung(3, 7 + HOUR)).await;
    assert_eq!(mails(&store).await.len(), 2, "an hour later it is news");
    leased_run(&store, 2, 1, "a").await;
    write(&store, hangs(attempt(&run_id(2), 0, 0, 1), Hang { over: None, ..hang() })).await;
    assert_eq!(mails(&store).await.len(), 3, "another run is news at once");
}

async fn whose_cards_are_idle_is_mailed_once_until_they_were_busy(fixture: Fixture) {
    let store = mailing(&fixture).await;
    let minutes = |n: i64| Timestamp(n * 60_000_000);
    let idle = |busy_at: Option<i64>| IdleCards {
        key: AttemptKey { run: run_id(1), task: "train".into(), instance: 0, n: 1 },
        project: "shop".into(),
        pipeline: "ctr".into(),
        user: "ada".into(),
        since: minutes(busy_at.unwrap_or(1)),
        busy_at: busy_at.map(minutes),
        sentence: "of its 2 GPUs, 1 were hardly used for 30 minutes".into(),
    };
    for (busy_at, minute, told, why) in [
        (None, 40, 1, "it is idle"),
        (None, 41, 0, "it was told"),
        (Some(9), 42, 0, "it was busy before it was told"),
        (Some(50), 80, 0, "it was busy in between, and an hour is not over"),
        (Some(50), 101, 1, "an hour is over"),
        (Some(50), 300, 0, "it was told"),
    ] {
        let made = store.raise_idle(&[idle(busy_at)], minutes(minute)).await.unwrap();
        assert_eq!(made, told, "{minute}: {why}");
    }
    let found = mails(&store).await;
    assert_eq!((found.len(), found[0].alert.since), (2, Some(minutes(1))));
    stored(&store, of_mail("ada@example.org", &[AlertKind::GpuIdle])).await;
    let made = store.raise_idle(&[idle(Some(310))], minutes(400)).await.unwrap();
    assert_eq!((made, mails(&store).await.len()), (1, 2), "the channel mails it to the same address");
    assert_eq!(store.raise_idle(&[idle(Some(310))], minutes(401)).await.unwrap(), 0);
}

async fn whose_workers_get_other_amounts_is_mailed(fixture: Fixture) {
    let store = mailing(&fixture).await;
    let size = |mib: u64| Size { cpu: Cpu(1000), memory: Bytes(mib << 20) };
    let asked = SizedRole::asked("worker", size(512), Reason::Asked, Reason::Asked);
    let changed = SizedRole { gets: size(256), memory: Reason::Peaks { attempts: 9 }, ..asked };
    let sizing = AttemptSizing { roles: vec![changed], ..AttemptSizing::default() };
    // Many instances, and each written again.
    for instance in [0, 1, 0] {
        let sizing = Some(Box::new(sizing.clone()));
        write(&store, AttemptRecord { sizing, ..attempt(&run_id(1), 0, instance, 1) }).await;
    }
    let found = mails(&store).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].alert.sentence.as_deref(),
        Some("memory 256Mi instead of 512Mi: peaks of 9 attempts")
    );
}

async fn a_mail_is_for_whom_wants_it_when_it_is_sent(fixture: Fixture) {
    let store = mailing(&fixture).await;
    write(&store, hung(0, 7)).await;
    change(&store, User { mails: false, ..user("ada") }).await;
    let [batch] =
        <[_; 1]>::try_from(store.claim_alerts("s", Timestamp(20), MINUTE, 9).await.unwrap()).unwrap();
    assert_eq!(batch.to, Receiver::Nobody);
}

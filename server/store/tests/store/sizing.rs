//! Usage of attempts: what is stored and what is not; resource adjustments; and reverts.

use cubeloom_domain::alert::AlertKind;
use cubeloom_domain::identity::Project;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome, WorkerName};
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::record::{AttemptRecord, Changes};
use cubeloom_domain::sizing::{AttemptSizing, KEPT, PastEnd, Reason, Reverted, Size, SizedRole};
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::usage::{MemorySpread, RoleUsage};
use cubeloom_domain::{Bytes, Cpu, Timestamp};
use cubeloom_store::Store;

use crate::alerts::{channel, stored};
use crate::people::{audit, project};
use crate::records::{attempt, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    what_attempts_used_is_kept_by_role_and_once,
    what_says_nothing_is_not_kept,
    a_change_is_noted_and_told_once,
    one_decision_for_many_instances_is_one_change,
    amounts_that_follow_the_input_are_noted_now_and_then,
    what_grows_while_it_runs_is_noted_and_told_each_time,
    a_task_is_reverted_and_resumed,
    a_run_in_auto_knows_what_was_used,
);

const SECOND: i64 = 1_000_000;
const MIB: u64 = 1 << 20;

fn size(cpu: u64, mib: u64) -> Size {
    Size { cpu: Cpu(cpu), memory: Bytes(mib * MIB) }
}

fn role(name: &str, peak: u64) -> SizedRole {
    let used = RoleUsage {
        role: name.into(),
        peak_memory: Bytes(peak * MIB),
        memory: Some(MemorySpread { middle: Bytes(peak * MIB / 2), high: Bytes(peak * MIB) }),
        cpu: Cpu(200),
        cpu_high: Cpu(300),
        throttled: Some(10),
        cpu_waited: Some(20),
    };
    SizedRole { used: Some(used), ..SizedRole::asked(name, size(1000, 512), Reason::Asked, Reason::Asked) }
}

/// An attempt at an instance of the first task of run 1, with two roles, which ran for so many seconds.
fn ran(instance: u32, seconds: i64, outcome: Outcome) -> AttemptRecord {
    let (from, until) = (Timestamp(SECOND), Timestamp(SECOND + seconds * SECOND));
    let state = AttemptState::Ended { started_at: Some(from), ended_at: until, outcome };
    let roles = vec![role("master", 40), role("worker", 100 + u64::from(instance))];
    let sizing = AttemptSizing { make: "m".into(), input: Some(7), roles, grows: true };
    AttemptRecord { state, sizing: Some(Box::new(sizing)), ..attempt(&run_id(1), 0, instance, 1) }
}

fn ran_out(role: &str) -> Outcome {
    let worker = Some(WorkerName { role: role.into(), index: 0 });
    Outcome::Failed(Failure { worker, ..Failure::new(FailureKind::OutOfMemory, "no more") })
}

async fn commit(store: &Store, attempts: Vec<AttemptRecord>) {
    store.commit(&lease("a"), &Changes { attempts, ..Changes::default() }).await.unwrap();
}

async fn peaks(store: &Store, role: &str) -> Vec<u64> {
    let history = store.sizing("shop", "ctr").await.unwrap();
    history.of_task("task-0", "command", role).iter().map(|past| past.peak / MIB).collect()
}

async fn what_attempts_used_is_kept_by_role_and_once(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let first = ran(0, 5, Outcome::Succeeded);
    for _ in 0..3 {
        commit(store, vec![first.clone()]).await;
    }
    commit(store, vec![ran(1, 5, Outcome::Succeeded)]).await;
    assert_eq!((peaks(store, "worker").await, peaks(store, "master").await), (vec![100, 101], vec![40, 40]));
    let history = store.sizing("shop", "ctr").await.unwrap();
    let spread = history.of_task("task-0", "command", "worker")[0].memory;
    assert_eq!(spread, Some((50 * MIB, 100 * MIB)));
    let history = store.sizing("shop", "other").await.unwrap();
    assert_eq!(history.of_task("task-0", "command", "worker"), [], "of another pipeline");
    let past = &history.of_template("command", "worker")[0];
    assert_eq!((past.make.as_str(), past.input, past.end), ("m", Some(7), PastEnd::Succeeded));
    assert_eq!((past.cpu, past.throttled, past.micros), ((200, 300), Some(10), 5_000_000));
    // The attempt has it, too.
    let stored = store.attempts(&run_id(1)).await.unwrap();
    assert_eq!(stored[0].sizing, first.sizing);
    // More in one commit than are kept.
    commit(store, (10..100).map(|instance| ran(instance, 5, Outcome::Succeeded)).collect()).await;
    let peaks = peaks(store, "worker").await;
    assert_eq!((peaks.len(), peaks[0], peaks[KEPT - 1]), (KEPT, 140, 199));
}

async fn what_says_nothing_is_not_kept(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let failed = Outcome::Failed(Failure::new(FailureKind::Exit, "no"));
    let unsized_one = AttemptRecord { sizing: None, ..ran(3, 5, Outcome::Succeeded) };
    let unknown = {
        let mut unknown = ran(4, 5, Outcome::Succeeded);
        unknown.sizing.as_mut().unwrap().roles.iter_mut().for_each(|role| role.used = None);
        unknown
    };
    let nothing = vec![
        ran(0, 0, Outcome::Succeeded),
        ran(1, 5, failed),
        ran(2, 5, Outcome::Cancelled),
        unsized_one,
        unknown,
    ];
    commit(store, nothing).await;
    assert_eq!(peaks(store, "worker").await, [0; 0]);
    // An OOM kill counts however short the attempt was, for the role of the killed worker.
    commit(store, vec![ran(5, 0, ran_out("worker"))]).await;
    assert_eq!((peaks(store, "worker").await, peaks(store, "master").await), (vec![105], vec![]));
}

async fn a_change_is_noted_and_told_once(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let told = stored(store, channel("sizes", &[AlertKind::SizeChanged])).await;
    let changed = SizedRole {
        gets: size(1000, 256),
        memory: Reason::Peaks { attempts: 9 },
        used: None,
        ..role("worker", 0)
    };
    let sizing =
        AttemptSizing { roles: vec![role("master", 1), changed.clone()], ..AttemptSizing::default() };
    let new = AttemptRecord {
        state: AttemptState::Submitting,
        sizing: Some(Box::new(sizing)),
        ..attempt(&run_id(1), 0, 0, 1)
    };
    for _ in 0..3 {
        commit(store, vec![new.clone()]).await;
    }
    let changes = store.size_changes("shop", "ctr", "task-0", 10).await.unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((&changes[0].attempt, &changes[0].sized), (&new.key, &changed));
    let messages = store.alert_deliveries("shop", Some(&told.id), None, 10).await.unwrap();
    assert_eq!(messages.len(), 1);
    let said = messages[0].alert.sentence.as_deref();
    assert_eq!(said, Some("worker: memory 256Mi instead of 512Mi: peaks of 9 attempts"));
    assert!(store.size_changes("shop", "ctr", "task-1", 10).await.unwrap().is_empty());
}

/// An attempt being submitted with so much of the 512 MiB that are requested.
fn begins(instance: u32, n: u32, mib: u64, input: Option<u64>, created: i64) -> AttemptRecord {
    let gets = SizedRole {
        gets: size(1000, mib),
        memory: Reason::Peaks { attempts: 9 },
        used: None,
        ..role("worker", 0)
    };
    AttemptRecord {
        state: AttemptState::Submitting,
        created_at: Timestamp(created),
        sizing: Some(Box::new(AttemptSizing { input, roles: vec![gets], ..AttemptSizing::default() })),
        ..attempt(&run_id(1), 0, instance, n)
    }
}

/// The recorded resource adjustments of the first task, in MiB, newest first.
async fn noted(store: &Store) -> Vec<u64> {
    let changes = store.size_changes("shop", "ctr", "task-0", 1000).await.unwrap();
    changes.iter().map(|change| change.sized.gets.memory.0 / MIB).collect()
}

async fn one_decision_for_many_instances_is_one_change(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let told = stored(store, channel("sizes", &[AlertKind::SizeChanged])).await;
    let messages = async || store.alert_deliveries("shop", Some(&told.id), None, 1000).await.unwrap().len();
    commit(store, (0..50).map(|instance| begins(instance, 1, 256, None, SECOND)).collect()).await;
    assert_eq!((noted(store).await, messages().await), (vec![256], 1));
    // The previous attempt is the same one until another has ended.
    commit(store, (50..100).map(|instance| begins(instance, 1, 256, None, 2 * SECOND)).collect()).await;
    assert_eq!((noted(store).await, messages().await), (vec![256], 1));
    commit(store, (0..50).map(|instance| begins(instance, 2, 300, None, 3 * SECOND)).collect()).await;
    assert_eq!((noted(store).await, messages().await), (vec![300, 256], 2));
    // The last 200 of a task are kept.
    for n in 3..303 {
        commit(store, vec![begins(0, n, u64::from(n), None, i64::from(n) * 2 * SECOND)]).await;
    }
    assert_eq!(store.delete_old_size_changes().await.unwrap(), 102);
    let kept = noted(store).await;
    assert_eq!((kept.len(), kept[0], kept[199]), (200, 302, 103));
    assert_eq!(store.delete_old_size_changes().await.unwrap(), 0);
}

async fn amounts_that_follow_the_input_are_noted_now_and_then(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let told = stored(store, channel("sizes", &[AlertKind::SizeChanged])).await;
    let from = |n: u32, created| begins(n % 50, n / 50 + 1, 200 + u64::from(n) % 2 * 56, Some(7), created);
    for n in 0..50 {
        commit(store, vec![from(n, i64::from(n) * SECOND)]).await;
    }
    assert_eq!(noted(store).await, [200]);
    commit(store, vec![from(51, 3599 * SECOND)]).await;
    assert_eq!(noted(store).await, [200]);
    commit(store, vec![from(53, 3600 * SECOND), from(54, 3600 * SECOND), from(55, 3601 * SECOND)]).await;
    assert_eq!(noted(store).await, [256, 200]);
    assert_eq!(store.alert_deliveries("shop", Some(&told.id), None, 1000).await.unwrap().len(), 2);
}

async fn what_grows_while_it_runs_is_noted_and_told_each_time(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let told = stored(store, channel("sizes", &[AlertKind::SizeChanged])).await;
    let new = begins(0, 1, 512, None, SECOND);
    commit(store, vec![new.clone()]).await;
    assert!(noted(store).await.is_empty(), "it gets what it asked for");
    let mut runs =
        AttemptRecord { state: AttemptState::Running { started_at: Timestamp(2 * SECOND) }, ..new };
    for (second, mib) in [(5, 768), (9, 1152)] {
        let sizing = runs.sizing.as_mut().unwrap();
        sizing.grow("worker", Bytes(mib * MIB), Timestamp(second * SECOND));
        // It is written again with each progress update.
        for _ in 0..3 {
            commit(store, vec![runs.clone()]).await;
        }
    }
    assert_eq!(noted(store).await, [1152, 768]);
    // The user that the run runs as finds it while it is recent.
    let anew = async |user: &str, since: i64| {
        let found = store.sized_anew(user, None, Timestamp(since * SECOND), 10).await.unwrap();
        found.iter().map(|one| (one.task.clone(), one.what.sized.gets.memory.0 / MIB)).collect::<Vec<_>>()
    };
    let [large, small] = [1152, 768].map(|mib| ("task-0".to_owned(), mib));
    assert_eq!(anew("ada", 5).await, [large.clone(), small]);
    assert_eq!((anew("ada", 6).await, anew("emil", 5).await), (vec![large], Vec::new()));
    assert!(store.sized_anew("ada", Some(&[]), Timestamp(0), 10).await.unwrap().is_empty());
    let messages = store.alert_deliveries("shop", Some(&told.id), None, 10).await.unwrap();
    let said: Vec<_> = messages.iter().filter_map(|message| message.alert.sentence.clone()).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    let last = "memory 1152Mi instead of 768Mi: 768Mi was nearly used up while it ran".to_owned();
    assert!(said.contains(&last), "{said:?}");
}

async fn a_task_is_reverted_and_resumed(fixture: Fixture) {
    let store = &fixture.store;
    let reverted = |by: &str| Reverted {
        project: "shop".into(),
        pipeline: "ctr".into(),
        task: "task-0".into(),
        by: by.into(),
        at: Timestamp(5),
    };
    store.revert_sizing(&reverted("ada"), &audit("sizing.revert")).await.unwrap();
    store.revert_sizing(&reverted("bob"), &audit("sizing.revert")).await.unwrap();
    assert_eq!(store.sizing_reverted("shop", "ctr", "task-0").await.unwrap(), Some(reverted("ada")));
    assert!(store.sizing("shop", "ctr").await.unwrap().reverted.contains("task-0"));
    store.resume_sizing("shop", "ctr", "task-0", &audit("sizing.resume")).await.unwrap();
    assert_eq!(store.sizing_reverted("shop", "ctr", "task-0").await.unwrap(), None);
}

async fn a_run_in_auto_knows_what_was_used(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    commit(store, vec![ran(0, 5, Outcome::Succeeded)]).await;
    let known = async || store.load(&run_id(1)).await.unwrap().unwrap().sizing;
    let advise = Project { sizing: SizingMode::Advise, ..project("shop") };
    store.update_project(&advise, None, &audit("project.update")).await.unwrap();
    let advised = known().await;
    assert_eq!((advised.mode, advised.is_empty()), (SizingMode::Advise, true), "nothing is done with it");
    let auto = Project { sizing: SizingMode::Auto, ..project("shop") };
    store.update_project(&auto, None, &audit("project.update")).await.unwrap();
    assert_eq!(store.project("shop").await.unwrap().unwrap().sizing, SizingMode::Auto);
    let done = known().await;
    assert_eq!((done.mode, done.of_task("task-0", "command", "worker").len()), (SizingMode::Auto, 1));
}

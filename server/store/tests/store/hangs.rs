//! Hanging attempts: the stacks of their workers are stored, and read only for display.

use cubeloom_domain::alert::AlertKind;
use cubeloom_domain::effective::Tried;
use cubeloom_domain::hang::{Hang, WorkerStack};
use cubeloom_domain::record::{AttemptRecord, Changes, HangStacks, InstanceRecord};
use cubeloom_domain::state::{AttemptState, InstanceState};
use cubeloom_domain::{TaskIx, Timestamp};
use cubeloom_store::{Hanging, TimedTry};

use crate::alerts::{channel, stored, told};
use crate::records::{attempt, changes, ended, hang, instance, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    what_workers_were_at_is_read_only_where_it_is_shown,
    hangs_of_what_runs_are_found_without_the_others,
    what_hangs_now_is_found_for_whom_its_run_acts,
    time_is_told_from_a_few_columns_page_by_page,
    a_hang_is_told_when_it_is_marked_and_not_when_it_is_written_again
);

fn stacks() -> Vec<WorkerStack> {
    vec![WorkerStack { worker: "worker-3".into(), text: "process 7: python3\n".into() }]
}

/// The stacks of an attempt's workers.
fn looked(attempt: &AttemptRecord, stacks: Vec<WorkerStack>) -> Vec<HangStacks> {
    vec![HangStacks { key: attempt.key.clone(), task: attempt.task, stacks }]
}

pub fn hangs(attempt: AttemptRecord, hang: Hang) -> AttemptRecord {
    let state = AttemptState::Running { started_at: Timestamp(6) };
    AttemptRecord { state, hang: Some(Box::new(hang)), ..attempt }
}

async fn what_workers_were_at_is_read_only_where_it_is_shown(Fixture { store, .. }: Fixture) {
    leased_run(&store, 1, 1, "a").await;
    let id = run_id(1);
    let brief = hangs(attempt(&id, 0, 0, 1), Hang { over: None, ..hang() });
    let whole = hangs(brief.clone(), Hang { over: None, stacks: stacks(), ..hang() });
    let found = Changes { stacks: looked(&brief, stacks()), ..changes(vec![brief.clone()]) };
    store.commit(&lease("a"), &found).await.unwrap();
    let whole = [whole];
    assert_eq!(store.attempts_with_stacks(&id, TaskIx(0), 0).await.unwrap(), whole);
    // The server that leads the run writes the attempt again, without the stacks, and does not lose them.
    assert_eq!(store.load(&id).await.unwrap().unwrap().attempts, std::slice::from_ref(&brief));
    store.commit(&lease("a"), &changes(vec![brief.clone()])).await.unwrap();
    assert_eq!(store.attempts_with_stacks(&id, TaskIx(0), 0).await.unwrap(), whole);
    let brief = [brief];
    assert_eq!(store.attempts(&id).await.unwrap(), brief);
    assert_eq!(store.attempts_of(&id, TaskIx(0), 0).await.unwrap(), brief);
    assert_eq!(store.attempts_of_task(&id, TaskIx(0), 9).await.unwrap(), brief);
    assert_eq!(store.attempts_page(&id, None, 9).await.unwrap(), brief);
    assert_eq!(store.live_attempts(&id, 9).await.unwrap(), brief);
    let held = store.holding().await.unwrap();
    assert_eq!(held.into_iter().map(|held| held.attempt).collect::<Vec<_>>(), brief);
    // It is another hang, without stacks yet.
    let next = hangs(whole[0].clone(), Hang { over: None, ..hang() });
    let found = Changes { stacks: looked(&next, Vec::new()), ..changes(vec![next.clone()]) };
    store.commit(&lease("a"), &found).await.unwrap();
    assert_eq!(store.attempts_with_stacks(&id, TaskIx(0), 0).await.unwrap(), [next]);
}

async fn hangs_of_what_runs_are_found_without_the_others(Fixture { store, .. }: Fixture) {
    leased_run(&store, 1, 3, "a").await;
    let id = run_id(1);
    let present = Hang { over: None, ..hang() };
    let with_stacks = Hang { stacks: stacks(), ..present.clone() };
    let attempts = vec![
        ended(&attempt(&id, 0, 0, 1)),
        attempt(&id, 0, 1, 1),
        hangs(attempt(&id, 1, 0, 1), with_stacks),
        hangs(attempt(&id, 2, 0, 1), hang()),
    ];
    store.commit(&lease("a"), &changes(attempts)).await.unwrap();
    let both = [("task-1".to_owned(), present), ("task-2".to_owned(), hang())];
    assert_eq!(store.hangs(&id, 9).await.unwrap(), both);
    assert_eq!(store.hangs(&id, 1).await.unwrap(), both[..1]);
}

async fn what_hangs_now_is_found_for_whom_its_run_acts(Fixture { store, .. }: Fixture) {
    leased_run(&store, 1, 3, "a").await;
    let id = run_id(1);
    let present = Hang { over: None, ..hang() };
    let attempts = vec![
        attempt(&id, 0, 0, 1),
        hangs(attempt(&id, 1, 3, 1), present.clone()),
        hangs(attempt(&id, 2, 0, 1), Hang { over: Some(Timestamp(9)), ..hang() }),
    ];
    store.commit(&lease("a"), &changes(attempts.clone())).await.unwrap();
    let [found] = <[_; 1]>::try_from(store.hanging("ada", None, 9).await.unwrap()).unwrap();
    let hanging = Hanging { instance: 3, hang: present };
    assert_eq!((found.run, found.task.as_str(), found.what), (id.clone(), "task-1", hanging));
    assert_eq!((found.project.as_str(), found.pipeline.as_str()), ("shop", "ctr"));
    let shop = ["shop".to_owned()];
    assert_eq!(store.hanging("ada", Some(&shop), 9).await.unwrap().len(), 1);
    assert!(store.hanging("ada", Some(&[]), 9).await.unwrap().is_empty(), "of projects that ada has left");
    assert!(store.hanging("emil", None, 9).await.unwrap().is_empty(), "it is ada's");
    store.commit(&lease("a"), &changes(vec![ended(&attempts[1])])).await.unwrap();
    assert!(store.hanging("ada", None, 9).await.unwrap().is_empty(), "it has ended");
}

async fn time_is_told_from_a_few_columns_page_by_page(Fixture { store, .. }: Fixture) {
    leased_run(&store, 1, 3, "a").await;
    let id = run_id(1);
    let tries = |task| (1..=3).map(move |n| (task, n));
    let attempts: Vec<AttemptRecord> =
        tries(0).chain(tries(2)).map(|(task, n)| ended(&attempt(&run_id(1), task, 7, n))).collect();
    let timed: Vec<TimedTry> = attempts
        .iter()
        .map(|one| TimedTry {
            tried: Tried {
                task: one.task,
                instance: 7,
                state: one.state.clone(),
                created_at: one.created_at,
                pace: one.pace.as_deref().cloned(),
                hang: one.hang.as_deref().cloned(),
                gpus: one.amount.gpus,
                card_us: one.usage.card_us,
            },
            n: one.key.n,
            ready_at: Timestamp(5),
            ended_at: Some(Timestamp(9)),
        })
        .collect();
    let ended_at = Some(Timestamp(9));
    let instances: Vec<InstanceRecord> = [0, 2]
        .map(|task| InstanceRecord { ended_at, state: InstanceState::ACTIVE, ..instance(&id, task, 7) })
        .into();
    store.commit(&lease("a"), &Changes { attempts, instances, ..Changes::default() }).await.unwrap();
    assert_eq!(store.tried(&id, None, None, 9).await.unwrap(), timed);
    // In pages, for every page size.
    for limit in 1..=6 {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store.tried(&id, None, after, limit).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.place());
            found.extend(page);
        }
        assert_eq!(found, timed, "{limit} at a time");
    }
    assert_eq!(store.tried(&id, Some(TaskIx(2)), None, 9).await.unwrap(), timed[3..]);
    assert_eq!(store.tried(&id, Some(TaskIx(0)), Some((0, 7, 1)), 9).await.unwrap(), timed[1..3]);
    assert!(store.tried(&id, Some(TaskIx(1)), None, 9).await.unwrap().is_empty());
    // It will be rerun, and counts no time yet.
    let again = InstanceRecord { state: InstanceState::Pending, ..instance(&id, 2, 7) };
    let again = Changes { instances: vec![again], ..Changes::default() };
    store.commit(&lease("a"), &again).await.unwrap();
    assert_eq!(store.tried(&id, None, None, 9).await.unwrap(), timed[..3]);
}

async fn a_hang_is_told_when_it_is_marked_and_not_when_it_is_written_again(Fixture { store, .. }: Fixture) {
    leased_run(&store, 1, 1, "a").await;
    let id = run_id(1);
    let write = async |hang| {
        let attempt = hangs(attempt(&id, 0, 0, 1), hang);
        store.commit(&lease("a"), &changes(vec![attempt])).await.unwrap();
    };
    let one = stored(&store, channel("one", &[AlertKind::TaskHangs])).await;
    let present = Hang { over: None, ..hang() };
    write(present.clone()).await;
    let found = told(&store, &one).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].alert.since, Some(present.since));
    // Its progress is written again, by the same server or by one that took it over: a channel added since
    // gets no alert.
    let late = stored(&store, channel("late", &[AlertKind::TaskHangs])).await;
    write(Hang { stacks: stacks(), ..present.clone() }).await;
    write(Hang { over: Some(Timestamp(20)), ..present.clone() }).await;
    assert_eq!((told(&store, &one).await.len(), told(&store, &late).await.len()), (1, 0));
    // It recovered, and hangs again.
    write(Hang { since: Timestamp(30), seen_at: Timestamp(40), ..present }).await;
    assert_eq!((told(&store, &one).await.len(), told(&store, &late).await.len()), (2, 1));
}

//! Paths of small runs, and of random ones.

use proptest::prelude::*;

use super::*;

const START: i64 = 1_000;

/// A task that became ready and ended at these times, with one attempt that started after `waited`.
fn ran(ready: i64, waited: i64, ended: i64) -> Option<TaskTimes> {
    let started_at = Some(Timestamp(ready + waited));
    Some(TaskTimes {
        instance: 0,
        ready_at: Timestamp(ready),
        submitted_at: started_at,
        started_at,
        final_start: started_at,
        ended_at: Some(Timestamp(ended)),
        attempts: 1,
    })
}

/// The path of tasks that wait for all of their upstream tasks.
fn of_all(needs: &[Vec<TaskIx>], tasks: &[Option<TaskTimes>], now: Timestamp) -> Vec<Step> {
    let upstream: Vec<Upstream<'_>> = needs.iter().map(|needs| Upstream { needs, is_early: false }).collect();
    critical_path(&upstream, tasks, now)
}

fn path(needs: &[&[u32]], tasks: &[Option<TaskTimes>], now: i64) -> Vec<Step> {
    let needs: Vec<Vec<TaskIx>> =
        needs.iter().map(|needs| needs.iter().copied().map(TaskIx).collect()).collect();
    of_all(&needs, tasks, Timestamp(now))
}

fn names(steps: &[Step]) -> Vec<u32> {
    steps.iter().map(|step| step.task.0).collect()
}

#[test]
fn it_goes_back_through_what_ended_last() {
    // 0 -> 1 -> 3, 0 -> 2 -> 3, and 4 beside them.
    let needs: [&[u32]; 5] = [&[], &[0], &[0], &[1, 2], &[]];
    let tasks = [ran(0, 0, 10), ran(10, 5, 30), ran(10, 0, 20), ran(30, 0, 50), ran(0, 0, 40)];
    let found = path(&needs, &tasks, 99);
    assert_eq!(names(&found), [0, 1, 3]);
    let train = found[1];
    assert_eq!((train.waiting(), train.running()), (Duration::from_micros(5), Duration::from_micros(15)));
    assert!(path(&[], &[], 99).is_empty());
}

#[test]
fn an_upstream_that_ended_after_the_start_did_not_delay_it() {
    // A trigger rule that needs one of both.
    let tasks = [ran(0, 0, 10), ran(0, 0, 80), ran(10, 0, 90)];
    let needs = [TaskIx(0), TaskIx(1)];
    let root = Upstream { needs: &[], is_early: false };
    let upstream = [root, root, Upstream { needs: &needs, is_early: true }];
    assert_eq!(names(&critical_path(&upstream, &tasks, Timestamp(99))), [0, 2]);
}

#[test]
fn a_clock_that_is_ahead_does_not_break_the_path() {
    let found = path(&[&[], &[0]], &[ran(0, 0, 13), ran(10, 0, 20)], 99);
    assert_eq!(names(&found), [0, 1]);
    assert_eq!(found[0].until, Timestamp(10));
}

#[test]
fn tasks_without_time_are_left_out_at_the_ends_and_those_without_instances_everywhere() {
    let skipped = |at: i64| ran(at, 0, at);
    let needs: [&[u32]; 6] = [&[], &[0], &[1], &[2], &[3], &[4]];
    // 0 was reused, 2 has no items, 3 was skipped, 5 did not start because 4 failed.
    let tasks = [skipped(0), ran(0, 0, 10), None, skipped(10), ran(10, 0, 20), skipped(20)];
    assert_eq!(names(&path(&needs, &tasks, 99)), [1, 3, 4]);
}

#[test]
fn an_upstream_without_instances_stands_for_its_own_upstream() {
    // 3 needs 2 and the empty 1, 2 needs the empty 1, and 1 needs 0.
    let tasks = [ran(0, 0, 10), None, ran(10, 0, 20), ran(20, 0, 30)];
    assert_eq!(names(&path(&[&[], &[0], &[1], &[2, 1]], &tasks, 99)), [0, 2, 3]);
}

#[test]
fn retries_are_the_time_between_the_first_start_and_the_last() {
    let times = TaskTimes {
        instance: 3,
        ready_at: Timestamp(0),
        submitted_at: Some(Timestamp(4)),
        started_at: Some(Timestamp(6)),
        final_start: Some(Timestamp(20)),
        ended_at: Some(Timestamp(30)),
        attempts: 3,
    };
    let step = path(&[&[]], &[Some(times)], 99)[0];
    let parts =
        [step.queued(), step.starting(), step.waiting(), step.retries(), step.running(), step.whole()];
    assert_eq!(parts.map(|part| part.as_micros()), [4, 2, 6, 14, 10, 30]);
    assert_eq!((step.instance, step.attempts), (3, 3));
}

#[test]
fn of_a_run_that_goes_on_it_ends_now() {
    let open = |ready: i64, started: Option<i64>| {
        let started_at = started.map(Timestamp);
        let (submitted_at, ready_at) = (started_at, Timestamp(ready));
        let times = TaskTimes {
            instance: 0,
            ready_at,
            submitted_at,
            started_at,
            final_start: started_at,
            ended_at: None,
            attempts: 0,
        };
        Some(times)
    };
    let found = path(&[&[], &[0], &[0]], &[ran(0, 0, 10), open(10, None), ran(10, 0, 20)], 60);
    assert_eq!(names(&found), [0, 1]);
    assert_eq!((found[1].waiting(), found[1].running()), (Duration::from_micros(50), Duration::ZERO));
    let found = path(&[&[], &[0]], &[ran(0, 0, 10), open(10, Some(25))], 60);
    assert_eq!(
        (found[1].waiting(), found[1].running()),
        (Duration::from_micros(15), Duration::from_micros(35))
    );
}

#[test]
fn a_hundred_thousand_tasks_are_one_walk() {
    const COUNT: u32 = 100_000;
    let chain: Vec<Vec<TaskIx>> =
        (0..COUNT).map(|task| task.checked_sub(1).map(TaskIx).into_iter().collect()).collect();
    let tasks: Vec<_> = (0..i64::from(COUNT)).map(|at| ran(at, 0, at + 1)).collect();
    assert_eq!(of_all(&chain, &tasks, Timestamp(0)).len(), COUNT as usize);
}

/// A run as the engine would time it.
#[derive(Clone, Debug)]
struct Timed {
    needs: Vec<Vec<TaskIx>>,
    tasks: Vec<Option<TaskTimes>>,
    /// When each task had ended, also those without instances.
    ends: Vec<i64>,
}

/// A task: which earlier ones it needs, whether it has instances, and how long its parts took.
type Drawn = (Vec<prop::sample::Index>, bool, [i64; 4]);

fn drawn() -> impl Strategy<Value = Drawn> {
    let part = prop_oneof![Just(0i64), 1i64..50];
    let picks = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    (picks, prop::bool::weighted(0.85), prop::array::uniform4(part))
}

/// Tasks in two rounds: the second begins a while after the whole first one has ended.
fn timed() -> impl Strategy<Value = Timed> {
    let rounds = (prop::collection::vec(drawn(), 0..20), prop::collection::vec(drawn(), 1..20), 0i64..100);
    rounds.prop_map(|(first, second, pause)| {
        let mut run = Timed { needs: Vec::new(), tasks: Vec::new(), ends: Vec::new() };
        let barrier = first.len();
        for (at, (picks, has_instances, parts)) in first.into_iter().chain(second).enumerate() {
            let from = if at < barrier { 0 } else { barrier };
            let own = picks.iter().filter(|_| at > from).map(|pick| from + pick.index(at - from));
            let mut needs: Vec<usize> = own.collect();
            if needs.is_empty() && at >= barrier {
                needs = (0..barrier).collect();
            }
            needs.sort_unstable();
            needs.dedup();
            let upstream = needs.iter().map(|need| run.ends[*need]).max().unwrap_or(START);
            let begins_round = at >= barrier && needs.iter().all(|need| *need < barrier);
            run.add(&needs, upstream + if begins_round { pause } else { 0 }, has_instances, parts);
        }
        run
    })
}

impl Timed {
    fn add(&mut self, needs: &[usize], ready: i64, has_instances: bool, parts: [i64; 4]) {
        let mut at = ready;
        let [submitted, started, last, ended] = parts.map(|part| {
            at += part;
            Timestamp(at)
        });
        let times = TaskTimes {
            instance: 0,
            ready_at: Timestamp(ready),
            submitted_at: Some(submitted),
            started_at: Some(started),
            final_start: Some(last),
            ended_at: Some(ended),
            attempts: 2,
        };
        self.ends.push(if has_instances { ended.0 } else { ready });
        self.tasks.push(has_instances.then_some(times));
        self.needs.push(needs.iter().map(|need| TaskIx(*need as u32)).collect());
    }

    fn path(&self) -> Vec<Step> {
        of_all(&self.needs, &self.tasks, Timestamp(0))
    }

    /// Whether a task is upstream of another, directly or not.
    fn is_upstream(&self, task: TaskIx, of: TaskIx) -> bool {
        let (mut open, mut seen) = (vec![of], vec![false; self.needs.len()]);
        while let Some(one) = open.pop() {
            if !std::mem::replace(&mut seen[one.index()], true) {
                open.extend(&self.needs[one.index()]);
            }
        }
        task != of && seen[task.index()]
    }

    /// Whether any task waited or ran between two times.
    fn is_busy(&self, from: Timestamp, until: Timestamp) -> bool {
        let ended = |times: &TaskTimes| times.ended_at.unwrap();
        self.tasks.iter().flatten().any(|times| times.ready_at.max(from) < ended(times).min(until))
    }
}

proptest! {
    #[test]
    fn a_path_covers_a_run_but_for_its_gaps(run in timed()) {
        let path = run.path();
        for pair in path.windows(2) {
            prop_assert!(pair[0].until <= pair[1].ready_at, "disjoint and in order: {pair:?}");
            prop_assert!(run.is_upstream(pair[0].task, pair[1].task), "upstream: {pair:?}");
        }
        for step in &path {
            let parts = step.queued() + step.starting() + step.retries() + step.running();
            prop_assert_eq!(parts, step.whole());
            prop_assert_eq!(step.queued() + step.starting(), step.waiting());
        }
        let end = run.tasks.iter().flatten().filter_map(|times| times.ended_at).max();
        let mut covered = Timestamp(START);
        for step in &path {
            prop_assert!(!run.is_busy(covered, step.ready_at), "a gap in which tasks ran: {path:?}");
            covered = step.until;
        }
        prop_assert!(!run.is_busy(covered, end.unwrap_or(covered)), "an end after the path's: {path:?}");
    }
}

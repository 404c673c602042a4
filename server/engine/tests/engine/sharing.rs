//! Queues: allocations, preemption, and pending reasons.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::clusters::LOCAL;
use cubeloom_domain::identity::{AuditEntry, Keeping, Places, Project};
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::quota::change::QueueChange;
use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};
use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::state::{AttemptState, InstanceState, RunState, WaitReason};
use cubeloom_domain::waiting::{Explanation, WaitRule};
use cubeloom_domain::{AttemptKey, RunId};
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;

/// An audit entry.
pub fn entry(action: &str) -> AuditEntry {
    static ENTRIES: AtomicU32 = AtomicU32::new(0);
    AuditEntry {
        id: format!("entry-{}", ENTRIES.fetch_add(1, Ordering::Relaxed)),
        at: Timestamp(0),
        user_id: None,
        user_name: "root".into(),
        via: "session".into(),
        address: "127.0.0.1".into(),
        project: None,
        action: action.into(),
        subject: "default".into(),
        before: None,
        after: None,
    }
}

/// Creates a project, unless it exists.
pub async fn make_project(server: &Server, name: &str) {
    let project = Project {
        name: name.into(),
        label: name.into(),
        description: String::new(),
        keeping: Keeping::default(),
        places: Places::default(),
        sizing: Default::default(),
        sizing_chosen: true,
        created_at: Timestamp(0),
        revision: 1,
    };
    server.store.create_project(&project, &entry("project.create")).await.unwrap();
}

/// The cluster has four CPUs. Sets the quota of the project `default`.
pub async fn set_quota(server: &Server, quota: Quota) {
    let pool = Pool { cluster: LOCAL.into(), node_group: None };
    let queue = Queue::Project("default".into());
    let record = QueueRecord { queue, parent: None, quotas: [(pool, quota)].into(), revision: 0 };
    let entry = entry("queue.set");
    let allowed = |_: &[QueueRecord], _: &[QueueRecord]| Ok::<(), std::convert::Infallible>(());
    let change = [QueueChange::put(record, None)];
    server.store.change_queues(&change, &entry, allowed).await.unwrap().unwrap();
}

pub fn cores(count: u64) -> Amounts {
    Amounts::from_iter([(Resource::Cpu, count * 1000)])
}

/// Runs one task of a project that requests this many CPUs and runs until it is asked to end.
pub async fn run(server: &mut Server, project: &str, task: &str, cpu: &str) -> RunId {
    server.fake.script(task, [Behaviour::Hold, Behaviour::Hold]);
    let mut plan = server.plan(&pipeline(task).task(task, |one| one.resources(cpu, "1Gi")));
    plan.context.project = project.into();
    make_project(server, project).await;
    server.run_plan(&plan).await
}

/// The same for a task whose priority class preempts, with three CPUs.
async fn run_of_a_class(server: &mut Server, project: &str, task: &str) -> RunId {
    server.fake.script(task, [Behaviour::Hold]);
    let mut plan = server.plan(&pipeline(task).task(task, |one| one.resources("3", "1Gi")));
    plan.context.project = project.into();
    (plan.tasks[0].priority, plan.tasks[0].preempts) = (100, true);
    make_project(server, project).await;
    server.run_plan(&plan).await
}

/// What the first, preempted attempt of a run says of its end.
async fn preempted(server: &Server, run: &RunId) -> String {
    let attempts = server.store.attempts(run).await.unwrap();
    let AttemptState::Ended { outcome: Outcome::Failed(failure), .. } = &attempts[0].state else {
        panic!("{attempts:?}")
    };
    assert_eq!(failure.kind, FailureKind::Preempted);
    failure.message.clone()
}

pub async fn why(server: &Server, run: &RunId, task: &str) -> (String, Explanation) {
    let explained = |state: &InstanceState| matches!(state, InstanceState::Waiting { reason: Some(reason), .. } if reason.explanation().is_some());
    let InstanceRecord { state, .. } = server.instance_until(run, task, explained).await;
    let InstanceState::Waiting { reason: Some(reason), .. } = state else { panic!() };
    (reason.message().to_owned(), reason.explanation().unwrap().clone())
}

pub fn named(why: &Explanation) -> Vec<AttemptKey> {
    why.holders.iter().map(|holder| holder.key.parse().unwrap()).collect()
}

on_both! {
    async fn releasing_the_holder_that_is_named_starts_the_waiting_task(server: Server) {
        let mut server = server;
        run(&mut server, "guest", "small", "1").await;
        run(&mut server, "guest", "large", "3").await;
        server.running(&["large", "small"]).await;
        let waits = run(&mut server, "default", "next", "2").await;
        let (message, why) = why(&server, &waits, "next").await;
        assert_eq!(message, "requests 2 CPU, 0 are free");
        assert_eq!((why.rule, why.ahead), (WaitRule::Capacity, 0));
        let holders = named(&why);
        assert_eq!(holders.iter().map(|key| key.task.as_str()).collect::<Vec<_>>(), ["large"]);
        assert_eq!(why.holders[0].project, "guest");
        server.fake.finish(&holders[0], Outcome::Succeeded);
        server.running(&["next", "small"]).await;
    }

    async fn who_comes_later_and_is_ahead_changes_what_is_told(server: Server) {
        let mut server = server;
        run(&mut server, "guest", "one", "2").await;
        run(&mut server, "guest", "two", "2").await;
        let keys = server.running(&["one", "two"]).await;
        let waits = run(&mut server, "guest", "next", "2").await;
        let (_, first) = why(&server, &waits, "next").await;
        assert_eq!((named(&first).len(), first.ahead), (1, 0));
        // The idle project is ahead of the one that uses everything: one end is no longer enough.
        let later = run(&mut server, "default", "later", "2").await;
        why(&server, &later, "later").await;
        server.clock.advance(Duration::from_secs(11));
        let told_anew = |state: &InstanceState| matches!(state, InstanceState::Waiting { reason: Some(reason), .. } if reason.explanation().is_some_and(|why| why.ahead == 1));
        let record = server.instance_until(&waits, "next", told_anew).await;
        let InstanceState::Waiting { reason: Some(reason), .. } = record.state else { panic!() };
        let mut holders = named(reason.explanation().unwrap());
        holders.sort();
        assert_eq!(holders, keys);
    }

    async fn a_limit_is_kept_and_told(server: Server) {
        let mut server = server;
        set_quota(&server, Quota { limit: cores(2), ..Quota::default() }).await;
        run(&mut server, "default", "first", "1500m").await;
        let keys = server.running(&["first"]).await;
        let waits = run(&mut server, "default", "second", "1").await;
        let (message, why) = why(&server, &waits, "second").await;
        assert_eq!(message, "requests 1 CPU, and `default` uses 1500m of its limit of 2");
        assert_eq!((why.rule, named(&why)), (WaitRule::Limit, keys));
        // No other job is waiting for that; with another limit it starts.
        run(&mut server, "guest", "beside", "1").await;
        server.running(&["beside", "first"]).await;
        set_quota(&server, Quota { limit: cores(3), ..Quota::default() }).await;
        server.running(&["beside", "first", "second"]).await;
    }

    async fn the_project_that_holds_less_is_next(server: Server) {
        let mut server = server;
        run(&mut server, "guest", "first", "2").await;
        run(&mut server, "other", "second", "2").await;
        server.running(&["first", "second"]).await;
        run(&mut server, "guest", "older", "2").await;
        let newer = run(&mut server, "default", "newer", "2").await;
        why(&server, &newer, "newer").await;
        let keys = server.fake.running();
        let second = keys.iter().find(|key| key.task == "second").unwrap();
        server.fake.finish(second, Outcome::Succeeded);
        server.running(&["first", "newer"]).await;
    }

    async fn what_is_guaranteed_comes_back_and_giving_it_is_no_failure(server: Server) {
        let mut server = server;
        set_quota(&server, Quota { guarantee: cores(2), ..Quota::default() }).await;
        run(&mut server, "guest", "old", "2").await;
        server.running(&["old"]).await;
        let borrower = run(&mut server, "guest", "new", "2").await;
        server.running(&["new", "old"]).await;
        run(&mut server, "default", "owner", "2").await;
        server.running(&["old", "owner"]).await;
        let row = server.instance(&borrower, "new", 0).await.unwrap();
        assert!(matches!(row.state, InstanceState::Waiting { .. }), "{row:?}");
        assert_eq!((row.attempt, row.tries), (1, 0));
        // It borrows again when its cool-down is over and there is capacity.
        let keys = server.fake.running();
        server.fake.finish(keys.iter().find(|key| key.task == "owner").unwrap(), Outcome::Succeeded);
        let cools = |state: &InstanceState| matches!(state, InstanceState::Waiting { reason: Some(WaitReason::Quota { .. }), .. });
        server.instance_until(&borrower, "new", cools).await;
        server.clock.advance(Duration::from_secs(301));
        server.running(&["new", "old"]).await;
        let keys = server.fake.running();
        let again = keys.iter().find(|key| key.task == "new").unwrap();
        assert_eq!(again.n, 2);
        server.fake.finish(again, Outcome::Succeeded);
        assert_eq!(server.ended(&borrower).await, RunState::Succeeded);
    }

    async fn a_higher_class_preempts_and_the_preempted_attempt_says_for_whom(server: Server) {
        let mut server = server;
        let low = run(&mut server, "guest", "low", "3").await;
        server.running(&["low"]).await;
        let urgent = run_of_a_class(&mut server, "guest", "urgent").await;
        server.running(&["urgent"]).await;
        assert_eq!(preempted(&server, &low).await, "it was preempted for `urgent`, which has a higher priority");
        let row = server.instance(&low, "low", 0).await.unwrap();
        assert_eq!((row.attempt, row.tries), (1, 0), "that is no failure");
        server.fake.finish(&server.fake.running()[0], Outcome::Succeeded);
        assert_eq!(server.ended(&urgent).await, RunState::Succeeded);
        let cools = |state: &InstanceState| matches!(state, InstanceState::Waiting { reason: Some(reason), .. }
            if reason.explanation().is_some_and(|why| why.rule == WaitRule::CoolDown));
        server.instance_until(&low, "low", cools).await;
        server.clock.advance(Duration::from_secs(301));
        server.running(&["low"]).await;
    }

    async fn of_a_job_of_another_project_its_name_is_not_said(server: Server) {
        let mut server = server;
        let low = run(&mut server, "guest", "low", "3").await;
        server.running(&["low"]).await;
        run_of_a_class(&mut server, "default", "private").await;
        server.running(&["private"]).await;
        let message = preempted(&server, &low).await;
        assert_eq!(message, "it was preempted for a job of another project, which has a higher priority");
    }

    async fn a_crash_in_the_middle_of_giving_back_leaves_it_consistent(server: Server) {
        let mut server = server;
        set_quota(&server, Quota { guarantee: cores(4), ..Quota::default() }).await;
        let borrower = run(&mut server, "guest", "borrows", "3").await;
        server.running(&["borrows"]).await;
        server.fake.ignore_cancels(true);
        let owner = run(&mut server, "default", "owner", "3").await;
        let (message, why) = why(&server, &owner, "owner").await;
        assert_eq!(why.rule, WaitRule::Leaving);
        assert_eq!(message, "waits for stopping jobs to end");
        let told = server.fake.cancels();
        server.restart().await;
        // Until it leads its runs: what a dying server acquires in its last moment stays leased until the
        // lease expires.
        server.until(|| async { (server.fake.cancels() > told).then_some(()) }).await;
        let attempts = server.store.attempts(&borrower).await.unwrap();
        assert!(matches!(attempts[0].state, AttemptState::Stopping { .. }), "{attempts:?}");
        server.fake.ignore_cancels(false);
        // The next server continues to stop it.
        server.restart().await;
        server.running(&["owner"]).await;
        let row = server.instance(&borrower, "borrows", 0).await.unwrap();
        assert_eq!((row.attempt, row.tries), (1, 0), "{row:?}");
        assert!(matches!(row.state, InstanceState::Waiting { .. }), "{row:?}");
        let executions = server.fake.executions();
        assert!(executions.values().all(|count| *count == 1), "{executions:?}");
    }

    async fn who_has_given_back_does_not_borrow_sooner_through_a_restart(server: Server) {
        let mut server = server;
        set_quota(&server, Quota { guarantee: cores(2), ..Quota::default() }).await;
        run(&mut server, "guest", "old", "2").await;
        server.running(&["old"]).await;
        let borrower = run(&mut server, "guest", "new", "2").await;
        server.running(&["new", "old"]).await;
        server.fake.ignore_cancels(true);
        let owner = run(&mut server, "default", "owner", "2").await;
        assert_eq!(why(&server, &owner, "owner").await.1.rule, WaitRule::Leaving);
        server.restart().await;
        // In the middle of a preemption: leaving jobs keep leaving, and no others are preempted.
        assert_eq!(why(&server, &owner, "owner").await.1.rule, WaitRule::Leaving);
        server.fake.ignore_cancels(false);
        server.restart().await;
        server.running(&["old", "owner"]).await;
        let keys = server.fake.running();
        server.fake.finish(keys.iter().find(|key| key.task == "owner").unwrap(), Outcome::Succeeded);
        assert_eq!(server.ended(&owner).await, RunState::Succeeded);
        server.restart().await;
        let cools = |state: &InstanceState| matches!(state, InstanceState::Waiting { reason: Some(reason), .. }
            if reason.explanation().is_some_and(|why| why.rule == WaitRule::CoolDown));
        server.instance_until(&borrower, "new", cools).await;
        server.passes().await;
        assert_eq!(server.fake.running().len(), 1, "there is room, and it would be borrowed");
        server.clock.advance(Duration::from_secs(301));
        server.running(&["new", "old"]).await;
    }

    async fn a_server_that_is_started_again_tells_its_clusters_also_of_a_tree_without_anybody(server: Server) {
        let mut server = server;
        let told = |server: &Server| server.fake.shared().last().map(|tree| tree.len());
        server.until(|| async { (told(&server) == Some(1)).then_some(()) }).await;
        server.crash().await;
        server.store.delete_project("default", None, &entry("project.delete")).await.unwrap();
        server.restart().await;
        server.until(|| async { (told(&server) == Some(0)).then_some(()) }).await;
    }

    async fn what_was_held_lately_counts_after_a_restart(server: Server) {
        let mut server = server;
        server.with_its_clock().await;
        let long = run(&mut server, "guest", "long", "4").await;
        let keys = server.running(&["long"]).await;
        let runs = |state: &AttemptState| matches!(state, AttemptState::Running { .. });
        let stored = async || server.store.attempts(&long).await.unwrap().iter().any(|attempt| runs(&attempt.state));
        server.until(|| async { stored().await.then_some(()) }).await;
        server.clock.advance(Duration::from_secs(24 * 3600));
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&long).await, RunState::Succeeded);
        server.restart().await;
        run(&mut server, "third", "holds", "4").await;
        let keys = server.running(&["holds"]).await;
        let older = run(&mut server, "guest", "older", "4").await;
        why(&server, &older, "older").await;
        server.clock.advance(Duration::from_secs(60));
        let newer = run(&mut server, "default", "newer", "4").await;
        assert_eq!(why(&server, &newer, "newer").await.1.ahead, 0);
        server.fake.finish(&keys[0], Outcome::Succeeded);
        server.running(&["newer"]).await;
    }

    async fn who_waited_for_days_is_not_the_first_to_go_after_a_restart(server: Server) {
        let mut server = server;
        run(&mut server, "guest", "early", "2").await;
        run(&mut server, "guest", "first", "2").await;
        let keys = server.running(&["early", "first"]).await;
        let patient = run(&mut server, "guest", "patient", "2").await;
        assert_eq!(why(&server, &patient, "patient").await.1.rule, WaitRule::Capacity);
        server.clock.advance(Duration::from_secs(48 * 3600));
        server.fake.finish(keys.iter().find(|key| key.task == "first").unwrap(), Outcome::Succeeded);
        server.running(&["early", "patient"]).await;
        server.restart().await;
        set_quota(&server, Quota { guarantee: cores(2), ..Quota::default() }).await;
        run(&mut server, "default", "owner", "2").await;
        server.running(&["owner", "patient"]).await;
    }

    async fn what_another_server_holds_is_counted(server: Server) {
        let mut server = server;
        let theirs = run(&mut server, "guest", "theirs", "3").await;
        let keys = server.running(&["theirs"]).await;
        server.lose_lease(&theirs).await;
        server.clock.advance(Duration::from_secs(11));
        let waits = run(&mut server, "default", "mine", "2").await;
        let (_, why) = why(&server, &waits, "mine").await;
        assert_eq!((why.rule, named(&why)), (WaitRule::Capacity, keys.clone()));
        // Also after this server has noticed that it no longer leads the run.
        server.passes().await;
        assert_eq!(server.fake.running(), keys);
    }
}

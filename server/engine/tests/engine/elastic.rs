//! Elastic jobs: growth while capacity is free, and reclaimed workers. The cluster has four CPUs.

use std::time::Duration;

use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::quota::Quota;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_domain::waiting::WaitRule;
use cubeloom_domain::{AttemptKey, RunId};
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::{Behaviour, Step};

use crate::fixture::Server;
use crate::on_both;
use crate::sharing::{cores, make_project, run, set_quota, why};

/// Runs a job of `min` to `max` workers of one CPU each, which runs until it is asked to end.
async fn stretches(server: &mut Server, task: &str, min: u32, max: u32) -> RunId {
    server.fake.script(task, [Behaviour::Hold, Behaviour::Hold]);
    let document = pipeline(task).task(task, |one| {
        one.template("elastic").argument("min", min).argument("max", max).resources("1", "1Gi")
    });
    server.run(&document).await
}

/// Waits until jobs run with these numbers of workers.
async fn sizes(server: &Server, expected: &[(&str, u32)]) -> Vec<AttemptKey> {
    let tasks: Vec<&str> = expected.iter().map(|(task, _)| *task).collect();
    let mut keys = server.running(&tasks).await;
    keys.sort_by(|a, b| a.task.cmp(&b.task));
    for (key, (_, workers)) in keys.iter().zip(expected) {
        server.until(|| async { (server.fake.workers(key) == *workers).then_some(()) }).await;
    }
    keys
}

async fn attempt(server: &Server, run: &RunId) -> AttemptRecord {
    server.store.attempts(run).await.unwrap().pop().unwrap()
}

/// Waits until an attempt is stored with this many workers.
async fn stored(server: &Server, run: &RunId, workers: u32) -> AttemptRecord {
    server
        .until(|| async { Some(attempt(server, run).await).filter(|attempt| attempt.workers == workers) })
        .await
}

on_both! {
    async fn the_least_of_every_job_comes_before_more_of_any(server: Server) {
        let mut server = server;
        let first = stretches(&mut server, "first", 1, 4).await;
        sizes(&server, &[("first", 4)]).await;
        let second = stretches(&mut server, "second", 2, 4).await;
        // No job was stopped, none is below its minimum, and nothing is free.
        let keys = sizes(&server, &[("first", 2), ("second", 2)]).await;
        let record = stored(&server, &first, 2).await;
        assert_eq!((record.key.n, record.amount.cpu.0), (1, 2000));
        assert_eq!(record.earlier.iter().map(|was| (was.workers, was.amount.cpu.0)).collect::<Vec<_>>(), [(4, 4000)]);
        // A worker that was reclaimed comes back only after a cool-down.
        server.fake.finish(&keys[1], Outcome::Succeeded);
        assert_eq!(server.ended(&second).await, RunState::Succeeded);
        server.passes().await;
        sizes(&server, &[("first", 2)]).await;
        server.clock.advance(Duration::from_secs(301));
        sizes(&server, &[("first", 4)]).await;
        let record = stored(&server, &first, 4).await;
        assert_eq!(record.earlier.iter().map(|was| was.workers).collect::<Vec<_>>(), [4, 2]);
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&first).await, RunState::Succeeded);
        server.assert_clean().await;
    }

    async fn a_waiting_job_takes_elastic_workers_first_also_in_its_own_project(server: Server) {
        let mut server = server;
        run(&mut server, "guest", "whole", "1").await;
        server.running(&["whole"]).await;
        let elastic = stretches(&mut server, "stretch", 1, 3).await;
        sizes(&server, &[("stretch", 3), ("whole", 1)]).await;
        run(&mut server, "default", "waits", "2").await;
        sizes(&server, &[("stretch", 1), ("waits", 1), ("whole", 1)]).await;
        // A job at its minimum is not mistaken for one that is owed nothing.
        let last = run(&mut server, "default", "last", "1").await;
        let (_, why) = why(&server, &last, "last").await;
        assert_eq!(why.rule, WaitRule::Capacity);
        sizes(&server, &[("stretch", 1), ("waits", 1), ("whole", 1)]).await;
        assert_eq!(attempt(&server, &elastic).await.key.n, 1);
    }

    async fn a_guarantee_takes_elastic_workers_before_whole_jobs(server: Server) {
        let mut server = server;
        set_quota(&server, Quota { guarantee: cores(2), ..Quota::default() }).await;
        run(&mut server, "guest", "whole", "1").await;
        server.running(&["whole"]).await;
        server.fake.script("stretch", [Behaviour::Hold]);
        let mut plan = server.plan(&pipeline("stretch").task("stretch", |one| {
            one.template("elastic").argument("min", 1).argument("max", 3).resources("1", "1Gi")
        }));
        plan.context.project = "guest".into();
        server.run_plan(&plan).await;
        sizes(&server, &[("stretch", 3), ("whole", 1)]).await;
        run(&mut server, "default", "owner", "2").await;
        sizes(&server, &[("owner", 1), ("stretch", 1), ("whole", 1)]).await;
    }

    async fn an_elastic_job_that_runs_gets_back_what_is_guaranteed_to_its_project(server: Server) {
        let mut server = server;
        set_quota(&server, Quota { guarantee: cores(3), ..Quota::default() }).await;
        make_project(&server, "guest").await;
        server.fake.script("borrows", [Behaviour::Hold]);
        let mut plan = server.plan(&pipeline("borrows").task("borrows", |one| {
            one.template("elastic").argument("min", 1).argument("max", 4).resources("1", "1Gi")
        }));
        plan.context.project = "guest".into();
        server.run_plan(&plan).await;
        sizes(&server, &[("borrows", 4)]).await;
        // It starts with its minimum after one worker is reclaimed for it, and then is owed two more.
        let owner = stretches(&mut server, "owner", 1, 4).await;
        sizes(&server, &[("borrows", 1), ("owner", 3)]).await;
        stored(&server, &owner, 3).await;
        // After all cool-downs nothing has changed.
        server.clock.advance(Duration::from_secs(301));
        server.passes().await;
        let keys = sizes(&server, &[("borrows", 1), ("owner", 3)]).await;
        server.fake.finish(&keys[1], Outcome::Succeeded);
        assert_eq!(server.ended(&owner).await, RunState::Succeeded);
        sizes(&server, &[("borrows", 4)]).await;
        assert!(server.fake.executions().values().all(|count| *count == 1));
    }

    async fn the_first_worker_stays_and_a_lost_one_fails_nothing_until_too_few_are_left(server: Server) {
        let mut server = server;
        let elastic = stretches(&mut server, "stretch", 2, 4).await;
        let key = sizes(&server, &[("stretch", 4)]).await.remove(0);
        stored(&server, &elastic, 4).await;
        let waits = run(&mut server, "default", "waits", "2").await;
        let keys = sizes(&server, &[("stretch", 2), ("waits", 1)]).await;
        // The first worker is running before all others, and those of the highest ranks are removed.
        let came = [Step::Came(0), Step::Came(1), Step::Came(2), Step::Came(3)];
        assert_eq!(server.fake.steps(&key), [&came[..], &[Step::Went(3), Step::Went(2)]].concat());
        stored(&server, &elastic, 2).await;
        server.fake.finish(&keys[1], Outcome::Succeeded);
        assert_eq!(server.ended(&waits).await, RunState::Succeeded);
        server.clock.advance(Duration::from_secs(301));
        sizes(&server, &[("stretch", 4)]).await;
        stored(&server, &elastic, 4).await;
        // A lost worker is back when the job gets another size. It is the same attempt.
        server.fake.lose(&key, 1);
        assert_eq!(server.fake.ranks(&key), [0, 2, 3]);
        run(&mut server, "default", "more", "1").await;
        sizes(&server, &[("more", 1), ("stretch", 3)]).await;
        assert_eq!(server.fake.ranks(&key), [0, 1, 2]);
        assert_eq!(stored(&server, &elastic, 3).await.key.n, key.n);
        // Below its minimum it fails.
        server.fake.lose(&key, 2);
        assert!(server.fake.running().contains(&key));
        server.fake.lose(&key, 1);
        assert_eq!(server.ended(&elastic).await, RunState::Failed);
        let ended = attempt(&server, &elastic).await;
        let AttemptState::Ended { outcome: Outcome::Failed(failure), .. } = ended.state else { panic!("{ended:?}") };
        assert_eq!((ended.key.n, failure.kind), (key.n, FailureKind::Exit));
    }

    async fn what_the_clusters_own_scheduler_lends_is_counted_and_nobody_counts_on_it(server: Server) {
        let mut server = server;
        server.with_volcano().await;
        set_quota(&server, Quota { limit: cores(3), ..Quota::default() }).await;
        let elastic = stretches(&mut server, "stretch", 1, 4).await;
        // It is submitted with the maximum that its project allows, whatever limits that scheduler knows.
        let keys = sizes(&server, &[("stretch", 3)]).await;
        assert_eq!(stored(&server, &elastic, 3).await.amount.cpu.0, 1000, "what it was let in with");
        let had = async |server: &Server, before: &[(u32, u64)], now: (u32, u64)| {
            let record = server.until(|| async {
                Some(attempt(server, &elastic).await).filter(|attempt| attempt.earlier.len() == before.len())
            }).await;
            let earlier: Vec<_> = record.earlier.iter().map(|was| (was.workers, was.amount.cpu.0)).collect();
            assert_eq!((earlier.as_slice(), (record.workers, record.amount.cpu.0)), (before, now));
        };
        server.fake.run_with(&keys[0], 3);
        had(&server, &[(1, 1000)], (3, 3000)).await;
        run(&mut server, "guest", "whole", "3").await;
        server.running(&["stretch", "whole"]).await;
        server.fake.run_with(&keys[0], 1);
        had(&server, &[(1, 1000), (3, 3000)], (1, 1000)).await;
        server.restart().await;
        server.fake.run_with(&keys[0], 2);
        had(&server, &[(1, 1000), (3, 3000), (1, 1000)], (2, 2000)).await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&elastic).await, RunState::Succeeded);
    }

    async fn a_crash_while_workers_go_loses_nothing(server: Server) {
        let mut server = server;
        let elastic = stretches(&mut server, "stretch", 1, 4).await;
        sizes(&server, &[("stretch", 4)]).await;
        stored(&server, &elastic, 4).await;
        server.fake.hold_workers(true);
        let waits = run(&mut server, "default", "waits", "3").await;
        let (_, told) = why(&server, &waits, "waits").await;
        assert_eq!(told.rule, WaitRule::Leaving, "{told:?}");
        // Nothing about them is stored before they are gone.
        assert_eq!(attempt(&server, &elastic).await.workers, 4);
        server.restart().await;
        let (_, told) = why(&server, &waits, "waits").await;
        assert_eq!(told.rule, WaitRule::Leaving, "{told:?}");
        let key = attempt(&server, &elastic).await.key;
        server.fake.leave(&key, 3);
        stored(&server, &elastic, 3).await;
        assert_eq!(server.fake.running(), std::slice::from_ref(&key));
        server.restart().await;
        server.fake.hold_workers(false);
        server.fake.leave(&key, 1);
        sizes(&server, &[("stretch", 1), ("waits", 1)]).await;
        assert!(server.fake.executions().values().all(|count| *count == 1));
    }

    async fn who_gave_workers_back_gets_none_sooner_through_a_restart(server: Server) {
        let mut server = server;
        let elastic = stretches(&mut server, "stretch", 1, 4).await;
        sizes(&server, &[("stretch", 4)]).await;
        let waits = run(&mut server, "default", "waits", "2").await;
        let keys = sizes(&server, &[("stretch", 2), ("waits", 1)]).await;
        stored(&server, &elastic, 2).await;
        server.restart().await;
        server.fake.finish(&keys[1], Outcome::Succeeded);
        assert_eq!(server.ended(&waits).await, RunState::Succeeded);
        server.passes().await;
        sizes(&server, &[("stretch", 2)]).await;
        assert_eq!(attempt(&server, &elastic).await.workers, 2);
        server.clock.advance(Duration::from_secs(301));
        sizes(&server, &[("stretch", 4)]).await;
    }

    async fn workers_that_come_are_there_after_a_crash(server: Server) {
        let mut server = server;
        run(&mut server, "guest", "whole", "3").await;
        server.running(&["whole"]).await;
        let elastic = stretches(&mut server, "stretch", 1, 4).await;
        let keys = sizes(&server, &[("stretch", 1), ("whole", 1)]).await;
        server.fake.finish(&keys[1], Outcome::Succeeded);
        sizes(&server, &[("stretch", 4)]).await;
        stored(&server, &elastic, 4).await;
        server.restart().await;
        run(&mut server, "guest", "more", "1").await;
        sizes(&server, &[("more", 1), ("stretch", 3)]).await;
    }

    async fn a_job_that_waits_for_workers_to_go_is_told_so(server: Server) {
        let mut server = server;
        stretches(&mut server, "stretch", 1, 4).await;
        sizes(&server, &[("stretch", 4)]).await;
        server.fake.hold_workers(true);
        let waits = run(&mut server, "default", "waits", "2").await;
        let (message, _) = why(&server, &waits, "waits").await;
        assert_eq!(message, "waits for stopping jobs to end");
        let row = server.instance(&waits, "waits", 0).await.unwrap();
        assert!(matches!(row.state, InstanceState::Waiting { .. }));
    }
}

//! What the engine's schedulers know of task durations.

use std::time::Duration;

use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{Clock, Timestamp};
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;

on_both! {
    async fn a_desk_knows_how_long_a_task_took_and_when_the_next_may_start(server: Server) {
        let mut server = server;
        let one = pipeline("p").task("fit", |task| task.resources("3", "1Gi"));
        for _ in 0..3 {
            assert_eq!(server.run_to_end(&one).await.1, RunState::Succeeded);
        }
        server.fake.script("fit", [Behaviour::Hold]);
        server.run(&one).await;
        let held = server.running(&["fit"]).await;
        let waits = server.run(&one).await;
        let (desk, job) = server.until(|| async {
            let desk = server.desk().await?;
            let job = desk.waiting_jobs().next().map(|(job, _)| job)?;
            Some((desk, job))
        }).await;
        let spec = desk.spec(job).unwrap();
        assert!(spec.key.starts_with(waits.as_str()), "{}", spec.key);
        assert!(spec.length.is_some_and(|length| length.median < Duration::from_secs(60)), "{:?}", spec.length);
        let now = server.clock.now();
        let start = desk.estimate(job, now, 1).unwrap();
        assert!(now <= start.p50 && start.p50 <= start.p90 && start.p90 < now.plus(Duration::from_secs(3600)), "{start:?}");
        server.fake.finish(&held[0], Outcome::Succeeded);
        assert_eq!(server.ended(&waits).await, RunState::Succeeded);
        server.assert_clean().await;
    }

    async fn what_another_server_runs_takes_as_long_as_its_pipeline_did(server: Server) {
        let mut server = server;
        let one = pipeline("p").task("fit", |task| task.resources("3", "1Gi"));
        for _ in 0..3 {
            assert_eq!(server.run_to_end(&one).await.1, RunState::Succeeded);
        }
        server.fake.script("fit", [Behaviour::Hold]);
        let theirs = server.run(&one).await;
        server.running(&["fit"]).await;
        server.lose_lease(&theirs).await;
        server.clock.advance(Duration::from_secs(11));
        let waits = server.run(&one).await;
        server.until(|| async {
            let desk = server.desk().await?;
            let job = desk.waiting_jobs().map(|(job, _)| job).find(|job| {
                desk.spec(*job).is_some_and(|spec| spec.key.starts_with(waits.as_str()))
            })?;
            desk.estimate(job, server.clock.now(), 1)
        }).await;
    }

    async fn what_ends_meanwhile_tells_how_long_others_take_that_another_server_runs(server: Server) {
        let mut server = server;
        let one = pipeline("p").task("fit", |task| task.resources("1", "1Gi"));
        server.fake.script("fit", [Behaviour::Hold]);
        let first = server.run(&one).await;
        server.running(&["fit"]).await;
        server.lose_lease(&first).await;
        server.clock.advance(Duration::from_secs(11));
        // It is known before any attempt of its pipeline has ended.
        for _ in 0..3 {
            assert_eq!(server.run_to_end(&one).await.1, RunState::Succeeded);
        }
        server.fake.script("fit", [Behaviour::Hold]);
        let second = server.run(&one).await;
        server.running(&["fit", "fit"]).await;
        server.lose_lease(&second).await;
        server.clock.advance(Duration::from_secs(11));
        // It starts when both have ended.
        let waits = server.run(&pipeline("q").task("whole", |task| task.resources("4", "1Gi"))).await;
        server.until(|| async {
            let desk = server.desk().await?;
            let job = desk.waiting_jobs().map(|(job, _)| job).find(|job| {
                desk.spec(*job).is_some_and(|spec| spec.key.starts_with(waits.as_str()))
            })?;
            desk.estimate(job, server.clock.now(), 1)
        }).await;
    }

    async fn of_a_task_that_never_ended_nobody_says_when_the_next_starts(server: Server) {
        let mut server = server;
        let one = pipeline("p").task("fit", |task| task.resources("3", "1Gi"));
        server.fake.script("fit", [Behaviour::Hold]);
        server.run(&one).await;
        let held = server.running(&["fit"]).await;
        let waits = server.run(&one).await;
        let (desk, job) = server.until(|| async {
            let desk = server.desk().await?;
            let job = desk.waiting_jobs().next().map(|(job, _)| job)?;
            Some((desk, job))
        }).await;
        assert_eq!(desk.spec(job).unwrap().length, None);
        assert_eq!(desk.estimate(job, Timestamp(server.clock.now().0), 1), None);
        server.fake.finish(&held[0], Outcome::Succeeded);
        assert_eq!(server.ended(&waits).await, RunState::Succeeded);
        server.assert_clean().await;
    }
}

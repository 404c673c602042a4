//! Hanging jobs.

use std::time::Duration;

use cubeloom_domain::hang::{Hang, HangAction, Known};
use cubeloom_domain::outcome::{FailureKind, Outcome, WorkerName};
use cubeloom_domain::pace::{Behind, Mark, Pace};
use cubeloom_domain::pipeline::HangRule;
use cubeloom_domain::resources::GpuRequest;
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::usage::{CardsSample, UsageSample, WorkerUsage};
use cubeloom_domain::{AttemptKey, Bytes, Clock, RunId, Timestamp};
use cubeloom_testkit::builders::{PipelineBuilder, pipeline, span};
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;

/// Nine gaps of a second, the last of which ends now.
fn pace(now: Timestamp) -> Pace {
    let mark = |at, step| Mark { at, step };
    Pace {
        first: mark(now.minus(Duration::from_secs(9)), 1.0),
        last: mark(now, 10.0),
        gaps: 9,
        longest: 1_000_000,
        saving: 0,
        restoring: 0,
        behind: Some(Behind { rank: 0, since: now, step: 10.0, read_later: false }),
        known: Known::default(),
    }
}

fn train(action: HangAction) -> PipelineBuilder {
    let rule = HangRule { after: Some(span("1m")), action: Some(action), restarts: Some(1) };
    pipeline("p").task("train", |task| task.with(|task| task.hang = Some(rule)))
}

/// The last hang of a run. The next attempt may exist already: a restart follows at once.
async fn hang(server: &Server, run: &RunId) -> Option<Hang> {
    let attempts = server.store.attempts(run).await.unwrap();
    attempts.into_iter().rev().find_map(|attempt| attempt.hang).map(|hang| *hang)
}

async fn running(server: &Server, n: u32) -> AttemptKey {
    let key = server.running(&["train"]).await.remove(0);
    assert_eq!(key.n, n);
    key
}

on_both! {
    async fn what_hangs_is_started_again_as_often_as_it_may_be_without_a_retry(server: Server) {
        let mut server = server;
        server.fake.script("train", vec![Behaviour::Hold; 3]);
        let run = server.run(&train(HangAction::Restart)).await;
        for n in 1..=2 {
            let key = running(&server, n).await;
            server.fake.pace(&key, pace(server.clock.now()));
            server.clock.advance(Duration::from_secs(61));
            server.until(|| async { (server.fake.cancels() == n as usize).then_some(()) }).await;
        }
        assert_eq!(server.ended(&run).await, RunState::Failed);
        let instance = server.instance(&run, "train", 0).await.unwrap();
        assert_eq!((instance.attempt, instance.tries), (2, 1), "the first was no try");
        let InstanceState::Failed { failure } = instance.state else { panic!("{:?}", instance.state) };
        assert_eq!(failure.kind, FailureKind::Hung);
        let said = "it was stopped because it hung: rank 0 has reported no step for 1m1s; the longest time between steps before was 1s";
        assert_eq!(failure.message, said);
        let attempts = server.store.attempts(&run).await.unwrap();
        let known: Vec<_> = attempts.iter().map(|one| one.pace.as_ref().unwrap().known).collect();
        assert_eq!(known, [Known::default(), Known { gaps: 9, longest: 1_000_000, restarts: 1, preflights: 0 }]);
    }

    async fn a_restart_of_the_server_between_attempts_forgets_neither_the_pattern_nor_how_often_it_hung(server: Server) {
        let mut server = server;
        server.fake.script("train", vec![Behaviour::Hold; 3]);
        let run = server.run(&train(HangAction::Restart)).await;
        for n in 1..=2 {
            let key = running(&server, n).await;
            // The second attempt has reported nothing yet.
            server.restart().await;
            let all = pace(server.clock.now());
            let told = if n == 1 { all } else { Pace { gaps: 1, longest: 1, ..all } };
            server.clock.advance(Duration::from_secs(61));
            // Report until the new server has restored it.
            server.until(|| async {
                server.fake.pace(&key, told.clone());
                (server.fake.cancels() == n as usize).then_some(())
            }).await;
        }
        assert_eq!(server.ended(&run).await, RunState::Failed);
        let attempts = server.store.attempts(&run).await.unwrap();
        let known: Vec<_> = attempts.iter().map(|one| one.pace.as_ref().unwrap().known).collect();
        assert_eq!(known, [Known::default(), Known { gaps: 9, longest: 1_000_000, restarts: 1, preflights: 0 }]);
    }

    async fn cards_that_fall_idle_are_a_hang_of_a_program_without_steps_and_going_on_ends_it(server: Server) {
        let mut server = server;
        server.fake.script("train", [Behaviour::Hold]);
        let mut plan = server.plan(&train(HangAction::Mark));
        plan.tasks[0].roles[0].resources.gpu = Some(GpuRequest { fraction: Some(0.5), ..GpuRequest::default() });
        let run = server.run_plan(&plan).await;
        let key = running(&server, 1).await;
        let began = server.clock.now();
        // Two minutes of work, and idle since.
        let series = |waits: u64, works: u64| {
            let parts = [(0, 120, 90, 600), (120, 120 + waits, 0, 80), (120 + waits, 120 + waits + works, 90, 600)];
            let all = parts.into_iter().flat_map(|(from, to, use_percent, watts)| {
                (from..to).map(move |second| {
                    let cards = CardsSample { cards: 1, use_percent, memory: Bytes(1), power_mw: watts * 1000 };
                    let at = began.plus(Duration::from_secs(second));
                    UsageSample {
                        at,
                        cpu_us: 0,
                        memory: Bytes(1),
                        throttled_us: None,
                        cpu_wait_us: None,
                        disk_read: None,
                        disk_written: None,
                        io_wait_us: None,
                        cards: Some(cards),
                    }
                })
            });
            let samples: Vec<UsageSample> = all.collect();
            // Another worker was reclaimed while it worked.
            let given_back = samples[..90].to_vec();
            let usage = |index, samples| WorkerUsage { worker: WorkerName { role: "worker".into(), index }, samples };
            vec![usage(0, samples), usage(1, given_back)]
        };
        server.fake.set_series(&key, series(50, 0));
        server.clock.advance(Duration::from_secs(169));
        server.passes().await;
        assert_eq!(hang(&server, &run).await, None, "it has waited for less than a minute");
        server.fake.set_series(&key, series(80, 0));
        server.clock.advance(Duration::from_secs(30));
        let marked = server.until(|| hang(&server, &run)).await;
        assert_eq!((marked.since, marked.by_cards), (began.plus(Duration::from_secs(120)), true));
        // The next server knows as much.
        server.restart().await;
        running(&server, 1).await;
        server.fake.set_series(&key, series(100, 1000));
        // It checks some time after it has restored the attempt.
        let over = server.until(|| async {
            server.clock.advance(Duration::from_secs(1));
            hang(&server, &run).await.filter(|hang| !hang.is_present())
        }).await;
        assert_eq!(over.since, marked.since);
        server.fake.finish(&key, Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
    }

    async fn what_is_suspended_does_not_hang(server: Server) {
        let mut server = server;
        server.fake.script("train", [Behaviour::Hold]);
        let run = server.run(&train(HangAction::Restart)).await;
        let key = running(&server, 1).await;
        server.fake.pace(&key, pace(server.clock.now()));
        // It is suspended for an hour, and continues.
        server.fake.pace(&key, Pace { behind: None, ..pace(server.clock.now()) });
        server.clock.advance(Duration::from_secs(3600));
        server.passes().await;
        assert_eq!(hang(&server, &run).await, None);
        let resumed = server.clock.now();
        server.fake.pace(&key, pace(resumed));
        server.clock.advance(Duration::from_secs(59));
        server.passes().await;
        assert_eq!((hang(&server, &run).await, server.fake.cancels()), (None, 0));
        server.clock.advance(Duration::from_secs(2));
        let marked = server.until(|| hang(&server, &run)).await;
        assert_eq!(marked.since, resumed, "it hung only after it went on");
    }

    async fn what_is_only_marked_goes_on_and_a_restart_of_the_server_loses_nothing(server: Server) {
        let mut server = server;
        server.fake.script("train", [Behaviour::Hold]);
        let run = server.run(&train(HangAction::Mark)).await;
        let key = running(&server, 1).await;
        let began = server.clock.now();
        server.fake.pace(&key, pace(began));
        server.clock.advance(Duration::from_secs(61));
        let marked = server.until(|| hang(&server, &run)).await;
        assert_eq!((marked.since, marked.rank, marked.over), (began, 0, None));
        server.restart().await;
        assert_eq!(hang(&server, &run).await, Some(marked));
        running(&server, 1).await;
        // The next engine gets no reports about it before it has restored it.
        let is_over = || async {
            server.fake.pace(&key, pace(server.clock.now()));
            hang(&server, &run).await.filter(|hang| !hang.is_present())
        };
        let over = server.until(is_over).await;
        assert_eq!((over.since, over.over), (began, Some(server.clock.now())));
        server.fake.finish(&key, Outcome::Succeeded);
        assert_eq!((server.ended(&run).await, server.fake.cancels()), (RunState::Succeeded, 0));
    }
}

//! Running jobs that are close to their memory limit.

use std::time::Duration;

use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::quota::{Amounts, Quota, Resource};
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::resources::ResourceRequest;
use cubeloom_domain::sizing::{NoMore, Reason};
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_domain::{AttemptKey, Bytes, RunId};
use cubeloom_testkit::builders::{PipelineBuilder, pipeline};
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;
use crate::sharing::set_quota;

const GIB: u64 = 1 << 30;

fn doc(mode: SizingMode) -> PipelineBuilder {
    pipeline("p").task("a", |task| task.resources("1", "2Gi")).with(|pipeline| pipeline.sizing = Some(mode))
}

/// A run of the document, with its task running.
async fn begin(server: &mut Server, doc: &PipelineBuilder) -> (RunId, AttemptKey) {
    server.fake.script("a", [Behaviour::Hold]);
    let run = server.run(doc).await;
    let key = server.running(&["a"]).await.remove(0);
    // It is stored as running a moment later, and only running jobs get more memory.
    server.until(|| async { (attempt(server, &run).await.state.as_str() == "running").then_some(()) }).await;
    (run, key)
}

async fn attempt(server: &Server, run: &RunId) -> AttemptRecord {
    server.store.attempts(run).await.unwrap().remove(0)
}

/// Reports that almost all of this many GiB is in use.
fn fill(server: &Server, key: &AttemptKey, gib: u64) {
    server.fake.fill(key, "worker", Bytes(gib * GIB));
}

/// Waits until each worker of a job has this many GiB.
async fn has(server: &Server, key: &AttemptKey, gib: u64) {
    server.until(|| async { (server.fake.memory(key) == Bytes(gib * GIB)).then_some(()) }).await;
}

/// Repeats the report, and checks that nothing changes.
async fn stays(server: &Server, key: &AttemptKey, gib: u64) {
    for _ in 0..3 {
        fill(server, key, gib);
    }
    server.passes().await;
    assert_eq!(server.fake.memory(key), Bytes(gib * GIB));
}

/// Waits until the reasons why the attempt's workers get no more are recorded, each once.
async fn noted(server: &Server, run: &RunId, why: &[NoMore]) {
    server
        .until(|| async {
            let sizing = attempt(server, run).await.sizing.unwrap();
            (sizing.roles[0].not_asked == why).then_some(())
        })
        .await;
}

/// The job is OOM killed and not retried. Returns the message.
async fn run_out(server: &Server, run: &RunId, key: &AttemptKey) -> String {
    let failure = Failure::new(FailureKind::OutOfMemory, "it ran out");
    server.fake.finish(key, Outcome::Failed(failure));
    assert_eq!(server.ended(run).await, RunState::Failed);
    let state = server.instance(run, "a", 0).await.unwrap().state;
    let InstanceState::Failed { failure } = state else { panic!("{state:?}") };
    let state = attempt(server, run).await.state;
    let AttemptState::Ended { outcome: Outcome::Failed(said), .. } = state else { panic!("{state:?}") };
    assert_eq!(said.message, failure.message);
    failure.message
}

async fn finish(server: &Server, run: &RunId, key: &AttemptKey) {
    server.fake.finish(key, Outcome::Succeeded);
    assert_eq!(server.ended(run).await, RunState::Succeeded);
}

on_both! {
    async fn what_is_nearly_full_gets_more_once_is_counted_and_noted_and_has_it_after_a_restart(server: Server) {
        let mut server = server;
        let (run, key) = begin(&mut server, &doc(SizingMode::Auto)).await;
        assert_eq!(server.fake.memory(&key), Bytes(2 * GIB));
        fill(&server, &key, 2);
        has(&server, &key, 3).await;
        // A report from before is late.
        fill(&server, &key, 2);
        server.passes().await;
        assert_eq!(server.fake.memory(&key), Bytes(3 * GIB));
        let grown = attempt(&server, &run).await;
        assert_eq!((grown.amount.memory, grown.earlier.len()), (Bytes(3 * GIB), 1));
        assert_eq!(grown.earlier[0].amount.memory, Bytes(2 * GIB), "until then it had less");
        let sized = &grown.sizing.as_ref().unwrap().roles[0];
        assert_eq!((sized.gets.memory, sized.asked.memory), (Bytes(3 * GIB), Bytes(2 * GIB)));
        let changes = server.store.size_changes("default", "p", "a", 9).await.unwrap();
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!(changes[0].sized.memory, Reason::NearlyFull { had: Bytes(2 * GIB) });
        let risk = changes[0].sized.risk.unwrap();
        assert!(risk > 0.01 && risk < 0.5, "half as much again may be too little, too: {risk}");
        let said = "memory 3Gi instead of 2Gi: 2Gi was nearly used up while it ran";
        assert_eq!(changes[0].sized.change().as_deref(), Some(said));

        server.restart().await;
        server.running(&["a"]).await;
        // Of the node's 8 GiB, 5 are free.
        let waits = pipeline("q").task("b", |task| task.resources("1", "5632Mi"));
        let waiting = server.run(&waits).await;
        server.until(|| async {
            let states = server.states(&waiting).await;
            states.iter().any(|state| state.contains("waiting")).then_some(())
        }).await;
        server.passes().await;
        assert!(server.fake.executions().keys().all(|key| key.task != "b"));
        finish(&server, &run, &key).await;
        assert_eq!(server.ended(&waiting).await, RunState::Succeeded);
        assert_eq!(attempt(&server, &run).await.amount.memory, Bytes(3 * GIB));
        server.assert_clean().await;
    }

    async fn what_the_cluster_does_not_give_is_neither_counted_nor_billed_and_not_asked_again_at_once(server: Server) {
        let mut server = server;
        let (run, key) = begin(&mut server, &doc(SizingMode::Auto)).await;
        server.clock.advance(Duration::from_secs(1));
        fill(&server, &key, 2);
        has(&server, &key, 3).await;
        server.clock.advance(Duration::from_secs(1));
        server.fake.refuse_memory(&key, "worker", Bytes(3 * GIB), Bytes(2 * GIB));
        let kept = server.until(|| async {
            Some(attempt(&server, &run).await).filter(|record| record.amount.memory == Bytes(2 * GIB))
        }).await;
        assert!(kept.earlier.is_empty(), "it never had more: {:?}", kept.earlier);
        let sized = &kept.sizing.as_ref().unwrap().roles[0];
        assert_eq!((sized.gets.memory, sized.grown), (Bytes(2 * GIB), None));
        assert_eq!(sized.not_grown.as_ref().unwrap().why, "its node has no room");
        let said = "the cluster did not provide more memory while it ran: its node has no room";
        assert_eq!(kept.sizing.as_ref().unwrap().no_more(), [said]);
        let changes = server.store.size_changes("default", "p", "a", 9).await.unwrap();
        let said: Vec<_> = changes.iter().map(|change| change.sized.memory).collect();
        assert_eq!(said, [Reason::NotGiven { wanted: Bytes(3 * GIB) }, Reason::NearlyFull { had: Bytes(2 * GIB) }]);
        let risks = [&changes[0], &changes[1]].map(|change| change.sized.risk.unwrap());
        assert!(risks[0] > 0.5 && risks[0] > risks[1], "what it has is nearly full: {risks:?}");
        stays(&server, &key, 2).await;
        // The capacity is free for others: of 8 GiB all but two.
        let other = pipeline("q").task("b", |task| task.resources("1", "6Gi"));
        let other = server.run(&other).await;
        assert_eq!(server.ended(&other).await, RunState::Succeeded);
        finish(&server, &run, &key).await;
        assert_eq!(attempt(&server, &run).await.amount.memory, Bytes(2 * GIB));
        server.assert_clean().await;
    }

    async fn what_was_never_given_is_not_billed_either_where_workers_have_gone_meanwhile(server: Server) {
        let mut server = server;
        let elastic = pipeline("p").task("a", |task| {
            task.template("elastic").argument("min", 1).argument("max", 3).resources("1", "1Gi")
        });
        let elastic = elastic.with(|pipeline| pipeline.sizing = Some(SizingMode::Auto));
        let (run, key) = begin(&mut server, &elastic).await;
        server.until(|| async { (attempt(&server, &run).await.workers == 3).then_some(()) }).await;
        let before = attempt(&server, &run).await;
        server.clock.advance(Duration::from_secs(1));
        let role = &before.sizing.as_ref().unwrap().roles.last().unwrap().role;
        server.fake.fill(&key, role, Bytes(GIB));
        server.until(|| async { (server.fake.memory(&key) > Bytes(GIB)).then_some(()) }).await;
        let asked = server.fake.memory(&key);
        server.clock.advance(Duration::from_secs(1));
        server.fake.leave(&key, 2);
        server.until(|| async { (attempt(&server, &run).await.workers == 2).then_some(()) }).await;
        let with_two = attempt(&server, &run).await;
        assert_eq!(with_two.earlier.last().unwrap().amount.memory, Bytes(3 * asked.0), "as if they had it");
        server.clock.advance(Duration::from_secs(1));
        server.fake.refuse_memory(&key, role, asked, Bytes(GIB));
        let kept = server.until(|| async {
            Some(attempt(&server, &run).await).filter(|record| record.amount.memory == Bytes(2 * GIB))
        }).await;
        let held: Vec<_> = kept.earlier.iter().map(|was| (was.workers, was.amount.memory)).collect();
        assert_eq!(held.last(), Some(&(3, Bytes(3 * GIB))));
        assert_eq!(held.len(), before.earlier.len() + 1, "{held:?}");
        assert_eq!(kept.earlier.last().unwrap().until, with_two.earlier.last().unwrap().until);
        finish(&server, &run, &key).await;
    }

    async fn nothing_grows_beyond_what_is_free_and_what_is_free_later_is_given(server: Server) {
        let mut server = server;
        server.fake.script("b", [Behaviour::Hold]);
        let other = pipeline("q").task("b", |task| task.resources("1", "5632Mi"));
        let other = server.run(&other).await;
        let held = server.running(&["b"]).await.remove(0);
        server.fake.script("a", [Behaviour::Hold]);
        let run = server.run(&doc(SizingMode::Auto)).await;
        let both = server.running(&["a", "b"]).await;
        let key = both.into_iter().find(|key| key.task == "a").unwrap();
        stays(&server, &key, 2).await;
        let before = attempt(&server, &run).await;
        assert_eq!((before.amount.memory, before.earlier.len()), (Bytes(2 * GIB), 0));
        noted(&server, &run, &[NoMore::Room]).await;
        assert!(server.store.size_changes("default", "p", "a", 9).await.unwrap().is_empty(), "it is no change");
        finish(&server, &other, &held).await;
        server.until(|| async {
            fill(&server, &key, 2);
            (server.fake.memory(&key) == Bytes(3 * GIB)).then_some(())
        }).await;
        noted(&server, &run, &[]).await;
        finish(&server, &run, &key).await;
    }

    async fn nothing_grows_beyond_what_its_project_may_hold(server: Server) {
        let mut server = server;
        let limit = Amounts::from_iter([(Resource::Memory, 5 * GIB / 2)]);
        set_quota(&server, Quota { limit, ..Quota::default() }).await;
        let (run, key) = begin(&mut server, &doc(SizingMode::Auto)).await;
        fill(&server, &key, 2);
        let most = Bytes(5 * GIB / 2);
        server.until(|| async { (server.fake.memory(&key) == most).then_some(()) }).await;
        server.fake.fill(&key, "worker", most);
        server.passes().await;
        assert_eq!(server.fake.memory(&key), most);
        noted(&server, &run, &[NoMore::Quota]).await;
        let said = "memory 2560Mi instead of 2Gi: 2Gi was nearly used up while it ran, and the quota allows no more";
        assert_eq!(attempt(&server, &run).await.sizing.unwrap().sentence().as_deref(), Some(said));
        // The next attempt cannot get more either.
        assert_eq!(
            run_out(&server, &run, &key).await,
            "it ran out; its memory was not raised while it ran: the quota allows no more; the server does not retry it with more memory: the quota allows no more"
        );
    }

    async fn only_in_auto_and_no_amount_that_is_left_alone(server: Server) {
        let mut server = server;
        let auto = doc(SizingMode::Auto);
        let request = ResourceRequest { pinned: Some(true), ..*auto.0.tasks[0].resources.clone().unwrap() };
        let pinned = auto.with(|pipeline| pipeline.tasks[0].resources = Some(Box::new(request)));
        for doc in [doc(SizingMode::Advise), doc(SizingMode::Off), pinned] {
            let (run, key) = begin(&mut server, &doc).await;
            stays(&server, &key, 2).await;
            let sizing = attempt(&server, &run).await.sizing;
            assert!(sizing.is_none_or(|sizing| sizing.no_more().is_empty()));
            assert_eq!(run_out(&server, &run, &key).await, "it ran out");
        }
    }

    async fn what_goes_on_growing_is_given_more_three_times(server: Server) {
        let mut server = server;
        let small = pipeline("p").task("a", |task| task.resources("1", "1Gi"));
        let small = small.with(|pipeline| pipeline.sizing = Some(SizingMode::Auto));
        let (run, key) = begin(&mut server, &small).await;
        let mut memory = Bytes(GIB);
        for _ in 0..3 {
            server.clock.advance(Duration::from_secs(1));
            server.fake.fill(&key, "worker", memory);
            let more = server.until(|| async { Some(server.fake.memory(&key)).filter(|has| *has > memory) }).await;
            assert!(more.0 >= memory.0 / 2 * 3, "{more} after {memory}");
            memory = more;
        }
        server.fake.fill(&key, "worker", memory);
        server.passes().await;
        assert_eq!(server.fake.memory(&key), memory);
        noted(&server, &run, &[NoMore::Times]).await;
        let notes = server.store.size_changes("default", "p", "a", 9).await.unwrap();
        assert_eq!((notes.len(), attempt(&server, &run).await.earlier.len()), (3, 3));
        finish(&server, &run, &key).await;
    }
}

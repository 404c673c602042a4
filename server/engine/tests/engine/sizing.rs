//! What attempts get: by earlier usage, in `auto` only, and more after an OOM kill.

use std::time::Duration;

use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::pipeline::{Backoff, ForEach, Retry, SizingMode};
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::resources::ResourceRequest;
use cubeloom_domain::sizing::{Keeper, Reason, Reverted};
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_domain::{Bytes, RunId};
use cubeloom_testkit::builders::{PipelineBuilder, pipeline, span};
use cubeloom_testkit::fake::Behaviour;
use serde_json::json;

use crate::fixture::Server;
use crate::on_both;
use crate::sharing::entry;

const MIB: u64 = 1 << 20;

fn doc(mode: SizingMode) -> PipelineBuilder {
    pipeline("p").task("a", |task| task.resources("1", "2Gi")).with(|pipeline| pipeline.sizing = Some(mode))
}

fn need(mib: u64) -> Behaviour {
    Behaviour::Needs(Bytes(mib * MIB))
}

/// The attempts of a run's only task.
async fn attempts(server: &Server, run: &RunId) -> Vec<AttemptRecord> {
    let mut attempts = server.store.attempts(run).await.unwrap();
    attempts.sort_by_key(|attempt| attempt.key.n);
    attempts
}

fn memory(attempt: &AttemptRecord) -> u64 {
    let sized = &attempt.sizing.as_ref().unwrap().roles[0];
    assert_eq!(sized.gets.memory, attempt.amount.memory, "what it has is what it is counted with");
    sized.gets.memory.0
}

/// The message of a run's only task, which has failed.
async fn said(server: &Server, run: &RunId) -> String {
    let state = server.instance(run, "a", 0).await.unwrap().state;
    let InstanceState::Failed { failure } = state else { panic!("{state:?}") };
    failure.message
}

/// Runs a document whose program needs this much, and returns what each attempt got, in MiB.
async fn got(server: &mut Server, doc: &PipelineBuilder, mib: u64) -> Vec<u64> {
    server.fake.script("a", vec![need(mib); 4]);
    let (run, state) = server.run_to_end(doc).await;
    assert_eq!(state, RunState::Succeeded);
    let attempts = attempts(server, &run).await;
    server.fake.forget_script("a");
    attempts.iter().map(|attempt| memory(attempt) / MIB).collect()
}

/// What each role of an attempt gets, in MiB, and why.
fn roles(attempt: &AttemptRecord) -> Vec<(&str, u64, Reason)> {
    let sizing = attempt.sizing.as_ref().unwrap();
    let all: u64 = sizing.roles.iter().map(|sized| sized.gets.memory.0).sum();
    assert_eq!(attempt.amount.memory, Bytes(all), "what they have is what they are counted with");
    sizing.roles.iter().map(|sized| (sized.role.as_str(), sized.gets.memory.0 / MIB, sized.memory)).collect()
}

/// Six runs of a program that needs 100 MiB.
async fn know(server: &mut Server, doc: &PipelineBuilder) {
    for _ in 0..6 {
        got(server, doc, 100).await;
    }
}

on_both! {
    async fn what_is_known_to_suffice_is_given_and_what_does_not_grows(server: Server) {
        let mut server = server;
        let doc = doc(SizingMode::Auto);
        assert_eq!(got(&mut server, &doc, 100).await, [2048], "nothing is known yet");
        know(&mut server, &doc).await;
        let less = got(&mut server, &doc, 100).await;
        assert!(less.len() == 1 && (100..300).contains(&less[0]), "{less:?}");
        // It needs more than it gets: the requested amount is next, and costs no retry.
        let [small, asked] = got(&mut server, &doc, 1500).await[..] else { panic!() };
        assert!(small < 300 && asked == 2048, "{small} {asked}");
        // It needs more than it requested: half as much again each time, without using the task's retries.
        let grown = got(&mut server, &doc, 4000).await;
        let last = grown[grown.len() - 1];
        assert!(last >= 4000 && grown.windows(2).all(|two| two[1] * 2 >= two[0] * 3), "{grown:?}");
        // The next run begins with what was needed.
        let next = got(&mut server, &doc, 4000).await;
        assert!(next.len() == 1 && next[0] >= 4000 && next[0] <= 8192, "{next:?}");
        server.assert_clean().await;
        // All of it is recorded, with the attempt that got it first.
        let changes = server.store.size_changes("default", "p", "a", 100).await.unwrap();
        assert!(changes.len() >= 4, "{changes:?}");
        assert!(changes.iter().any(|change| matches!(change.sized.memory, Reason::Peaks { attempts } if attempts >= 6)));
        let mut grown = changes.iter().filter(|change| matches!(change.sized.memory, Reason::RanOut { .. })).peekable();
        assert!(grown.peek().is_some() && grown.all(|change| change.sized.risk.is_some_and(|risk| risk > 0.0)));
        assert!(changes.iter().all(|change| change.sized.change().is_some()));
    }

    async fn what_an_attempt_gets_is_decided_when_it_starts(server: Server) {
        let mut server = server;
        // Four of them fit at once: the others are decided after some have ended.
        let items = json!((0..16).collect::<Vec<_>>());
        let doc = pipeline("p").task("a", |task| task.resources("1", "2Gi").for_each(items));
        let doc = doc.with(|pipeline| pipeline.sizing = Some(SizingMode::Auto));
        server.fake.script("a", vec![need(100); 16]);
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Succeeded);
        let attempts = server.store.attempts(&run).await.unwrap();
        assert_eq!(attempts.len(), 16);
        let got: Vec<u64> = attempts.iter().map(|attempt| memory(attempt) / MIB).collect();
        let asked = got.iter().filter(|got| **got == 2048).count();
        assert!((1..=4).contains(&asked), "{got:?}");
        assert!(got.iter().any(|got| *got < 300), "{got:?}");
        server.assert_clean().await;
    }

    async fn a_new_task_is_sized_by_what_other_tasks_used_of_their_requests(server: Server) {
        let mut server = server;
        let tasks = |count: usize| {
            let names = (0..count).map(|n| format!("t{n}"));
            let all = names.fold(pipeline("p"), |all, name| all.task(&name, |task| task.resources("1", "2Gi")));
            all.with(|pipeline| pipeline.sizing = Some(SizingMode::Auto))
        };
        for n in 0..11 {
            server.fake.script(&format!("t{n}"), vec![need(100); 2]);
        }
        let new = |attempts: Vec<AttemptRecord>, name: &str| {
            let attempt = attempts.into_iter().find(|attempt| attempt.key.task == name).unwrap();
            roles(&attempt)[0].1
        };
        let (run, _) = server.run_to_end(&tasks(10)).await;
        assert_eq!(new(attempts(&server, &run).await, "t9"), 2048, "nine others are too few");
        let (run, state) = server.run_to_end(&tasks(11)).await;
        assert_eq!(state, RunState::Succeeded);
        assert_eq!(new(attempts(&server, &run).await, "t10"), 1024, "half its request");
        let changes = server.store.size_changes("default", "p", "t10", 100).await.unwrap();
        assert_eq!(changes[0].sized.memory, Reason::Others { tasks: 10 });
        server.assert_clean().await;
    }

    async fn each_role_is_sized_by_its_own_history_and_all_in_one_decision(server: Server) {
        let mut server = server;
        let more = ResourceRequest { memory: Some(Bytes(4096 * MIB)), ..ResourceRequest::default() };
        let pair = pipeline("p").task("a", |task| {
            task.template("pair").resources("1", "2Gi").with(|task| {
                task.role_resources.insert("worker".into(), more);
            })
        });
        let pair = pair.with(|pipeline| pipeline.sizing = Some(SizingMode::Auto));
        let need = |master: u64, worker: u64| {
            Behaviour::NeedsEach(vec![Bytes(master * MIB), Bytes(worker * MIB)])
        };
        let mut last = Vec::new();
        for _ in 0..8 {
            server.fake.script("a", [need(100, 1000)]);
            let (run, state) = server.run_to_end(&pair).await;
            assert_eq!(state, RunState::Succeeded);
            last = attempts(&server, &run).await;
            assert_eq!(last.len(), 1);
        }
        let [("master", master, why), ("worker", worker, also)] = roles(&last[0])[..] else { panic!("{last:?}") };
        assert!((100..300).contains(&master) && (1000..2000).contains(&worker), "{master} {worker}");
        assert_eq!([why, also], [Reason::Peaks { attempts: 7 }; 2]);
        let said = last[0].sizing.as_ref().unwrap().sentence().unwrap();
        assert!(said.starts_with("master: memory ") && said.contains("; worker: memory "), "{said}");
        // The first change covers both roles, and one attempt.
        let changes = server.store.size_changes("default", "p", "a", 100).await.unwrap();
        let first = changes.iter().map(|change| &change.attempt).min().unwrap();
        let of_first = changes.iter().filter(|change| change.attempt == *first);
        assert_eq!(of_first.map(|change| change.sized.role.as_str()).collect::<Vec<_>>(), ["master", "worker"], "{changes:?}");

        // One role is OOM killed: it gets more, and the other keeps what it had.
        server.fake.script("a", vec![need(100, 3000); 2]);
        let (run, state) = server.run_to_end(&pair).await;
        assert_eq!(state, RunState::Succeeded);
        let tried = attempts(&server, &run).await;
        assert_eq!(tried.len(), 2, "{tried:?}");
        let (before, after) = (roles(&tried[0]), roles(&tried[1]));
        assert_eq!((after[0].1, after[1].1), (before[0].1, 4096));
        assert_eq!(after[1].2, Reason::RanOut { had: Bytes(before[1].1 * MIB) });
        let risk = |role: usize| tried[1].sizing.as_ref().unwrap().roles[role].risk.unwrap();
        assert!(risk(0) > 0.0 && risk(1) > 0.0, "{} {}", risk(0), risk(1));
        server.assert_clean().await;
    }

    async fn what_an_instance_ran_out_of_is_known_however_many_others_ended_since(server: Server) {
        const OTHERS: usize = 70;
        let mut server = server;
        let hour = Backoff { initial: span("1h"), factor: None, max: None };
        let many = doc(SizingMode::Auto).with(|pipeline| {
            let task = &mut pipeline.tasks[0];
            let items = json!((0..=OTHERS).collect::<Vec<_>>());
            task.for_each = Some(Box::new(ForEach { list: Some(items), matrix: None, from: None, parallelism: Some(1) }));
            task.retry = Some(Retry { attempts: 2, backoff: Some(hour), on: None });
        });
        server.fake.script("a", [vec![need(20_000); 4], vec![need(100); OTHERS + 1]].concat());
        let run = server.run(&many).await;
        // Its four attempts have grown as often as allowed: the next is the task's retry, and the others come
        // first.
        server.until(|| async { (server.fake.executions().len() == OTHERS + 4).then_some(()) }).await;
        server.until(|| async { server.fake.running().is_empty().then_some(()) }).await;
        server.clock.advance(Duration::from_secs(3601));
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let attempts = attempts(&server, &run).await;
        let first = attempts.iter().filter(|attempt| attempt.key.instance == 0);
        let got: Vec<u64> = first.map(|attempt| memory(attempt) / MIB).collect();
        assert_eq!(got, [2048, 3072, 4608, 6912, 8192]);
    }

    async fn what_is_only_advised_changes_nothing(server: Server) {
        let mut server = server;
        let (run, _) = server.run_to_end(&doc(SizingMode::Off)).await;
        assert_eq!(attempts(&server, &run).await[0].sizing, None, "nothing is learned");
        know(&mut server, &doc(SizingMode::Advise)).await;
        assert_eq!(got(&mut server, &doc(SizingMode::Advise), 100).await, [2048]);
        server.fake.script("a", [need(4000)]);
        let (run, state) = server.run_to_end(&doc(SizingMode::Advise)).await;
        assert_eq!(state, RunState::Failed, "memory that ran out is a failure as any other");
        assert_eq!(attempts(&server, &run).await.len(), 1);
        // Usage measured in recommend-only mode counts once sizing is automatic.
        let less = got(&mut server, &doc(SizingMode::Auto), 100).await;
        assert_eq!(less, [3072], "the last attempt ran out of what was asked for");
    }

    async fn nothing_grows_beyond_the_largest_node(server: Server) {
        let mut server = server;
        server.fake.script("a", vec![need(20_000); 9]);
        let (run, state) = server.run_to_end(&doc(SizingMode::Auto)).await;
        assert_eq!(state, RunState::Failed);
        let got: Vec<u64> = attempts(&server, &run).await.iter().map(|attempt| memory(attempt) / MIB).collect();
        assert_eq!(got, [2048, 3072, 4608, 6912]);
        let ends = "as the test wants it; the server does not retry it with more memory:";
        assert_eq!(said(&server, &run).await, format!("{ends} it was increased three times, the maximum"));
        server.fake.forget_script("a");
        server.fake.script("a", vec![need(20_000); 9]);
        let (run, _) = server.run_to_end(&doc(SizingMode::Auto)).await;
        let attempts = attempts(&server, &run).await;
        let got: Vec<u64> = attempts.iter().map(|attempt| memory(attempt) / MIB).collect();
        assert_eq!(got, [8192], "there is no more than the node has");
        let why = attempts[0].sizing.as_ref().unwrap().sentence().unwrap();
        assert!(why.contains(" was not enough, and no node is known to have more;"), "{why}");
        assert_eq!(said(&server, &run).await, format!("{ends} no node is known to have more"));
    }

    async fn a_retry_that_cannot_get_more_says_why(server: Server) {
        let mut server = server;
        let whole = pipeline("p").task("a", |task| task.resources("1", "8Gi").attempts(2));
        let whole = whole.with(|pipeline| pipeline.sizing = Some(SizingMode::Auto));
        server.fake.script("a", vec![need(20_000); 9]);
        let (run, _) = server.run_to_end(&whole).await;
        let attempts = attempts(&server, &run).await;
        let no_more: Vec<_> = attempts.iter().map(|attempt| attempt.sizing.as_ref().unwrap().no_more()).collect();
        assert_eq!(no_more, [vec![], vec!["8Gi was not enough, and no node is known to have more".to_owned()]]);
        // The task's retry follows the first, and nothing the last.
        let AttemptState::Ended { outcome: Outcome::Failed(first), .. } = &attempts[0].state else { panic!() };
        assert_eq!(first.message, "as the test wants it");
        assert!(said(&server, &run).await.ends_with("with more memory: no node is known to have more"));
    }

    async fn a_pinned_amount_stays_and_a_reverted_task_gets_what_it_asks_for(server: Server) {
        let mut server = server;
        let auto = doc(SizingMode::Auto);
        know(&mut server, &auto).await;
        let request = ResourceRequest { pinned: Some(true), ..*auto.0.tasks[0].resources.clone().unwrap() };
        let pinned = auto.clone().with(|pipeline| pipeline.tasks[0].resources = Some(Box::new(request)));
        assert_eq!(got(&mut server, &pinned, 100).await, [2048]);
        server.fake.script("a", [need(4000)]);
        let (run, state) = server.run_to_end(&pinned).await;
        assert_eq!(state, RunState::Failed, "a pinned amount does not grow");
        let sized = &attempts(&server, &run).await[0].sizing.clone().unwrap().roles[0];
        assert_eq!(sized.memory, Reason::Kept { by: Keeper::Pinned });

        let reverted = Reverted {
            project: "default".into(),
            pipeline: "p".into(),
            task: "a".into(),
            by: "tester".into(),
            at: Default::default(),
        };
        server.store.revert_sizing(&reverted, &entry("sizing.revert")).await.unwrap();
        assert_eq!(got(&mut server, &auto, 100).await, [2048]);
        server.store.resume_sizing("default", "p", "a", &entry("sizing.resume")).await.unwrap();
        assert_ne!(got(&mut server, &auto, 100).await, [2048]);
    }

    async fn an_attempt_has_what_it_was_submitted_with_after_a_restart(server: Server) {
        let mut server = server;
        let auto = doc(SizingMode::Auto);
        know(&mut server, &auto).await;
        server.fake.script("a", [Behaviour::Hold]);
        let run = server.run(&auto).await;
        let key = server.running(&["a"]).await.remove(0);
        let before = attempts(&server, &run).await.remove(0);
        assert!(memory(&before) < 300 * MIB);
        server.restart().await;
        // Of the node's 8 GiB, 7 are free besides what the attempt got. Besides its request, they would not
        // be.
        let other = pipeline("q").task("b", |task| task.resources("1", "7Gi"));
        assert_eq!(server.run_to_end(&other).await.1, RunState::Succeeded);
        server.fake.finish(&key, Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let after = attempts(&server, &run).await.remove(0);
        let gets = |attempt: &AttemptRecord| attempt.sizing.as_ref().unwrap().roles[0].gets;
        assert_eq!((gets(&after), after.amount), (gets(&before), before.amount));
    }
}

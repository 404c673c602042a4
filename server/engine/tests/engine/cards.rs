//! Queues of GPUs by type.

use cubeloom_domain::RunId;
use cubeloom_domain::executor::Executor;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::quota::{Amounts, Quota, Resource};
use cubeloom_domain::resources::GpuRequest;
use cubeloom_domain::state::{InstanceState, RunState, WaitReason};
use cubeloom_domain::waiting::WaitRule;
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;
use crate::sharing::{make_project, named, set_quota, why};

const H100: &str = "NVIDIA-H100-80GB-HBM3";
const A100: &str = "NVIDIA-A100-SXM4-40GB";

fn h100(count: u64) -> Amounts {
    Amounts::from_iter([(Resource::GpusOf("H100".into()), count)])
}

/// Runs one task of a project that requests this many GPUs, of one type or of any, and runs until it is asked
/// to end.
async fn run(server: &mut Server, project: &str, task: &str, kind: Option<&str>, count: u32) -> RunId {
    let gpu = GpuRequest { count: Some(count), kind: kind.map(Into::into), ..GpuRequest::default() };
    run_with(server, project, task, gpu).await
}

/// The same for a task with this request.
async fn run_with(server: &mut Server, project: &str, task: &str, gpu: GpuRequest) -> RunId {
    server.fake.script(task, [Behaviour::Hold, Behaviour::Hold]);
    let document = pipeline(task).task(task, |mut one| {
        one = one.resources("100m", "64Mi");
        one.0.resources.as_mut().expect("resources").gpu = Some(gpu);
        one
    });
    let mut plan = server.plan(&document);
    plan.context.project = project.into();
    make_project(server, project).await;
    server.run_plan(&plan).await
}

/// Why a task is pending, as soon as unhealthy GPUs are the reason.
async fn faulty_reason(server: &Server, run: &RunId, task: &str) -> WaitReason {
    let is_told = |state: &InstanceState| matches!(state, InstanceState::Waiting { reason: Some(reason), .. } if reason.explanation().is_some_and(|why| why.rule == WaitRule::Faulty));
    let record = server.instance_until(run, task, is_told).await;
    let InstanceState::Waiting { reason: Some(reason), .. } = record.state else { panic!() };
    reason
}

async fn finish(server: &Server, task: &str) {
    let keys = server.fake.running();
    server.fake.finish(keys.iter().find(|key| key.task == task).unwrap(), Outcome::Succeeded);
}

on_both! {
    async fn cards_of_a_type_are_guaranteed_and_come_back(server: Server) {
        let mut server = server;
        server.with_cards(&[H100, H100, A100, A100]).await;
        set_quota(&server, Quota { guarantee: h100(1), ..Quota::default() }).await;
        run(&mut server, "guest", "beside", Some("A100"), 2).await;
        run(&mut server, "guest", "old", Some("H100"), 1).await;
        server.running(&["beside", "old"]).await;
        run(&mut server, "guest", "new", Some("h100"), 1).await;
        server.running(&["beside", "new", "old"]).await;
        server.fake.ignore_cancels(true);
        let owner = run(&mut server, "default", "owner", Some("H100-80GB"), 1).await;
        let (_, leaving) = why(&server, &owner, "owner").await;
        assert_eq!(leaving.rule, WaitRule::Leaving, "{leaving:?}");
        server.restart().await;
        server.fake.ignore_cancels(false);
        server.restart().await;
        server.running(&["beside", "old", "owner"]).await;
        // Beyond its guarantee it waits like all others.
        let more = run(&mut server, "default", "more", Some("H100"), 1).await;
        let (_, why) = why(&server, &more, "more").await;
        let kind = Resource::GpusOf("H100".into());
        let short = why.shortages.iter().find(|short| short.resource == kind).unwrap();
        assert_eq!((why.rule, short.free, short.guaranteed), (WaitRule::Capacity, 0, Some(1)), "{why:?}");
    }

    async fn a_limit_of_cards_of_a_type_is_kept_and_told(server: Server) {
        let mut server = server;
        server.with_cards(&[H100, H100, A100, A100]).await;
        set_quota(&server, Quota { limit: h100(1), ..Quota::default() }).await;
        run(&mut server, "default", "first", Some("H100"), 1).await;
        let keys = server.running(&["first"]).await;
        let waits = run(&mut server, "default", "second", Some("H100"), 1).await;
        let (message, why) = why(&server, &waits, "second").await;
        assert_eq!(message, "requests 1 H100 GPUs, and `default` uses 1 of its limit of 1");
        assert_eq!((why.rule, named(&why)), (WaitRule::Limit, keys));
        // Other types have no limit, and other projects have none of this type.
        run(&mut server, "default", "other", Some("A100"), 2).await;
        run(&mut server, "guest", "beside", Some("H100"), 1).await;
        server.running(&["beside", "first", "other"]).await;
        finish(&server, "first").await;
        server.running(&["beside", "other", "second"]).await;
    }

    async fn who_names_no_type_where_there_is_one_is_bound_by_it(server: Server) {
        let mut server = server;
        server.with_cards(&[H100, H100, H100]).await;
        set_quota(&server, Quota { limit: h100(2), ..Quota::default() }).await;
        run(&mut server, "default", "first", None, 2).await;
        server.running(&["first"]).await;
        let waits = run(&mut server, "default", "second", None, 1).await;
        let (message, why) = why(&server, &waits, "second").await;
        assert_eq!((why.rule, message.as_str()), (WaitRule::Limit, "requests 1 H100 GPUs, and `default` uses 2 of its limit of 2"));
        finish(&server, "first").await;
        server.running(&["second"]).await;
    }

    async fn cards_that_go_from_one_job_to_the_next_are_waited_for_until_they_are_given_back(server: Server) {
        let mut server = server;
        server.with_cards(&[H100, H100, H100, H100]).await;
        let first = run(&mut server, "default", "first", None, 4).await;
        server.running(&["first"]).await;
        let second = run(&mut server, "default", "second", None, 4).await;
        why(&server, &second, "second").await;
        // The end is known before it is stored, and the GPUs become free after that.
        finish(&server, "first").await;
        server.running(&["second"]).await;
        finish(&server, "second").await;
        for run in [first, second] {
            assert_eq!(server.ended(&run).await, RunState::Succeeded);
        }
        server.assert_clean().await;
    }

    async fn what_asks_for_faulty_cards_waits_until_they_are_whole(server: Server) {
        let mut server = server;
        server.with_cards(&[H100, H100, H100, H100]).await;
        run(&mut server, "default", "first", None, 4).await;
        server.running(&["first"]).await;
        let waits = run(&mut server, "default", "second", None, 4).await;
        why(&server, &waits, "second").await;
        // The attempt on the GPU keeps it. If the engine does not know of the fault, no job gets the GPU and
        // fails.
        server.fake.set_fault("card-2", 79);
        finish(&server, "first").await;
        let reason = faulty_reason(&server, &waits, "second").await;
        let message = reason.message();
        assert!(message.ends_with("are free; 1 of 4 GPUs is unhealthy: XID 79 on GPU 2"), "{message}");
        let faulty = reason.explanation().and_then(|why| why.faulty.clone()).unwrap();
        assert_eq!((faulty.all, faulty.cards[0].uuid.as_str(), faulty.cards[0].xid), (4, "card-2", 79));
        // Nothing is reserved for it.
        run(&mut server, "default", "third", None, 3).await;
        server.running(&["third"]).await;
        finish(&server, "third").await;
        assert_eq!(server.fake.forget_fault("card-2"), Some(79));
        server.running(&["second"]).await;
    }

    async fn what_asks_for_a_part_of_a_card_waits_while_it_is_faulty(server: Server) {
        let mut server = server;
        server.with_cards(&[H100]).await;
        server.fake.set_fault("card-0", 79);
        let half = GpuRequest { fraction: Some(0.5), ..GpuRequest::default() };
        let first = run_with(&mut server, "default", "first", half.clone()).await;
        let second = run_with(&mut server, "default", "second", half).await;
        for (run, task) in [(&first, "first"), (&second, "second")] {
            let reason = faulty_reason(&server, run, task).await;
            let said = "no GPU has that much free; 1 of 1 GPUs is unhealthy: XID 79 on GPU 0";
            assert!(reason.message().ends_with(said), "{}", reason.message());
        }
        assert_eq!(server.fake.forget_fault("card-0"), Some(79));
        server.running(&["first", "second"]).await;
    }
}

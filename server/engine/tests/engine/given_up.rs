//! A decommissioned cluster.

use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::record::Wish;
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;

on_both! {
    async fn what_is_there_is_lost_and_its_runs_end(server: Server) {
        let mut server = server;
        for task in ["goes-on", "stops"] {
            server.fake.script(task, [Behaviour::Hold]);
        }
        let goes_on = server.run(&pipeline("p").task("goes-on", |task| task).task("later", |task| task.needs("goes-on"))).await;
        let stops = server.run(&pipeline("q").task("stops", |task| task)).await;
        server.running(&["goes-on", "stops"]).await;
        server.fake.ignore_cancels(true);
        server.wish(&stops, Wish::Cancel).await;
        server.until(|| async { (server.fake.cancels() > 0).then_some(()) }).await;
        server.give_up();
        assert_eq!(server.ended(&stops).await, RunState::Cancelled);
        assert_eq!(server.ended(&goes_on).await, RunState::Failed);
        let attempts = server.store.attempts(&goes_on).await.unwrap();
        let AttemptState::Ended { outcome: Outcome::Failed(lost), .. } = &attempts[0].state else { panic!("{attempts:?}") };
        assert_eq!((lost.kind, lost.message.as_str()), (FailureKind::Lost, "the cluster `local` was decommissioned"));
        // It is retried, like everything lost, and cannot start.
        let row = server.instance(&goes_on, "goes-on", 0).await.unwrap();
        let InstanceState::Failed { failure } = row.state else { panic!("{row:?}") };
        assert_eq!(failure.kind, FailureKind::CouldNotStart);
        assert!(server.store.holding().await.unwrap().is_empty(), "so that the cluster can be deleted");
    }
}

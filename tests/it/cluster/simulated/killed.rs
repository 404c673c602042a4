//! A server that is killed at random moments of a run.

use std::thread::sleep;
use std::time::Duration;

use cubeloom_testkit::conformance::random;

use super::{Place, add, start};
use crate::api::support::{Server, Who};
use crate::cluster::product::ended;
use crate::support::TestApp;

/// One-pod tasks of the run.
const TASKS: usize = 200;
/// Their concurrency, so that the run outlasts the kills.
const AT_ONCE: usize = 20;
/// Maximum number of kills. The run may end before, because a server starts slowly on a busy machine.
const KILLS: usize = 8;
/// How many of the kills must have hit the run.
const IN_TIME: usize = 3;

#[ignore = "needs a cluster"]
#[test]
fn a_server_that_is_killed_again_and_again_loses_nothing_and_starts_nothing_twice() {
    let place = Place::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let run = start(&admin, TASKS, Some(AT_ONCE));
    let killed_in_time = || {
        sleep(Duration::from_millis(200 + random() % 1500));
        server.kill();
        server.run();
        // The state is read after the restart: before the kill it could still change.
        let now = server.as_(Who::Administrator).get(&format!("/runs/{run}")).expect(200).json();
        now["state"] == "running"
    };
    let in_time = (0..KILLS).take_while(|_| killed_in_time()).count();
    assert!(in_time >= IN_TIME, "the run had ended after {in_time} kills");
    let client = server.as_(Who::Administrator);
    let run = ended(&client, &run);
    assert_eq!(run["state"], "succeeded", "{run:#}");
    let counts = place.counts();
    assert_eq!(counts.len(), TASKS, "each task had a pod, and no second attempt");
    let twice: Vec<_> = counts.iter().filter(|(_, count)| **count != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

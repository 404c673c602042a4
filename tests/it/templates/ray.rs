//! The `ray` template: a Ray cluster for one task, which ends with the program on its head.

use super::ledger::{killing_a_worker_fails, wait_for_none};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{instance, outputs, states};

#[test]
#[ignore = "needs 600 MB of packages: make test-templates"]
fn the_example_of_ray() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/ray/example.yaml"), &[]);
    assert_eq!(states(&run), [("count", "succeeded"), ("search", "succeeded")]);
    let count = outputs(&run, "count");
    assert_eq!(count["primes"], 78_498, "as is known of the numbers below a million");
    assert!(count["places"].as_u64() > Some(1), "it ran on more than one node: {count}");
    let search = outputs(&run, "search");
    assert_eq!(search["trials"], 16);
    assert!(search["whole"].as_u64() < Some(16), "what did badly ended early: {search}");
    assert!(folder(&run).join("tune/bowl").is_dir(), "what Ray Tune keeps");
    assert!(wait_for_none(&app).is_empty(), "all of Ray is ended");
}

#[test]
#[ignore = "needs 600 MB of packages: make test-templates"]
fn ray_fails_as_its_program_does() {
    let app = app();
    let run = run(&app, 1, &job("ray"), &["-p", "then=fail"]);
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!((&failure["kind"], &failure["exit_code"]), (&"exit".into(), &7.into()), "{failure}");
    assert_eq!(failure["worker"]["role"], "head", "{failure}");
    assert!(wait_for_none(&app).is_empty());
}

/// Workers of other projects can reach its ports, too.
#[test]
#[ignore = "needs 600 MB of packages: make test-templates"]
fn ray_obeys_nobody_without_the_jobs_token() {
    let app = app();
    run(&app, 0, &job("ray"), &["-p", "then=call"]);
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 600 MB of packages: make test-templates"]
fn ray_fails_when_a_worker_is_killed() {
    killing_a_worker_fails(&app(), "ray", &["-p", "then=hold"], "worker", 1);
}

//! The `indexed` template: work cut into shares.

use super::ledger::{assert_apart, is_there, killing_rank_1_fails, read};
use super::rig::{app, folder, job, run};

#[test]
fn indexed_workers_live_apart_and_each_does_its_share() {
    let app = app();
    let entries = read(&folder(&run(&app, 0, &job("indexed"), &[])));
    assert_apart(&app, &entries, 3);
    let sum = |what: &str| entries.iter().map(|entry| entry[what].as_u64().unwrap()).sum::<u64>();
    // All numbers from 2 to 9,999, and the primes among them.
    assert_eq!((sum("numbers"), sum("primes")), (9_998, 1_229));
    assert!(entries.iter().all(|entry| entry["primes"].as_u64() > Some(0)), "{entries:?}");
}

#[test]
fn indexed_fails_when_a_worker_is_killed() {
    let message = killing_rank_1_fails(&app(), "indexed", &["-p", "hold=true"], 3, |data| {
        is_there(data, "runs", "busy")
    });
    // They share nothing that could tell them of the loss.
    assert!(message.ends_with("2 other workers were stopped because of it"), "{message}");
}

//! The `mpi` template: ranks inside the workers, a sum over all of them.

use super::ledger::{assert_apart, is_there, killing_rank_1_fails, read};
use super::rig::{app, folder, job, run};

#[test]
fn mpi_ranks_live_apart_and_add_up_their_sums() {
    let app = app();
    let entries = read(&folder(&run(&app, 0, &job("mpi"), &[])));
    assert_apart(&app, &entries, 3);
    for entry in &entries {
        assert_eq!((&entry["size"], &entry["total"]), (&3.into(), &500_500.into()), "{entries:?}");
        assert_eq!(entry["worker"], format!("worker-{}", entry["rank"]), "{entries:?}");
    }
    // 1 + 4 + ... + 1000, 2 + 5 + ... + 998, 3 + 6 + ... + 999.
    let shares: Vec<u64> = entries.iter().map(|entry| entry["share"].as_u64().unwrap()).collect();
    assert_eq!(shares, [167_167, 166_500, 166_833]);
}

#[test]
fn mpi_fails_when_a_worker_is_killed() {
    killing_rank_1_fails(&app(), "mpi", &["-p", "hold=true"], 3, |data| is_there(data, "runs", "busy"));
}

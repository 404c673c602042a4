//! Jobs of several workers: placement, discovery, and how one worker's end decides for all.

use std::collections::BTreeSet;
use std::fs;

use super::harness::{Person, Submitted};

/// A task of four workers, one node each, that run this in a shell.
fn crowd(program: &str) -> String {
    format!(
        "  - name: crowd\n    template: indexed\n    arguments:\n      workers: 4\n      requirements: []\n      \
         command: [sh, -c, '{program}']\n"
    )
}

fn addresses(job: &Submitted) -> BTreeSet<String> {
    let places = job.read("places");
    places.lines().map(|line| line.split(' ').nth(2).unwrap().to_owned()).collect()
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn workers_are_spread_and_each_is_told_where_it_is() {
    let person = Person::new("spread");
    let job = person.submit(&crowd("echo $CUBELOOM_RANK of $CUBELOOM_WORLD_SIZE at $CUBELOOM_HOST"));
    assert_eq!(person.wait(&job), "COMPLETED", "{}", job.log());
    let places = job.read("places");
    for (rank, line) in places.lines().enumerate() {
        let [number, node, address, port] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{places}")
        };
        assert_eq!(number, rank.to_string());
        assert_eq!(address, format!("127.0.0.1{}", node.strip_prefix('n').unwrap()));
        assert!((10_000..32_464).contains(&port.parse::<u32>().unwrap()), "{port}");
        assert_eq!(job.read(&format!("worker-{rank}/stdout")), format!("{rank} of 4 at {address}\n"));
    }
    assert_eq!(addresses(&job).len(), 4, "{places}");
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn the_first_that_fails_stops_the_others_and_is_named() {
    let person = Person::new("fails");
    let job =
        person.submit(&crowd("[ $CUBELOOM_RANK = 2 ] && { sleep 1; echo no luck >&2; exit 3; }; sleep 300"));
    assert_eq!(person.wait(&job), "FAILED", "{}", job.log());
    let log = job.log();
    assert!(log.contains("worker-2 ended with exit code 3"), "{log}");
    assert!(log.contains("3 other workers were stopped because of it") && log.contains("| no luck"), "{log}");
    for worker in ["worker-0", "worker-1", "worker-3"] {
        assert_eq!(job.exit(worker)["stopped"], true, "{worker}");
    }
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn a_stop_file_stops_all_with_a_grace() {
    let person = Person::new("stop");
    let job = person.submit(&crowd("trap \"echo bye; exit 0\" TERM; echo up; while :; do sleep 0.1; done"));
    (0..4).for_each(|rank| job.wait_for(&format!("worker-{rank}/stdout")));
    fs::write(job.folder.join("stop"), r#"{"why": "cancelled", "grace_ms": 5000}"#).unwrap();
    assert_eq!(person.wait(&job), "FAILED", "{}", job.log());
    assert!(job.log().contains("the job was cancelled"), "{}", job.log());
    for rank in 0..4 {
        assert_eq!(job.read(&format!("worker-{rank}/stdout")), "up\nbye\n");
    }
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn scancel_ends_all_with_a_grace_and_leaves_no_token() {
    let person = Person::new("scancel");
    let job = person.submit(&crowd("trap \"echo bye; exit 0\" TERM; echo up; while :; do sleep 0.1; done"));
    (0..4).for_each(|rank| job.wait_for(&format!("worker-{rank}/stdout")));
    assert!(job.folder.join("token").exists());
    assert!(person.command("scancel").arg(&job.id).status().unwrap().success());
    assert_eq!(person.wait(&job), "CANCELLED", "{}", job.log());
    for rank in 0..4 {
        let worker = format!("worker-{rank}");
        job.wait_for(&format!("{worker}/exit.json"));
        assert_eq!(job.read(&format!("{worker}/stdout")), "up\nbye\n");
        assert_eq!(job.exit(&worker)["stopped"], true);
    }
    assert!(!job.folder.join("token").exists(), "{}", job.log());
}

/// A shim that is killed: its step ends, and the other workers are stopped.
#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn a_worker_whose_watcher_is_killed_is_lost_and_ends_the_job() {
    let person = Person::new("killed");
    let job = person.submit(&crowd("echo up; exec sleep 300"));
    (0..4).for_each(|rank| job.wait_for(&format!("worker-{rank}/stdout")));
    let started: serde_json::Value = serde_json::from_str(job.read("worker-1/started").trim()).unwrap();
    let pid = i32::try_from(started["pid"].as_i64().unwrap()).unwrap();
    let shim = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(shim, rustix::process::Signal::KILL).unwrap();
    assert_eq!(person.wait(&job), "FAILED", "{}", job.log());
    assert!(job.log().contains("is lost"), "{}", job.log());
}

/// A heterogeneous job: a launcher with fewer resources than the workers runs MPI ranks in them over the
/// network.
#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn mpi_runs_its_ranks_in_workers_on_nodes_of_their_own() {
    let person = Person::new("mpi");
    let task = "  - name: ranks\n    template: mpi\n    arguments:\n      workers: 2\n      requirements: []\n      \
        command: [sh, -c, 'echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE at $CUBELOOM_HOST']\n    \
        env: {OMPI_MCA_btl_tcp_if_include: lo, OMPI_MCA_oob_tcp_if_include: lo}\n";
    let job = person.submit(task);
    assert_eq!(person.wait(&job), "COMPLETED", "{}\n{}", job.log(), job.read("launcher-0/stderr"));
    let places = job.read("places");
    let nodes: Vec<&str> = places.lines().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(nodes.len(), 3);
    assert_ne!(nodes[1], nodes[2], "workers are told apart by their addresses: {places}");
    let said: String =
        ["launcher-0", "worker-0", "worker-1"].map(|name| job.read(&format!("{name}/stdout"))).concat();
    assert!(said.contains("rank 0 of 2") && said.contains("rank 1 of 2"), "{said}");
    assert!(job.log().contains("the job succeeded"), "the workers were stopped when the launcher had ended");
}

/// Two workers that request these resources and print the GPUs they see.
fn sees(person: &Person, program: &str, resources: &str) -> Submitted {
    let task = crowd(program).replace(": 4", ": 2");
    let job = person.submit(&format!("{task}    resources: {{{resources}}}\n"));
    assert_eq!(person.wait(&job), "COMPLETED", "{}", job.log());
    job
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn each_worker_sees_the_cards_of_its_type_that_slurm_gave_to_it() {
    let job = sees(&Person::new("cards"), "echo cards $CUDA_VISIBLE_DEVICES", "gpu: {count: 1, type: H100}");
    let said: Vec<String> = (0..2).map(|rank| job.read(&format!("worker-{rank}/stdout"))).collect();
    // The third and fourth GPU of each node are of this type. On one node, each worker has one.
    let both = addresses(&job).len() == 1;
    assert!(said.iter().all(|line| line == "cards 2\n" || line == "cards 3\n"), "{said:?}");
    assert!(!both || said[0] != said[1], "{said:?}");
}

/// Half a GPU is two of its four shards. Slurm allocates shards per node, so each worker has its own GPU.
#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn each_worker_sees_the_card_of_which_slurm_gave_shards_to_it() {
    let job = sees(&Person::new("shards"), "echo $CUDA_VISIBLE_DEVICES", "gpu: {fraction: 0.5}");
    assert!(job.read("job.sh").contains("#SBATCH --gres=shard:2\n"), "{}", job.read("job.sh"));
    for rank in 0..2 {
        let said = job.read(&format!("worker-{rank}/stdout"));
        assert!(said.trim().parse::<u32>().is_ok_and(|card| card < 4), "one card: {said}");
    }
    assert_eq!(addresses(&job).len(), 2);
}

/// A node has two GPUs of the type: each worker has one, with two processes on each GPU.
#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn processes_of_a_worker_share_the_cards_that_slurm_gave_to_it() {
    let program = "echo $CUBELOOM_RANK of $CUBELOOM_WORLD_SIZE on $CUDA_VISIBLE_DEVICES";
    let job = sees(&Person::new("processes"), program, "processes_per_gpu: 2, gpu: {count: 2, type: h100}");
    for worker in 0..2 {
        let said = job.read(&format!("worker-{worker}/stdout"));
        let lines: BTreeSet<&str> = said.lines().collect();
        let of = |(at, card): (u32, u32)| {
            let rank = worker * 4 + at;
            format!("[rank {rank}] {rank} of 8 on {card}")
        };
        let expected: Vec<String> = [(0, 2), (1, 2), (2, 3), (3, 3)].map(of).into();
        assert_eq!(lines, expected.iter().map(String::as_str).collect(), "{said}");
    }
    assert_eq!(addresses(&job).len(), 2);
}

//! `cpu_exclusive`: each worker has dedicated CPUs, checked against the kernel's affinity mask. Pinning
//! depends on the site's Slurm plugins, and the test cluster does not enable it: there, all jobs would share
//! the first CPUs of this machine.

use std::fs;
use std::path::PathBuf;

use cubeloom_domain::outcome::Outcome;
use cubeloom_testkit::conformance::{Harness, Program};

use super::weather::Held;
use crate::slurm::executor::{OnSlurm, with_lines};
use crate::slurm::harness::told;

/// The node whose daemon pins CPUs.
const NODE: &str = "n4";

/// A node that pins CPUs for jobs that request it. Dropping this restores the default.
struct Binding {
    conf: PathBuf,
    before: String,
}

impl Binding {
    fn new() -> Self {
        let conf = PathBuf::from(told("SLURM_CONF"));
        let before = fs::read_to_string(&conf).unwrap();
        assert!(before.contains("\nTaskPlugin="), "{before}");
        let binding = Self { conf, before };
        binding.start_again(&binding.before.replace("\nTaskPlugin=", "\nTaskPlugin=task/affinity,"));
        binding
    }

    /// Only this node's slurmd, and the slurmstepd processes of its jobs, read the file again.
    fn start_again(&self, text: &str) {
        let held = Held::end(NODE, "-TERM");
        fs::write(&self.conf, text.replace("task/affinity,task/none", "task/affinity")).unwrap();
        drop(held);
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        self.start_again(&self.before);
    }
}

/// The CPUs of this machine that two workers on that node may run on.
async fn allowed(cluster: &OnSlurm, is_exclusive: bool) -> [String; 2] {
    let program = Program::shell("grep Cpus_allowed_list /proc/self/status").workers(2);
    let mut job = cluster.job(&program);
    job.roles[0].resources.cpu_exclusive = is_exclusive;
    let there = format!("#SBATCH --nodelist={NODE} --nodes=1");
    let submission = with_lines(cluster.submission_of(job), &there, "#SBATCH");
    let key = submission.job.key.clone();
    cluster.executor().submit(submission).await;
    assert_eq!(cluster.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    ["worker-0", "worker-1"].map(|worker| {
        let said = fs::read_to_string(cluster.attempt(&key).join(worker).join("stdout")).unwrap();
        said.trim().rsplit('\t').next().unwrap().to_owned()
    })
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_that_ask_for_cores_of_their_own_are_bound_to_them() {
    let binding = tokio::task::spawn_blocking(Binding::new).await.unwrap();
    let cluster = OnSlurm::new();
    let [first, second] = allowed(&cluster, true).await;
    assert!(first.parse::<u32>().is_ok() && second.parse::<u32>().is_ok(), "one core each: {first} {second}");
    assert_ne!(first, second);
    let [first, second] = allowed(&cluster, false).await;
    assert!(first.parse::<u32>().is_err() && first == second, "all alike: {first} {second}");
    tokio::task::spawn_blocking(|| drop(binding)).await.unwrap();
}

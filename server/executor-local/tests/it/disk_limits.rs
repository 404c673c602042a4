//! Size limits of attempts' folders and of projects' workspaces.

use std::fs;
use std::time::{Duration, Instant};

use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_executor_local::LocalConfig;
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, assert_gone, failure, run};
use rustix::mount::{MountFlags, UnmountFlags};

use crate::harness::Local;

const MIB: u64 = 1 << 20;
/// A worker that writes into its folder, and then waits.
const WRITES: &str = "head -c 3145728 /dev/zero >large; exec sleep 300";

/// Attempt folders limited to this many MiB, measured continuously.
fn limited(mib: u64) -> Local {
    Local::with(|config: &mut LocalConfig| {
        config.run_disk = Some(mib * MIB);
        config.grace = Duration::from_secs(1);
        config.measured_every = Duration::from_millis(20);
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_writes_more_than_its_folder_may_hold_is_stopped_and_says_so() {
    let harness = limited(2);
    let (key, ended) = run(&harness, &Program::shell(WRITES)).await;
    let failure = failure(&ended);
    assert_eq!(failure.kind, FailureKind::DiskLimit, "{ended:?}");
    let said = &failure.message;
    assert!(
        said.starts_with("wrote ") && said.ends_with("the limit is 2 MiB (`run_disk` in `[local]`)"),
        "{said}"
    );
    assert_gone(&harness, &key);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_room_on_the_disk_is_not_counted() {
    let harness = limited(2);
    // A symlink to something large, a file without blocks, and one file with many names. Long enough to be
    // measured many times.
    let text = "ln -s / root; truncate -s 1T sparse; head -c 1048576 /dev/zero >file; for n in 1 2 3 4 5; do ln file $n; done; sleep 1";
    let (_, ended) = run(&harness, &Program::shell(text)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folders_nested_too_deep_end_the_attempt() {
    let harness = limited(2);
    let text = "n=0; while [ $n -lt 300 ]; do mkdir d; cd d; n=$((n+1)); done; exec sleep 300";
    let (_, ended) = run(&harness, &Program::shell(text)).await;
    assert_eq!(failure(&ended).kind, FailureKind::DiskLimit, "{ended:?}");
    assert!(failure(&ended).message.contains("too deep"), "{}", failure(&ended).message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_was_stopped_for_it_says_so_to_the_next_server() {
    let mut harness = limited(2);
    // It ignores TERM: the server is gone before it ends.
    let program = Program::shell(&format!("trap '' TERM; {WRITES}"));
    let submission = harness.submission(&program);
    let key = submission.job.key.clone();
    harness.executor().submit(submission.clone()).await;
    let stop = harness.attempt(&key).join("stop");
    let began = Instant::now();
    while !stop.exists() {
        assert!(began.elapsed() < PATIENCE, "nobody stops it");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    harness.crash();
    harness.executor().adopt(submission).await;
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::DiskLimit, "{ended:?}");
}

/// Workspaces limited to 2 MiB, measured continuously.
fn limited_workspace() -> Local {
    Local::with(|config: &mut LocalConfig| {
        config.workspace = 2 * MIB;
        config.measured_every = Duration::from_millis(20);
    })
}

/// Fills the project's folder beyond its limit, and empties it.
async fn fill_the_workspace(harness: &Local) {
    let (_, ended) =
        run(harness, &Program::shell("head -c 3145728 /dev/zero >\"$CUBELOOM_RUN_DIR/large\"")).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "what runs goes on");
    // A measurement while a file grows is lower.
    let until = async |held: bool| {
        let began = Instant::now();
        loop {
            let found = harness.executor().held_projects();
            let whole = found.values().all(|why| why.contains("uses 3"));
            if found.is_empty() != held && whole {
                return found;
            }
            assert!(began.elapsed() < PATIENCE, "{found:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let held = until(true).await;
    assert_eq!(held.len(), 1, "{held:?}");
    let (project, why) = held.first_key_value().unwrap();
    assert!(why.contains("the limit of 2 MiB (`workspace` in `[local]`)"), "{why}");
    for run in fs::read_dir(harness.data().join("workspace").join(project).join("runs")).unwrap().flatten() {
        let _ = fs::remove_file(run.path().join("large"));
    }
    until(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_project_starts_while_its_workspace_is_over_its_limit() {
    let harness = limited_workspace();
    // A symlink in place of a project's folder is not followed.
    std::os::unix::fs::symlink("/usr", harness.data().join("workspace/linked")).unwrap();
    fill_the_workspace(&harness).await;
}

/// A file system mounted in a folder, until dropped.
struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, UnmountFlags::DETACH);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workspace_on_a_disk_of_its_own_is_measured_as_well() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root mounts a file system");
    }
    let harness = limited_workspace();
    let workspace = harness.data().join("workspace");
    rustix::mount::mount("none", &workspace, "tmpfs", MountFlags::NOSUID, Some(c"mode=0711,size=16m"))
        .unwrap();
    let _mounted = Mounted(workspace);
    fill_the_workspace(&harness).await;
}

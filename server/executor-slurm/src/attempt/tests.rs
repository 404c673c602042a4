//! When a job that is missing from the list is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cubeloom_domain::executor::Executor;
use tokio::sync::mpsc::unbounded_channel;

use super::*;
use crate::executor::SlurmExecutor;
use crate::executor::tests::{Deaf, executor, noted, program};
use crate::seen::{Jobs, accounted, lines, listed};

const RUNS: &str = "7|1000|RUNNING|None|n1|called-otherwise\n";

/// An attempt whose job is number 7.
fn attempt(executor: &SlurmExecutor, data: &Path) -> Attempt {
    let (key, record, job) = noted(data);
    let cluster = Arc::clone(&executor.cluster);
    let who = Who { name: key.object_name(), uid: record.uid, ids: vec!["7".into()] };
    cluster.board.follow(&key, who);
    Attempt::new(cluster, key, record, job, None, unbounded_channel().1)
}

/// One response from Slurm.
fn look(attempt: &Attempt, text: &str) {
    let board = &attempt.cluster.board;
    let number = board.begin();
    board.listed(number, listed(lines(text), &board.ids()));
}

fn account(attempt: &Attempt, jobs: &Jobs) {
    let asked = attempt.cluster.board.asked(10);
    assert_eq!(asked.len(), 1);
    attempt.cluster.board.accounted(&asked, jobs);
}

#[tokio::test]
async fn a_job_is_lost_only_when_nobody_knows_it_and_slurm_was_told_to_end_it() {
    let data = tempfile::tempdir().unwrap();
    let executor = executor(data.path(), "/nonexistent", &[]);
    let mut attempt = attempt(&executor, data.path());
    assert_eq!(attempt.fate(false), None, "no look was answered");
    look(&attempt, RUNS);
    assert_eq!((attempt.fate(false), attempt.jobs.len()), (None, 1), "it is known by its id");
    look(&attempt, "");
    assert_eq!(attempt.fate(false), None);
    attempt.missing.as_mut().unwrap().lasted = MISSING * 10;
    assert_eq!(attempt.fate(false), None, "accounting has not answered");
    account(&attempt, &accounted("7|1000|RUNNING|n1|called-otherwise\n"));
    assert_eq!(attempt.fate(false), None, "accounting says that it is alive");
    assert_eq!(attempt.fate(false), None, "it is asked again");
    account(&attempt, &Jobs::default());
    assert_eq!(attempt.fate(false), None, "Slurm was not told to end it");
    attempt.missing.as_mut().unwrap().is_ended = true;
    assert_eq!(attempt.fate(false), Some(Fate::Unknown));
    look(&attempt, RUNS);
    assert_eq!((attempt.fate(false), attempt.missing.is_none()), (None, true), "there it is again");
}

#[tokio::test]
async fn time_in_which_slurm_does_not_answer_does_not_count() {
    let data = tempfile::tempdir().unwrap();
    let executor = executor(data.path(), "/nonexistent", &[]);
    let mut attempt = attempt(&executor, data.path());
    let lasted = |attempt: &Attempt| attempt.missing.as_ref().unwrap().lasted;
    look(&attempt, "");
    attempt.fate(false);
    let before = Instant::now().checked_sub(Duration::from_secs(3600));
    attempt.missing.as_mut().unwrap().at = before.unwrap_or_else(Instant::now);
    attempt.fate(false);
    assert_eq!(lasted(&attempt), Duration::ZERO);
    look(&attempt, "");
    attempt.fate(false);
    assert!(lasted(&attempt) <= BETWEEN, "{:?}", lasted(&attempt));
}

#[tokio::test]
async fn slurm_is_told_to_end_what_is_about_to_be_lost() {
    let data = tempfile::tempdir().unwrap();
    let (scancel, called) = (data.path().join("scancel"), data.path().join("called"));
    fs::write(&scancel, format!("#!/bin/sh\necho \"$@\" >>{}\n", called.display())).unwrap();
    fs::set_permissions(&scancel, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", data.path().display());
    let executor = executor(data.path(), &path, &[]);
    executor.attach(Arc::new(Deaf));
    let mut attempt = attempt(&executor, data.path());
    let missing = |lasted| Missing {
        look: 1,
        at: Instant::now(),
        lasted,
        accounted: Some(Vec::new()),
        is_ended: false,
    };
    attempt.missing = Some(missing(Duration::ZERO));
    attempt.make_sure().await;
    assert!(!called.exists(), "it may come again");
    attempt.missing = Some(missing(MISSING));
    attempt.make_sure().await;
    assert!(attempt.missing.unwrap().is_ended);
    assert_eq!(fs::read_to_string(&called).unwrap(), "7\n");
}

/// Many attempts of one account stop at once.
#[tokio::test]
async fn many_stops_are_few_calls() {
    let data = tempfile::tempdir().unwrap();
    let (scancel, called) = (data.path().join("scancel"), data.path().join("called"));
    fs::write(&scancel, format!("#!/bin/sh\nsleep 0.2\necho \"$@\" >>{}\n", called.display())).unwrap();
    fs::set_permissions(&scancel, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", data.path().display());
    let executor = executor(data.path(), &path, &[]);
    executor.attach(Arc::new(Deaf));
    let (_, record, _) = noted(data.path());
    let wants: Vec<_> = (0..500)
        .map(|id: u32| {
            let (cluster, record) = (Arc::clone(&executor.cluster), record.clone());
            let what = What::Cancel { jobs: vec![id.to_string()], kill: false };
            tokio::spawn(async move { cluster.orders.give(&record, what).await })
        })
        .collect();
    for want in wants {
        want.await.unwrap().unwrap();
    }
    let text = fs::read_to_string(&called).unwrap();
    assert_eq!(text.split_whitespace().count(), 500, "each is told");
    assert!(text.lines().count() < 20, "{} calls", text.lines().count());
}

/// For instance, a partition does not accept the project's account.
#[tokio::test]
async fn a_job_that_is_not_taken_for_its_projects_account_goes_on_without() {
    let data = tempfile::tempdir().unwrap();
    let executor = crate::mirror::tests::cluster(data.path(), "exit 0");
    for name in ["squeue", "sacct", "sinfo"] {
        program(data.path(), name, "#!/bin/sh\n");
    }
    program(data.path(), "writer", "#!/bin/sh\ncat >/dev/null\n");
    let called = data.path().join("called");
    let sbatch = format!(
        "#!/bin/sh\necho \"$*\" >>{}\ncase $* in *--account=*) echo 'sbatch: error: Batch job submission failed: \
         Invalid account or account/partition combination specified' >&2; exit 1 ;; esac\necho 9\n",
        called.display()
    );
    program(data.path(), "sbatch", &sbatch);
    executor.attach(Arc::new(Deaf));
    let mut attempt = attempt(&executor, data.path());
    // Jobs are polled for existing attempts.
    let _wishes = executor.cluster.enter(&attempt.key).unwrap();
    attempt.record.uid = rustix::process::geteuid().as_raw();
    attempt.record.program = data.path().join("writer").to_str().unwrap().into();
    fs::create_dir(&attempt.record.folder).unwrap();
    let job = crate::parcel::tests::job(&attempt.record.folder);
    let script = format!("{}/{}", job.folder, files::SCRIPT);
    let parcel = Parcel { job, secrets: [].into(), folders: Vec::new(), in_doubt: false };
    let submitted = tokio::time::timeout(Duration::from_secs(20), attempt.submit(parcel)).await.unwrap();
    assert!(matches!(submitted, Submitted::Done));
    assert_eq!(
        fs::read_to_string(&called).unwrap(),
        format!("--parsable --account=cl-p-seg {script}\n--parsable {script}\n")
    );
    let findings = executor.cluster.mirror.findings();
    assert!(findings.iter().any(|one| one.name == "cl-p-seg" && !one.found), "{findings:?}");
    assert_eq!(executor.cluster.counted_as("p", "ann").await, Ok(None), "nor is the next");
}

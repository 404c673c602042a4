//! Jobs whose template has an image, on a cluster with a container runtime. Charliecloud is the real one,
//! with an image made of this machine's own programs. Apptainer is not packaged in Debian 12, so a stand-in
//! checks its arguments: a script that implements `pull` and `exec` and prints its own command line.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cubeloom_domain::executor::StopCause;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::slurm::{ContainerProgram, SlurmContainers};
use cubeloom_testkit::conformance::{Harness, Program, assert_gone};

use super::executor::OnSlurm;
use super::harness::told;

const REFERENCE: &str = "registry.test/small:1";

/// Runs containers with this program, with its images in a folder of the workspace.
fn containers(workspace: &str, by: ContainerProgram) -> SlurmContainers {
    SlurmContainers { by, program: None, images: Some(format!("{workspace}/images")), pulled: String::new() }
}

/// An image as a folder: a shell with its libraries, and a file that exists nowhere else.
fn image(at: &Path) {
    let script = r#"
        set -e; umask 022
        mkdir -p bin dev etc proc sys tmp home run mnt usr/bin
        for program in /bin/sh /bin/cat /bin/sleep; do
            cp "$program" bin/
            ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
                mkdir -p ".$(dirname "$library")"; cp -n "$library" ".$library"
            done
        done
        touch etc/hosts etc/resolv.conf etc/passwd etc/group etc/nsswitch.conf
        echo 'of the image' >etc/whose
    "#;
    fs::create_dir_all(at).unwrap();
    let done = Command::new("sh").args(["-c", script]).current_dir(at).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Submits a job of this program in the image.
async fn submitted(slurm: &OnSlurm, image: &str, program: &Program) -> cubeloom_domain::AttemptKey {
    let mut job = slurm.job(program);
    job.image = Some(image.into());
    let submission = slurm.submission_of(job);
    let key = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    key
}

/// Why `ch-run` cannot run here as the account of the jobs: it needs unprivileged user namespaces.
fn no_namespaces() -> Option<String> {
    let member = told("CUBELOOM_TEST_SLURM_MEMBER");
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &member, "--regid", &member, "--init-groups", "--", "unshare", "-Ur", "true"]);
    let done = command.output().unwrap();
    (!done.status.success()).then(|| String::from_utf8_lossy(&done.stderr).trim().to_owned())
}

fn on_charliecloud() -> OnSlurm {
    let slurm = OnSlurm::with(|config| {
        config.facts.containers = Some(containers(&config.facts.workspace, ContainerProgram::Charliecloud));
    });
    image(&workspace(&slurm).join("images/registry.test+small++1"));
    slurm
}

fn workspace(slurm: &OnSlurm) -> PathBuf {
    slurm.ledger().parent().unwrap().into()
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_run_in_their_image_and_are_who_they_are() {
    if let Some(why) = no_namespaces() {
        return eprintln!("skipped: ch-run can make no user namespace here: {why}");
    }
    let slurm = on_charliecloud();
    let program = Program::shell(
        "cat /etc/whose; [ -e /usr/bin/sbatch ] && echo 'on the node'; echo \"$CUBELOOM_RANK in $PWD\"; \
         echo \"{\\\"output\\\": {\\\"n\\\": $CUBELOOM_WORLD_SIZE}}\" >>\"$CUBELOOM_OUTPUTS\"; echo here >>\"$LEDGER\"",
    );
    let key = submitted(&slurm, REFERENCE, &program.workers(2)).await;
    let ended = slurm.recorder().ended(&key).await;
    let read = |name: &str| fs::read_to_string(slurm.attempt(&key).join(name)).unwrap_or_default();
    assert_eq!(ended.outcome, Outcome::Succeeded, "{}{}", read("slurm.log"), read("worker-0/stderr"));
    let work = slurm.attempt(&key).join("worker-1/work");
    assert_eq!(read("worker-1/stdout"), format!("of the image\n1 in {}\n", work.display()));
    assert_eq!(ended.report.outputs["n"], 2, "{:?}", ended.report);
    assert_eq!(fs::read_to_string(slurm.ledger()).unwrap().lines().count(), 2);
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_in_an_image_is_stopped_and_nothing_is_left() {
    if let Some(why) = no_namespaces() {
        return eprintln!("skipped: ch-run can make no user namespace here: {why}");
    }
    let slurm = on_charliecloud();
    let key =
        submitted(&slurm, REFERENCE, &Program::shell("trap '' TERM; echo up >>$LEDGER; sleep 600")).await;
    let began = std::time::Instant::now();
    while fs::read_to_string(slurm.ledger()).unwrap().is_empty() {
        assert!(began.elapsed().as_secs() < 60, "it does not begin");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    slurm.executor().cancel(&key, StopCause::Cancelled, std::time::Duration::from_secs(1)).await;
    assert_eq!(slurm.recorder().ended(&key).await.outcome, Outcome::Cancelled);
    assert_gone(&slurm, &key);
}

/// Implements the part of Apptainer that jobs use: an image is a file that names its source.
const STAND_IN: &str = r#"#!/bin/bash
echo "$*" >>"$(dirname "$0")/../calls"
case $1 in
pull) [ ! -e "$2" ] || { echo "$2 is there" >&2; exit 255; }; sleep 1; echo "$3" >"$2" ;;
exec)
    shift
    while [ "${1#--}" != "$1" ]; do
        case $1 in --bind | --home | --pwd | --env) [ "$1" != --pwd ] || cd "$2"; shift 2 ;; *) shift ;; esac
    done
    read -r from <"$1" || exit 255
    shift
    IMAGE_FROM=$from exec "$@"
    ;;
esac
"#;

/// With a stand-in: two jobs that start together pull their image once.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_is_taken_from_its_registry_once() {
    let slurm = OnSlurm::with(|config| {
        let folder = PathBuf::from(&config.facts.workspace).join("bin");
        fs::create_dir(&folder).unwrap();
        let program = folder.join("apptainer");
        fs::write(&program, STAND_IN).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let program = Some(program.to_str().unwrap().to_owned());
        let containers = containers(&config.facts.workspace, ContainerProgram::Apptainer);
        config.facts.containers = Some(SlurmContainers { program, ..containers });
    });
    let program = Program::shell("echo \"$IMAGE_FROM $PWD\"");
    let keys = [
        submitted(&slurm, REFERENCE, &program.clone().workers(2)).await,
        submitted(&slurm, REFERENCE, &program).await,
    ];
    for key in &keys {
        let ended = slurm.recorder().ended(key).await;
        let log = fs::read_to_string(slurm.attempt(key).join("slurm.log")).unwrap_or_default();
        assert_eq!(ended.outcome, Outcome::Succeeded, "{log}");
        let work = slurm.attempt(key).join("worker-0/work");
        let said = fs::read_to_string(slurm.attempt(key).join("worker-0/stdout")).unwrap();
        assert_eq!(said, format!("docker://{REFERENCE} {}\n", work.display()));
    }
    let calls = fs::read_to_string(workspace(&slurm).join("calls")).unwrap();
    let of = |word: &str| calls.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((of("pull"), of("exec")), (1, 3), "{calls}");
    let member = told("CUBELOOM_TEST_SLURM_MEMBER");
    assert!(workspace(&slurm).join(format!(".images/{member}/registry.test+small++1.sif")).exists());
}

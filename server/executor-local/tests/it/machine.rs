//! Tests specific to this machine: users, secrets, tokens, interpreters, lost shims.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::{Event, Progress};
use cubeloom_domain::job::{PythonEnvironment, SecretMount};
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::usage::UsageSample;
use cubeloom_executor_local::{LocalConfig, SecretSource};
use cubeloom_testkit::conformance::{
    Harness, PATIENCE, Program, assert_gone, failure, run, signed, until_executed,
};

use crate::harness::Local;

fn output(harness: &Local, key: &cubeloom_domain::AttemptKey, worker: &str) -> String {
    fs::read_to_string(harness.attempt(key).join(worker).join("stdout")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_is_told_secrets_that_are_nowhere_on_the_disk() {
    let harness = Local::with(|config: &mut LocalConfig| {
        config.secrets.insert("password".into(), SecretSource::Value("tell-nobody".into()));
    });
    let mount = |env: Option<&str>, file: Option<&str>| SecretMount {
        name: "password".into(),
        env: env.map(Into::into),
        file: file.map(Into::into),
    };
    let text = r#"test "$PASSWORD" = tell-nobody && test "$(cat "$CUBELOOM_SECRETS/pass")" = tell-nobody && stat -c %a "$CUBELOOM_SECRETS/pass""#;
    let program = Program::shell(text)
        .with(|program| program.secrets = vec![mount(Some("PASSWORD"), None), mount(None, Some("pass"))]);
    let (key, ended) = run(&harness, &program).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(output(&harness, &key, "worker-0"), "400\n");
    // The shim removes them once it has recorded the end.
    let began = Instant::now();
    while files_that_hold("tell-nobody", &harness.attempt(&key)) > 0 {
        assert!(began.elapsed() < PATIENCE, "the secrets stay on the disk");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let unknown = Program::shell("true").with(|program| {
        program.secrets = vec![SecretMount { name: "other".into(), env: Some("X".into()), file: None }];
    });
    let (_, ended) = run(&harness, &unknown).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart);
    assert!(failure(&ended).message.contains("`other`"), "{}", failure(&ended).message);
}

fn files_that_hold(text: &str, folder: &Path) -> usize {
    // Ignore entries removed meanwhile.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.path() {
            path if path.is_dir() => files_that_hold(text, &path),
            path => usize::from(String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).contains(text)),
        })
        .sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_cannot_forge_its_record_or_read_the_keys() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can give workers a uid of their own");
        return;
    }
    let harness = Local::new();
    let text = r#"id -u; cd ..; touch exit.json 2>/dev/null && echo forged; ls ../../../../keys 2>/dev/null && echo read; touch "$CUBELOOM_RUN_DIR/shared" && echo shared"#;
    let (key, ended) = run(&harness, &Program::shell(text)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(output(&harness, &key, "worker-0"), "61000\nshared\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_of_an_attempt_share_a_token_and_nothing_else() {
    let harness = Local::new();
    let program = Program::shell("echo $CUBELOOM_JOB_TOKEN; echo $CUBELOOM_HOST").workers(2);
    let (one, _) = run(&harness, &program).await;
    let (other, _) = run(&harness, &program).await;
    let said = |key, worker: &str| -> Vec<String> {
        output(&harness, key, worker).lines().map(Into::into).collect()
    };
    let (first, second) = (said(&one, "worker-0"), said(&one, "worker-1"));
    assert_eq!((first[0].len(), &first[0]), (64, &second[0]));
    assert_ne!(first[1], second[1], "each has an address of its own");
    assert_ne!(first[0], said(&other, "worker-0")[0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_whose_shim_is_killed_is_lost_and_gone() {
    let harness = Local::new();
    let submission = harness.submission(&Program::shell(&signed("setsid sleep 60 & sleep 60")));
    let key = submission.job.key.clone();
    harness.executor().submit(submission).await;
    until_executed(&harness, &key, 1).await;
    let started = fs::read(harness.attempt(&key).join("worker-0/started")).unwrap();
    let started: serde_json::Value = serde_json::from_slice(&started).unwrap();
    let shim =
        rustix::process::Pid::from_raw(i32::try_from(started["pid"].as_i64().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(shim, rustix::process::Signal::KILL).unwrap();
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::Lost);
    assert_gone(&harness, &key);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_without_packages_needs_no_environment() {
    let harness = Local::new();
    let mut job = Program::words(&["python3", "-c", "print(6 * 7)"]).job(Local::key());
    let python = |interpreter: &str| PythonEnvironment {
        interpreter: interpreter.into(),
        requirements: Vec::new(),
        system_site_packages: false,
        provided: Vec::new(),
        builds: Vec::new(),
    };
    job.python = Some(python("python3"));
    let key = job.key.clone();
    harness.executor().submit(harness.submission_of(job.clone())).await;
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_eq!(output(&harness, &key, "worker-0"), "42\n");
    job.key = Local::key();
    job.python = Some(python("python2.5"));
    let key = job.key.clone();
    harness.executor().submit(harness.submission_of(job)).await;
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart);
    assert!(failure(&ended).message.contains("`python2.5`"), "{}", failure(&ended).message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_side_by_side_lease_different_addresses_and_ports() {
    let (one, two) = (Local::new(), Local::new());
    let job = Program::shell("true").workers(2).job(Local::key());
    let bindings = |harness: &Local| match harness.executor().bind(&job) {
        Ok(Bindings::Local(local)) => local.workers,
        other => panic!("{other:?}"),
    };
    for ours in bindings(&one) {
        assert!(
            bindings(&two).iter().all(|theirs| ours.address != theirs.address && ours.port != theirs.port)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_is_told_on_a_disk_that_the_worker_has_filled() {
    let Some(harness) = Local::on_small_disk() else {
        eprintln!("skipped: no small disk can be made here (root is needed to mount one)");
        return;
    };
    // Printed output that the disk refuses is lost; for its own writes, the program gets the error.
    let text = "head -c 3000000 /dev/zero; cat /dev/zero > more; exit 3";
    let (_, ended) = run(&harness, &Program::shell(text)).await;
    assert_eq!((failure(&ended).kind, failure(&ended).exit_code), (FailureKind::Exit, Some(3)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_and_a_sample_a_second_are_there_while_it_runs() {
    let harness = Local::new();
    let text = r#"echo '{"progress": {"step": 1, "total": 4}}' >> "$CUBELOOM_OUTPUTS"
        x=$(head -c 20000000 /dev/zero | tr '\0' x); printf %s "$x" >written; sleep 2.5"#;
    let (key, ended) = run(&harness, &Program::shell(text)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    let told = Event::Progress(Progress { step: 1.0, total: Some(4.0) });
    assert_eq!(harness.recorder().events(&key).iter().filter(|event| **event == told).count(), 1);
    let series = fs::read_to_string(harness.attempt(&key).join("worker-0/usage.jsonl")).unwrap();
    let samples: Vec<UsageSample> = series.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // On a busy machine it takes longer to write, and has more samples.
    assert!(samples.len() >= 3, "{samples:?}");
    assert!(samples.windows(2).all(|pair| pair[0].at < pair[1].at && pair[0].cpu_us <= pair[1].cpu_us));
    // The last sample is from its end.
    let while_it_ran = &samples[..samples.len() - 1];
    assert!(while_it_ran.windows(2).all(|pair| pair[1].at.0 - pair[0].at.0 > 500_000), "{samples:?}");
    assert!(samples.iter().any(|sample| sample.memory > Bytes(20_000_000)), "{samples:?}");
    assert!(samples.iter().any(|sample| sample.disk_written >= Some(Bytes(20_000_000))), "{samples:?}");
    assert!(ended.usage.peak_memory >= samples[0].memory, "{:?}", ended.usage);
}

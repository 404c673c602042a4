//! Dedicated CPUs of workers. Costs two seconds; until then no other worker of this machine may use the last CPU.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use cubeloom_domain::executor::Executor;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::{AttemptKey, Cpu};
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, failure};

use crate::harness::Local;

/// Prints its CPUs whenever they change, until the file `go` is in its working directory.
const WATCH: &str = r#"last=
until [ -e go ]; do
  now=$(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status)
  [ "$now" = "$last" ] || echo "$now"
  last=$now
  sleep 0.02
done"#;

/// Starts a worker that reports its CPUs, `dedicated` of them its own.
async fn submit(harness: &Local, dedicated: u64) -> AttemptKey {
    let mut job = Program::shell(WATCH).job(Local::key());
    if dedicated > 0 {
        job.roles[0].resources.cpu = Cpu(dedicated * 1000);
        job.roles[0].resources.cpu_exclusive = true;
    }
    let key = job.key.clone();
    harness.executor().submit(harness.submission_of(job)).await;
    key
}

async fn until_it_has(harness: &Local, key: &AttemptKey, cpus: &BTreeSet<u32>) {
    let began = Instant::now();
    let file = harness.attempt(key).join("worker-0/stdout");
    loop {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if text.lines().last().map(numbers).as_ref() == Some(cpus) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "it never had the CPUs {cpus:?}; it had\n{text}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn let_go(harness: &Local, key: &AttemptKey) {
    fs::write(harness.attempt(key).join("worker-0/work/go"), "").unwrap();
}

/// The numbers of a list like `0-3,8`.
fn numbers(list: &str) -> BTreeSet<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<u32>().unwrap()..=last.parse().unwrap()
    };
    list.split(',').flat_map(range).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dedicated_cpus_are_used_by_one_worker_until_it_ends() {
    let harness = Local::new();
    let allowed = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = allowed.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let all = numbers(allowed.trim());
    if !harness.local().facts().dedicates_cpus || all.len() < 2 {
        eprintln!("skipped: CPUs can be dedicated only by root, with the controller cpuset, and two CPUs");
        return;
    }
    let before = submit(&harness, 0).await;
    until_it_has(&harness, &before, &all).await;
    let own = submit(&harness, 1).await;
    let last = BTreeSet::from([*all.last().unwrap()]);
    until_it_has(&harness, &own, &last).await;
    let rest: BTreeSet<u32> = all.difference(&last).copied().collect();
    until_it_has(&harness, &before, &rest).await;
    let meanwhile = submit(&harness, 0).await;
    until_it_has(&harness, &meanwhile, &rest).await;
    let too_many = submit(&harness, all.len() as u64).await;
    let ended = harness.recorder().ended(&too_many).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart);
    let said = &failure(&ended).message;
    assert!(said.contains(&format!("{} dedicated CPUs are requested", all.len())), "{said}");
    let_go(&harness, &own);
    assert_eq!(harness.recorder().ended(&own).await.outcome, Outcome::Succeeded);
    for key in [&before, &meanwhile] {
        until_it_has(&harness, key, &all).await;
        let_go(&harness, key);
        assert_eq!(harness.recorder().ended(key).await.outcome, Outcome::Succeeded);
    }
}

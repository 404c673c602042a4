//! Workers that get more memory while they run; for executors that support it.

use cubeloom_domain::executor::{Event, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::{AttemptKey, Bytes};

use super::scaling::ScalingHarness;
use super::{Program, assert_gone, failure, signed, until_executed};

/// A worker's initial memory, its new limit, and what it uses in the end.
const HAS: Bytes = Bytes(96 << 20);
const GETS: Bytes = Bytes(192 << 20);

/// A worker that has nearly used up its memory, and needs more than that once `$LEDGER.more` exists.
const HUNGRY: &str = r#"exec python3 -c '
import os, time
held = []
def own():
    pages = open("/proc/self/statm").read().split()
    return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE") >> 20
def hold(mib):
    while own() < mib:
        held.append(bytes([1]) * (1 << 20))
hold(92)
while not os.path.exists(os.environ["LEDGER"] + ".more"):
    time.sleep(0.02)
hold(140)
'"#;

/// The same job with this memory.
fn with(harness: &impl ScalingHarness, submission: &Submission, memory: Bytes) -> Submission {
    let mut job = Job::clone(&submission.job);
    job.roles.iter_mut().for_each(|role| role.resources.memory = memory);
    harness.lowered(job)
}

/// Submits a job, and waits for the report that its memory is nearly used up. `None` if the executor cannot
/// add memory.
async fn begin(harness: &impl ScalingHarness) -> Option<(AttemptKey, Submission)> {
    if harness.executor().growth().is_none() {
        eprintln!("skipped: no memory can be given to what runs");
        return None;
    }
    let program = Program::shell(&signed(HUNGRY)).with(|program| {
        (program.memory, program.grows) = (HAS, true);
    });
    let submission = harness.submission(&program);
    let key = submission.job.key.clone();
    harness.executor().submit(submission.clone()).await;
    until_executed(harness, &key, 1).await;
    let full = |event: &Event| match event {
        Event::NearlyFull(full) => Some(full.clone()),
        _ => None,
    };
    let told = harness.recorder().first(&key, "that its memory is nearly used up", full).await;
    assert_eq!((told.role.as_str(), told.limit), ("worker", HAS));
    assert!(told.used <= HAS && told.used.0 >= HAS.0 / 10 * 9, "{told:?}");
    Some((key, submission))
}

async fn grow(harness: &impl ScalingHarness, submission: &Submission) {
    let executor = harness.executor();
    executor.growth().expect("it grows").grow(submission.clone()).await;
}

fn need_more(harness: &impl ScalingHarness) {
    let path = harness.ledger().with_extension("more");
    std::fs::write(path, "").expect("the ledger's folder can be written to");
}

/// A worker with more memory survives, and is killed without it. A repeated request has no effect, and a
/// limit never shrinks.
pub async fn lives(harness: &mut impl ScalingHarness) {
    let Some((key, submission)) = begin(harness).await else { return };
    let more = with(harness, &submission, GETS);
    for submission in [&more, &more, &submission] {
        grow(harness, submission).await;
    }
    // The memory is in place before anything requested later.
    harness.given(&key, GETS).await;
    need_more(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_gone(harness, &key);
    // It needs as much from the beginning.
    let program = Program::shell(&signed(HUNGRY)).with(|program| program.memory = HAS);
    let (_, ended) = super::run(harness, &program).await;
    assert_eq!(failure(&ended).kind, FailureKind::OutOfMemory);
}

/// The server is killed between the decision and its execution: the next one adopts the job with the decided
/// memory.
pub async fn crash_before(harness: &mut impl ScalingHarness) {
    let Some((key, submission)) = begin(harness).await else { return };
    let more = with(harness, &submission, GETS);
    harness.crash();
    harness.executor().bind(&more.job).expect("room");
    harness.executor().adopt(more).await;
    harness.recorder().started(&key).await;
    harness.given(&key, GETS).await;
    need_more(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_gone(harness, &key);
}

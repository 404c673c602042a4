//! Jobs that cannot be started, and refusals of the machine.

use cubeloom_domain::Bytes;
use cubeloom_domain::outcome::{FailureKind, Outcome};

use super::{Harness, Program, executions, failure, run, signed};

/// A command that is missing, unreadable, or not a program: a message says so.
pub async fn unreadable_command(harness: &mut dyn Harness) {
    let script = harness.ledger().with_file_name("closed");
    std::fs::write(&script, "#!/bin/sh\n").expect("the harness's folder can be written");
    let closed = harness.seen_by_workers(&script).display().to_string();
    for (argv, said) in [
        (["no-such-command"], "was not found on the PATH"),
        (["/no/such/command"], "does not exist"),
        ([closed.as_str()], "may not be read or executed"),
    ] {
        let (_, ended) = run(harness, &Program::words(&argv)).await;
        let cause = failure(&ended);
        assert_eq!(cause.kind, FailureKind::CouldNotStart, "{argv:?}");
        assert!(cause.message.contains(said) && cause.message.contains(argv[0]), "{}", cause.message);
        assert_eq!(ended.started_at, None);
    }
}

/// Arguments longer than the system accepts.
pub async fn long_arguments(harness: &mut dyn Harness) {
    let long = "x".repeat(3 << 20);
    let (_, ended) = run(harness, &Program::words(&["/bin/echo", &long])).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart);
    assert!(failure(&ended).message.contains("too long"), "{}", failure(&ended).message);
}

/// A worker that exceeds its memory is killed with all its processes, and the outcome says why.
pub async fn out_of_memory(harness: &mut dyn Harness) {
    if let Err(reason) = harness.bounds_memory() {
        return eprintln!("skipped: memory is not bounded here: {reason}");
    }
    // A child is OOM killed; its parent would wait forever.
    let text = signed("tail /dev/zero & sleep 60");
    let program = Program::shell(&text).with(|program| program.memory = Bytes(48 << 20));
    let (_, ended) = run(harness, &program).await;
    assert_eq!(failure(&ended).kind, FailureKind::OutOfMemory, "{ended:?}");
    assert!(ended.usage.peak_memory > Bytes(16 << 20), "{:?}", ended.usage);
    let program = Program::shell("exec tail /dev/zero").with(|program| program.memory = Bytes(48 << 20));
    assert_eq!(failure(&run(harness, &program).await.1).kind, FailureKind::OutOfMemory);
}

/// On a full disk no job starts, a message says why, and the executor continues.
pub async fn full_disk(harness: &mut dyn Harness) {
    let full = match harness.on_full_disk() {
        Ok(full) => full,
        Err(reason) => return eprintln!("skipped: no full disk can be made here: {reason}"),
    };
    let (key, ended) = run(&*full, &Program::shell(&signed(""))).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart, "{ended:?}");
    assert!(failure(&ended).message.contains("full"), "{}", failure(&ended).message);
    assert_eq!(executions(&*full, &key), 0);
    assert_eq!(run(harness, &Program::shell("true")).await.1.outcome, Outcome::Succeeded);
}

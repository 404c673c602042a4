//! Did an attempt fail because one of its workers failed its preflight test?

use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::preflight::Preflight;

/// The outcome of an attempt, from its cluster's report and its preflight test. If a worker was blamed, the
/// program has not begun: the attempt ended because of that worker.
#[must_use]
pub fn outcome(reported: Outcome, preflight: Option<&Preflight>) -> Outcome {
    let blamed = preflight.and_then(|preflight| preflight.tested.as_ref()?.blamed.as_ref());
    match (reported, blamed) {
        (Outcome::Failed(failure), Some(blamed)) if failure.kind == FailureKind::Exit => {
            let is_its = failure.worker.as_ref().is_some_and(|worker| worker.to_string() == blamed.worker);
            Outcome::Failed(Failure {
                kind: FailureKind::Preflight,
                message: format!("{} failed the pre-flight tests: {}", blamed.worker, blamed.why),
                // Another worker's node is not at fault.
                node: failure.node.filter(|_| is_its),
                ..failure
            })
        }
        (reported, _) => reported,
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::outcome::WorkerName;
    use cubeloom_domain::preflight::{Blamed, Tested};

    use super::*;

    fn failed(worker: u32) -> Outcome {
        let worker = Some(WorkerName { role: "worker".into(), index: worker });
        let failure = Failure::new(FailureKind::Exit, "it ended with exit code 3");
        Outcome::Failed(Failure { worker, node: Some("b".into()), ..failure })
    }

    fn judged(reported: Outcome, blamed: Option<&str>) -> (FailureKind, Option<Box<str>>) {
        let blamed =
            blamed.map(|worker| Blamed { worker: worker.into(), why: "it is slow".into(), sure: true });
        let tested = Some(Tested { workers: Vec::new(), blamed });
        match outcome(reported, Some(&Preflight { tested, ..Preflight::default() })) {
            Outcome::Failed(failure) => (failure.kind, failure.node),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_the_node_of_who_is_blamed_is_named() {
        assert_eq!(judged(failed(1), Some("worker-1")), (FailureKind::Preflight, Some("b".into())));
        assert_eq!(judged(failed(2), Some("worker-1")), (FailureKind::Preflight, None));
        assert_eq!(judged(failed(1), None), (FailureKind::Exit, Some("b".into())), "its program did");
    }
}

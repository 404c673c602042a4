//! What does the end of an attempt mean that was asked to stop?

use cubeloom_admission::{Preemption, Spec};
use cubeloom_domain::executor::StopCause;
use cubeloom_domain::hang::Hang;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::quantity::Span;

/// The outcome, given why the attempt was stopped. A success stands: it came before the stop.
#[must_use]
pub fn outcome(
    cause: StopCause,
    reported: Outcome,
    timeout: Option<Span>,
    hang: Option<&Hang>,
    preempted: Option<String>,
) -> Outcome {
    if reported == Outcome::Succeeded {
        return reported;
    }
    let failed = |kind, message: String| {
        let last_lines = match &reported {
            Outcome::Failed(failure) => failure.last_lines.clone(),
            Outcome::Succeeded | Outcome::Cancelled => Vec::new(),
        };
        Outcome::Failed(Failure { last_lines, ..Failure::new(kind, message) })
    };
    match cause {
        StopCause::Cancelled | StopCause::Outdone | StopCause::Marked => Outcome::Cancelled,
        StopCause::Preempted => {
            let message = preempted.unwrap_or_else(|| "it was preempted for another job".into());
            failed(FailureKind::Preempted, message)
        }
        StopCause::Timeout => {
            let limit = timeout.map_or_else(String::new, |span| format!(" of {span}"));
            failed(FailureKind::Timeout, format!("it ran longer than its timeout{limit}"))
        }
        StopCause::Hung => {
            let why = hang.map_or_else(|| "it reported no step".into(), Hang::sentence);
            failed(FailureKind::Hung, format!("it was stopped because it hung: {why}"))
        }
    }
}

/// Why a job was preempted, and by which job. It names no job of another project, which not every user may
/// see.
#[must_use]
pub fn preempted(why: Preemption, by: &Spec, project: &str) -> String {
    match why {
        Preemption::Outranked if by.project == project => {
            format!("it was preempted for `{}`, which has a higher priority", by.name)
        }
        Preemption::Outranked => {
            "it was preempted for a job of another project, which has a higher priority".into()
        }
        Preemption::Reclaimed => {
            "it was preempted for a job of another project, which uses less than its guarantee".into()
        }
    }
}

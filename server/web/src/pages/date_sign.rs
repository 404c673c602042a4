//! How the state of a date is shown: by the sign and colour of a state that runs and tasks have.

use super::Frame;
use crate::api::schedules::view::DateView;

/// The state whose sign and colour it has.
pub(super) fn sign(date: &DateView) -> &str {
    match date.shown_state() {
        "coming" => "pending",
        "due" => "waiting",
        "missed" => "skipped",
        "refused" => "failed",
        // Its run was deleted.
        "started" => "cancelled",
        other => other,
    }
}

/// The word for it.
pub(super) fn word(frame: &Frame, date: &DateView) -> String {
    match &date.run_state {
        Some(state) => frame.state(state),
        None => frame.t(&format!("schedule.state-{}", date.state)).to_owned(),
    }
}

/// Why it waits or has no run.
pub(super) fn why(frame: &Frame, date: &DateView) -> Option<String> {
    let why = date.why.as_deref()?;
    let detail = date.detail.clone().unwrap_or_default();
    if why == "invalid" {
        return Some(frame.said(&detail));
    }
    Some(frame.t_with(&format!("schedule.why-{why}"), [("detail", detail)]))
}

//! State of a date, shown with the icon and color of a run or task state.

use super::Frame;
use crate::api::schedules::view::DateView;

/// State whose icon and color it has.
pub(super) fn sign(date: &DateView) -> &str {
    match date.shown_state() {
        "coming" => "pending",
        "due" => "waiting",
        "missed" => "skipped",
        "refused" => "failed",
        // The run was deleted.
        "started" => "cancelled",
        other => other,
    }
}

/// Text of the state.
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

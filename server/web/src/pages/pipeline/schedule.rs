//! Schedule of a pipeline: state, next dates, back-fills and history.

use cubeloom_domain::schedule::PipelineName;

use super::super::zone::Zone;
use super::super::{Frame, date_sign};
use super::Wanted;
use crate::api::schedules::view::{BackfillView, DateView, ScheduleView};
use crate::api::schedules::{HistoryQuery, listed_backfills, listed_dates, shown};
use crate::error::{ApiError, ApiResult};
use crate::page::{Page, PageQuery};
use crate::schedules::look;
use crate::state::Web;
use crate::time::Time;

/// Number of dates, and of back-fills, per page.
const DATES: usize = 30;
const BACKFILLS: usize = 5;

/// Data of the tab.
pub(super) struct ScheduleTab {
    pub(super) view: ScheduleView,
    pub(super) zone: Zone,
    pub(super) backfills: Vec<BackfillView>,
    pub(super) dates: Page<DateView>,
}

impl ScheduleTab {
    /// A member of the schedule, as text. Empty if absent.
    pub(super) fn member(&self, name: &str) -> String {
        let value = self.view.schedule.as_ref().and_then(|schedule| schedule.get(name));
        match value {
            None => String::new(),
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }

    /// A member of the schedule's event trigger, as text. Empty if absent.
    pub(super) fn inner(&self, of: &str, name: &str) -> &str {
        let value = self.view.schedule.as_ref().and_then(|schedule| schedule.get(of)?.get(name));
        value.and_then(serde_json::Value::as_str).unwrap_or_default()
    }

    /// Project of the pipeline that it runs after.
    pub(super) fn source_project(&self) -> &str {
        match self.inner("after", "project") {
            "" => &self.view.project,
            other => other,
        }
    }

    /// Time of the next file check after a failed one.
    pub(super) fn tried_again(&self) -> Option<Time> {
        self.view.look.as_ref().filter(|look| look.failures > 0)?.next_at
    }

    /// Whether it has its own dates, which a back-fill can run.
    pub(super) fn has_dates(&self) -> bool {
        !self.member("cron").is_empty() || !self.member("every").is_empty()
    }

    /// Text key for the runs that it runs after.
    pub(super) fn when_after(&self) -> &'static str {
        when_after(self.inner("after", "state"))
    }

    /// Whether an option of the schedule is set.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.member(name) == "true"
    }

    /// Text key of the catch-up mode.
    pub(super) fn catch_up(&self) -> &'static str {
        match self.member("catch_up").as_str() {
            "none" => "schedule.catch-up-none",
            "all" => "schedule.catch-up-all",
            _ => "schedule.catch-up-latest",
        }
    }

    /// A date in the schedule's time zone.
    pub(super) fn shown(&self, time: &Time) -> String {
        self.zone.shown(time)
    }

    pub(super) fn sign<'d>(&self, date: &'d DateView) -> &'d str {
        date_sign::sign(date)
    }

    pub(super) fn word(&self, frame: &Frame, date: &DateView) -> String {
        date_sign::word(frame, date)
    }

    pub(super) fn why(&self, frame: &Frame, date: &DateView) -> Option<String> {
        date_sign::why(frame, date)
    }

    /// Message about a user who may no longer run it.
    pub(super) fn refused(&self, frame: &Frame) -> Option<String> {
        let why = self.view.refused.as_deref()?;
        Some(frame.t_with(&format!("schedule.why-{why}"), [("detail", self.view.set_by.as_str())]))
    }

    /// Progress of a back-fill in percent.
    pub(super) fn percent(&self, backfill: &BackfillView) -> u32 {
        let ended = backfill.succeeded + backfill.failed + backfill.cancelled;
        (ended * 100).checked_div(backfill.total).unwrap_or(100).min(100)
    }
}

/// Text key for the end of another pipeline's runs.
pub(in crate::pages) fn when_after(state: &str) -> &'static str {
    match state {
        "failed" => "schedule.after-failed",
        "ended" => "schedule.after-ended",
        _ => "schedule.after-succeeded",
    }
}

pub(super) async fn tab(web: &Web, project: &str, name: &str, wanted: &Wanted) -> ApiResult<ScheduleTab> {
    let of = PipelineName { project: project.into(), pipeline: name.into() };
    let state = look(web, &of).await?.ok_or_else(|| ApiError::not_found("pipeline", name))?;
    let zone = Zone::named(state.schedule.as_ref().and_then(|schedule| schedule.timezone.as_deref()));
    let first = PageQuery { limit: Some(BACKFILLS), cursor: None };
    let query = HistoryQuery { backfill: None, limit: Some(DATES), cursor: wanted.cursor.clone() };
    Ok(ScheduleTab {
        view: shown(web, &state).await?,
        zone,
        backfills: listed_backfills(web, of, &first).await?.items,
        dates: listed_dates(web, project, name, &query).await?,
    })
}

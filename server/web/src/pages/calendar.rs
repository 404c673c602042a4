//! `GET /projects/{project}/calendar`: past and future runs, by month or as a list of days.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::Timestamp;
use cubeloom_domain::schedule::{PipelineName, ScheduleState};
use jiff::civil::Date;
use jiff::{Span as Days, ToSpan};
use serde::Deserialize;

use super::pipeline::when_after;
use super::zone::Zone;
use super::{Frame, date_sign, html, with_query};
use crate::api::schedules::view::DateView;
use crate::api::schedules::{Span, entries};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::state::Web;

/// Number of dates shown per day of the month view.
const SHOWN: usize = 4;
/// Number of days in the list view.
const LISTED: i32 = 14;

#[derive(Template)]
#[template(path = "calendar.html")]
struct CalendarPage {
    frame: Frame,
    project: String,
    zone: Zone,
    /// Time zones to choose from.
    zones: BTreeSet<String>,
    /// Pipelines to choose from.
    pipelines: BTreeSet<String>,
    asked: Asked,
    is_month: bool,
    /// `2026-01`, or the days of the list.
    title: String,
    /// The requested day, or today.
    day: Date,
    before: Date,
    after: Date,
    days: Vec<Day>,
    /// Whether the period has more dates than shown.
    more: bool,
    /// Whether any pipeline has a schedule.
    has_any: bool,
    /// Pipelines triggered by events: their dates are unknown.
    waiting: Vec<Waiting>,
}

/// A pipeline triggered by an event.
struct Waiting {
    pipeline: String,
    /// Text key of the event.
    when: &'static str,
    /// The pipeline that it runs after, with its project.
    after: Option<PipelineName>,
    /// Path of the file that it waits for.
    path: Option<String>,
}

impl Waiting {
    /// The entry of an active, event-driven schedule.
    fn of(state: &ScheduleState) -> Option<Self> {
        let schedule = state.schedule.as_ref().filter(|_| state.is_active())?;
        let when = match (&state.after, &schedule.file) {
            (Some(after), _) => when_after(after.state.as_str()),
            (None, Some(_)) => "schedule.file-arrives",
            (None, None) => return None,
        };
        let after = state.after.as_ref().map(|after| after.of.clone());
        let path = schedule.file.as_ref().map(|file| file.path.clone());
        Some(Self { pipeline: state.of.pipeline.clone(), when, after, path })
    }
}

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Asked {
    /// `month` or `days`.
    #[serde(default)]
    view: String,
    /// A day of the shown period.
    #[serde(default)]
    date: String,
    #[serde(default)]
    zone: String,
    /// Filters by the name of the pipeline.
    #[serde(default)]
    pipeline: String,
}

struct Day {
    date: Date,
    /// Whether it belongs to the shown month.
    inside: bool,
    is_today: bool,
    dates: Vec<DateView>,
}

impl CalendarPage {
    fn clock(&self, date: &DateView) -> String {
        self.zone.clock(&date.date)
    }

    fn sign<'d>(&self, date: &'d DateView) -> &'d str {
        date_sign::sign(date)
    }

    fn word(&self, date: &DateView) -> String {
        date_sign::word(&self.frame, date)
    }

    fn why(&self, date: &DateView) -> Option<String> {
        date_sign::why(&self.frame, date)
    }

    /// URL that a date links to.
    fn href(&self, date: &DateView) -> String {
        match &date.run {
            Some(run) => format!("/runs/{run}"),
            None => format!("/projects/{}/pipelines/{}?tab=schedule", self.project, date.pipeline),
        }
    }

    /// URL of the page with another view or day.
    fn at(&self, view: &str, date: &Date) -> String {
        let path = format!("/projects/{}/calendar", self.project);
        let (date, asked) = (date.to_string(), &self.asked);
        with_query(
            &path,
            &[("view", view), ("date", &date), ("zone", &asked.zone), ("pipeline", &asked.pipeline)],
        )
    }

    fn view(&self) -> &'static str {
        if self.is_month { "month" } else { "days" }
    }

    /// Name of a weekday.
    fn weekday(&self, date: &Date) -> String {
        self.frame.t(&format!("schedule.weekday-{}", date.weekday().to_monday_one_offset())).to_owned()
    }

    fn weeks(&self) -> impl Iterator<Item = &[Day]> {
        self.days.chunks(7)
    }

    fn shown<'d>(&self, day: &'d Day) -> &'d [DateView] {
        &day.dates[..day.dates.len().min(SHOWN)]
    }

    fn hidden(&self, day: &Day) -> usize {
        day.dates.len().saturating_sub(SHOWN)
    }

    /// Dates of a day, grouped by hour: a pipeline that runs every minute is one line per hour.
    fn lines(&self, day: &Day) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for date in &day.dates {
            let hour = self.zone.at(&date.date).hour();
            let same = |line: &&mut Line| line.fits(date, hour);
            match lines.iter_mut().rev().take(SHOWN).find(same) {
                Some(line) => line.more += 1,
                None => lines.push(Line { hour, date: date.clone(), more: 0 }),
            }
        }
        lines
    }
}

/// A date in the list of a day, and the number of similar ones in the same hour.
struct Line {
    hour: i8,
    date: DateView,
    more: usize,
}

impl Line {
    fn fits(&self, other: &DateView, hour: i8) -> bool {
        let key = |date: &DateView| (date.pipeline.clone(), date.shown_state().to_owned(), date.late);
        self.hour == hour && key(&self.date) == key(other)
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    let schedules = web.store().schedules(Some(std::slice::from_ref(&project))).await?;
    let zone_of = |one: &ScheduleState| one.schedule.as_ref()?.timezone.clone();
    let zones: BTreeSet<String> = schedules.iter().filter_map(zone_of).collect();
    // If all schedules have the same time zone, use it.
    let usual = zones.first().filter(|_| zones.len() == 1).cloned();
    let chosen = Some(asked.zone.clone()).filter(|zone| !zone.is_empty()).or(usual);
    let zone = Zone::named(chosen.as_deref());
    let today = zone.at(&frame.now).date();
    let day =
        asked.date.parse::<Date>().ok().filter(|day| (1971..=9000).contains(&day.year())).unwrap_or(today);
    let is_month = asked.view != "days";
    let range = if is_month { Range::month(day) } else { Range::days(day) };
    let until = Timestamp(zone.midnight(plus(range.last, 1.day())).0 - 1);
    let pipeline = Some(asked.pipeline.clone()).filter(|name| !name.is_empty());
    let span = Span { first: zone.midnight(range.first), last: until, pipeline };
    let found = entries(&web, &project, span).await?;
    let mut by_day: BTreeMap<Date, Vec<DateView>> = BTreeMap::new();
    for date in found.dates {
        by_day.entry(zone.at(&date.date).date()).or_default().push(date);
    }
    let days = range.all().map(|date| Day {
        date,
        inside: !is_month || date.month() == day.month(),
        is_today: date == today,
        dates: by_day.remove(&date).unwrap_or_default(),
    });
    let days = days.collect();
    let zones = zones.into_iter().chain(["UTC".into(), zone.name.clone()]).collect();
    let is_asked = |one: &ScheduleState| asked.pipeline.is_empty() || one.of.pipeline == asked.pipeline;
    let page = CalendarPage {
        title: range.title(day, is_month),
        before: range.before(day, is_month),
        after: range.after(day, is_month),
        pipelines: schedules.iter().map(|one| one.of.pipeline.clone()).collect(),
        waiting: schedules.iter().filter(|one| is_asked(one)).filter_map(Waiting::of).collect(),
        has_any: !schedules.is_empty(),
        more: found.more,
        day,
        frame,
        project,
        zone,
        zones,
        asked,
        is_month,
        days,
    };
    html(&page)
}

/// The shown days.
struct Range {
    first: Date,
    last: Date,
}

impl Range {
    /// The weeks of a month, starting on Monday.
    fn month(day: Date) -> Self {
        let (first, last) = (day.first_of_month(), day.last_of_month());
        let before = i32::from(first.weekday().to_monday_zero_offset());
        let after = 6 - i32::from(last.weekday().to_monday_zero_offset());
        Self { first: plus(first, (-before).days()), last: plus(last, after.days()) }
    }

    /// A number of days from this one.
    fn days(day: Date) -> Self {
        Self { first: day, last: plus(day, (LISTED - 1).days()) }
    }

    fn all(&self) -> impl Iterator<Item = Date> + use<> {
        let (first, last) = (self.first, self.last);
        first.series(1.day()).take_while(move |day| *day <= last)
    }

    fn title(&self, day: Date, is_month: bool) -> String {
        if is_month { day.strftime("%Y-%m").to_string() } else { format!("{} – {}", self.first, self.last) }
    }

    fn before(&self, day: Date, is_month: bool) -> Date {
        if is_month { plus(day.first_of_month(), (-1).month()) } else { plus(day, (-LISTED).days()) }
    }

    fn after(&self, day: Date, is_month: bool) -> Date {
        if is_month { plus(day.first_of_month(), 1.month()) } else { plus(day, LISTED.days()) }
    }
}

fn plus(day: Date, span: Days) -> Date {
    day.saturating_add(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_shown_in_whole_weeks() {
        for (day, first, last, weeks) in [
            ("2026-11-24", "2026-10-26", "2026-12-06", 6),
            ("2027-02-10", "2027-02-01", "2027-02-28", 4),
            ("2026-05-31", "2026-04-27", "2026-05-31", 5),
        ] {
            let range = Range::month(day.parse().unwrap());
            assert_eq!((range.first.to_string().as_str(), range.last.to_string().as_str()), (first, last));
            assert_eq!(range.all().count(), weeks * 7);
        }
        let range = Range::days("2026-12-25".parse().unwrap());
        assert_eq!((range.all().count(), range.last.to_string().as_str()), (14, "2027-01-07"));
        assert_eq!(range.after(range.first, false).to_string(), "2027-01-08");
        assert_eq!(range.before("2026-03-31".parse().unwrap(), true).to_string(), "2026-02-01");
    }
}

//! Starts the runs of due dates.

use cubeloom_compiler::schedule::{Past, Situation, Verdict, Why, decide, starts_at};
use cubeloom_domain::alert::Alert;
use cubeloom_domain::identity::{AuditEntry, User};
use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::schedule::{Cause, Firing, FiringState, PipelineName, ScheduleState, Trigger};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{JsonMap, Timestamp};

use super::{look, source};
use crate::audit;
use crate::auth::{Caller, in_name_of};
use crate::error::{ApiError, ApiResult, Kind};
use crate::runs::start::{self, Source, Started, Wanted};
use crate::state::Web;
use crate::time::Time;

/// Maximum number of dates per pipeline or back-fill in one pass.
const AT_ONCE: usize = 50;

/// Result of trying to start the run of a date.
pub(crate) enum Tried {
    Started(Box<Started>),
    /// Another server was faster, or the date is no longer due.
    Gone,
    /// The user that it runs as may not start it: the reason and the user.
    Refused(&'static str, String),
    /// The current pipeline cannot be started.
    Failed(ApiError),
}

/// Processes all due dates.
pub(super) async fn all(web: &Web) -> ApiResult<()> {
    for (of, backfill) in web.store().pipelines_due().await? {
        if let Err(error) = dates(web, &of, backfill.as_deref()).await {
            let (project, pipeline) = (&of.project, &of.pipeline);
            tracing::warn!(project, pipeline, error = error.detail(), "cannot start due dates yet; retrying");
        }
    }
    Ok(())
}

/// Processes the dates of a pipeline or back-fill in order: a waiting one blocks those behind it.
async fn dates(web: &Web, of: &PipelineName, backfill: Option<&str>) -> ApiResult<()> {
    let Some(state) = look(web, of).await? else { return Ok(()) };
    let none = Schedule::default();
    let schedule = state.schedule.as_ref().unwrap_or(&none);
    for firing in web.store().firings_due(of, backfill, AT_ONCE).await? {
        let now = web.now();
        if firing.trigger.is_of_document() && state.paused.is_some() {
            web.store().settle_firing(&firing, FiringState::Due, ("paused", None), now).await?;
            return Ok(());
        }
        let starts = match firing.trigger {
            trigger if trigger.is_of_document() => {
                starts_at(schedule, (&of.project, &of.pipeline), firing.date, fired(&firing))
            }
            _ => now,
        };
        match decide(schedule, now, starts, situation(web, schedule, &firing).await?) {
            Verdict::Start => settle(web, &firing, one(web, &state, &firing, None).await?).await?,
            Verdict::Skip(why) => {
                let why = (word(why), None);
                web.store().settle_firing(&firing, FiringState::Skipped, why, now).await?;
            }
            Verdict::Wait(Why::NotYet) => {}
            Verdict::Wait(Why::Full) => return Ok(()),
            Verdict::Wait(why) => {
                web.store().settle_firing(&firing, FiringState::Due, (word(why), None), now).await?;
                return Ok(());
            }
        }
    }
    Ok(())
}

fn word(why: Why) -> &'static str {
    match why {
        Why::NotYet => "not_yet",
        Why::PastUnderway => "past_underway",
        Why::PastFailed => "past_failed",
        Why::Running => "running",
        Why::Full => "full",
    }
}

async fn situation(web: &Web, schedule: &Schedule, firing: &Firing) -> ApiResult<Situation> {
    let store = web.store();
    let past = match schedule.depends_on_past {
        Some(true) => past(web, firing).await?,
        _ => Past::Settled,
    };
    let running = match schedule.skip_if_running {
        Some(true) => store.live_runs(&firing.of).await?,
        _ => 0,
    };
    let backfill = match &firing.backfill {
        Some(id) => {
            let most = store.backfill(id).await?.map_or(1, |backfill| backfill.parallelism);
            Some((u64::from(store.backfill_counts(id).await?.running), u64::from(most)))
        }
        None => None,
    };
    Ok(Situation { past, running, backfill })
}

async fn past(web: &Web, firing: &Firing) -> ApiResult<Past> {
    let Some(before) = web.store().firing_before(&firing.of, firing.date).await? else {
        return Ok(Past::Settled);
    };
    Ok(match (before.state, &before.run) {
        (FiringState::Due, _) => Past::Underway,
        // The run was deleted: there is nothing to wait for.
        (FiringState::Started, None) => Past::Settled,
        (FiringState::Started, Some(run)) => match web.store().run(run).await?.map(|run| run.state) {
            None | Some(RunState::Succeeded) => Past::Settled,
            Some(state) if state.is_final() => Past::Failed,
            Some(_) => Past::Underway,
        },
        _ => Past::Failed,
    })
}

/// Stores why a date has no run. Temporary failures are retried.
async fn settle(web: &Web, firing: &Firing, tried: Tried) -> ApiResult<()> {
    let (now, date) = (web.now(), Time(firing.date));
    match tried {
        Tried::Started(_) | Tried::Gone => {}
        Tried::Refused(why, who) => {
            let sentence =
                format!("the date {date} has no run: {who} may no longer start runs of this project");
            let alert = Alert::of_date(firing, now, sentence);
            web.store().fail_firing(firing, FiringState::Refused, (why, Some(&who)), &alert).await?;
        }
        Tried::Failed(error) if matches!(error.kind(), Kind::Unavailable | Kind::Internal) => {
            tracing::warn!(
                date = firing.date.0,
                error = error.detail(),
                "cannot start the run of a date yet; retrying"
            );
            web.store().settle_firing(firing, FiringState::Due, ("unavailable", None), now).await?;
        }
        Tried::Failed(error) => {
            let detail = said(&error);
            let alert = Alert::of_date(firing, now, format!("the date {date} has no run: {detail}"));
            web.store().fail_firing(firing, FiringState::Failed, ("invalid", Some(&detail)), &alert).await?;
        }
    }
    Ok(())
}

/// Tries to start the run of a due date. `by` is the caller who requests it, if any.
pub(crate) async fn one(
    web: &Web,
    state: &ScheduleState,
    firing: &Firing,
    by: Option<&Caller>,
) -> ApiResult<Tried> {
    let name = match firing.trigger {
        // The schedule's user may have changed in the meantime.
        trigger if trigger.is_of_document() => &state.set_by,
        _ => &firing.user,
    };
    let user = match in_name_of(web, &firing.of.project, name).await? {
        Ok(user) => user,
        Err(not) => return Ok(Tried::Refused(not.word(), name.clone())),
    };
    if firing.trigger == Trigger::Pipeline
        && let Some(schedule) = &state.schedule
    {
        if !source::may_wait(web, &firing.of, schedule, &user).await? {
            return Ok(Tried::Refused("user_no_reader", name.clone()));
        }
        if let Err(endless) = source::demand_end(web, &firing.of, schedule).await {
            return Ok(Tried::Failed(endless));
        }
    }
    let wanted = wanted(state, firing, &user, by);
    let entry = match by {
        Some(caller) => audit::entry(web, caller, "run.start", "").project(&firing.of.project).clone(),
        None => entry(web, firing, &user),
    };
    match start::store_of_date(web.planner(), wanted, firing.date, entry).await {
        Ok(None) => Ok(Tried::Gone),
        Ok(Some(started)) => {
            web.wake();
            web.live().touched(&started.record.id);
            Ok(Tried::Started(Box::new(started)))
        }
        Err(error) => Ok(Tried::Failed(error)),
    }
}

fn wanted(state: &ScheduleState, firing: &Firing, user: &User, by: Option<&Caller>) -> Wanted {
    let (trigger, date) = (firing.trigger, firing.date);
    let late_after = state.schedule.as_ref().and_then(|schedule| schedule.late_after);
    let late_after = late_after.filter(|_| trigger.is_of_document());
    let late_at = late_after.map(|after| fired(firing).plus(after.0));
    Wanted {
        project: firing.of.project.clone(),
        user: user.name.clone(),
        // Every editor can change the pipeline, so it must not use the personal secrets of the user who set
        // its schedule. The credential of a caller who requested the date earlier is unknown.
        acting: by.map_or_else(|| format!("{}:{}", trigger.as_str(), firing.of.pipeline), Caller::acting),
        source: Source::Stored { pipeline: firing.of.pipeline.clone(), version: None },
        parameters: JsonMap::new(),
        part: None,
        place: None,
        origin: None,
        cause: Cause { trigger, date: Some(date), late_at },
    }
}

/// When a date fires: at its own time, or at the time of its event.
fn fired(firing: &Firing) -> Timestamp {
    firing.event.as_ref().map_or(firing.date, |event| event.at)
}

fn entry(web: &Web, firing: &Firing, user: &User) -> AuditEntry {
    AuditEntry {
        id: web.new_id(),
        at: web.now(),
        user_id: Some(user.id.clone()),
        user_name: user.name.clone(),
        via: firing.trigger.as_str().into(),
        address: String::new(),
        project: Some(firing.of.project.clone()),
        action: "run.start".into(),
        subject: String::new(),
        before: None,
        after: None,
    }
}

/// The first problems as one sentence.
fn said(error: &ApiError) -> String {
    match error.problems() {
        [] => error.detail().to_owned(),
        problems => problems.iter().take(3).map(|one| one.message.as_str()).collect::<Vec<_>>().join("; "),
    }
}

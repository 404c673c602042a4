//! Starts the runs of dates that are due.

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

/// How many dates of one pipeline, or of one back-fill, are looked at in one pass.
const AT_ONCE: usize = 50;

/// What came of trying to start the run of a date.
pub(crate) enum Tried {
    /// It was started.
    Started(Box<Started>),
    /// Another server was faster, or it is not due any more.
    Gone,
    /// In whose name it should run may not: why, and who.
    Refused(&'static str, String),
    /// It cannot be started as the pipeline is.
    Failed(ApiError),
}

/// Looks at all dates that are due.
///
/// # Errors
/// When the database does not answer.
pub(super) async fn all(web: &Web) -> ApiResult<()> {
    for (of, backfill) in web.store().pipelines_due().await? {
        if let Err(error) = dates(web, &of, backfill.as_deref()).await {
            let (project, pipeline) = (&of.project, &of.pipeline);
            tracing::warn!(project, pipeline, error = error.detail(), "dates that are due have to wait");
        }
    }
    Ok(())
}

/// The dates of a pipeline, or of a back-fill of it, in their order: one that waits holds up those behind it.
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
        // Its run was deleted: there is nothing to wait for.
        (FiringState::Started, None) => Past::Settled,
        (FiringState::Started, Some(run)) => match web.store().run(run).await?.map(|run| run.state) {
            None | Some(RunState::Succeeded) => Past::Settled,
            Some(state) if state.is_final() => Past::Failed,
            Some(_) => Past::Underway,
        },
        _ => Past::Failed,
    })
}

/// Notes why a date that was tried has no run. What it lacks for a moment only is tried again.
async fn settle(web: &Web, firing: &Firing, tried: Tried) -> ApiResult<()> {
    let (now, date) = (web.now(), Time(firing.date));
    match tried {
        Tried::Started(_) | Tried::Gone => {}
        Tried::Refused(why, who) => {
            let sentence =
                format!("the date {date} has no run: {who} may not start runs of this project any more");
            let alert = Alert::of_date(firing, now, sentence);
            web.store().fail_firing(firing, FiringState::Refused, (why, Some(&who)), &alert).await?;
        }
        Tried::Failed(error) if matches!(error.kind(), Kind::Unavailable | Kind::Internal) => {
            tracing::warn!(date = firing.date.0, error = error.detail(), "the run of a date has to wait");
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

/// Tries to start the run of a date that is due, for whoever asks for it now, where somebody does.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn one(
    web: &Web,
    state: &ScheduleState,
    firing: &Firing,
    by: Option<&Caller>,
) -> ApiResult<Tried> {
    let name = match firing.trigger {
        // It may have been made somebody else's meanwhile.
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
        // Every editor may change the pipeline: the own secrets of whoever set its schedule are not theirs. Nor does anybody
        // know later what somebody showed who asked for a date.
        acting: by.map_or_else(|| format!("{}:{}", trigger.as_str(), firing.of.pipeline), Caller::acting),
        source: Source::Stored { pipeline: firing.of.pipeline.clone(), version: None },
        parameters: JsonMap::new(),
        part: None,
        place: None,
        origin: None,
        cause: Cause { trigger, date: Some(date), late_at },
    }
}

/// When a date is fired: at its own moment, or when what it stands for has happened.
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

/// The first mistakes of several in one sentence.
fn said(error: &ApiError) -> String {
    match error.problems() {
        [] => error.detail().to_owned(),
        problems => problems.iter().take(3).map(|one| one.message.as_str()).collect::<Vec<_>>().join("; "),
    }
}

//! Converts records to the API's views.

use std::sync::Arc;

use cubeloom_domain::executor::Executor;
use cubeloom_domain::outcome::{Failure, Outcome};
use cubeloom_domain::plan::{PlannedRole, PlannedTask, RunPlan};
use cubeloom_domain::record::{AttemptRecord, InstanceRecord, RunRecord, Stretch};
use cubeloom_domain::state::{AttemptState, InstanceState, ReusedFrom, RunState, WaitReason};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{Timestamp, lowered::Bindings};
use serde_json::Value;

use super::counts::Counted;
use super::notes::Note;
use crate::api::runs::view::{ParentView, RunView, TaskCounts};
use crate::api::tasks::hang::HangView;
use crate::api::tasks::preflight::PreflightView;
use crate::api::tasks::view::{
    AttemptView, EarlierView, FailureView, GpuView, HistoryView, InstanceView, NoticeView, ProgressView,
    ReusedView, RoleView, UsageView, WaitView, WorkerView,
};
use crate::api::tasks::why::{Reader, WhyView};
use crate::forecast::JobStart;
use crate::state::Web;
use crate::time::{Time, maybe, seconds};

pub(super) fn run(run: &RunRecord, Counted { tasks, asks }: Counted) -> RunView {
    RunView {
        phase: phase(run.state, &tasks, asks).into(),
        id: run.id.to_string(),
        project: run.project.clone(),
        pipeline: run.pipeline.clone(),
        cluster: None,
        version: run.version,
        user: run.user.clone(),
        acting_user: run.acting.clone(),
        state: run.state.as_str().into(),
        created_at: Time(run.created_at),
        started_at: maybe(run.started_at),
        ended_at: maybe(run.ended_at),
        duration_seconds: seconds(run.started_at, run.ended_at),
        queued_seconds: seconds(Some(run.created_at), run.started_at),
        wait: None,
        tasks,
        effective: None,
        message: run.message.clone(),
        parameters: run.parameters.clone(),
        parent: run.parent.as_ref().map(|parent| ParentView {
            run: parent.run.to_string(),
            task: parent.task.clone(),
            instance: parent.instance,
            attempt: parent.n,
        }),
        trigger: run.cause.trigger.as_str().into(),
        logical_date: maybe(run.cause.date),
        late_at: maybe(run.cause.late_at),
    }
}

/// Phase of a run.
fn phase(state: RunState, tasks: &TaskCounts, asks: bool) -> &'static str {
    match is_idle(state, tasks) {
        true if asks => "approval",
        true => "pending",
        false => state.as_str(),
    }
}

/// Whether a run is running but none of its tasks is: all are waiting.
pub(super) fn is_idle(state: RunState, tasks: &TaskCounts) -> bool {
    let any = |word: &str| tasks.states.get(word).is_some_and(|count| *count > 0);
    state == RunState::Running && any("waiting") && !any("running") && !any("backoff")
}

/// A value's JSON string.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A task's template as `name@version`.
pub(crate) fn template(plan: &RunPlan, task: &PlannedTask) -> String {
    let template = plan.template_of(task);
    format!("{}@{}", template.name, template.version)
}

/// View of a role and its resources.
pub(crate) fn role(role: &PlannedRole) -> RoleView {
    let resources = &role.resources;
    RoleView {
        name: role.name.clone(),
        replicas: role.replicas,
        cpu: cores(resources.cpu.0),
        memory: resources.memory.0,
        gpu: resources.gpu.as_ref().map(|gpu| GpuView {
            count: gpu.count,
            fraction: gpu.fraction,
            memory: gpu.memory.map(|bytes| bytes.0),
            kind: gpu.kind.clone(),
        }),
    }
}

/// Converts millicores to cores.
pub(crate) fn cores(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

pub(crate) fn usage(usage: &UsageSummary) -> UsageView {
    UsageView { cpu_seconds: usage.cpu_us as f64 / 1e6, peak_memory: usage.peak_memory.0 }
}

pub(crate) fn failure(failure: &Failure, instance: Option<u32>, attempt: Option<u32>) -> FailureView {
    FailureView {
        kind: word(&failure.kind),
        message: failure.message.clone(),
        instance,
        attempt: attempt.filter(|n| *n > 0),
        worker: failure.worker.as_ref().map(ToString::to_string),
        exit_code: failure.exit_code,
        signal: failure.signal,
        last_lines: failure.last_lines.clone(),
    }
}

/// Why an instance is pending, and its estimated start if known.
pub(crate) fn wait(state: &InstanceState, known: Option<&JobStart>, reader: Reader<'_>) -> Option<WaitView> {
    let InstanceState::Waiting { reason, .. } = state else { return None };
    let looked_up = known.and_then(|known| known.reason.as_ref());
    let reason = match reason {
        // The stored reason has no queue position, as it changes whenever an instance ends.
        Some(WaitReason::Parallelism { .. }) => looked_up.or(reason.as_ref()),
        // The engine stores reasons only for the next instances. For others, use the queue's reason.
        _ => reason.as_ref().or(looked_up),
    };
    Some(WaitView {
        rule: reason.map_or("unknown", WaitReason::rule).into(),
        message: reason.map(|reason| reason.message().to_owned()).unwrap_or_default(),
        approvers: state.question().map(|question| question.approvers.clone()).unwrap_or_default(),
        why: reason.and_then(WaitReason::explanation).map(|why| WhyView::new(why, reader)),
        start: known.and_then(|known| known.start).map(Into::into),
    })
}

/// Time of the next attempt.
pub(crate) fn next_try(state: &InstanceState) -> Option<Timestamp> {
    match state {
        InstanceState::Backoff { until } => Some(*until),
        _ => None,
    }
}

/// Source of a reused result.
pub(crate) fn reused(state: &InstanceState) -> Option<ReusedView> {
    let InstanceState::Succeeded { reused: Some(ReusedFrom { run, task, ended_at }) } = state else {
        return None;
    };
    Some(ReusedView { run: run.to_string(), task: task.clone(), ended_at: Time(*ended_at) })
}

/// Why an instance failed, or why it is retried.
pub(crate) fn failure_of(instance: &InstanceRecord, last: Option<&AttemptRecord>) -> Option<FailureView> {
    let at = (Some(instance.instance), Some(instance.attempt));
    match (&instance.state, last.map(|attempt| &attempt.state)) {
        (InstanceState::Failed { failure: why }, _) => Some(failure(why, at.0, at.1)),
        (InstanceState::Backoff { .. }, Some(AttemptState::Ended { outcome: Outcome::Failed(why), .. })) => {
            Some(failure(why, at.0, at.1))
        }
        _ => None,
    }
}

/// Progress that the program reported.
pub(crate) fn progress(note: &Note) -> Option<ProgressView> {
    note.progress.map(|progress| ProgressView { step: progress.step, total: progress.total })
}

/// When an attempt has ended.
pub(crate) fn ended_at(attempt: &AttemptRecord) -> Option<Timestamp> {
    ended_by(&attempt.state)
}

/// When an attempt in this state has ended.
pub(super) fn ended_by(state: &AttemptState) -> Option<Timestamp> {
    match state {
        AttemptState::Ended { ended_at, .. } => Some(*ended_at),
        _ => None,
    }
}

/// An instance with its last attempt.
pub(crate) fn instance(
    record: &InstanceRecord,
    last: Option<&AttemptRecord>,
    item: Value,
    note: &Note,
    wait: Option<WaitView>,
) -> InstanceView {
    // An attempt from before a rerun of the instance does not describe its current state.
    let last = last.filter(|attempt| attempt.created_at >= record.ready_at);
    let started = last.and_then(|attempt| attempt.state.started_at());
    InstanceView {
        instance: record.instance,
        item,
        state: record.state.as_str().into(),
        wait,
        preparing: note.preparing.clone(),
        progress: progress(note),
        attempt: record.attempt,
        ready_at: Time(record.ready_at),
        started_at: maybe(started),
        ended_at: maybe(record.ended_at),
        wait_seconds: seconds(Some(record.ready_at), started),
        run_seconds: seconds(started, last.and_then(ended_at)),
        next_try_at: maybe(next_try(&record.state)),
        usage: last.filter(|attempt| !attempt.state.is_live()).map(|attempt| usage(&attempt.usage)),
        failure: failure_of(record, last),
        outputs: record.report.outputs.clone(),
        reused: reused(&record.state),
        note: note_of(record),
    }
}

/// Note about an instance for the user.
pub(crate) fn note_of(record: &InstanceRecord) -> Option<String> {
    match &record.state {
        InstanceState::StoppedEarly { why } => Some(why.clone()),
        _ => record.note.clone(),
    }
}

/// An attempt. Its workers are named by the plan's roles.
pub(crate) fn attempt(record: &AttemptRecord, task: &PlannedTask) -> AttemptView {
    let (outcome, failed) = match &record.state {
        AttemptState::Ended { outcome: Outcome::Succeeded, .. } => (Some("succeeded"), None),
        AttemptState::Ended { outcome: Outcome::Cancelled, .. } => (Some("cancelled"), None),
        AttemptState::Ended { outcome: Outcome::Failed(why), .. } => {
            (Some("failed"), Some(failure(why, None, Some(record.key.n))))
        }
        _ => (None, None),
    };
    let started = record.state.started_at();
    let run = match &record.bindings {
        Bindings::Run { run } => Some(run.to_string()),
        Bindings::Local(_) | Bindings::Kubernetes(_) | Bindings::Slurm(_) | Bindings::None => None,
    };
    AttemptView {
        key: record.key.to_string(),
        task: record.key.task.clone(),
        instance: record.key.instance,
        attempt: record.key.n,
        state: record.state.as_str().into(),
        suspended: None,
        outcome: outcome.map(Into::into),
        created_at: Time(record.created_at),
        started_at: maybe(started),
        ended_at: maybe(ended_at(record)),
        start_seconds: seconds(Some(record.created_at), started),
        run_seconds: seconds(started, ended_at(record)),
        cpu: cores(record.amount.cpu.0),
        memory: record.amount.memory.0,
        gpus: record.amount.gpus,
        workers: workers(record, task),
        earlier: record.earlier.iter().map(earlier).collect(),
        sizing: record.sizing.as_ref().and_then(|sizing| sizing.sentence()),
        not_grown: record.sizing.as_ref().map(|sizing| sizing.no_more()).unwrap_or_default(),
        // Usage of a sub-run counts for its own tasks.
        usage: (!record.state.is_live() && run.is_none()).then(|| usage(&record.usage)),
        failure: failed,
        hang: record.hang.as_deref().map(HangView::whole),
        preflight: record.preflight.as_deref().map(PreflightView::of),
        run,
    }
}

fn earlier(stretch: &Stretch) -> EarlierView {
    EarlierView { workers: stretch.workers, until: Time(stretch.until) }
}

/// Workers of an attempt. An elastic role can have fewer than planned.
fn workers(record: &AttemptRecord, task: &PlannedTask) -> Vec<WorkerView> {
    let planned: u32 = task.roles.iter().map(|role| role.replicas).sum();
    let most = record.earlier.iter().map(|stretch| stretch.workers).fold(record.workers, u32::max);
    let less = planned.saturating_sub(most);
    let last = task.roles.len().saturating_sub(1);
    let names = task.roles.iter().enumerate().flat_map(|(at, role)| {
        let count = if at == last { role.replicas.saturating_sub(less) } else { role.replicas };
        (0..count).map(|index| format!("{}-{index}", role.name))
    });
    let bound = match &record.bindings {
        Bindings::Local(local) => local.workers.as_slice(),
        Bindings::Kubernetes(_) | Bindings::Slurm(_) | Bindings::Run { .. } | Bindings::None => &[],
    };
    let live = record.state.is_live();
    (0u32..)
        .zip(names)
        .map(|(rank, name)| {
            let binding = bound.get(rank as usize);
            WorkerView {
                name,
                rank,
                address: binding.filter(|_| live).map(|bound| format!("{}:{}", bound.address, bound.port)),
                gpus: binding.map(|bound| bound.gpus.clone()).unwrap_or_default(),
                given_back: rank >= record.workers,
            }
        })
        .collect()
}

/// An ended attempt, for the history of its task.
pub(crate) fn history(record: &AttemptRecord) -> Option<HistoryView> {
    let AttemptState::Ended { started_at, ended_at, outcome } = &record.state else { return None };
    let outcome = match outcome {
        Outcome::Succeeded => "succeeded",
        Outcome::Failed(_) => "failed",
        Outcome::Cancelled => "cancelled",
    };
    Some(HistoryView {
        run: record.key.run.to_string(),
        instance: record.key.instance,
        attempt: record.key.n,
        outcome: outcome.into(),
        started_at: maybe(*started_at),
        ended_at: Some(Time(*ended_at)),
        run_seconds: seconds(*started_at, Some(*ended_at)),
        cpu: cores(record.amount.cpu.0),
        memory: record.amount.memory.0,
        usage: usage(&record.usage),
    })
}

/// An attempt with its live state from the cluster.
pub(crate) fn attempt_now(web: &Web, record: &AttemptRecord, task: &PlannedTask) -> AttemptView {
    let executor = bound_to(web, record).filter(|_| record.state.is_live());
    let suspended = executor.and_then(|executor| executor.suspended(&record.key));
    AttemptView { suspended, ..attempt(record, task) }
}

/// The cluster that an attempt was submitted to. `None` for the local machine.
fn bound_to(web: &Web, record: &AttemptRecord) -> Option<Arc<dyn Executor>> {
    web.clusters().get(record.bindings.cluster()?)
}

/// Events that the cluster reported for an attempt, the latest last. The local machine reports none beyond
/// the attempt itself.
pub(crate) async fn notices(web: &Web, record: &AttemptRecord) -> Vec<NoticeView> {
    let Some(executor) = bound_to(web, record) else { return Vec::new() };
    let told = executor.notices(&record.key).await.into_iter();
    told.map(|notice| NoticeView {
        at: Time(notice.at),
        of: notice.of,
        warning: notice.warning,
        reason: notice.reason,
        message: notice.message,
    })
    .collect()
}

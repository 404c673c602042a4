//! From the queue to an attempt on its way.

use std::sync::Arc;

use cubeloom_domain::executor::Submission;
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::pipeline::Spread;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::resources::{Amount, cards};
use cubeloom_domain::state::{AttemptState, InstanceState, WaitReason};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{TaskIx, Timestamp};

use super::active::ActiveRun;
use super::{Action, At, Core, QueueKey};
use crate::decide::admission::{Admission, Request, Verdict};

/// How many waiting jobs one pass looks at behind the first one without room.
const LOOK_AHEAD: usize = 256;

/// A job that was let in, and its workers in the elastic role.
struct Admitted {
    key: QueueKey,
    workers: Option<u32>,
}

impl Core {
    /// Starts what can start now, on every cluster. True when another pass could start more.
    #[must_use]
    pub fn admit(&mut self, now: Timestamp) -> bool {
        let mut more = false;
        let places = self.places.iter().map(|(cluster, place)| (cluster.clone(), place.executor.at_once()));
        for (cluster, most) in places.collect::<Vec<_>>() {
            let admitted = self.decide(&cluster, most, now);
            more |= admitted.len() == most;
            for Admitted { key: (_, _, at), workers } in admitted {
                self.start(at, workers, now);
            }
        }
        more
    }

    /// Goes through a cluster's queue in order. What is let in, so many at most, leaves the queue.
    fn decide(&mut self, cluster: &str, most: usize, now: Timestamp) -> Vec<Admitted> {
        let Some(place) = self.places.get(cluster) else { return Vec::new() };
        let mut admission = Admission::new(place.capacity.minus(place.used), place.capacity);
        let mut admitted: Vec<Admitted> = Vec::new();
        let mut waiting: Vec<(At, WaitReason)> = Vec::new();
        let mut started: std::collections::BTreeMap<usize, Vec<TaskIx>> = std::collections::BTreeMap::new();
        for key in &place.queue {
            if waiting.len() >= LOOK_AHEAD || admitted.len() == most {
                break;
            }
            let at = key.2;
            let Some(run) = self.runs[at.slot].as_ref() else { continue };
            let planned = run.plan.task(at.task);
            let verdict = match apart(run, at.task, started.get(&at.slot), place.nodes) {
                Some(reason) => Verdict::Wait(reason),
                None => admission.consider(Request {
                    name: &planned.name,
                    amount: least_amount(planned),
                    waited: now.since(key.1),
                }),
            };
            match verdict {
                Verdict::Start => {
                    started.entry(at.slot).or_default().push(at.task);
                    let workers = planned.elastic.filter(|_| !place.scales).map(|range| range.min);
                    admitted.push(Admitted { key: *key, workers });
                }
                Verdict::Wait(reason) => waiting.push((at, reason)),
            }
        }
        if admitted.len() < most {
            self.grow(&mut admission, &mut admitted);
        }
        if let Some(place) = self.places.get_mut(cluster) {
            for Admitted { key, .. } in &admitted {
                place.queue.remove(key);
            }
        }
        for (at, reason) in waiting {
            self.explain(at, reason);
        }
        admitted
    }

    /// Gives elastic jobs that start now more workers than they must have, when no job was left without room.
    fn grow(&self, admission: &mut Admission, admitted: &mut [Admitted]) {
        if !admission.all_placed() {
            return;
        }
        for Admitted { key: (_, _, at), workers } in admitted {
            let Some(workers) = workers else { continue };
            let Some(planned) = self.runs[at.slot].as_ref().map(|run| run.plan.task(at.task)) else {
                continue;
            };
            let (Some(range), Some(role)) = (planned.elastic, planned.roles.last()) else { continue };
            let each = Amount::of(&role.resources, 1);
            while *workers < range.max && each.fits(admission.free()) {
                admission.take(each);
                *workers += 1;
            }
        }
    }

    /// Notes why an instance waits. Stored only when the rule changes, not with every change of an amount.
    pub(super) fn explain(&mut self, at: At, new: WaitReason) {
        let Some(instance) = self.instance_mut(at) else { return };
        let InstanceState::Waiting { reason, .. } = &mut instance.state else { return };
        let same_rule =
            reason.as_ref().is_some_and(|old| std::mem::discriminant(old) == std::mem::discriminant(&new));
        if !same_rule {
            *reason = Some(new);
            self.touch(at);
        }
    }

    /// Writes an attempt as submitting and asks for its submission.
    fn start(&mut self, at: At, workers: Option<u32>, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        run.queued -= 1;
        run.tasks[at.task.index()].queued -= 1;
        let Some(place) = self.places.get(run.place_of(at.task)) else { return };
        let bound = run.next_job(at, workers).and_then(|job| {
            let bindings = place.executor.bind(&job)?;
            Ok((submission(job, &bindings)?, bindings))
        });
        let executor = Arc::clone(&place.executor);
        // What the cluster's own scheduler adds beyond an elastic job's least is room that nobody here counts on.
        let amount = place.scales.then(|| least_amount(run.plan.task(at.task)));
        let (submission, bindings) = match bound {
            Ok(bound) => bound,
            Err(failure) => {
                self.end_instance(at, InstanceState::Failed { failure }, now);
                return self.let_in(at.slot, at.task);
            }
        };
        let job = &submission.job;
        let planned = run.plan.task(at.task);
        let pool = Pool {
            cluster: run.place_of(at.task).to_owned(),
            node_group: planned.placement.node_group.clone(),
        };
        let record = AttemptRecord {
            key: job.key.clone(),
            task: at.task,
            state: AttemptState::Submitting,
            created_at: now,
            cards: match amount {
                Some(_) => cards(planned.least()),
                None => cards(job.roles.iter().map(|role| (&role.resources, role.replicas))),
            },
            amount: amount.unwrap_or_else(|| job.amount()),
            pool,
            workers: job.workers(),
            bindings,
            usage: UsageSummary::default(),
        };
        self.output.actions.push(Action::Submit(executor, submission));
        if let Some(run) = self.run_mut(at.slot) {
            run.tasks[at.task.index()].rungs.forget(at.instance);
        }
        if let Some(instance) = self.instance_mut(at) {
            instance.measured = 0;
            instance.state = InstanceState::Active;
            instance.attempt = record.key.n;
            instance.tries += 1;
        }
        self.hold(at, record, true);
        self.touch(at);
    }
}

/// A job on its way to the cluster that it is bound to.
///
/// # Errors
/// The cluster cannot give what the job asks for.
pub(super) fn submission(job: Job, bindings: &Bindings) -> Result<Submission, Failure> {
    let lowered = cubeloom_compiler::lower::lower(&job, bindings)?;
    Ok(Submission { job: Arc::new(job), lowered: Arc::new(lowered) })
}

/// What a task needs to start at all: every role whole, of the elastic one `min` workers.
fn least_amount(planned: &PlannedTask) -> Amount {
    planned.least().fold(Amount::default(), |sum, (each, count)| sum.plus(Amount::of(each, count)))
}

/// On a cluster of one node, a task that must be kept apart from the run's other tasks waits for them, and they
/// for it.
fn apart(run: &ActiveRun, task: TaskIx, started: Option<&Vec<TaskIx>>, nodes: usize) -> Option<WaitReason> {
    if nodes != 1 || !run.tasks_may_exclude {
        return None;
    }
    let required = |ix: TaskIx| run.plan.task(ix).placement.spread == Some(Spread::Required);
    let active = || (0u32..).zip(&run.tasks).filter(|(_, cell)| cell.active > 0).map(|(ix, _)| TaskIx(ix));
    let others = || active().chain(started.into_iter().flatten().copied()).filter(|ix| *ix != task);
    let blocker = if required(task) { others().next() } else { others().find(|ix| required(*ix)) };
    blocker.map(|ix| WaitReason::Capacity {
        message: format!("must not share its node with `{}` of the same run", run.plan.task(ix).name),
    })
}

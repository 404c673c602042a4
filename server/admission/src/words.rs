//! Pending reasons as text.

use cubeloom_domain::Timestamp;
use cubeloom_domain::quota::Resource;
use cubeloom_domain::shape::{Misfit, Shape};
use cubeloom_domain::state::WaitReason;
use cubeloom_domain::waiting::{Explanation, Shortage, WaitRule};

use crate::desk::{Desk, JobId};
use crate::named::NamedUse;

/// The owner of a pending job.
#[derive(Clone, Copy, Debug)]
pub struct Whose<'w> {
    pub project: &'w str,
    /// The user that it runs as.
    pub person: &'w str,
}

impl Desk {
    /// Why a job is pending, as text and as data. `None` when it is not, or when it would start now.
    #[must_use]
    pub fn reason(&self, job: JobId, now: Timestamp) -> Option<WaitReason> {
        let why = self.explain(job, now)?;
        let spec = self.spec(job)?;
        let message = match why.named.as_deref() {
            Some(name) => used_up(name, self.named_use(name, now)),
            None => sentence(&why, Whose { project: &spec.project, person: &spec.person }),
        };
        let rule = why.rule;
        let why = Some(Box::new(why));
        Some(match rule {
            WaitRule::Capacity
            | WaitRule::Faulty
            | WaitRule::NeverFits
            | WaitRule::Leaving
            | WaitRule::Scattered
            | WaitRule::Apart => WaitReason::Capacity { message, why },
            WaitRule::Behind => WaitReason::Behind { message, why },
            WaitRule::NamedLimit => WaitReason::NamedLimit { message, why },
            WaitRule::NotLent
            | WaitRule::Limit
            | WaitRule::NoBorrowing
            | WaitRule::PersonsCap
            | WaitRule::CoolDown => WaitReason::Quota { message, why },
            WaitRule::TaskParallelism | WaitRule::PipelineParallelism => {
                WaitReason::Parallelism { message, why }
            }
        })
    }
}

/// The English sentence beside the data; clients translate it. Every user who can see the job's project may
/// read it: it names no job of another project.
#[must_use]
pub fn sentence(why: &Explanation, whose: Whose<'_>) -> String {
    if let Some(misfit) = &why.misfit {
        return too_large(misfit, why.pool.node_group.as_deref());
    }
    let said = match worst(&why.shortages) {
        Some(short) => too_little(why, short, whose.person),
        None => without_amounts(why, whose.project),
    };
    match &why.faulty {
        Some(faulty) => format!("{said}; {}", faulty.sentence()),
        None => said,
    }
}

/// No node has the shape that its workers need.
fn too_large(Misfit { resource, asked, nodes }: &Misfit, node_group: Option<&str>) -> String {
    let written = |shape: &Shape| told(resource, &shape.written(|one| resource.written(one)));
    let (asked, nodes) = (written(asked), written(nodes));
    match node_group {
        Some(group) => format!("requests {asked}, and the nodes of the node group `{group}` have {nodes}"),
        None => format!("requests {asked}, and the cluster's nodes have {nodes}"),
    }
}

/// A rule without amounts.
fn without_amounts(why: &Explanation, project: &str) -> String {
    match why.rule {
        WaitRule::Apart => {
            let other = why.head.as_ref().map_or("", |head| head.name.as_str());
            format!("must not share its node with `{other}` of the same run")
        }
        WaitRule::NamedLimit => used_up(why.named.as_deref().unwrap_or_default(), None),
        WaitRule::TaskParallelism | WaitRule::PipelineParallelism => in_line(why),
        WaitRule::CoolDown => {
            "it was preempted, and may exceed its guarantee again after the cool-down".to_owned()
        }
        WaitRule::Leaving => "waits for stopping jobs to end".to_owned(),
        WaitRule::Scattered => {
            "enough is free in total, but too fragmented for all of its workers".to_owned()
        }
        WaitRule::Faulty => "requests a GPU fraction, and no GPU has that much free".to_owned(),
        WaitRule::NeverFits => "its workers do not fit on the existing nodes in any arrangement".to_owned(),
        _ => match &why.head {
            Some(head) if head.project == project => {
                format!("queued behind `{}`, which waits for resources", head.name)
            }
            _ => "queued behind a job of another project, which waits for resources".to_owned(),
        },
    }
}

/// How much is requested, and which rule leaves too little.
fn too_little(why: &Explanation, short: &Shortage, person: &str) -> String {
    let queue = why.queue.as_ref().map_or("", |queue| queue.name());
    let what = told(&short.resource, &short.resource.written(short.asked));
    let word = |amount: u64| short.resource.written(amount);
    let (held, limit) = (word(short.held), word(short.limit.unwrap_or_default()));
    match why.rule {
        WaitRule::NeverFits if why.queue.is_some() => {
            format!("requests {what}, and `{queue}` has a limit of {limit}")
        }
        WaitRule::NeverFits if limit == "1" => format!("requests {what}, only 1 exists"),
        WaitRule::NeverFits => format!("requests {what}, only {limit} exist"),
        WaitRule::NotLent => {
            format!(
                "requests {what}, and all but {} of the free amount is guaranteed to queues that do not lend",
                word(short.free)
            )
        }
        WaitRule::Limit => format!("requests {what}, and `{queue}` uses {held} of its limit of {limit}"),
        WaitRule::NoBorrowing => {
            format!(
                "requests {what}, and `{queue}` uses {held} of its guarantee of {limit}, and may not borrow"
            )
        }
        WaitRule::PersonsCap => {
            format!("requests {what}, and jobs of {person} use {held} of the limit of {limit} per person")
        }
        _ if word(short.free) == "1" => format!("requests {what}, 1 is free"),
        _ => format!("requests {what}, {} are free", word(short.free)),
    }
}

/// The concurrency limit of a task or a run, with how many are running and queued ahead, if counted.
#[must_use]
pub fn in_line(why: &Explanation) -> String {
    let limit = why.parallelism.unwrap_or_default();
    let is_of_task = why.rule == WaitRule::TaskParallelism;
    let rule = if is_of_task {
        format!("the task's parallelism is {limit}")
    } else {
        format!("the pipeline's parallelism is {limit}")
    };
    let Some(active) = why.active else { return rule };
    let going = match (is_of_task, active) {
        (true, 1) => "1 of its instances is active".to_owned(),
        (true, _) => format!("{active} of its instances are active"),
        (false, 1) => "1 of its jobs is active".to_owned(),
        (false, _) => format!("{active} of its jobs are active"),
    };
    let told = match why.ahead {
        0 => going,
        1 => format!("{going}, and 1 is queued ahead"),
        ahead => format!("{going}, and {ahead} are queued ahead"),
    };
    format!("{rule}: {told}")
}

/// Usage of a concurrency limit or rate, and its maximum, if known.
#[must_use]
pub fn used_up(name: &str, used: Option<NamedUse>) -> String {
    match used {
        Some(NamedUse { held, at_once: Some(limit), .. }) if held >= limit => {
            format!("the concurrency limit `{name}` is reached: {held} of {limit} are in use")
        }
        Some(NamedUse { a_minute: Some(limit), .. }) => {
            format!("the concurrency limit `{name}` is reached: {limit} jobs may start per minute")
        }
        _ => format!("the concurrency limit `{name}` is reached"),
    }
}

/// The shortage to report: GPUs first, because they have the longest waits.
fn worst(shortages: &[Shortage]) -> Option<&Shortage> {
    shortages.iter().find(|short| is_of_cards(short)).or(shortages.first())
}

fn is_of_cards(short: &Shortage) -> bool {
    matches!(short.resource, Resource::Gpus | Resource::GpusOf(_))
}

/// An amount with its resource.
fn told(resource: &Resource, written: &str) -> String {
    match resource {
        Resource::Cpu => format!("{written} CPU"),
        Resource::Memory => format!("{written} of memory"),
        Resource::Gpus => format!("{written} GPUs"),
        Resource::GpusOf(kind) => format!("{written} {kind} GPUs"),
        Resource::Pods => format!("{written} workers"),
        Resource::Runs => format!("{written} runs"),
    }
}

//! Chooses the manifest kind of a job from the cluster's facts.

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;

use super::Frame;
use super::notes::Notes;
use super::operator::{Commands, Numbers, Operator, Start};
use crate::frameworks::Framework;

/// The manifest kind of a job.
#[derive(Clone, Copy)]
pub enum Way {
    /// A bare Pod: an attempt never retries under its name, so a Job around it would only add manifests.
    Pod,
    /// `batch/v1` Job of one pod, which Kueue can suspend.
    Job,
    /// The manifest of the framework's operator.
    Operator(&'static Operator),
    /// Volcano's Job: a task for each role.
    Volcano,
    /// An indexed `batch/v1` Job for each role, and a Service that gives their pods names.
    Indexed,
}

/// Chooses the kind, and notes the reason.
pub fn choose(job: &Job, framework: &'static Framework, facts: &KubernetesFacts, notes: &mut Notes) -> Way {
    if framework.is_single() {
        if facts.kueue.is_some() && facts.volcano.is_none() {
            notes.decide("Job: it has one worker and needs no operator, and Kueue queues Jobs");
            return Way::Job;
        }
        notes.decide("Pod: it has one worker and needs no operator");
        return Way::Pod;
    }
    let reason = match framework.operator {
        None => format!("no operator runs the framework `{}`", framework.name),
        Some(operator) => match obstacle(job, operator, facts) {
            None => {
                let Operator { kind, name, serves, .. } = operator;
                notes.decide(format!("{kind}: {name} is installed (`{serves}`)"));
                return Way::Operator(operator);
            }
            Some(obstacle) => obstacle,
        },
    };
    let rendered = "with the identity of each worker written by Cubeloom";
    if facts.volcano.is_some() {
        notes.decide(format!("Volcano Job, {rendered}: {reason}"));
        return Way::Volcano;
    }
    let roles = job.roles.iter().filter(|role| role.replicas > 0).count();
    let what = if roles > 1 { "an indexed Job for each role" } else { "indexed Job" };
    notes.decide(format!("{what}, {rendered}: {reason}, and Volcano is not installed"));
    Way::Indexed
}

/// The reason why an operator cannot be used.
pub fn obstacle(job: &Job, operator: &Operator, facts: &KubernetesFacts) -> Option<String> {
    let Some(installed) = facts.kinds.get(operator.serves) else {
        return Some(format!("{} is not installed (`{}`)", operator.name, operator.serves));
    };
    if let Some(reason) = (operator.unfit)(job, facts) {
        return Some(format!("a {} cannot express it: {reason}", operator.kind));
    }
    if job.gang == 1 || facts.volcano.is_none() {
        return None;
    }
    let name = operator.name;
    match operator.start {
        Start::Apart => Some(format!("{name} has no gang scheduling, unlike Volcano")),
        Start::Gang | Start::First => (!installed.gang).then(|| {
            format!("{name} was started without Volcano's gang scheduling, so a gang might start in part")
        }),
    }
}

impl Frame<'_> {
    /// The address of a worker of this job, for its other workers.
    pub fn address(&self, role: &str, index: u32) -> String {
        let name = &self.name;
        match self.way {
            Way::Operator(operator) => (operator.address)(name, &self.facts.namespace, role, index),
            Way::Pod | Way::Job | Way::Volcano | Way::Indexed => format!("{name}-{role}-{index}.{name}"),
        }
    }

    /// The field that has a pod's index within its role.
    pub fn numbers(&self, role: &str) -> Numbers {
        match self.way {
            Way::Operator(operator) => (operator.numbers)(role),
            Way::Volcano => Numbers::Index("metadata.annotations['volcano.sh/task-index']"),
            Way::Pod | Way::Job | Way::Indexed => {
                Numbers::Index("metadata.annotations['batch.kubernetes.io/job-completion-index']")
            }
        }
    }

    /// How the command of a role is handled.
    pub fn commands(&self, role: &str) -> Commands {
        match self.way {
            Way::Operator(operator) => (operator.commands)(role),
            Way::Pod | Way::Job | Way::Volcano | Way::Indexed => Commands::Task,
        }
    }

    /// Whether a Service created by lowering gives the pods their names.
    pub fn has_service(&self) -> bool {
        match self.way {
            Way::Operator(operator) => operator.service,
            Way::Indexed => true,
            Way::Pod | Way::Job | Way::Volcano => false,
        }
    }

    pub fn container(&self, role: &str) -> &'static str {
        match self.way {
            Way::Operator(operator) => (operator.container)(role),
            Way::Pod | Way::Job | Way::Volcano | Way::Indexed => "worker",
        }
    }

    /// Variables that the manifest's controller sets.
    pub fn given(&self) -> &'static [&'static str] {
        match self.way {
            Way::Operator(operator) => operator.gives,
            Way::Indexed => &["JOB_COMPLETION_INDEX"],
            Way::Volcano | Way::Pod | Way::Job => &[],
        }
    }
}

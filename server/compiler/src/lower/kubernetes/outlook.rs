//! The manifest kind for the jobs of each framework on a cluster, and the reason: for views of the cluster,
//! not of a job.

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::kubernetes::{KubernetesFacts, OperatorFacts};
use cubeloom_domain::resources::Resources;
use cubeloom_domain::{AttemptKey, RunId, Timestamp};

use super::notes::Notes;
use super::operator::Operator;
use super::way;
use crate::frameworks::{ALL, Framework, Shape};

/// The manifest kind for a framework's jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    pub framework: &'static str,
    /// The kind, and the reason for it: `PyTorchJob: Kubeflow's training operator is installed (...)`.
    pub decision: String,
    /// The kind that a missing operator would serve.
    pub missing: Option<&'static str>,
}

/// Every framework, in the order in which they are listed.
#[must_use]
pub fn outlook(facts: &KubernetesFacts) -> Vec<Outlook> {
    let of = |framework: &'static Framework| {
        let mut notes = Notes::default();
        let job = sample(framework);
        let _ = way::choose(&job, framework, facts, &mut notes);
        let operator = framework.operator.filter(|operator| !facts.kinds.contains_key(operator.serves));
        Outlook {
            framework: framework.name,
            decision: notes.decisions.into_iter().next().unwrap_or_default(),
            missing: operator
                .filter(|operator| is_missed(operator, &job, facts))
                .map(|operator| operator.serves),
        }
    };
    ALL.into_iter().map(of).collect()
}

/// Whether an operator would run a job, started as it should be, if it were installed: one that would be
/// skipped is not missing.
fn is_missed(operator: &Operator, job: &Job, facts: &KubernetesFacts) -> bool {
    let mut facts = facts.clone();
    facts.kinds.insert(operator.serves.into(), OperatorFacts { gang: true });
    way::obstacle(job, operator, &facts).is_none()
}

/// A small job of the framework: one worker of each role, two of the last.
fn sample(framework: &Framework) -> Job {
    let last = framework.roles.len().saturating_sub(1);
    let role = |(at, rule): (usize, &crate::frameworks::RoleRule)| JobRole {
        name: rule.name.into(),
        replicas: if at == last { 2.min(rule.max) } else { 1 },
        // A command that the operator can parse.
        argv: vec!["spark-submit".into(), "main.py".into()],
        resources: Resources::default(),
    };
    let roles: Vec<JobRole> = framework.roles.iter().enumerate().map(role).collect();
    let names: Vec<&str> = framework.roles.iter().map(|rule| rule.name).collect();
    let success = (framework.success)(&Shape { roles: &names, elastic: false, leader: false });
    Job {
        key: AttemptKey { run: RunId::new(Timestamp(0), 0), task: "sample".into(), instance: 0, n: 1 },
        root: None,
        project: String::new(),
        pipeline: String::new(),
        user: String::new(),
        code: None,
        framework: framework.name.into(),
        template: String::new(),
        template_digest: String::new(),
        template_folder: String::new(),
        image: None,
        registry: None,
        writable_root: false,
        python: None,
        gang: roles.iter().map(|role| role.replicas).sum(),
        roles,
        setup: Vec::new(),
        env: Default::default(),
        secrets: Vec::new(),
        volumes: Vec::new(),
        success,
        elastic: None,
        timeout: None,
        placement: Default::default(),
        watches: None,
        grows: false,
        preflight: None,
        call: None,
        outputs: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::kubernetes::operator::Start;
    use crate::lower::kubernetes::{FULL_CLUSTER, read_facts};

    #[test]
    fn every_framework_has_a_way_on_every_cluster() {
        let (_, full) = read_facts(FULL_CLUSTER).unwrap();
        for facts in [full, KubernetesFacts::default()] {
            for outlook in outlook(&facts) {
                let object = outlook.decision.split([':', ',']).next().unwrap();
                assert!(
                    object.contains("Job") || ["Pod", "SparkApplication"].contains(&object),
                    "{outlook:?}"
                );
            }
        }
    }

    #[test]
    fn where_all_operators_are_each_runs_its_framework() {
        let (_, full) = read_facts(FULL_CLUSTER).unwrap();
        for (outlook, framework) in outlook(&full).into_iter().zip(ALL) {
            // Without a gang start, Volcano takes over.
            let whole = framework.operator.filter(|operator| operator.start != Start::Apart);
            let kind = whole.map_or("Volcano Job", |operator| operator.kind);
            let single = framework.is_single() && outlook.decision.starts_with("Pod:");
            assert!(single || outlook.decision.starts_with(kind), "{outlook:?}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let bare = outlook(&KubernetesFacts::default());
        let pytorch = bare.iter().find(|one| one.framework == "pytorch").unwrap();
        assert_eq!(pytorch.missing, Some("pytorchjobs.kubeflow.org/v1"));
        assert!(pytorch.decision.starts_with("an indexed Job for each role"), "{pytorch:?}");
    }

    #[test]
    fn what_would_be_passed_over_is_not_missed() {
        let missing = |facts: &str| {
            let (_, facts) = read_facts(facts).unwrap();
            outlook(&facts).into_iter().find(|one| one.framework == "nni").unwrap().missing
        };
        assert_eq!(missing("kubernetes: {}"), Some("frameworks.frameworkcontroller.microsoft.com/v1"));
        assert_eq!(missing("kubernetes: {volcano: {queue: q}}"), None);
        assert_eq!(missing("kubernetes: {kueue: {queue: q}}"), None);
    }
}

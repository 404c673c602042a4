//! Checks what a cluster offers to a project's jobs, and reports what is missing.

use cubeloom_compiler::lower::kubernetes::{Outlook, outlook};
use cubeloom_domain::clusters::{Finding, Refusals, Subject, Survey};
use cubeloom_monitoring::{Exporter, Prometheus};

use crate::api::clusters::check::{ClusterCheck, ExporterView, FrameworkView, PartView};
use crate::clusters::prometheus_of;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Optional component of a cluster.
struct Part {
    name: &'static str,
    /// Purpose of the component.
    purpose: &'static str,
    /// Part of the names of what it serves.
    serves: &'static str,
    /// Program whose version is reported for the component.
    program: &'static str,
}

const PARTS: [Part; 8] = [
    Part {
        name: "Volcano",
        purpose: "gang scheduling, and queues that share the cluster",
        serves: "batch.volcano.sh",
        program: "volcano",
    },
    Part {
        name: "Kueue",
        purpose: "queues jobs by quota if Volcano is not installed",
        serves: "kueue.x-k8s.io",
        program: "kueue",
    },
    Part {
        name: "Kubeflow training operator",
        purpose: "runs PyTorch, TensorFlow, XGBoost, JAX and Paddle as jobs of their own kinds",
        serves: "pytorchjobs.kubeflow.org",
        program: "training-operator",
    },
    Part {
        name: "MPI operator",
        purpose: "runs MPI and Horovod as MPIJobs",
        serves: "mpijobs.kubeflow.org",
        program: "mpi-operator",
    },
    Part {
        name: "KubeRay",
        purpose: "runs Ray as RayJobs",
        serves: "rayjobs.ray.io",
        program: "kuberay-operator",
    },
    Part {
        name: "Spark operator",
        purpose: "runs Spark as SparkApplications",
        serves: "sparkapplications.sparkoperator.k8s.io",
        program: "spark-operator",
    },
    Part {
        name: "frameworkcontroller",
        purpose: "runs NNI as Frameworks if there is no gang scheduler",
        serves: "frameworks.frameworkcontroller.microsoft.com",
        program: "frameworkcontroller",
    },
    Part {
        name: "metrics",
        purpose: "measures the usage of pods",
        serves: "metrics.k8s.io",
        program: "metrics-server",
    },
];

/// Checks the cluster.
///
/// # Errors
/// No cluster has this name, or it supports no checks.
pub(crate) async fn check(web: &Web, name: &str, project: &str) -> ApiResult<ClusterCheck> {
    let executor = web.clusters().get(name).ok_or_else(|| ApiError::not_found("cluster", name))?;
    let Some(survey) = executor.survey(project) else {
        let message = format!("`{name}` is the server's machine: see its resources on its page");
        return Err(ApiError::conflict(message));
    };
    let record = web.store().cluster(name).await?;
    let source = record.map_or(Ok(None), |record| prometheus_of(&web.keys().sealing, &record));
    let (survey, (exporters, unmeasured)) = tokio::join!(survey, exporters(source));
    let facts = executor.facts();
    if facts.slurm.is_some() {
        let problems = of_slurm(&survey).into_iter().chain(unmeasured).collect();
        return Ok(ClusterCheck {
            parts: Vec::new(),
            problems,
            exporters,
            frameworks: Vec::new(),
            version: survey.version,
            error: survey.error,
        });
    }
    let facts = facts.kubernetes.unwrap_or_default();
    let frameworks = if survey.error.is_none() { outlook(&facts) } else { Vec::new() };
    let mut problems = problems(&survey, facts.volcano.is_some(), &frameworks);
    problems.extend(unmeasured);
    Ok(ClusterCheck {
        parts: PARTS.iter().map(|part| view(part, &survey)).collect(),
        problems,
        exporters,
        frameworks: frameworks.into_iter().map(framework).collect(),
        version: survey.version,
        error: survey.error,
    })
}

/// Problems of a Slurm cluster.
fn of_slurm(survey: &Survey) -> Vec<String> {
    if let Some(error) = &survey.error {
        return vec![format!("the cluster is unreachable: {error}")];
    }
    let missing = survey.findings.iter().filter(|finding| !finding.found);
    let sentence = |finding: &Finding| {
        let (name, why) = (&finding.name, finding.detail.as_deref().unwrap_or_default());
        match finding.subject {
            Subject::Queue => format!("the account `{name}` does not match the quotas: {why}"),
            Subject::Setting => format!("its setting `{name}` is wrong: {why}"),
            Subject::Untried => format!("its setting `{name}` was checked only in part: {why}"),
            _ => format!(
                "Slurm accounting is unreachable, so the outcome of jobs that Slurm no longer lists is unknown: {why}"
            ),
        }
    };
    missing.map(sentence).collect()
}

/// Exporters that measure a cluster, and problems with them.
async fn exporters(source: Result<Option<Prometheus>, String>) -> (Vec<ExporterView>, Option<String>) {
    let source = match source {
        Ok(Some(source)) => source,
        Ok(None) => {
            let message = "no Prometheus is configured: there are no metrics of its nodes and GPUs";
            return (Vec::new(), Some(message.to_owned()));
        }
        Err(problem) => return (Vec::new(), Some(problem)),
    };
    match cubeloom_monitoring::exporters(&source).await {
        Ok(found) => {
            let view = |(exporter, series): (Exporter, u64)| ExporterView {
                name: exporter.name.to_owned(),
                purpose: exporter.purpose.to_owned(),
                found: series > 0,
            };
            (found.into_iter().map(view).collect(), None)
        }
        Err(error) => (Vec::new(), Some(error.to_string())),
    }
}

fn view(part: &Part, survey: &Survey) -> PartView {
    let of = |subject| survey.findings.iter().filter(move |finding| finding.subject == subject);
    let version = of(Subject::Program).find(|finding| finding.name == part.program);
    PartView {
        name: part.name.to_owned(),
        purpose: part.purpose.to_owned(),
        found: of(Subject::Kind).any(|finding| finding.name.contains(part.serves)),
        version: version.and_then(|finding| finding.detail.clone()),
    }
}

fn framework(outlook: Outlook) -> FrameworkView {
    let (object, why) = outlook.decision.split_once(": ").unwrap_or((&outlook.decision, ""));
    FrameworkView { name: outlook.framework.into(), object: object.into(), why: why.into() }
}

/// Problems that prevent or impair jobs, with what to do.
fn problems(survey: &Survey, volcano: bool, frameworks: &[Outlook]) -> Vec<String> {
    if let Some(error) = &survey.error {
        return vec![format!("the cluster is unreachable: {error}")];
    }
    let missing = survey.findings.iter().filter(|finding| !finding.found);
    let mut found: Vec<String> = missing.clone().filter_map(sentence).collect();
    if let Some(Refusals { count, why }) = &survey.refusals {
        found.insert(0, format!("failed or unanswered requests of the last ten minutes: {count}; {why}"));
    }
    let rights: Vec<&str> = missing
        .filter(|finding| finding.subject == Subject::Right)
        .map(|finding| finding.name.as_str())
        .collect();
    if !rights.is_empty() {
        found.push(format!("the server's account lacks permissions: {}", rights.join(", ")));
    }
    if !volcano {
        found.push("Volcano is not installed: there is no gang scheduling".to_owned());
    }
    for outlook in frameworks {
        if let Some(serves) = outlook.missing {
            found.push(format!(
                "`{}` has no operator installed (`{serves}`): its jobs become {}",
                outlook.framework,
                outlook.decision.split(',').next().unwrap_or_default()
            ));
        }
    }
    found
}

fn sentence(finding: &Finding) -> Option<String> {
    let name = &finding.name;
    Some(match finding.subject {
        Subject::Namespace if finding.detail.is_some() => {
            format!("the namespace `{name}` is being deleted: it accepts no jobs")
        }
        Subject::Namespace => format!("the namespace `{name}` does not exist: run kubectl create namespace {name}"),
        Subject::ServiceAccount => {
            format!("the service account `{name}` does not exist in the namespace: jobs cannot start without it")
        }
        Subject::Claim => format!(
            "the PVC `{name}` does not exist in the namespace: create it with access mode ReadWriteMany, and mount it on this server"
        ),
        Subject::Files => {
            let path = finding.detail.as_deref().unwrap_or_default();
            format!(
                "this server cannot access the files of the PVC `{name}`: mount it on the server at {path}"
            )
        }
        Subject::Queue => {
            let why = finding.detail.as_deref().unwrap_or_default();
            format!("the queue `{name}` does not match the quotas: {why}")
        }
        Subject::Aside => {
            let why = finding.detail.as_deref().unwrap_or_default();
            format!("nodes cordoned in Cubeloom are not cordoned in Kubernetes, so other pods still start there: {why}")
        }
        Subject::Others => {
            "usage by other pods is unknown, so less may be free than shown: allow the server's account to list and watch pods of all namespaces"
                .to_owned()
        }
        Subject::Program | Subject::Kind | Subject::Right | Subject::Setting | Subject::Untried => {
            return None;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_slurm_cluster_each_thing_that_is_missing_has_its_own_sentence() {
        let finding = |subject, name: &str, detail: Option<&str>| Finding {
            subject,
            name: name.into(),
            found: detail.is_none(),
            detail: detail.map(Into::into),
        };
        let survey = Survey {
            version: Some("22.05".into()),
            error: None,
            findings: vec![
                finding(Subject::Program, "slurmdbd", Some("connection refused")),
                finding(Subject::Queue, "cl-vision", Some("Access/permission denied")),
                finding(Subject::Queue, "cl-text", None),
                finding(Subject::Setting, "facts.partition", Some("the partition `old` has no nodes")),
                finding(Subject::Untried, "way.accounts", Some("only 32 of 34 accounts were checked")),
            ],
            refusals: None,
        };
        assert_eq!(
            of_slurm(&survey),
            [
                "Slurm accounting is unreachable, so the outcome of jobs that Slurm no longer lists is unknown: \
                 connection refused",
                "the account `cl-vision` does not match the quotas: Access/permission denied",
                "its setting `facts.partition` is wrong: the partition `old` has no nodes",
                "its setting `way.accounts` was checked only in part: only 32 of 34 accounts were checked",
            ]
        );
    }
}

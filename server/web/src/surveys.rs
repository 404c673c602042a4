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
        purpose: "starts gangs whole, and shares the cluster between queues",
        serves: "batch.volcano.sh",
        program: "volcano",
    },
    Part {
        name: "Kueue",
        purpose: "queues jobs by quota where Volcano is not there",
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
        purpose: "runs NNI as Frameworks, where nothing starts gangs whole",
        serves: "frameworks.frameworkcontroller.microsoft.com",
        program: "frameworkcontroller",
    },
    Part {
        name: "metrics",
        purpose: "tells what pods use",
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
        let message = format!("`{name}` is the server's own machine: its page says what it has");
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
        return vec![format!("the cluster does not answer: {error}")];
    }
    let missing = survey.findings.iter().filter(|finding| !finding.found);
    let sentence = |finding: &Finding| {
        let (name, why) = (&finding.name, finding.detail.as_deref().unwrap_or_default());
        match finding.subject {
            Subject::Queue => format!("the account `{name}` is not as the quotas say: {why}"),
            Subject::Setting => format!("its setting `{name}` does not hold: {why}"),
            Subject::Untried => format!("not all of its setting `{name}` was tried: {why}"),
            _ => format!(
                "accounting does not answer, so that how a job ended is not known once Slurm lists it no more: {why}"
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
            let message = "no Prometheus is named: nobody measures what its nodes and GPUs do";
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
        return vec![format!("the cluster does not answer: {error}")];
    }
    let missing = survey.findings.iter().filter(|finding| !finding.found);
    let mut found: Vec<String> = missing.clone().filter_map(sentence).collect();
    if let Some(Refusals { count, why }) = &survey.refusals {
        found.insert(
            0,
            format!(
                "requests of the last ten minutes that it did not answer, or could not do: {count}; {why}"
            ),
        );
    }
    let rights: Vec<&str> = missing
        .filter(|finding| finding.subject == Subject::Right)
        .map(|finding| finding.name.as_str())
        .collect();
    if !rights.is_empty() {
        found.push(format!("the server's account may not: {}", rights.join(", ")));
    }
    if !volcano {
        found.push("Volcano is not there: nothing starts gangs whole".to_owned());
    }
    for outlook in frameworks {
        if let Some(serves) = outlook.missing {
            found.push(format!(
                "`{}` has no operator here (`{serves}`): its jobs become {}",
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
            format!("the namespace `{name}` is being deleted: it takes no jobs")
        }
        Subject::Namespace => format!("the namespace `{name}` is not there: kubectl create namespace {name}"),
        Subject::ServiceAccount => {
            format!("the service account `{name}` is not in the namespace: jobs cannot start without it")
        }
        Subject::Claim => format!(
            "the claim `{name}` is not in the namespace: make one that many nodes can write to, and that this server mounts"
        ),
        Subject::Files => {
            let path = finding.detail.as_deref().unwrap_or_default();
            format!(
                "this server does not see the files of the claim `{name}`: mount it where the server runs, at {path}"
            )
        }
        Subject::Queue => {
            let why = finding.detail.as_deref().unwrap_or_default();
            format!("the queue `{name}` is not as the quotas say: {why}")
        }
        Subject::Aside => {
            let why = finding.detail.as_deref().unwrap_or_default();
            format!("nodes that are set aside are not cordoned, so that pods of others still go there: {why}")
        }
        Subject::Others => {
            "what pods of others take of the nodes is not known, so that less may be free than is said: the \
             server's account may not list and watch the pods of all namespaces"
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
                finding(Subject::Setting, "facts.partition", Some("no node is in the partition `old`")),
                finding(Subject::Untried, "way.accounts", Some("of 34 accounts only 32 were tried")),
            ],
            refusals: None,
        };
        assert_eq!(
            of_slurm(&survey),
            [
                "accounting does not answer, so that how a job ended is not known once Slurm lists it no more: \
                 connection refused",
                "the account `cl-vision` is not as the quotas say: Access/permission denied",
                "its setting `facts.partition` does not hold: no node is in the partition `old`",
                "not all of its setting `way.accounts` was tried: of 34 accounts only 32 were tried",
            ]
        );
    }
}

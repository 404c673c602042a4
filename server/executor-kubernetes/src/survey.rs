//! What a cluster offers to jobs, and what is missing: the check page's data. Everything is asked anew.

use cubeloom_domain::clusters::{Finding, Subject, Survey};
use cubeloom_domain::kubernetes::KubernetesFacts;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::api::core::v1::{Namespace, PersistentVolumeClaim, ServiceAccount};
use kube::api::{Api, ListParams, PostParams};

use crate::cluster::Cluster;
use crate::error::Refused;
use crate::{node_use, queues};

fn finding(subject: Subject, name: impl Into<String>, found: bool, detail: Option<String>) -> Finding {
    Finding { subject, name: name.into(), found, detail }
}

/// Programs whose version an image's tag tells: a part of the image's name, and what they serve.
const PROGRAMS: [(&str, &str); 9] = [
    ("training-operator", "training-operator"),
    ("mpi-operator", "mpi-operator"),
    ("kuberay", "kuberay-operator"),
    ("spark-operator", "spark-operator"),
    ("vc-scheduler", "volcano"),
    ("kueue", "kueue"),
    ("metrics-server", "metrics-server"),
    ("hami", "hami"),
    ("kai-scheduler/scheduler", "kai-scheduler"),
];

/// What an executor does with the objects that jobs become.
const ON_JOBS: &[&str] = &["create", "get", "list", "watch", "patch", "delete"];

/// What it does in a namespace of jobs, as verbs on resources. `deploy/chart` gives these rights and no others. Secrets are
/// made and removed, never read: an answer to `patch` would have their values.
const RIGHTS: [(&str, &str, &[&str]); 12] = [
    ("batch", "jobs", ON_JOBS),
    ("", "pods", ON_JOBS),
    ("", "pods/log", &["get"]),
    // Terminals: clusters before 1.35 ask for the first, those since for both.
    ("", "pods/attach", &["get", "create"]),
    ("", "secrets", &["create", "delete"]),
    ("", "configmaps", &["create", "patch"]),
    ("", "services", &["create", "patch"]),
    ("", "events", &["list", "watch"]),
    // What its pods use, where the cluster measures it.
    ("metrics.k8s.io", "pods", &["list"]),
    // What this page looks at.
    ("", "namespaces", &["get"]),
    ("", "serviceaccounts", &["get"]),
    ("", "persistentvolumeclaims", &["get"]),
];

/// What it does there to give workers that run more memory. Without it they go on with what they began with.
pub const RESIZING: [(&str, &str, &[&str]); 1] = [("", "pods/resize", &["patch"])];

/// What it does there to look what workers of a job that hangs are at: clusters before 1.35 ask for the first, those since for both.
/// Without it that is not known.
const LOOKING: [(&str, &str, &[&str]); 1] = [("", "pods/exec", &["get", "create"])];

/// What it does there where Volcano is: jobs are suspended by commands.
const WITH_VOLCANO: [(&str, &str, &[&str]); 1] = [("bus.volcano.sh", "commands", &["create"])];

/// What it does with the whole cluster: of nodes that it cannot see it does not know whether a job fits.
const OF_THE_CLUSTER: [(&str, &str, &[&str]); 1] = [("", "nodes", &["list", "watch"])];

/// And to tell what they use, where the cluster measures it.
const MEASURED: [(&str, &str, &[&str]); 1] = [("metrics.k8s.io", "nodes", &["list"])];

/// And what it does with those that are set aside. Without it only its own pods are kept off.
const CORDONING: [(&str, &str, &[&str]); 1] = [("", "nodes", &["get", "patch"])];

/// And what it does to know what pods of others take of them. Without it only jobs count.
pub const OF_OTHERS: [(&str, &str, &[&str]); 1] = [("", "pods", &["list", "watch"])];

/// The same where Volcano is: its queues are kept like the quotas, and go when nothing is in them.
const QUEUES_OF_THE_CLUSTER: [(&str, &str, &[&str]); 2] = [
    ("scheduling.volcano.sh", "queues", &["list", "create", "patch", "delete"]),
    ("scheduling.volcano.sh", "podgroups", &["list"]),
];

/// Looks at the cluster as a project sees it.
pub async fn survey(cluster: &Cluster, project: &str) -> Survey {
    let client = cluster.client().await;
    let version = match cluster.ask("asking its version", client.apiserver_version()).await {
        Ok(version) => version.git_version,
        Err(refused) => {
            return Survey { error: Some(refused.message().to_owned()), ..Survey::default() };
        }
    };
    let known = cluster.facts().kubernetes.unwrap_or_else(|| cluster.config.facts.clone());
    let facts = known.of_project(project);
    let mut findings = programs(cluster).await;
    findings.extend(facts.kinds.iter().map(|(kind, operator)| {
        finding(Subject::Kind, kind, true, operator.gang.then(|| "gang".to_owned()))
    }));
    findings.extend(belongings(cluster, &facts).await);
    findings.extend(cluster.claims.are_seen(project).map(|seen| {
        let path = cluster.config.workspace.display().to_string();
        finding(Subject::Files, &facts.workspace_claim, seen, Some(path))
    }));
    findings.extend(cluster.queues.findings());
    findings.extend(cluster.aside.refused().map(|why| finding(Subject::Aside, "nodes", false, Some(why))));
    let sees_others = may_all(cluster, "", &OF_OTHERS).await;
    findings.push(finding(Subject::Others, "pods", sees_others, None));
    findings.extend(rights(cluster, &facts).await);
    Survey { version: Some(version), error: None, findings, refusals: cluster.standing.refusals() }
}

/// The versions of programs that run there, where deployments may be listed.
async fn programs(cluster: &Cluster) -> Vec<Finding> {
    let api: Api<Deployment> = Api::all(cluster.client().await);
    let params = ListParams::default();
    let Ok(all) = cluster.ask("listing deployments", api.list(&params)).await else { return Vec::new() };
    let images = all.items.iter().flat_map(|one| {
        let pod = one.spec.template.spec.as_ref();
        pod.into_iter().flat_map(|pod| pod.containers.iter().filter_map(|container| container.image.clone()))
    });
    let images: Vec<String> = images.collect();
    let version = |part: &str| {
        let image = images.iter().find(|image| image.contains(part))?;
        Some(image.rsplit_once(':').map_or_else(|| "latest".to_owned(), |(_, tag)| tag.to_owned()))
    };
    let found = PROGRAMS.iter().filter_map(|(part, name)| Some((name, version(part)?)));
    found.map(|(name, version)| finding(Subject::Program, *name, true, Some(version))).collect()
}

/// What a project must have in its namespace.
async fn belongings(cluster: &Cluster, facts: &KubernetesFacts) -> Vec<Finding> {
    let client = cluster.client().await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &facts.namespace);
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client, &facts.namespace);
    let namespace = cluster.ask("looking", namespaces.get_metadata(&facts.namespace)).await;
    let account = cluster.ask("looking", accounts.get_metadata(&facts.service_account)).await;
    let claim = cluster.ask("looking", claims.get(&facts.workspace_claim)).await;
    let phase = claim.as_ref().ok().and_then(|claim| claim.status.as_ref()?.phase.clone());
    let missing = |refused: Option<&Refused>| matches!(refused, Some(Refused::NotFound));
    let mut findings = Vec::new();
    if let Some(name) = &facts.spark_account {
        let account = cluster.ask("looking", accounts.get_metadata(name)).await;
        findings.push(finding(Subject::ServiceAccount, name, !missing(account.as_ref().err()), None));
    }
    let leaves = namespace.as_ref().is_ok_and(|namespace| namespace.metadata.deletion_timestamp.is_some());
    let claimed = !missing(claim.as_ref().err()) && phase.as_deref() != Some("Lost");
    findings.extend([
        finding(
            Subject::Namespace,
            &facts.namespace,
            !missing(namespace.as_ref().err()) && !leaves,
            leaves.then(|| "being deleted".to_owned()),
        ),
        finding(Subject::ServiceAccount, &facts.service_account, !missing(account.as_ref().err()), None),
        finding(Subject::Claim, &facts.workspace_claim, claimed, phase),
    ]);
    findings
}

/// What the server may do in a project's namespace, and with the whole cluster.
async fn rights(cluster: &Cluster, facts: &KubernetesFacts) -> Vec<Finding> {
    let jobs = facts.kinds.keys().filter_map(|kind| {
        let (resource, group) = kind.split_once('/')?.0.split_once('.')?;
        is_job(resource).then_some((group, resource, ON_JOBS))
    });
    let namespace = facts.namespace.as_str();
    let volcano = WITH_VOLCANO.into_iter().filter(|_| facts.volcano.is_some());
    let there = RIGHTS
        .into_iter()
        .chain(RESIZING)
        .chain(LOOKING)
        .chain(jobs)
        .chain(volcano)
        .map(|right| (namespace, right));
    let queues = QUEUES_OF_THE_CLUSTER.into_iter().filter(|_| facts.kinds.contains_key(queues::KIND));
    let measured = MEASURED.into_iter().filter(|_| facts.kinds.contains_key(node_use::KIND));
    let wide =
        OF_THE_CLUSTER.into_iter().chain(measured).chain(CORDONING).chain(queues).map(|right| ("", right));
    let mut findings = Vec::new();
    for (namespace, (group, resource, verbs)) in there.chain(wide) {
        for verb in verbs {
            let dot = if group.is_empty() { "" } else { "." };
            let name = format!("{verb} {resource}{dot}{group}");
            if let Some(allowed) = may(cluster, namespace, group, resource, verb).await {
                findings.push(finding(Subject::Right, name, allowed, None));
            }
        }
    }
    findings
}

/// Whether a kind is one that jobs become: operators name theirs so, but for Spark's and frameworkcontroller's. A schedule is ours to keep, so no job
/// becomes a `cronjob` of Volcano or Ray.
fn is_job(resource: &str) -> bool {
    (resource.ends_with("jobs") && !resource.ends_with("cronjobs"))
        || matches!(resource, "sparkapplications" | "frameworks")
}

/// Whether the server may do all of this in a namespace, or with the whole cluster.
pub async fn may_all(cluster: &Cluster, namespace: &str, rights: &[(&str, &str, &[&str])]) -> bool {
    for (group, resource, verbs) in rights {
        for verb in *verbs {
            if may(cluster, namespace, group, resource, verb).await != Some(true) {
                return false;
            }
        }
    }
    true
}

async fn may(cluster: &Cluster, namespace: &str, group: &str, resource: &str, verb: &str) -> Option<bool> {
    let (resource, subresource) = match resource.split_once('/') {
        Some((resource, sub)) => (resource, Some(sub.to_owned())),
        None => (resource, None),
    };
    let attributes = ResourceAttributes {
        namespace: Some(namespace.to_owned()),
        group: Some(group.to_owned()),
        resource: Some(resource.to_owned()),
        subresource,
        verb: Some(verb.to_owned()),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() };
    let review = SelfSubjectAccessReview { spec, ..Default::default() };
    let api: Api<SelfSubjectAccessReview> = Api::all(cluster.client().await);
    let answer = cluster.ask("asking for rights", api.create(&PostParams::default(), &review)).await.ok()?;
    Some(answer.status?.allowed)
}

//! What a cluster offers to jobs, and what is missing, for the check page. Always queries the cluster.

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

/// Programs whose image tag is their version: a part of the image's name, and the program's name.
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

/// Verbs that the executor uses on jobs' objects.
const ON_JOBS: &[&str] = &["create", "get", "list", "watch", "patch", "delete"];

/// Verbs on resources that it uses in a job namespace. `deploy/chart` grants exactly these. Secrets are
/// created and deleted, never read: the response to `patch` would contain their values.
const RIGHTS: [(&str, &str, &[&str]); 12] = [
    ("batch", "jobs", ON_JOBS),
    ("", "pods", ON_JOBS),
    ("", "pods/log", &["get"]),
    // Terminals: clusters before 1.35 require the first verb, later ones both.
    ("", "pods/attach", &["get", "create"]),
    ("", "secrets", &["create", "delete"]),
    ("", "configmaps", &["create", "patch"]),
    ("", "services", &["create", "patch"]),
    ("", "events", &["list", "watch"]),
    // Pod usage, if the cluster measures it.
    ("metrics.k8s.io", "pods", &["list"]),
    // For this page itself.
    ("", "namespaces", &["get"]),
    ("", "serviceaccounts", &["get"]),
    ("", "persistentvolumeclaims", &["get"]),
];

/// Rights to give running workers more memory. Without them workers keep their initial memory.
pub const RESIZING: [(&str, &str, &[&str]); 1] = [("", "pods/resize", &["patch"])];

/// Rights to collect stack traces of a hung job's workers: clusters before 1.35 require the first verb, later
/// ones both. Without them there are no traces.
const LOOKING: [(&str, &str, &[&str]); 1] = [("", "pods/exec", &["get", "create"])];

/// With Volcano: commands suspend jobs.
const WITH_VOLCANO: [(&str, &str, &[&str]); 1] = [("bus.volcano.sh", "commands", &["create"])];

/// Cluster-wide rights: whether a job fits is unknown for nodes that the server cannot see.
const OF_THE_CLUSTER: [(&str, &str, &[&str]); 1] = [("", "nodes", &["list", "watch"])];

/// Rights to read node usage, if the cluster measures it.
const MEASURED: [(&str, &str, &[&str]); 1] = [("metrics.k8s.io", "nodes", &["list"])];

/// Rights to cordon nodes. Without them the server keeps only its own pods off.
const CORDONING: [(&str, &str, &[&str]); 1] = [("", "nodes", &["get", "patch"])];

/// Rights to see other users' pods on the nodes. Without them only jobs count.
pub const OF_OTHERS: [(&str, &str, &[&str]); 1] = [("", "pods", &["list", "watch"])];

/// Cluster-wide rights with Volcano: queues follow the quotas, and are removed once empty.
const QUEUES_OF_THE_CLUSTER: [(&str, &str, &[&str]); 2] = [
    ("scheduling.volcano.sh", "queues", &["list", "create", "patch", "delete"]),
    ("scheduling.volcano.sh", "podgroups", &["list"]),
];

/// Checks the cluster as a project sees it.
pub async fn survey(cluster: &Cluster, project: &str) -> Survey {
    let client = cluster.client().await;
    let version = match cluster.ask("reading its version", client.apiserver_version()).await {
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

/// Versions of installed programs, if deployments may be listed.
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

/// What a project needs in its namespace.
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

/// The server's rights in a project's namespace and in the whole cluster.
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

/// Whether jobs are lowered to this kind. Operators' kinds end in `job`, except Spark's and
/// frameworkcontroller's. Cubeloom runs schedules itself, so no job becomes a `cronjob` of Volcano or Ray.
fn is_job(resource: &str) -> bool {
    (resource.ends_with("jobs") && !resource.ends_with("cronjobs"))
        || matches!(resource, "sparkapplications" | "frameworks")
}

/// Whether the server has all of these rights in a namespace, or in the whole cluster.
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
    let answer =
        cluster.ask("checking permissions", api.create(&PostParams::default(), &review)).await.ok()?;
    Some(answer.status?.allowed)
}

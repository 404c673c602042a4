//! Requirements of Kubernetes, the CRDs and the operators' webhooks that our manifests could violate. They
//! are transcribed from the schemas, so that the test needs none.

use std::collections::BTreeSet;

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, KubernetesJob, PROGRAMS};
use serde_json::Value;

use super::names::is_dns_1035;
use super::{operators, pods};

/// The requirements on a manifest: its kind, the name of its pods' containers, the path of its replicas.
struct Kind {
    api: &'static str,
    kind: &'static str,
    /// The beginning of the container's name.
    container: &'static str,
    replicas: &'static str,
}

const KINDS: [Kind; 12] = [
    Kind { api: "v1", kind: "Pod", container: "worker", replicas: "" },
    Kind { api: "batch/v1", kind: "Job", container: "worker", replicas: "" },
    Kind { api: "batch.volcano.sh/v1alpha1", kind: "Job", container: "worker", replicas: "/spec/tasks" },
    Kind {
        api: "kubeflow.org/v1",
        kind: "PyTorchJob",
        container: "pytorch",
        replicas: "/spec/pytorchReplicaSpecs",
    },
    Kind {
        api: "kubeflow.org/v1",
        kind: "XGBoostJob",
        container: "xgboost",
        replicas: "/spec/xgbReplicaSpecs",
    },
    Kind { api: "kubeflow.org/v1", kind: "TFJob", container: "tensorflow", replicas: "/spec/tfReplicaSpecs" },
    Kind { api: "kubeflow.org/v1", kind: "JAXJob", container: "jax", replicas: "/spec/jaxReplicaSpecs" },
    Kind {
        api: "kubeflow.org/v1",
        kind: "PaddleJob",
        container: "paddle",
        replicas: "/spec/paddleReplicaSpecs",
    },
    Kind { api: "kubeflow.org/v2beta1", kind: "MPIJob", container: "mpi", replicas: "/spec/mpiReplicaSpecs" },
    Kind { api: "ray.io/v1", kind: "RayJob", container: "ray", replicas: "/spec/rayClusterSpec" },
    Kind {
        api: "sparkoperator.k8s.io/v1beta2",
        kind: "SparkApplication",
        container: "spark-kubernetes-",
        replicas: "/spec",
    },
    Kind {
        api: "frameworkcontroller.microsoft.com/v1",
        kind: "Framework",
        container: "worker",
        replicas: "/spec/taskRoles",
    },
];

/// The violations; empty if all is well.
pub struct Findings(Vec<String>);

impl Findings {
    pub fn expect(&mut self, holds: bool, what: impl Into<String>) {
        if !holds {
            self.0.push(what.into());
        }
    }
}

/// Everything that is wrong with the manifests of a job.
pub fn check(job: &Job, facts: &KubernetesFacts, made: &KubernetesJob) -> Vec<String> {
    let mut found = Findings(Vec::new());
    let (mut workers, mut together) = (0, None);
    for object in &made.objects {
        metadata(object, facts, &mut found);
        let (api, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
        if let Some(known) = KINDS.iter().find(|known| (known.api, known.kind) == (api, kind)) {
            let (count, least) = replicas(known, object, &mut found);
            workers += count;
            together = together.or(least);
            for template in templates(known, object) {
                pod(template, known, job, facts, &mut found);
                pods::check(template, job, facts, &mut found);
            }
        } else {
            found.expect(
                ["ConfigMap", "Service"].contains(&kind) && api == "v1",
                format!("{api} {kind} is not ours"),
            );
        }
    }
    found.expect(workers == u64::from(job.workers()), format!("{workers} replicas in all"));
    if facts.volcano.is_some() {
        found.expect(
            together.is_none_or(|least| least == u64::from(job.gang)),
            format!("a gang of {together:?}"),
        );
    }
    found.0
}

fn metadata(object: &Value, facts: &KubernetesFacts, found: &mut Findings) {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap();
    found.expect(is_dns_1035(name) && name.len() <= 52, format!("the name {name}"));
    found.expect(metadata["namespace"] == facts.namespace, "the namespace");
    labels(&metadata["labels"], found);
    let kueue = metadata["labels"].get("kueue.x-k8s.io/queue-name");
    let suspend =
        ["/spec/suspend", "/spec/runPolicy/suspend"].map(|path| object.pointer(path)).into_iter().flatten();
    for suspend in suspend {
        found.expect(*suspend == kueue.is_some(), "what Kueue lets in begins suspended, and nothing else");
    }
}

fn labels(labels: &Value, found: &mut Findings) {
    for (key, value) in labels.as_object().unwrap() {
        let value = value.as_str().unwrap();
        let fits =
            value.len() <= 63 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        found.expect(fits, format!("the label {key}={value}"));
    }
}

/// The number of replicas, and how many start together if the manifest says so.
fn replicas(kind: &Kind, object: &Value, found: &mut Findings) -> (u64, Option<u64>) {
    let spec = &object["spec"];
    match kind.replicas {
        "" if kind.kind == "Pod" => (1, None),
        "" => {
            found.expect(spec["completions"] == spec["parallelism"], "all pods run at once");
            found.expect(spec["backoffLimit"] == 0 || spec["backoffLimitPerIndex"] == 0, "never tried again");
            (spec["completions"].as_u64().unwrap(), None)
        }
        "/spec/tasks" => volcano(spec, found),
        "/spec/taskRoles" => operators::framework(object, found),
        "/spec/rayClusterSpec" => operators::ray(object, found),
        "/spec" => operators::spark(object, found),
        path => kubeflow(kind, object.pointer(path).unwrap(), spec, found),
    }
}

fn volcano(spec: &Value, found: &mut Findings) -> (u64, Option<u64>) {
    let tasks = spec["tasks"].as_array().unwrap();
    let sum = |key: &str| tasks.iter().map(|task| task[key].as_u64().unwrap()).sum::<u64>();
    found.expect(spec["minAvailable"] == sum("minAvailable"), "minAvailable is the tasks' sum");
    found.expect(spec["schedulerName"] == "volcano", "the scheduler");
    found.expect(spec["queue"].is_string(), "a queue");
    let mut names = BTreeSet::new();
    for task in tasks {
        found.expect(names.insert(task["name"].as_str().unwrap()), "tasks have different names");
        found.expect(task["minAvailable"].as_u64() <= task["replicas"].as_u64(), "minAvailable <= replicas");
    }
    let events = ["PodFailed", "PodEvicted", "TaskCompleted"];
    let actions = ["TerminateJob", "CompleteJob", "RestartPod"];
    let of_tasks = tasks.iter().filter_map(|task| task.get("policies"));
    for policy in of_tasks.chain(spec.get("policies")).flat_map(|policies| policies.as_array().unwrap()) {
        let named: Vec<&Value> = policy
            .get("event")
            .into_iter()
            .chain(policy.get("events").into_iter().flat_map(|e| e.as_array().unwrap()))
            .collect();
        found.expect(
            !named.is_empty() && named.iter().all(|event| events.contains(&event.as_str().unwrap())),
            "events",
        );
        found.expect(actions.contains(&policy["action"].as_str().unwrap()), "an action");
    }
    (sum("replicas"), spec["minAvailable"].as_u64())
}

fn kubeflow(kind: &Kind, roles: &Value, spec: &Value, found: &mut Findings) -> (u64, Option<u64>) {
    let roles = roles.as_object().unwrap();
    let count = |role: &str| roles.get(role).map(|spec| spec["replicas"].as_u64().unwrap());
    let (known, one): (&[&str], Option<&str>) = match kind.kind {
        "MPIJob" => (&["Launcher", "Worker"], Some("Launcher")),
        "TFJob" => (&["Chief", "Worker", "PS", "Evaluator"], None),
        "JAXJob" | "PaddleJob" => (&["Master", "Worker"], None),
        _ => (&["Master", "Worker"], Some("Master")),
    };
    for (name, role) in roles {
        found.expect(known.contains(&name.as_str()), format!("the role {name}"));
        let elastic = spec.get("elasticPolicy").is_some();
        found.expect(
            role["restartPolicy"] == if elastic { "ExitCode" } else { "Never" },
            "the restart policy",
        );
    }
    match spec.get("elasticPolicy") {
        Some(policy) => {
            found
                .expect(roles.len() == 1 && count("Worker") == policy["maxReplicas"].as_u64(), "max workers");
            found.expect(policy["minReplicas"].as_u64() <= policy["maxReplicas"].as_u64(), "min <= max");
        }
        None => found.expect(one.is_none_or(|one| count(one) == Some(1)), format!("one {one:?}")),
    }
    if kind.kind == "MPIJob" {
        found.expect(count("Worker") >= Some(1), "a worker");
        found.expect(spec["slotsPerWorker"].as_u64() >= Some(1), "slots");
    }
    found.expect(spec["runPolicy"]["cleanPodPolicy"] == "Running", "what still runs is removed");
    let total = roles.values().map(|role| role["replicas"].as_u64().unwrap()).sum();
    (total, spec.pointer("/runPolicy/schedulingPolicy/minAvailable").and_then(Value::as_u64))
}

/// The templates of a manifest's pods.
fn templates<'o>(kind: &Kind, object: &'o Value) -> Vec<&'o Value> {
    match object.pointer(kind.replicas).filter(|_| !kind.replicas.is_empty()) {
        Some(spec) if ["RayJob", "SparkApplication"].contains(&kind.kind) => operators::templates(spec),
        None => vec![super::template(object)],
        Some(Value::Array(tasks)) => {
            tasks.iter().map(|task| task.get("template").unwrap_or(&task["task"]["pod"])).collect()
        }
        Some(roles) => roles.as_object().unwrap().values().map(|role| &role["template"]).collect(),
    }
}

fn pod(template: &Value, kind: &Kind, job: &Job, facts: &KubernetesFacts, found: &mut Findings) {
    labels(&template["metadata"]["labels"], found);
    let spec = &template["spec"];
    found.expect(spec["restartPolicy"] == "Never", "pods are not started again");
    let containers = spec["containers"].as_array().unwrap();
    let is_spark = kind.kind == "SparkApplication";
    let is_driver = containers[0]["name"] == "spark-kubernetes-driver";
    found.expect(spec["automountServiceAccountToken"] == is_driver, "no token of the cluster");
    let account =
        if is_driver { facts.spark_account.as_deref() } else { Some(facts.service_account.as_str()) };
    found.expect(spec["serviceAccountName"].as_str() == account, "the account");
    found.expect(
        (spec["schedulerName"] == "volcano") == facts.volcano.is_some(),
        "Volcano schedules every pod",
    );
    let security = &spec["securityContext"];
    found.expect(security["runAsNonRoot"] == true && security["runAsUser"].as_u64() > Some(0), "not root");
    found.expect(security["seccompProfile"]["type"] == "RuntimeDefault", "seccomp");
    found.expect(spec.get("activeDeadlineSeconds").is_some() == job.timeout.is_some(), "a deadline");
    let volumes = names(&spec["volumes"], "volumes", found);
    let name = containers[0]["name"].as_str().unwrap();
    let fits = if is_spark { name.starts_with(kind.container) } else { name == kind.container };
    found.expect(containers.len() == 1 && fits, "the container's name");
    found.expect(PROGRAMS.contains(&name), "a name by which the executor knows the program");
    found.expect(containers[0].get("command").is_none() == is_spark, "a command, or Spark's");
    let setup = spec.get("initContainers").map_or(&[][..], |list| list.as_array().unwrap());
    found.expect(setup.is_empty() == job.setup.is_empty(), "the setup");
    for part in containers.iter().chain(setup) {
        container(part, &volumes, found);
    }
}

fn container(container: &Value, volumes: &BTreeSet<String>, found: &mut Findings) {
    found.expect(container["image"].as_str().is_some_and(|image| !image.is_empty()), "an image");
    let command = container.get("command").map(|words| words.as_array().unwrap());
    found.expect(command.is_none_or(|words| !words.is_empty()), "a command");
    let variables = names(&container["env"], "variables", found);
    let resources = &container["resources"];
    let (requests, limits) =
        (resources["requests"].as_object().unwrap(), resources["limits"].as_object().unwrap());
    let same = requests.iter().all(|(name, amount)| name == "cpu" || limits.get(name) == Some(amount));
    found.expect(same, "all but CPU is asked for and limited alike");
    for (name, amount) in limits {
        let whole = amount.as_str().unwrap().parse::<u64>().is_ok();
        found.expect(whole || ["cpu", "memory"].contains(&name.as_str()), format!("{name}: {amount}"));
    }
    let security = &container["securityContext"];
    found.expect(security["allowPrivilegeEscalation"] == false, "no privileges");
    found.expect(security["capabilities"]["drop"][0] == "ALL", "no capabilities");
    let mut paths = BTreeSet::new();
    for mount in container["volumeMounts"].as_array().unwrap() {
        found.expect(volumes.contains(mount["name"].as_str().unwrap()), format!("no volume for {mount}"));
        found.expect(paths.insert(mount["mountPath"].as_str().unwrap()), format!("{mount} twice"));
        if let Some(path) = mount.get("subPathExpr").and_then(Value::as_str) {
            let name = path.split("$(").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
            found.expect(variables.contains(name), format!("{path} names no variable"));
        }
    }
}

/// The names of a list, which must be unique.
fn names(list: &Value, what: &str, found: &mut Findings) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in list.as_array().unwrap() {
        let name = entry["name"].as_str().unwrap().to_owned();
        found.expect(names.insert(name.clone()), format!("{what}: {name} twice"));
    }
    names
}

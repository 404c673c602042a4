//! Manifests of a terminal, from a worker's job: one pod with a shell, and nothing that belongs to the
//! attempt. Pure.

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, KubernetesJob, labels, pull_secret};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::terminal::TerminalOrder;
use cubeloom_workers::shell;
use serde_json::{Value, json};

use super::HELD;

/// Startup file of the shell, in the pod's working directory, which is deleted with the pod.
const FIRST: &str = "/cubeloom/work/.shell";
/// The variable with the workers' report file. In a terminal it names a file in the pod, since nothing reads
/// its reports.
const REPORTS: &str = "CUBELOOM_OUTPUTS";
const UNREAD: &str = "/cubeloom/work/outputs.jsonl";
/// Annotation with a pod's index, in indexed Jobs.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// Manifests of a terminal, and their names.
pub struct Objects {
    pub name: String,
    pub namespace: String,
    /// The worker's files, then its Job.
    pub all: Vec<Value>,
}

fn name(order: &TerminalOrder) -> String {
    format!("cl-terminal-{}", order.id)
}

/// The facts for a single pod without an operator and without a queue.
pub fn alone(facts: KubernetesFacts) -> KubernetesFacts {
    KubernetesFacts { kinds: Default::default(), volcano: None, kueue: None, ..facts }
}

/// The worker of this rank, and the job with a shell in place of its program.
pub fn with_shell(order: &TerminalOrder) -> Option<(WorkerName, Job)> {
    let mut job = Job::clone(&order.job);
    let mut first = 0;
    let role = job.roles.iter_mut().find(|role| {
        let found = (first..first + role.replicas).contains(&order.rank);
        first += if found { 0 } else { role.replicas };
        found
    })?;
    let worker = WorkerName { role: role.name.clone(), index: order.rank - first };
    let setup = std::mem::take(&mut job.setup);
    role.argv = shell::late_words(FIRST, &order.greeting, &setup, &role.argv);
    job.timeout = None;
    Some((worker, job))
}

/// The terminal's manifests, from those of the job with its shell. Returns `None` if it has no such pod.
pub fn of(lowered: KubernetesJob, order: &TerminalOrder, worker: &WorkerName) -> Option<Objects> {
    let (name, job) = (name(order), order.job.key.object_name());
    let template = |object: &Value| match object["kind"].as_str()? {
        "Job" => Some(object["spec"]["template"].clone()),
        "Pod" => {
            let [labels, annotations] = ["labels", "annotations"].map(|part| &object["metadata"][part]);
            Some(json!({"metadata": {"labels": labels, "annotations": annotations}, "spec": object["spec"]}))
        }
        _ => None,
    };
    let (root, mut template) = lowered.objects.iter().find_map(|object| {
        let its = template(object).filter(|its| its["metadata"]["labels"][labels::ROLE] == worker.role)?;
        Some((object, its))
    })?;
    let mut metadata = root["metadata"].clone();
    let namespace = metadata["namespace"].as_str()?.to_owned();
    own(&mut template["metadata"], &order.id);
    template["metadata"]["annotations"][INDEX] = worker.index.to_string().into();
    pod(&mut template["spec"], (&job, &name));
    metadata["name"] = name.as_str().into();
    own(&mut metadata, &order.id);
    let root = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": HELD.as_secs(),
            "ttlSecondsAfterFinished": 0,
            "template": template,
        },
    });
    let mut all: Vec<Value> = lowered.objects.into_iter().filter(|one| one["kind"] == "ConfigMap").collect();
    for files in &mut all {
        files["metadata"]["name"] = name.as_str().into();
        own(&mut files["metadata"], &order.id);
    }
    all.push(root);
    Some(Objects { name, namespace, all })
}

/// Labels an object as the terminal's, so that it does not count as a worker.
fn own(metadata: &mut Value, id: &str) {
    for (part, names) in
        [("labels", &[labels::JOB, labels::ROLE, labels::INDEX][..]), ("annotations", &[labels::KEY])]
    {
        if let Some(all) = metadata[part].as_object_mut() {
            names.iter().for_each(|name| drop(all.remove(*name)));
        }
    }
    metadata["labels"][labels::TERMINAL] = id.into();
}

/// Name of the shell's container, whatever operators name the worker's. If other containers are injected into
/// the pod, a client must name it to attach.
pub const SHELL: &str = "shell";

/// Turns a pod into one with a terminal, whose files and secrets have its own name instead of the attempt's.
fn pod(spec: &mut Value, (job, name): (&str, &str)) {
    // The Service of this subdomain does not exist.
    spec.as_object_mut().map(|spec| spec.remove("subdomain"));
    spec["terminationGracePeriodSeconds"] = 2.into();
    let pulled = (pull_secret(job), pull_secret(name));
    for secret in items(spec, "imagePullSecrets") {
        rename(secret, "/name", (&pulled.0, &pulled.1));
    }
    for volume in items(spec, "volumes") {
        rename(volume, "/secret/secretName", (job, name));
        rename(volume, "/configMap/name", (job, name));
    }
    let container = &mut spec["containers"][0];
    for variable in items(container, "env") {
        rename(variable, "/valueFrom/secretKeyRef/name", (job, name));
        if variable["name"] == REPORTS {
            variable["value"] = UNREAD.into();
        }
    }
    if let Some(variables) = container["env"].as_array_mut() {
        variables.retain(|variable| variable["name"] != "TERM");
        variables.push(json!({"name": "TERM", "value": "xterm-256color"}));
    }
    container["name"] = SHELL.into();
    container["tty"] = true.into();
    container["stdin"] = true.into();
    container["stdinOnce"] = true.into();
}

fn items<'a>(object: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Replaces a name at this path.
fn rename(object: &mut Value, at: &str, (from, to): (&str, &str)) {
    if let Some(value) = object.pointer_mut(at).filter(|value| *value == from) {
        *value = to.into();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cubeloom_domain::terminal::TerminalSize;

    use super::*;
    use crate::testing::elastic_job;

    fn order(rank: u32) -> TerminalOrder {
        TerminalOrder {
            id: "7".into(),
            job: Arc::new(elastic_job()),
            rank,
            size: TerminalSize { columns: 80, rows: 24 },
            greeting: "Hello.".into(),
            lower: Arc::new(|_, _| unreachable!()),
        }
    }

    /// The lowered job, with every occurrence of its name.
    fn lowered(job: &str) -> KubernetesJob {
        let labels =
            json!({"cubeloom/job": job, "cubeloom/run": "r", "app.kubernetes.io/managed-by": "cubeloom"});
        let mut own = labels.clone();
        own["cubeloom/role"] = "worker".into();
        let container = json!({
            "name": "worker",
            "env": [
                {"name": "TERM", "value": "dumb"},
                {"name": "CUBELOOM_OUTPUTS", "value": "/cubeloom/workspace/x/worker-$(CUBELOOM_INDEX)/outputs.jsonl"},
                {"name": "PW", "valueFrom": {"secretKeyRef": {"name": job, "key": "pw"}}},
            ],
            "volumeMounts": [{"name": "workspace", "mountPath": "/cubeloom/workspace"}],
        });
        let spec = json!({
            "subdomain": job,
            "imagePullSecrets": [{"name": pull_secret(job)}, {"name": "theirs"}],
            "containers": [container],
            "volumes": [
                {"name": "secrets", "secret": {"secretName": job}},
                {"name": "files", "configMap": {"name": job}},
            ],
        });
        let template =
            json!({"metadata": {"labels": own, "annotations": {"cubeloom/key": "k"}}, "spec": spec});
        let meta = |name: &str| json!({"name": name, "namespace": "n", "labels": labels, "annotations": {"cubeloom/key": "k"}});
        let objects = vec![
            json!({"kind": "ConfigMap", "metadata": meta(job), "data": {}}),
            json!({"kind": "Service", "metadata": meta(job)}),
            json!({"kind": "Job", "metadata": meta(&format!("{job}-worker")), "spec": {"completions": 4, "template": template}}),
        ];
        KubernetesJob { key: elastic_job().key, decisions: Vec::new(), objects }
    }

    #[test]
    fn a_terminal_is_a_pod_like_the_workers_that_belongs_to_no_attempt() {
        let order = order(2);
        let job = order.job.key.object_name();
        let (worker, _) = with_shell(&order).unwrap();
        let made = of(lowered(&job), &order, &worker).unwrap();
        assert_eq!((made.name.as_str(), made.namespace.as_str()), ("cl-terminal-7", "n"));
        let [files, root] = &made.all[..] else { panic!("{:?}", made.all) };
        assert_eq!(
            (&files["kind"], &files["metadata"]["name"]),
            (&json!("ConfigMap"), &json!("cl-terminal-7"))
        );
        assert_eq!(root["spec"]["activeDeadlineSeconds"], 60);
        let template = &root["spec"]["template"];
        assert_eq!(template["metadata"]["annotations"], json!({INDEX: "2"}));
        let container = &template["spec"]["containers"][0];
        assert_eq!(
            (&container["tty"], &container["stdin"], &container["stdinOnce"]),
            (&json!(true), &json!(true), &json!(true))
        );
        assert_eq!(container["env"].as_array().unwrap().len(), 3);
        assert_eq!(container["env"][0], json!({"name": REPORTS, "value": UNREAD}));
        assert_eq!(container["name"], SHELL);
        let text = json!(made.all).to_string();
        assert!(!text.contains(&job), "nothing has the attempt's name: {text}");
        assert!(text.contains("theirs") && text.contains(&pull_secret("cl-terminal-7")));
    }

    #[test]
    fn the_worker_of_a_rank_has_the_shell() {
        let (worker, job) = with_shell(&order(3)).unwrap();
        assert_eq!(worker.to_string(), "worker-3");
        let argv = &job.roles[0].argv;
        assert_eq!((argv[0].as_str(), argv.last().map(String::as_str)), ("/bin/sh", Some("true")));
        assert!(with_shell(&order(4)).is_none());
    }
}

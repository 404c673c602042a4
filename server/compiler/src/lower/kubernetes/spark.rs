//! `spark` becomes a SparkApplication of Kubeflow's spark-operator, which calls `spark-submit` in cluster
//! mode with the pod templates written here. Spark itself sets the pods' commands, images and resources.
//!
//! The driver's command is a `spark-submit`; its options become keys of the application.

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::kubernetes::KubernetesFacts;
use serde_json::{Map, Value, json};

use super::Frame;
use super::gang;
use super::operator::{Commands, Numbers, Operator, Start};
use super::pods::RolePods;
use super::submission::{Submission, constants};
use super::volumes::ROOT;
use crate::frameworks::spark::Share;
use crate::lower::substitute::substitute;

pub const OPERATOR: Operator = Operator {
    kind: "SparkApplication",
    serves: "sparkapplications.sparkoperator.k8s.io/v1beta2",
    name: "the spark-operator",
    container: |role| if role == DRIVER { "spark-kubernetes-driver" } else { "spark-kubernetes-executor" },
    gives: &["SPARK_CONF_DIR", "SPARK_MASTER_HOST", "SPARK_MASTER_PORT"],
    commands: |role| if role == DRIVER { Commands::Read } else { Commands::Unused },
    numbers: |_| Numbers::Count("metadata.labels['spark-exec-id']"),
    start: Start::First,
    service: false,
    unfit,
    address: |name, namespace, role, _| format!("{name}-{role}.{namespace}.svc"),
    object,
};

const DRIVER: &str = "driver";

/// The version set if the task pins no PySpark: its image contains its own Spark. The operator only checks
/// that the version supports pod templates (3.0).
const VERSION: &str = "3.5.0";

/// The Spark version that the task's packages pin.
fn version(job: &Job) -> &str {
    let mut packages = job.python.iter().flat_map(|python| &python.requirements);
    packages.find_map(|package| package.strip_prefix("pyspark==")).unwrap_or(VERSION)
}

fn unfit(job: &Job, facts: &KubernetesFacts) -> Option<&'static str> {
    if job.workers() == 1 {
        return Some("its driver works alone, or gets executors from another cluster");
    }
    let driver = job.roles.iter().find(|role| role.name == DRIVER);
    if driver.is_none_or(|driver| Submission::read(&driver.argv).is_none()) {
        return Some(
            "its driver is not started by `spark-submit`, or with options that a SparkApplication does not support",
        );
    }
    facts
        .spark_account
        .is_none()
        .then_some("no account is set that allows drivers to create executors (`spark_account`)")
}

fn object(frame: &Frame<'_>, roles: &[RolePods]) -> Value {
    let mut spec = Map::new();
    spec.insert("mode".into(), "cluster".into());
    spec.insert("sparkVersion".into(), version(frame.job).into());
    spec.insert("image".into(), frame.job.image.as_deref().unwrap_or_default().into());
    spec.insert("restartPolicy".into(), json!({"type": "Never"}));
    spec.insert("timeToLiveSeconds".into(), gang::KEPT.into());
    spec.insert("suspend".into(), gang::kueue(frame).is_some().into());
    if let Some(volcano) = &frame.facts.volcano {
        let mut options = Map::new();
        options.insert("queue".into(), volcano.queue.as_str().into());
        options.extend(volcano.priority_class.iter().map(|class| ("priorityClassName".into(), json!(class))));
        spec.insert("batchScheduler".into(), "volcano".into());
        spec.insert("batchSchedulerOptions".into(), options.into());
    }
    for (role, pods) in frame.job.roles.iter().zip(roles) {
        let mut part = part(role, &pods.template);
        if role.name == DRIVER {
            spec.extend(program(role, &pods.template));
            part["serviceAccount"] = json!(frame.facts.spark_account);
            // The driver requests executors from the API server.
            part["template"]["spec"]["serviceAccountName"] = json!(frame.facts.spark_account);
            part["template"]["spec"]["automountServiceAccountToken"] = true.into();
        } else {
            part["instances"] = pods.replicas.into();
            part["serviceAccount"] = frame.facts.service_account.as_str().into();
        }
        spec.insert(role.name.clone(), part);
    }
    json!({
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": gang::metadata(frame, None),
        "spec": spec,
    })
}

/// An application's settings of one role. Spark adds its own command to the image's.
fn part(role: &JobRole, template: &Value) -> Value {
    let share = Share::of(&role.resources);
    let mut template = template.clone();
    if let Some(container) = template["spec"]["containers"][0].as_object_mut() {
        container.remove("command");
    }
    let mut part = json!({
        "cores": share.cores,
        "coreRequest": role.resources.cpu.to_string(),
        "memory": format!("{}m", share.heap),
        "memoryOverhead": format!("{}m", share.overhead),
        "template": template,
    });
    if let Some(most) = role.resources.most_cpu() {
        part["coreLimit"] = most.to_string().into();
    }
    part
}

/// The program, from the driver's command. Fields that the operator reads contain the variables' values;
/// arguments belong to the container, where the kubelet expands them.
fn program(role: &JobRole, template: &Value) -> Map<String, Value> {
    let Some(submission) = Submission::read(&role.argv) else { return Map::new() };
    let container = &template["spec"]["containers"][0];
    let known = constants(container);
    let fill = |word: &String| substitute(word, &known);
    let arguments: Vec<Value> = container["command"].as_array().into_iter().flatten().cloned().collect();
    let mut keys = Map::new();
    keys.insert("type".into(), submission.language().into());
    keys.insert("mainApplicationFile".into(), located(&fill(&submission.file)).into());
    keys.extend(submission.class.iter().map(|class| ("mainClass".into(), fill(class).into())));
    let first = arguments.len() - submission.arguments.len().min(arguments.len());
    if first < arguments.len() {
        keys.insert("arguments".into(), arguments[first..].to_vec().into());
    }
    // On Kubernetes, Spark creates a secret for each application.
    let guard = std::iter::once(("spark.authenticate".to_owned(), "true".into()));
    let properties = submission.properties.iter().map(|(name, value)| (name.clone(), fill(value).into()));
    keys.insert("sparkConf".into(), guard.chain(properties).collect::<Map<_, Value>>().into());
    if !submission.dependencies.is_empty() {
        // A variable's value may be several files.
        let list = |values: &[String]| {
            let filled = values.iter().map(fill).collect::<Vec<_>>().join(",");
            Value::from(filled.split(',').map(located).collect::<Vec<_>>())
        };
        let lists = submission.dependencies.iter().map(|(key, values)| ((*key).to_owned(), list(values)));
        keys.insert("deps".into(), lists.collect::<Map<_, _>>().into());
    }
    keys
}

/// A file of the image or of a volume, unless its URL says otherwise. A file that the operator would read
/// from its own disk (`file:`) is one of the image.
fn located(file: &str) -> String {
    match file.split_once("://") {
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") => format!("local://{path}"),
        Some(_) => file.to_owned(),
        None if file.starts_with('/') => format!("local://{file}"),
        None => format!("local://{ROOT}/work/{file}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_of_the_operators_is_read() {
        for (file, expected) in [
            ("/a/b.py", "local:///a/b.py"),
            ("b.py", "local:///cubeloom/work/b.py"),
            ("file:///etc/passwd", "local:///etc/passwd"),
            ("FILE:///etc/passwd", "local:///etc/passwd"),
            ("s3a://bucket/b.py", "s3a://bucket/b.py"),
            ("local:///a.py", "local:///a.py"),
        ] {
            assert_eq!(located(file), expected);
        }
    }
}

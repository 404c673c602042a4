//! Requirements of KubeRay and the spark-operator on their manifests, besides those of their CRDs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::shape::Findings;

/// The workers of a RayJob, and how many start together: KubeRay counts the groups itself.
pub fn ray(object: &Value, found: &mut Findings) -> (u64, Option<u64>) {
    let spec = &object["spec"];
    found.expect(spec["jobId"] == object["metadata"]["name"], "the number that the head submits under");
    found.expect(spec["submissionMode"] == "InteractiveMode", "the head submits by itself");
    found.expect(spec["backoffLimit"] == 0, "never tried again");
    found.expect(spec["shutdownAfterJobFinishes"] == true, "what may be suspended must go at the end");
    let annotations = &object["metadata"]["annotations"];
    for name in ["overwrite-container-cmd", "disable-provisioned-head-restart"] {
        found.expect(annotations[format!("ray.io/{name}")] == "true", name);
    }
    let groups = spec["rayClusterSpec"]["workerGroupSpecs"].as_array().unwrap();
    let mut names = BTreeSet::new();
    for (index, group) in groups.iter().enumerate() {
        found.expect(names.insert(group["groupName"].as_str().unwrap()), "groups have different names");
        let replicas = ["replicas", "minReplicas", "maxReplicas"].map(|key| group[key].as_u64());
        found.expect(replicas == [Some(1); 3], "a worker a group");
        let labels = &group["template"]["metadata"]["labels"];
        found.expect(labels["cubeloom/index"] == index.to_string().as_str(), "the worker's index");
    }
    let workers = groups.len() as u64 + 1;
    (workers, Some(workers))
}

/// The workers of a SparkApplication. Volcano gets only the driver, and reserves room for the others.
pub fn spark(object: &Value, found: &mut Findings) -> (u64, Option<u64>) {
    let spec = &object["spec"];
    found.expect(spec["mode"] == "cluster" && spec["restartPolicy"]["type"] == "Never", "the mode");
    let file = spec["mainApplicationFile"].as_str().unwrap();
    found.expect(file.contains("://") && !file.contains("$("), format!("the file {file}"));
    found.expect(["Python", "Java", "R"].contains(&spec["type"].as_str().unwrap()), "the language");
    for role in ["driver", "executor"] {
        let part = &spec[role];
        let mebi =
            |key: &str| part[key].as_str().and_then(|text| text.strip_suffix('m')?.parse::<u64>().ok());
        let sum = mebi("memory").unwrap() + mebi("memoryOverhead").unwrap();
        let container = &part["template"]["spec"]["containers"][0];
        let (requests, limits) = (&container["resources"]["requests"], &container["resources"]["limits"]);
        let whole: cubeloom_domain::Bytes = limits["memory"].as_str().unwrap().parse().unwrap();
        found.expect(sum == whole.0 >> 20, format!("{sum} MiB of {whole}"));
        found.expect(part["coreRequest"] == requests["cpu"] && part["coreLimit"] == limits["cpu"], "the CPU");
        found.expect(part["cores"].as_u64() >= Some(1), "cores");
    }
    (1 + spec["executor"]["instances"].as_u64().unwrap(), None)
}

/// The workers of a Framework: nothing starts them together. Their names are valid for the controller's kind.
pub fn framework(object: &Value, found: &mut Findings) -> (u64, Option<u64>) {
    let is_bare = |name: &Value| {
        let name = name.as_str().unwrap();
        (1..=63).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    let never = serde_json::json!({"fancyRetryPolicy": false, "maxRetryCount": 0});
    let spec = &object["spec"];
    found.expect(is_bare(&object["metadata"]["name"]), "the controller splits names at each `-`");
    found.expect(spec["executionType"] == "Start" && spec["retryPolicy"] == never, "it starts, once");
    let roles = spec["taskRoles"].as_array().unwrap();
    let mut deciding = 0;
    for role in roles {
        let (number, policy) =
            (role["taskNumber"].as_u64().unwrap(), &role["frameworkAttemptCompletionPolicy"]);
        found.expect(is_bare(&role["name"]) && (1..=10_000).contains(&number), "the role");
        found.expect(role["task"]["retryPolicy"] == never, "no pod is made again");
        found.expect(policy["minFailedTaskCount"] == 1, "a worker that fails ends the job");
        deciding += usize::from(policy["minSucceededTaskCount"] == number);
        let pod = &role["task"]["pod"]["spec"];
        let hostname = pod["hostname"].as_str().unwrap();
        found.expect(
            hostname.ends_with("-{{FC_TASK_INDEX}}") && pod["subdomain"].is_string(),
            "a name for each pod",
        );
    }
    found.expect(deciding == 1, "one role decides when it has succeeded");
    (roles.iter().map(|role| role["taskNumber"].as_u64().unwrap()).sum(), None)
}

/// The templates of both.
pub fn templates(spec: &Value) -> Vec<&Value> {
    let head = spec.get("headGroupSpec").map(|head| &head["template"]);
    let groups = spec.get("workerGroupSpecs").and_then(Value::as_array).into_iter().flatten();
    let groups = groups.map(|group| &group["template"]);
    let roles = ["driver", "executor"].into_iter().filter_map(|role| Some(&spec.get(role)?["template"]));
    head.into_iter().chain(groups).chain(roles).collect()
}

//! More memory for pods that run: the API server takes it, and nothing else of the pod changes.

use std::sync::Arc;

use cubeloom_compiler::lower::lower;
use cubeloom_domain::executor::Submission;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::{AttemptKey, Bytes, Clock, RunId};
use cubeloom_executor_kubernetes::KubernetesConfig;
use cubeloom_testkit::clock::SystemClock;
use cubeloom_testkit::conformance::{Program, random};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::Place;
use crate::cluster::harness::{config, small, start};
use crate::cluster::kubectl::Object;
use crate::cluster::product::until;

#[ignore = "needs a cluster"]
#[test]
fn pods_that_run_get_more_memory_and_stay_what_they_are() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let facts = KubernetesFacts { namespace: place.namespace.clone(), ..KubernetesFacts::default() };
    let own = config(folder.path());
    std::fs::create_dir_all(own.workspace.join("conformance")).unwrap();
    let server = start(&KubernetesConfig { facts, ..own });
    let executor = server.executor();
    until("the cluster knows how", || executor.growth().is_some());

    let run = RunId::new(SystemClock.now(), random().into());
    let key = AttemptKey { run, task: "grows".into(), instance: 0, n: 1 };
    let submission = |memory: u64| {
        let mut job = Program { roles: vec![("worker", 2)], ..Program::words(&["true"]) }.job(key.clone());
        small(&mut job);
        job.roles[0].resources.memory = Bytes(memory << 20);
        let bindings = executor.bind(&job).unwrap();
        let lowered = lower(&job, &bindings).unwrap();
        Submission { job: Arc::new(job), lowered: Arc::new(lowered) }
    };
    // Of each pod: what tells it from another, its class, and its memory.
    let any = json!({"name": "any", "namespace": place.namespace});
    let api = place.kubectl.api(&Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": any})));
    let list = || place.runtime.block_on(api.list(&Default::default())).unwrap();
    let pods = || {
        let all = list();
        let mut pods: Vec<(String, Value, Value)> = all
            .iter()
            .map(|pod| {
                let resources = &pod.data["spec"]["containers"][0]["resources"];
                let memory = json!([resources["requests"]["memory"], resources["limits"]["memory"]]);
                (pod.metadata.uid.clone().unwrap(), pod.data["status"]["qosClass"].clone(), memory)
            })
            .collect();
        pods.sort_by(|one, other| one.0.cmp(&other.0));
        pods
    };
    place.runtime.block_on(executor.submit(submission(64)));
    place.runtime.block_on(server.recorder().started(&key));
    // A kubelet that can resize tells what containers have: those that are simulated do not.
    for pod in list() {
        let mut statuses = pod.data["status"]["containerStatuses"].clone();
        statuses[0]["resources"] = pod.data["spec"]["containers"][0]["resources"].clone();
        let status = Patch::Merge(json!({"status": {"containerStatuses": statuses}}));
        let name = pod.metadata.name.unwrap();
        place.runtime.block_on(api.patch_status(&name, &PatchParams::default(), &status)).unwrap();
    }
    let before = pods();
    assert_eq!(before.len(), 2);
    place.runtime.block_on(executor.growth().unwrap().grow(submission(96)));
    let have_more = |all: &[(String, Value, Value)]| {
        all.len() == 2 && all.iter().all(|(.., memory)| *memory == json!(["100663296", "100663296"]))
    };
    until("both have 96 MiB", || have_more(&pods()));
    // Less is not taken away, and what is there already is not asked for again.
    place.runtime.block_on(executor.growth().unwrap().grow(submission(32)));
    let same = |all: &[(String, Value, Value)]| -> Vec<(String, Value)> {
        all.iter().map(|(uid, class, _)| (uid.clone(), class.clone())).collect()
    };
    let after = pods();
    assert_eq!(same(&after), same(&before), "they are the same pods, of the same class");
    assert!(have_more(&after), "{after:?}");
}

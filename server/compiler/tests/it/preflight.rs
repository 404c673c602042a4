//! `preflight`: how workers are tested before their program begins, on every kind of cluster, and what cannot be.

use std::process::Command;

use cubeloom_compiler::lower::{kubernetes, lower, slurm};
use cubeloom_compiler::{Outputs, job};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Lowered;
use cubeloom_domain::resources::GpuRequest;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Code, JsonMap, Problem, TaskIx};
use serde_json::{Value, json};

use crate::kubernetes::templates;
use crate::lowering::bindings;
use crate::support::{fixtures, machine, try_plan};

fn try_job(task: &str, templates: &TemplateSet, facts: &Facts) -> Result<Job, Vec<Problem>> {
    let text =
        format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {{name: train, {task}}}\n");
    let planned = try_plan(&text, JsonMap::new(), templates, facts)?;
    Ok(job(&planned.plan, TaskIx(0), 0, None, 1, None, &Outputs::new()).unwrap())
}

fn table(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_launcher_stands_before_the_program_and_knows_all_workers() {
    let task = "template: crowd, arguments: {workers: 2}, resources: {processes_per_gpu: 2}, preflight: true, \
                volumes: [{name: big-disk, read_only: true}]";
    let job = try_job(task, &fixtures(), &machine()).unwrap();
    let Ok(Lowered::Local(made)) = lower(&job, &bindings(&job)) else { panic!("a local job") };
    for worker in &made.workers {
        let own = |name: &str| format!("{}/{name}", worker.folder);
        let expected = ["python3".to_owned(), own("preflight.py"), "python3".into(), own("processes.py")];
        assert_eq!(worker.argv[..4], expected);
        let table = table(&worker.files["preflight.json"]);
        assert_eq!(table["workers"].as_array().unwrap().len(), 2);
        let at = &table["workers"][worker.rank as usize];
        assert_eq!((&at[0], &at[1]), (&json!(worker.name.role), &json!(worker.name.index)));
        assert_eq!(at[2], worker.env["CUBELOOM_HOST"]);
        assert_eq!(
            (&table["read_only"], &table["wait"]),
            (&json!(["CUBELOOM_VOLUME_BIG_DISK"]), &json!(600.0))
        );
        assert_eq!(table["bounds"]["network"], 10.0);
    }
    let mut sliced = job.clone();
    sliced.roles[0].resources.gpu =
        Some(GpuRequest { count: Some(2), kind: Some("1g.10gb".into()), ..GpuRequest::default() });
    let Ok(Lowered::Local(made)) = lower(&sliced, &bindings(&sliced)) else { panic!("a local job") };
    let told = table(&made.workers[0].files["preflight.json"]);
    assert_eq!((&told["slices"], &told["cards"]), (&json!(["worker"]), &json!({"worker": 2})));
    let plain = try_job("template: crowd, preflight: false", &fixtures(), &machine()).unwrap();
    assert_eq!(plain.preflight, None);
}

#[test]
fn pods_and_nodes_of_slurm_have_it_too() {
    let (facts, cluster) = kubernetes::read_facts(kubernetes::FULL_CLUSTER).unwrap();
    let task =
        "template: pytorch, arguments: {workers: 2}, resources: {gpu: {count: 4}}, preflight: {wait: 30s}";
    let made = kubernetes::lower(&try_job(task, &templates(), &facts).unwrap(), &cluster).unwrap();
    let [files, object] = &made.objects[..] else { panic!("{:?}", made.objects) };
    let told = table(files["data"]["preflight.json"].as_str().unwrap());
    assert_eq!((&told["wait"], &told["cards"]["worker"]), (&json!(30.0), &json!(4)));
    assert_eq!(told["slices"], json!([]));
    assert!(files["data"]["preflight.py"].as_str().unwrap().contains("preflight.json"));
    for role in ["Master", "Worker"] {
        let container = &object["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"][0];
        let words = container["command"].to_string();
        assert!(words.contains("\"python3\",\"/cubeloom/preflight.py\",\"torchrun\""), "{words}");
    }
    let (facts, cluster) = slurm::read_facts(slurm::FULL_CLUSTER).unwrap();
    let made = slurm::lower(&try_job(task, &fixtures(), &facts).unwrap(), &cluster).unwrap();
    let told = table(&made.job.workers[1].files["preflight.json"]);
    assert_eq!(told["workers"][1][3], "@cubeloom-port-1@");
}

/// What the launcher's own functions say, by Python.
fn asked(script: &str) {
    let launcher = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lower");
    let done = Command::new("python3")
        .args([
            "-B",
            "-c",
            &format!("import sys\nsys.path.insert(0, {launcher:?})\nimport preflight\n{script}"),
        ])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn only_a_worker_that_differs_from_its_peers_is_surely_bad() {
    asked(
        r#"
from types import SimpleNamespace
def judged(owns, speeds=None, network=10, roles=None):
    names = ["w-%d" % at for at in range(len(owns))]
    workers = [[(roles or ["w"] * len(owns))[at], at, "", 0] for at in range(len(owns))]
    table = {"workers": workers, "bounds": {"network": network}}
    leader = preflight.Leader(SimpleNamespace(names=names, table=table, drill=False))
    leader.own = dict(enumerate(owns))
    leader.speeds = speeds or [{} for _ in owns]
    found = leader.judge()
    return found and (found["worker"], found["sure"])
def own(kind="cpu", failed=None, value=100):
    return {kind: value, "tests": {kind: failed and {"why": "it is bad", "by": failed}}}
assert judged([own(), own()]) is None
# All alike is nobody's node, and one of two may be.
assert judged([own("card", "itself")] * 3) == ("w-0", False)
assert judged([own("D", "itself"), own("D")]) == ("w-0", True)
assert judged([own("D"), own("D", "task"), own("D")]) == ("w-1", False)
# Who is surely bad goes before who is not.
assert judged([own("D", "task"), own("D"), own("D", "itself")]) == ("w-2", True)
# Cards of another role may be others.
assert judged([own("card", "itself"), own("card")], roles=["a", "b"]) == ("w-0", False)
# A value has to be low among these workers, too, of whom there are enough.
slow = lambda value: own("cpu", "value", value)
assert judged([own(), slow(40), own()]) == ("w-1", True)
assert judged([own(), slow(60), own()]) == ("w-1", False)
assert judged([own(), slow(40)]) == ("w-1", False)
ring = lambda a, b, c: [{1: a, 2: b}, {0: a, 2: c}, {0: b, 1: c}]
assert judged([own()] * 3, ring(3, 50, 3)) == ("w-1", True)
assert judged([own()] * 3, ring(3, 5, 3)) == ("w-1", False)
assert judged([own()] * 3, ring(30, 50, 30)) is None
"#,
    );
}

#[test]
fn who_says_nothing_or_no_sense_does_not_hold_up_the_leader() {
    asked(
        r#"
import json, os, socket, threading, time
preflight.FIRST = 0.3
free = socket.socket()
free.bind(("127.0.0.1", 0))
port = free.getsockname()[1]
free.close()
table = {"workers": [["w", 0, "127.0.0.1", port], ["w", 1, "127.0.0.1", port]], "wait": 20}
leader = preflight.Leader(preflight.Worker(table, ["w-0", "w-1"], 0, None))
others = []
def say(text):
    others.append(socket.create_connection(("127.0.0.1", port)))
    others[-1].sendall(text)
stray = b'{"from": 7, "host": "b", "own": {"tests": {}}}\n'
for text in (b"", b"[1]\n", b"1\n", b"null\n", b"\xff\n", stray):
    say(text)
say(json.dumps({"from": 1, "host": "b", "own": {"tests": {}}}).encode() + b"\n")
began = time.monotonic()
leader.gather()
assert list(leader.lines) == [1] and time.monotonic() - began < 5
assert leader.apart(0, 1)
leader.hosts[1] = preflight.host()
assert not leader.apart(0, 1)
"#,
    );
}

#[test]
fn what_an_image_or_a_volume_lacks_is_no_failure_of_cards_or_the_node() {
    asked(
        r#"
import os, tempfile
with tempfile.TemporaryDirectory() as folder:
    os.environ["PATH"] = folder
    os.environ["PYTHONPATH"] = folder
    with open(os.path.join(folder, "torch.py"), "w") as file:
        file.write("class version:\n    cuda = hip = None\n")
    # A PyTorch for processors, and no nvidia-smi.
    assert preflight.cards(8) == (False, None, None)
    took, why, by = preflight.mount(folder, False, 10)
    assert (why, by) == (None, "itself"), why
    took, why, by = preflight.mount(os.path.join(folder, "torch.py"), True, 10)
    assert why.startswith("it cannot be read: ") and by == "itself", why
# A full volume is the task's.
import errno
def refuses(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")
os.makedirs = refuses
try:
    preflight.touch("--write", "/nowhere")
except SystemExit as ended:
    assert ended.code == preflight.REFUSED
"#,
    );
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let refused = |task: &str| {
        let problems = try_job(task, &fixtures(), &machine()).unwrap_err();
        let first = problems.into_iter().find(|problem| problem.path.contains("preflight")).unwrap();
        (first.code, first.path, first.message)
    };
    let (code, path, message) =
        refused("template: pytorch, arguments: {elastic: {min: 1, max: 2}}, preflight: true");
    assert_eq!((code, path.as_str()), (Code::Conflict, "/tasks/0/preflight"));
    assert!(message.starts_with("the workers of this job need not run at the same time"), "{message}");
    assert_eq!(refused("template: crowd, preflight: often").1, "/tasks/0/preflight");
    assert_eq!(refused("template: crowd, preflight: {restarts: 101}").1, "/tasks/0/preflight/restarts");
    let (facts, _) = kubernetes::read_facts(kubernetes::FULL_CLUSTER).unwrap();
    let problems = try_job("template: spark, preflight: true", &templates(), &facts).unwrap_err();
    let sentence =
        "workers of the role `driver` cannot be tested: this cluster's operator starts their program itself";
    assert_eq!((problems[0].path.as_str(), problems[0].message.as_str()), ("/tasks/0/preflight", sentence));
}

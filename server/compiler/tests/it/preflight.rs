//! `preflight`: the tests of workers before their program begins, on every kind of cluster, and unsupported
//! cases.

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
        assert_eq!((&table["bounds"]["network"], &table["floors"]["network"]), (&json!(10.0), &json!(10.0)));
        assert!(worker.files["preflight_link.py"].contains("CUBELOOM_JOB_TOKEN"));
        assert!(worker.files["preflight_tests.py"].contains("def test(table)"));
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

/// Runs a script against the launcher's own functions, in Python.
fn asked(script: &str) {
    let launcher = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lower");
    let done = Command::new("python3")
        .args([
            "-B",
            "-c",
            &format!(
                "import sys\nsys.path.insert(0, {launcher:?})\n\
                 import preflight, preflight_link, preflight_tests\n{script}"
            ),
        ])
        .env("CUBELOOM_JOB_TOKEN", "of this attempt")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn only_a_worker_that_differs_from_its_peers_is_surely_bad() {
    asked(
        r#"
from types import SimpleNamespace
def judged(owns, speeds=None, network=10, roles=None, floor=10):
    names = ["w-%d" % at for at in range(len(owns))]
    workers = [[(roles or ["w"] * len(owns))[at], at, "", 0] for at in range(len(owns))]
    table = {"workers": workers, "bounds": {"network": network}, "floors": {"network": floor}}
    leader = preflight.Leader(SimpleNamespace(names=names, table=table, drill=False))
    leader.own = dict(enumerate(owns))
    leader.speeds = speeds or [{} for _ in owns]
    leader.settle()
    found = leader.judge()
    return found and (found["worker"], found["sure"])
def own(kind="cpu", failed=None, value=100, floor=False):
    return {kind: value, "tests": {kind: failed and {"why": "it is bad", "by": failed, "floor": floor}}}
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
assert judged([own(), slow(60), own()]) is None
assert judged([own(), slow(40)]) == ("w-1", False)
# All are slow beside what other jobs came to, and none beside the others: they have slower nodes, which is no failure.
assert judged([slow(40)] * 3) is None and judged([slow(40)]) is None
# Below what every sound machine comes to it is one.
assert judged([own("cpu", "value", 4, floor=True)] * 3) == ("w-0", False)
# Of folders the time counts.
def took(seconds, failed=None):
    return {"folders": {"D": seconds}, "tests": {"D": failed and {"why": "it is slow", "by": failed, "floor": False}}}
assert judged([took(2, "value")] * 3) is None
assert judged([took(0.1), took(2, "value"), took(0.1)]) == ("w-1", True)
ring = lambda a, b, c: [{1: a, 2: b}, {0: a, 2: c}, {0: b, 1: c}]
assert judged([own()] * 3, ring(3, 50, 3)) == ("w-1", True)
assert judged([own()] * 3, ring(3, 5, 3)) == ("w-1", False)
assert judged([own()] * 3, ring(30, 50, 30)) is None
assert judged([own()] * 3, ring(300, 500, 300), network=600) is None
assert judged([own()] * 3, ring(30, 500, 30), network=600) == ("w-1", True)
assert judged([own()] * 2, [{1: 300}, {0: 300}], network=600) is None
"#,
    );
}

/// A gang of two in one process, each with its own port; `w-1` follows the leader in a thread.
const GANG: &str = r#"
import json, os, socket, struct, threading, time
def free():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
ports = [free(), free()]
names = ["w-0", "w-1"]
least = {"cpu": 0, "memory": 0, "card": 0, "mount": 60, "network": 0.001}
table = {
    "workers": [["w", at, "127.0.0.1", port] for at, port in enumerate(ports)],
    "cards": {}, "read_only": [], "wait": 60, "bounds": least, "floors": least,
}
os.environ["CUBELOOM_ROLE"] = "w"
for name in [name for name in os.environ if name.startswith(("CUBELOOM_WORKSPACE", "CUBELOOM_CHECK", "CUBELOOM_VOLUME"))]:
    del os.environ[name]
workers = [preflight.Worker(table, names, me, None) for me in (0, 1)]
leader = preflight.Leader(workers[0])
leader.write = lambda verdict: None
leader.worker.drill = True
def stranger(at, text=b""):
    made = socket.create_connection(("127.0.0.1", ports[at]))
    made.settimeout(10)
    made.sendall(text)
    return made
"#;

#[test]
fn strangers_learn_nothing_of_a_gang_and_hold_up_nobody() {
    asked(&format!(
        r#"{GANG}
# Who says nothing, or no sense, who has another attempt's token, and who says again what a worker said.
silent = [stranger(at) for at in (0, 1) for _ in range(10)]
rest = [stranger(at, text) for at in (0, 1) for text in (b"[1]\n" * 30, b"\xff" * 60, b"GET / HTTP/1.1\r\n\r\n" * 4)]
def another():
    made = stranger(0)
    try:
        preflight_link.prove(made, b"of another", preflight_link.TALK, 1, 0)
    except (OSError, preflight_link.Lost):
        return made
    raise AssertionError("it was taken for a worker")
another()
began = time.monotonic()
told = []
follower = threading.Thread(target=lambda: told.append(workers[1].follow()))
follower.start()
assert leader.run() is None
follower.join()
assert told == [None] and time.monotonic() - began < 40, time.monotonic() - began
assert leader.speeds[0][1] > 1 and leader.speeds[1][0] > 1, leader.speeds
for made in silent:
    # A number that was made up for it, and that it was turned away.
    got = b""
    try:
        while True:
            piece = made.recv(100)
            if not piece:
                break
            got += piece
    except OSError:
        pass
    assert len(got) in (0, preflight_link.NONCE), got
"#
    ));
}

#[test]
fn what_is_changed_on_the_way_or_said_twice_is_not_taken() {
    asked(
        r#"
import socket, threading
def pair(key=b"k"):
    one, other = socket.socketpair()
    return preflight_link.Lines(one, key, b"a", b"b"), preflight_link.Lines(other, key, b"b", b"a")
def refused(do):
    try:
        do()
    except preflight_link.Lost as error:
        assert "was changed" in str(error), error
        return
    raise AssertionError("it was taken")
mine, theirs = pair()
mine.send({"speed": 1})
assert theirs.read() == {"speed": 1}
theirs.send({"speed": 2})
assert mine.read() == {"speed": 2}
# Another text behind the same seal, the same line again, one's own line, and the line of another connection.
said = []
mine.socket = type("Heard", (), {"sendall": lambda self, line: said.append(line)})()
mine.send({"speed": 9})
one, other = pair(b"other")
for line in (said[0].replace(b"9", b"8"), said[0], b"no seal\n", b"\n"):
    one.socket.sendall(line)
    refused(other.read)
mine, theirs = pair()
line = mine.seal([b"a", 0], b"1") + b" 1\n"
mine.socket.sendall(line + line)
assert theirs.read() == 1
refused(theirs.read)
# Who is told to be another's peer, or to be heard for something else, is no worker either.
one, other = socket.socketpair()
answers = []
def hear():
    try:
        answers.append(preflight_link.proven(other, b"t", 0))
    except preflight_link.Lost:
        other.close()
heard = threading.Thread(target=hear)
heard.start()
try:
    preflight_link.prove(one, b"t", preflight_link.TALK, 1, 2)
    raise AssertionError("it was meant for another")
except (OSError, preflight_link.Lost):
    pass
heard.join()
assert answers == []
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
    assert preflight_tests.cards(8) == (False, None, None)
    took, why, by = preflight_tests.mount(folder, False, 10)
    assert why is None, why
    took, why, by = preflight_tests.mount(os.path.join(folder, "torch.py"), True, 10)
    assert why.startswith("it cannot be read: ") and by == "itself", why
# A full volume is the task's.
import errno
def refuses(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")
os.makedirs = refuses
try:
    preflight_tests.touch("--write", "/nowhere")
except SystemExit as ended:
    assert ended.code == preflight_tests.REFUSED
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
    assert!(message.starts_with("the workers of this job may run at different times"), "{message}");
    assert_eq!(refused("template: crowd, preflight: often").1, "/tasks/0/preflight");
    assert_eq!(refused("template: crowd, preflight: {restarts: 101}").1, "/tasks/0/preflight/restarts");
    let (facts, _) = kubernetes::read_facts(kubernetes::FULL_CLUSTER).unwrap();
    let problems = try_job("template: spark, preflight: true", &templates(), &facts).unwrap_err();
    let sentence =
        "workers of the role `driver` cannot be tested: this cluster's operator starts their program itself";
    assert_eq!((problems[0].path.as_str(), problems[0].message.as_str()), ("/tasks/0/preflight", sentence));
}

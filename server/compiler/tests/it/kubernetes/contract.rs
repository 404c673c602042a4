//! The contract between the platform and a program is the same in pods as on one machine. A container's shell
//! and the kubelet derive the same variables and words from a pod's description as the processes of this
//! machine get.

use std::collections::BTreeMap;
use std::process::Command;

use cubeloom_compiler::lower::{self, kubernetes};
use cubeloom_compiler::{Outputs, job};
use cubeloom_domain::TaskIx;
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{Bindings, LocalBindings, LocalJob, LocalPaths, Lowered, WorkerBinding};
use proptest::prelude::*;
use serde_json::Value;

use super::{cluster, try_job};
use crate::support::try_plan;

pub type Variables = BTreeMap<String, String>;

/// Variables of one machine's processes only, or of pods only.
const DIFFERENT: [&str; 13] = [
    "CUBELOOM_HOST",
    "CUDA_VISIBLE_DEVICES",
    "DMLC_INTERFACE",
    "DMLC_NODE_HOST",
    "HOROVOD_GLOO_IFACE",
    "KFJ_ENVIRONMENT",
    "KFJ_NAMESPACE",
    "OMPI_MCA_btl_tcp_if_include",
    "OMPI_MCA_oob_tcp_if_include",
    "PATH",
    "POD_IP",
    "PWD",
    "SPARK_LOCAL_IP",
];

/// The variables of this machine's workers with the pods' addresses and paths. `shared`: the paths in a claim
/// that contains the workspaces of several projects.
fn here(job: &Job, name: &str, shared: bool) -> LocalJob {
    let workers = job.roles.iter().flat_map(|role| {
        (0..role.replicas).map(move |index| WorkerBinding {
            address: format!("{name}-{}-{index}.{name}", role.name),
            port: 29_500,
            ports: Vec::new(),
            gpus: Vec::new(),
        })
    });
    let below = |path: &str| format!("/cubeloom/{path}");
    let paths = LocalPaths {
        workspace: below("workspace"),
        run_dir: below(&format!("workspace/runs/{}", job.key.run)),
        attempt_dir: "/cubeloom".into(),
        checkpoint_dir: match shared {
            true => below(&format!(
                "workspace/runs/{0}/.checkpoints/{1}/{2}",
                job.key.run, job.key.task, job.key.instance
            )),
            false => below("checkpoints"),
        },
        code: match (shared, &job.code) {
            (true, Some(digest)) => below(&format!("workspace/.code/{digest}")),
            _ => below("code"),
        },
        template_dir: format!("/opt/cubeloom/task-templates/{}", job.template.split('@').next().unwrap()),
        bin: "/usr/local/bin/cubeloom".into(),
        volumes: BTreeMap::new(),
    };
    match lower::lower(job, &Bindings::Local(LocalBindings { workers: workers.collect(), paths })) {
        Ok(Lowered::Local(local)) => local,
        other => panic!("local bindings give a local job: {other:?}"),
    }
}

/// Expands references as the kubelet does.
pub fn expand(text: &str, variables: &Variables) -> String {
    let (mut result, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        result.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let name = after.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        match name {
            _ if after.starts_with('$') => {
                result.push('$');
                rest = &after[1..];
            }
            Some((name, tail)) => {
                result.push_str(&variables.get(name).cloned().unwrap_or(format!("$({name})")));
                rest = tail;
            }
            None => {
                result.push('$');
                rest = after;
            }
        }
    }
    result + rest
}

/// The words and variables of the program in the `index`-th pod of a template.
fn there(template: &Value, index: u32) -> (Vec<String>, Variables) {
    let container = &template["spec"]["containers"][0];
    let mut variables = Variables::new();
    for entry in container["env"].as_array().unwrap() {
        let field = entry.pointer("/valueFrom/fieldRef/fieldPath").and_then(Value::as_str);
        let value = match (entry["value"].as_str(), field) {
            (Some(value), _) => expand(value, &variables),
            (None, Some("status.podIP")) => "10.0.0.1".into(),
            (None, Some(_)) => index.to_string(),
            (None, None) => "secret".into(),
        };
        variables.insert(entry["name"].as_str().unwrap().to_owned(), value);
    }
    // Set by the Job controller.
    variables.entry("JOB_COMPLETION_INDEX".into()).or_insert_with(|| index.to_string());
    let words = container["command"].as_array().unwrap().iter();
    let words: Vec<String> = words.map(|word| expand(word.as_str().unwrap(), &variables)).collect();
    if words[0] == "/bin/sh" { shell(&words, &variables) } else { (words, variables) }
}

/// Runs the shell, with a program that prints its words and variables.
fn shell(words: &[String], variables: &Variables) -> (Vec<String>, Variables) {
    let show = "show() { printf '%s\\036' \"$@\"; printf '\\035'; /usr/bin/env -0; }; ";
    let program = format!("{show}{}", words[2].replace("exec ", "show "));
    let output = Command::new("/bin/sh")
        .args(["-c", &program])
        .args(&words[3..])
        .env_clear()
        .envs(variables)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (shown, environment) = text.split_once('\u{1d}').unwrap();
    let words = shown.split_terminator('\u{1e}').map(str::to_owned).collect();
    let pairs = environment.split_terminator('\0').filter_map(|pair| pair.split_once('='));
    (words, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Templates by role, in role order.
fn templates<'o>(job: &Job, objects: &'o [Value]) -> Vec<&'o Value> {
    let tasks = objects
        .iter()
        .filter_map(|object| object["spec"].get("tasks"))
        .flat_map(|tasks| tasks.as_array().unwrap());
    let of_tasks: Vec<&Value> = tasks.map(|task| &task["template"]).collect();
    let of_jobs = objects
        .iter()
        .filter(|object| ["Job", "Pod"].iter().any(|kind| object["kind"] == *kind))
        .map(super::template);
    let roles = objects.iter().filter_map(|object| object["spec"].get("taskRoles"));
    let of_roles = roles.flat_map(|roles| roles.as_array().unwrap()).map(|role| &role["task"]["pod"]);
    let all: Vec<&Value> = if of_tasks.is_empty() { of_jobs.chain(of_roles).collect() } else { of_tasks };
    assert_eq!(all.len(), job.roles.len());
    all
}

fn assert_same(task: &str, facts: &str) {
    let (facts, cluster) = cluster(facts);
    let job = try_job(task, &facts).unwrap();
    let made = kubernetes::lower(&job, &cluster).unwrap();
    let shared = !cluster.workspace_path.is_empty();
    let local = here(&job, &job.key.object_name(), shared);
    let mut workers = local.workers.iter();
    for (role, template) in job.roles.iter().zip(templates(&job, &made.objects)) {
        for index in 0..role.replicas {
            let worker = workers.next().unwrap();
            let key = &job.key;
            let own = format!("workspace/runs/{}/.attempts/{}/{}/{}", key.run, key.task, key.instance, key.n);
            let outputs = if shared { format!("{own}/{}-{index}", role.name) } else { "outputs".into() };
            let as_in_pod = |text: &str| {
                let outputs = format!("/cubeloom/{outputs}/outputs.jsonl");
                text.replace(&format!("{}/outputs.jsonl", worker.folder), &outputs)
                    .replace(&worker.folder, "/cubeloom")
            };
            let (words, variables) = there(template, index);
            let expected: Vec<String> = worker.argv.iter().map(|word| as_in_pod(word)).collect();
            assert_eq!(words, expected, "{task}: {}", worker.name);
            for (name, value) in worker.env.iter().filter(|(name, _)| !DIFFERENT.contains(&name.as_str())) {
                assert_eq!(variables.get(name), Some(&as_in_pod(value)), "{task}: {} {name}", worker.name);
            }
        }
    }
}

#[test]
fn pods_are_told_what_processes_are_told() {
    let env = "env: {ME: \"$(CUBELOOM_ROLE) $(CUBELOOM_RANK) of $(CUBELOOM_WORLD_SIZE)\", ODD: \"$$(CUBELOOM_RANK) $$ '\\\" $(NOBODY)\", \
               PYTHONPATH: \"/p/$(CUBELOOM_RANK)\", RANK: mine}";
    let tasks = [
        "template: echo, arguments: {words: [a b, \"$(CUBELOOM_RANK);$(ME)\", $$(CUBELOOM_RANK), \"`id` $$ $HOME $(NOBODY)\"]}",
        "template: crowd, arguments: {workers: 3}",
        "template: pytorch, arguments: {workers: 3}",
        "template: pytorch, arguments: {workers: 1}",
        "template: pytorch, arguments: {elastic: {min: 2, max: 3}}",
        "template: mpi, arguments: {workers: 3}",
        "template: xgboost, arguments: {workers: 3}",
        "template: tensorflow, arguments: {workers: 3, ps: 2, evaluator: 1}",
        "template: tensorflow, arguments: {chief: 0, workers: 12}",
        "template: tensorflow, arguments: {workers: 0, ps: 0}",
        "template: horovod, arguments: {workers: 3}",
        "template: ray, arguments: {workers: 3}",
        "template: spark, arguments: {executors: 3, args: [$(CUBELOOM_RUN_DIR)/x]}",
        "template: jax, arguments: {workers: 3}",
        "template: paddle, arguments: {workers: 3}",
        "template: paddle, arguments: {masters: 2, workers: 2}",
        "template: mxnet, arguments: {servers: 2, workers: 3}",
        "template: kaldi, arguments: {workers: 3}",
        "template: nni, arguments: {workers: 3}",
    ];
    for task in tasks {
        for facts in
            ["kubernetes: {volcano: {queue: q}}", "kubernetes: {}", "kubernetes: {workspace_path: vision}"]
        {
            assert_same(task, facts);
            assert_same(&format!("{task}, {env}"), facts);
        }
    }
    let task = "template: nni, arguments: {workers: 12}";
    let facts = "kubernetes: {kinds: {frameworks.frameworkcontroller.microsoft.com/v1: {}}}";
    assert_same(task, facts);
    assert_same(&format!("{task}, {env}"), facts);
}

/// A task with data from a parameter and from an output, alone and next to a variable, as words and as
/// variables.
const GIVEN_DATA: &str = "
apiVersion: cubeloom/v1
kind: Pipeline
name: p
parameters: {note: {type: string}}
tasks:
  - {name: make, template: echo, arguments: {words: [x]}}
  - name: train
    template: echo
    needs: [make]
    arguments:
      words: [\"{{ params.note }}\", \"$(CUBELOOM_RANK):{{ params.note }}\", \"{{ tasks.make.outputs.said }}\"]
    env: {EARLY: \"{{ params.note }}\", LATE: \"{{ tasks.make.outputs.said }}|$(CUBELOOM_RANK)\"}
";

fn data() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "$(CUBELOOM_RANK)",
        "$$(CUBELOOM_RANK)",
        "$(HOME)",
        "$(EARLY)",
        "$(NOBODY)",
        "$(",
        "$",
        "$$",
        "(HOME)",
        ")",
        "{{ run.id }}",
        "'\"",
        "x ",
        "数",
    ]);
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_person_typed_or_a_task_reported_is_text_wherever_it_goes(note in data(), said in data()) {
        let (facts, cluster) = cluster("kubernetes: {}");
        let parameters = [("note".to_owned(), note.clone().into())].into_iter().collect();
        let planned = try_plan(GIVEN_DATA, parameters, &super::templates(), &facts).unwrap();
        let outputs: Outputs = [("make".to_owned(), serde_json::json!({ "said": said }))].into();
        let job = job(&planned.plan, TaskIx(1), 0, None, 1, None, &outputs).unwrap();
        let local = here(&job, &job.key.object_name(), false);
        let made = kubernetes::lower(&job, &cluster).unwrap();
        let (words, variables) = there(templates(&job, &made.objects)[0], 0);
        let expected = ["echo", "--times=1", &note, &format!("0:{note}"), &said];
        for (words, variables) in [(&local.workers[0].argv, &local.workers[0].env), (&words, &variables)] {
            prop_assert_eq!(words, &expected);
            prop_assert_eq!(&variables["EARLY"], &note);
            prop_assert_eq!(&variables["LATE"], &format!("{said}|0"));
        }
    }
}

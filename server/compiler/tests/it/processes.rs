//! `processes_per_gpu`: the identities of a worker's processes, on every kind of cluster, and the refusals.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use cubeloom_compiler::lower::{kubernetes, lower, slurm};
use cubeloom_compiler::{Outputs, job, may_be_divided};
use cubeloom_domain::executor::{Facts, GpuFacts};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{Bindings, LocalJob, LocalWorker, Lowered, WorkerBinding};
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Code, JsonMap, Problem, TaskIx};
use serde_json::Value;

use crate::kubernetes::templates;
use crate::lowering::{bindings, lowered};
use crate::support::{fixtures, machine, repository, templates as templates_of, try_plan};

/// The variable that the launcher removes, and those that only processes have.
const TABLE: &str = "CUBELOOM_PROCESSES";
const IN_WORKER: [&str; 3] = ["GROUP_RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE"];

fn machine_with_cards(cards: usize) -> Facts {
    let mut facts = machine();
    let card = |number| GpuFacts { uuid: format!("GPU-{number}"), ..GpuFacts::default() };
    facts.nodes[0].gpus = (0..cards).map(card).collect();
    facts
}

fn try_job(task: &str, templates: &TemplateSet, facts: &Facts) -> Result<Job, Vec<Problem>> {
    let text =
        format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {{name: train, {task}}}\n");
    let planned = try_plan(&text, JsonMap::new(), templates, facts)?;
    Ok(job(&planned.plan, TaskIx(0), 0, None, 1, None, &Outputs::new()).unwrap())
}

fn job_of(task: &str) -> Job {
    try_job(task, &fixtures(), &machine_with_cards(64)).unwrap()
}

/// The variables that the launcher sets for the processes of a worker.
fn told(worker: &LocalWorker) -> Vec<BTreeMap<String, String>> {
    let script = "import json, sys\nmade = {'__name__': 'launcher'}\nexec(sys.argv[1], made)\nworker = json.load(sys.stdin)\n\
                  table = json.loads(worker.pop('CUBELOOM_PROCESSES'))\n\
                  told = [made['process'](table, worker, local)[0] for local in range(table['processes'])]\n\
                  print(json.dumps(told))";
    let mut python = Command::new("python3")
        .args(["-c", script, &worker.files["processes.py"]])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(&serde_json::to_vec(&worker.env).unwrap()).unwrap();
    let done = python.wait_with_output().unwrap();
    assert!(done.status.success());
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The same job with a worker for each process, at the same addresses and ports.
fn spread(job: &Job) -> LocalJob {
    let mut apart = job.clone();
    let Bindings::Local(mut bound) = bindings(job) else { unreachable!("bound to this machine") };
    let roles = job.roles.iter().flat_map(|role| (0..role.replicas).map(move |_| role));
    let every = |(worker, role): (&WorkerBinding, &cubeloom_domain::job::JobRole)| {
        let ports: Vec<u16> = [worker.port].into_iter().chain(worker.ports.iter().copied()).collect();
        assert_eq!(ports.len(), role.resources.processes() as usize);
        let address = worker.address.clone();
        ports.into_iter().map(move |port| WorkerBinding {
            address: address.clone(),
            port,
            ports: Vec::new(),
            gpus: Vec::new(),
        })
    };
    bound.workers = bound.workers.iter().zip(roles).flat_map(every).collect();
    for role in &mut apart.roles {
        role.replicas *= role.resources.processes();
        role.resources.processes_per_gpu = None;
    }
    match lower(&apart, &Bindings::Local(bound)) {
        Ok(Lowered::Local(local)) => local,
        other => panic!("local bindings give a local job: {other:?}"),
    }
}

/// For every framework: a process gets the variables of a worker in a job with as many workers.
#[test]
fn a_process_is_told_what_a_worker_of_its_own_would_be() {
    for (task, ranks) in [
        (
            "template: pytorch, arguments: {workers: 3}, resources: {processes_per_gpu: 3, gpu: {count: 4}}",
            36,
        ),
        ("template: tensorflow, resources: {processes_per_gpu: 2}", 6),
        (
            "template: tensorflow, arguments: {chief: 0, ps: 0}, resources: {processes_per_gpu: 2, gpu: {count: 2}}",
            8,
        ),
        ("template: jax, resources: {gpu: {count: 1}}, role_resources: {worker: {processes_per_gpu: 2}}", 4),
        ("template: crowd, arguments: {workers: 2}, resources: {processes_per_gpu: 12}", 24),
        ("template: mxnet, resources: {processes_per_gpu: 2}", 6),
        (
            "template: pytorch, arguments: {workers: 3}, resources: {processes_per_gpu: 2}, \
             role_resources: {master: {gpu: {count: 2}}}",
            8,
        ),
    ] {
        let job = job_of(task);
        let expected = spread(&job);
        assert_eq!(expected.workers.len(), ranks, "{task}");
        let mut at = 0;
        for worker in &lowered(&job).workers {
            let Some(table) = worker.env.get(TABLE) else {
                let (told, expected) = (&worker.env, &expected.workers[at].env);
                for name in expected.keys().filter(|name| !name.starts_with("CUBELOOM_WORKER")) {
                    assert_eq!(told.get(name), expected.get(name), "{task}: {name}");
                }
                assert!(!(worker.argv[0] == "python3" && worker.argv[1].ends_with("/processes.py")));
                at += 1;
                continue;
            };
            let table: Value = serde_json::from_str(table).unwrap();
            let told = told(worker);
            for (local, process) in told.iter().enumerate() {
                let alone = &expected.workers[at];
                for name in table["variables"].as_object().unwrap().keys() {
                    let expected = match name.as_str() {
                        "LOCAL_RANK" => local.to_string(),
                        "LOCAL_WORLD_SIZE" => told.len().to_string(),
                        "GROUP_RANK" => worker.rank.to_string(),
                        _ => alone.env[name].clone(),
                    };
                    assert_eq!(process[name], expected, "{task}: {name} of process {at}");
                }
                // No variable that identifies a worker is missing.
                for (name, value) in &alone.env {
                    let own = worker.env.get(name) == Some(value);
                    let is_place = value.contains("/runs/r/train/0/1/") || name == "OMP_NUM_THREADS";
                    let of_cards = name == "CUDA_VISIBLE_DEVICES" || name == "XLA_PYTHON_CLIENT_MEM_FRACTION";
                    assert!(
                        own || is_place || of_cards || process.get(name) == Some(value),
                        "{task}: {name}"
                    );
                }
                at += 1;
            }
        }
        assert_eq!(at, ranks, "{task}");
    }
    assert!(
        !spread(&job_of("template: jax")).workers[0]
            .env
            .keys()
            .any(|name| IN_WORKER.contains(&name.as_str()))
    );
}

#[test]
fn three_processes_on_each_of_four_cards_are_twelve_ranks() {
    let job = job_of(
        "template: jax, arguments: {workers: 1}, env: {ME: \"$(PROCESS_ID) of $(NUM_PROCESSES) in $(CUBELOOM_ROLE), $$(PROCESS_ID)\"}, \
         resources: {cpu: 6, processes_per_gpu: 3, gpu: {count: 4}}",
    );
    let made = lowered(&job);
    let worker = &made.workers[0];
    // The launcher replaces the words that differ between processes; the others are unchanged.
    assert_eq!(worker.argv[2..], ["python3", "train.py", "--process=$(PROCESS_ID)"]);
    let told = told(worker);
    let of = |name: &str| told.iter().map(|each| each[name].clone()).collect::<Vec<_>>();
    let numbers: Vec<String> = (0..12).map(|rank: u32| rank.to_string()).collect();
    assert_eq!(of("PROCESS_ID"), numbers);
    assert_eq!(of("CUBELOOM_RANK"), numbers);
    assert_eq!(of("LOCAL_RANK"), numbers);
    assert_eq!(of("NUM_PROCESSES"), vec!["12"; 12]);
    let cards: Vec<String> = (0..12).map(|rank| format!("GPU-0-{}", rank / 3)).collect();
    assert_eq!(of("CUDA_VISIBLE_DEVICES"), cards);
    assert_eq!(told[7]["ME"], "7 of 12 in worker, $(PROCESS_ID)");
    assert_eq!(told[0]["XLA_PYTHON_CLIENT_MEM_FRACTION"], "0.250");
    assert_eq!(told[0]["OMP_NUM_THREADS"], "1");
    assert!(!told[0].contains_key(TABLE));
}

#[test]
fn data_is_no_variable_of_a_process_either() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nparameters: {note: {type: string}}\ntasks:\n  \
                - {name: train, template: jax, arguments: {workers: 1}, resources: {processes_per_gpu: 2}, \
                env: {BOTH: \"$(PROCESS_ID) {{ params.note }}\", DATA: \"{{ params.note }}\"}}\n";
    let note = "$(PROCESS_ID) $$(PROCESS_ID) $(CUBELOOM_ROLE)";
    let parameters = [("note".to_owned(), note.into())].into_iter().collect();
    let planned = try_plan(text, parameters, &fixtures(), &machine()).unwrap();
    let job = job(&planned.plan, TaskIx(0), 0, None, 1, None, &Outputs::new()).unwrap();
    let told = told(&lowered(&job).workers[0]);
    for (at, process) in told.iter().enumerate() {
        assert_eq!(process["DATA"], note);
        assert_eq!(process["BOTH"], format!("{at} {note}"));
    }
}

#[test]
fn pods_have_the_launcher_and_hand_signals_on() {
    let (facts, cluster) = kubernetes::read_facts(kubernetes::FULL_CLUSTER).unwrap();
    let task = "template: tensorflow, arguments: {workers: 2, ps: 1}, resources: {processes_per_gpu: 2, gpu: {count: 4}}, \
                env: {ME: \"$(CUBELOOM_RANK) in $(CUBELOOM_ROLE)\"}";
    let made = kubernetes::lower(&try_job(task, &templates(), &facts).unwrap(), &cluster).unwrap();
    let [files, object] = &made.objects[..] else { panic!("{:?}", made.objects) };
    assert!(files["data"]["processes.py"].as_str().unwrap().contains("CUBELOOM_PROCESSES"));
    let of = |role: &str| {
        let replicas = &object["spec"]["tfReplicaSpecs"][role];
        replicas["template"]["spec"]["containers"][0].clone()
    };
    let worker = of("Worker");
    let mounts = worker["volumeMounts"].as_array().unwrap();
    assert!(mounts.iter().any(|mount| mount["mountPath"] == "/cubeloom/processes.py"), "{mounts:?}");
    let words: Vec<&str> = worker["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        words.ends_with(&["python3", "/cubeloom/processes.py", "train", "$$(CUBELOOM_RANK)"]),
        "{words:?}"
    );
    let variable = |name: &str| {
        let mut list = worker["env"].as_array().unwrap().iter();
        list.find(|entry| entry["name"] == name).unwrap()["value"].as_str().unwrap().to_owned()
    };
    assert_eq!(variable("ME"), "$$(CUBELOOM_RANK) in $(CUBELOOM_ROLE)");
    let table: Value = serde_json::from_str(&variable(TABLE)).unwrap();
    assert_eq!(
        (&table["processes"], &table["cards"], &table["forward"]),
        (&8.into(), &4.into(), &true.into())
    );
    assert_eq!(table["first"], 1, "after the chief");
    assert_eq!(table["texts"], serde_json::json!(["ME"]));
    let config = &table["variables"]["TF_CONFIG"]["within"];
    let config = format!("{}3{}", config[0].as_str().unwrap(), config[1].as_str().unwrap());
    let config: Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["task"], serde_json::json!({"type": "worker", "index": 3}));
    let workers = config["cluster"]["worker"].as_array().unwrap();
    let first = workers[0].as_str().unwrap().strip_suffix(":29500").unwrap();
    assert_eq!((workers.len(), &workers[7]), (16, &format!("{first}:29507").into()));
    for role in ["Chief", "PS"] {
        assert!(!of(role)["env"].as_array().unwrap().iter().any(|entry| entry["name"] == TABLE), "{role}");
    }
}

#[test]
fn nodes_of_slurm_have_as_many_ports_as_there_are_processes_that_need_one() {
    let (facts, cluster) = slurm::read_facts(slurm::FULL_CLUSTER).unwrap();
    // Planning would refuse it as well.
    let facts = Facts { slurm: None, ..facts };
    let on = |task: &str| slurm::lower(&try_job(task, &fixtures(), &facts).unwrap(), &cluster);
    let with = |workers: u32, each: u32| {
        format!(
            "template: tensorflow, arguments: {{chief: 0, ps: 0, workers: {workers}}}, resources: {{processes_per_gpu: {each}}}"
        )
    };
    let made = on(&with(2, 2)).unwrap();
    let table: Value = serde_json::from_str(&made.job.workers[1].env[TABLE]).unwrap();
    let config = table["variables"]["TF_CONFIG"]["within"][0].as_str().unwrap();
    let places = [
        "address-0@:@cubeloom-port-0@",
        "address-0@:@cubeloom-more-port-0@",
        "address-1@:@cubeloom-port-1@",
        "address-1@:@cubeloom-more-port-1@",
    ];
    assert!(places.iter().all(|place| config.contains(place)), "{config}");
    assert_eq!(table["forward"], false, "its shim reaches all processes");
    let refused = on(&with(8, 8)).unwrap_err();
    assert_eq!(refused[0].place, "resources/processes_per_gpu");
    assert!(refused[0].message.starts_with("its 64 processes each need a port"), "{refused:?}");
    assert!(
        on("template: jax, arguments: {workers: 8}, resources: {processes_per_gpu: 8}").is_ok(),
        "one port is enough"
    );
}

/// The path and the message of the first problem.
fn refused(task: &str, templates: &TemplateSet) -> (Code, String, String) {
    let problems = try_job(task, templates, &machine_with_cards(64)).unwrap_err();
    let first = problems
        .iter()
        .find(|problem| problem.path.contains("process"))
        .unwrap_or_else(|| panic!("{problems:?}"));
    (first.code, first.path.clone(), first.message.clone())
}

#[test]
fn what_cannot_be_divided_is_refused_by_its_field() {
    let at = "/tasks/0/resources/processes_per_gpu";
    for (task, code, path, sentence) in [
        (
            "template: pytorch, resources: {processes_per_gpu: 0}",
            Code::InvalidValue,
            at,
            "must be between 1 and 64",
        ),
        (
            "template: pytorch, resources: {processes_per_gpu: 65}",
            Code::InvalidValue,
            at,
            "must be between 1 and 64",
        ),
        ("template: pytorch, resources: {processes_per_gpu: half}", Code::WrongType, at, "whole number"),
        (
            "template: echo, arguments: {words: [a]}, resources: {processes_per_gpu: 2}",
            Code::Conflict,
            at,
            "a worker of the task template `echo` is one process: it cannot share a GPU",
        ),
        (
            "template: pytorch, arguments: {elastic: {min: 1, max: 2}}, resources: {processes_per_gpu: 2}",
            Code::Conflict,
            at,
            "an elastic group assigns its ranks itself",
        ),
        (
            "template: pytorch, resources: {processes_per_gpu: 2, gpu: {fraction: 0.5}}",
            Code::Conflict,
            at,
            "processes share whole GPUs",
        ),
        (
            "template: tensorflow, role_resources: {ps: {processes_per_gpu: 2}}",
            Code::Conflict,
            "/tasks/0/role_resources/ps/processes_per_gpu",
            "workers of the role `ps` must be one process each; roles with several processes: worker",
        ),
    ] {
        let (found, place, message) = refused(task, &fixtures());
        assert_eq!((found, place.as_str()), (code, path), "{task}: {message}");
        assert!(message.contains(sentence), "{task}: {message}");
    }
}

#[test]
fn templates_that_start_processes_themselves_say_which_of_the_two_to_leave_out() {
    let shipped = templates_of(&repository().join("task-templates"));
    let (_, path, message) = refused(
        "template: pytorch, arguments: {script: a.py, processes_per_worker: 2}, resources: {processes_per_gpu: 2}",
        &shipped,
    );
    assert_eq!(path, "/tasks/0/arguments/processes_per_worker");
    assert!(message.contains("remove one of the two"), "{message}");
    let task = "template: pytorch, arguments: {script: a.py}, resources: {processes_per_gpu: 2}";
    assert_eq!(try_job(task, &shipped, &machine()).unwrap().processes(), 4);
    let task = "template: deepspeed, arguments: {script: a.py, gpus: 2}, resources: {processes_per_gpu: 2}";
    let problems = try_job(task, &shipped, &machine()).unwrap_err();
    let of_it = |problem: &Problem| {
        problem.path == "/tasks/0/arguments/gpus" && problem.message.contains("processes cannot share a GPU")
    };
    assert!(problems.iter().any(of_it), "{problems:?}");
}

#[test]
fn which_workers_may_be_several_processes_is_known_of_a_plan() {
    let of = |task: &str, role: &str| {
        let text = format!(
            "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {{name: train, template: {task}}}\n"
        );
        let planned = try_plan(&text, JsonMap::new(), &fixtures(), &machine_with_cards(64)).unwrap();
        may_be_divided(&planned.plan, planned.plan.task(TaskIx(0)), role)
    };
    assert!(of("pytorch", "worker") && of("pytorch", "master") && of("tensorflow", "worker"));
    assert!(!of("tensorflow", "ps"), "it does not train");
    assert!(!of("mpi", "worker"), "the framework's own launcher starts the processes");
    assert!(!of("pytorch, arguments: {elastic: {min: 1, max: 2}}", "worker"), "its ranks change");
}

#[test]
fn a_part_of_a_card_in_a_gang_is_warned_of_with_what_is_better() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  \
                - {name: train, template: jax, resources: {gpu: {fraction: 0.5}}}\n";
    let planned = try_plan(text, JsonMap::new(), &fixtures(), &machine_with_cards(4)).unwrap();
    let of_gpu = |problem: &&Problem| problem.path == "/tasks/0/resources/gpu";
    let warning = planned.warnings.iter().find(of_gpu).unwrap();
    assert!(warning.message.contains("`processes_per_gpu`"), "{warning:?}");
}

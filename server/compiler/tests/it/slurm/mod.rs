//! Lowering for Slurm: the script of each kind of job, byte for byte, and the refusals.

mod containers;
mod contract;

use cubeloom_compiler::lower::Refusal;
use cubeloom_compiler::lower::slurm::{FULL_CLUSTER, lower, read_facts};
use cubeloom_compiler::preview::{self, Jobs};
use cubeloom_compiler::{Outputs, job};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{Bindings, SlurmBindings};
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::slurm::{SlurmFacts, SlurmJob};
use cubeloom_domain::{JsonMap, TaskIx};

use crate::support::{fixtures, try_plan};

/// A cluster with nothing but nodes.
const BARE: &str = "slurm: {workspace: /shared/vision, templates: /shared/templates, program: /opt/cubeloom}";

fn job_of(task: &str, facts: &Facts) -> Job {
    let text = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nenv: {{TEAM: vision}}\ntasks:\n  - {{name: train, {task}}}\n"
    );
    let planned = try_plan(&text, JsonMap::new(), &fixtures(), facts).unwrap();
    job(&planned.plan, TaskIx(0), 0, None, 1, None, &Outputs::new()).unwrap()
}

fn on(cluster: &str, task: &str) -> Result<SlurmJob, Vec<Refusal>> {
    let (facts, slurm): (Facts, SlurmFacts) = read_facts(cluster).unwrap();
    // Planning would refuse it with the same lowering.
    lower(&job_of(task, &Facts { slurm: None, ..facts }), &slurm)
}

fn script(cluster: &str, task: &str) -> String {
    on(cluster, task).unwrap().script
}

fn refusals(cluster: &str, task: &str) -> Vec<(String, String)> {
    let refused = on(cluster, task).unwrap_err();
    refused.into_iter().map(|refusal| (refusal.place, refusal.message)).collect()
}

#[test]
fn single() {
    let task = "template: echo, arguments: {words: [a, $(CUBELOOM_RANK)]}, timeout: 90s, resources: {cpu: 1500m}, \
         placement: {selector: {disk: ssd}, tolerations: [{key: gpu}]}, secrets: [s3-key]";
    insta::assert_snapshot!(script(FULL_CLUSTER, task));
}

#[test]
fn single_on_a_bare_cluster() {
    let made = on(BARE, "template: echo, arguments: {words: [a]}").unwrap();
    insta::assert_snapshot!(made.script);
}

#[test]
fn pytorch() {
    let task = "template: pytorch, arguments: {workers: 3}, env: {ME: \"worker $(RANK) of $(MASTER_ADDR)\"}";
    let made = on(FULL_CLUSTER, task).unwrap();
    insta::assert_snapshot!(made.script);
    insta::assert_yaml_snapshot!("pytorch_processes", made.job);
}

#[test]
fn pytorch_on_a_bare_cluster() {
    insta::assert_snapshot!(script(BARE, "template: pytorch, arguments: {workers: 3}"));
}

#[test]
fn mpi_whose_roles_differ() {
    let made = on(FULL_CLUSTER, "template: mpi, resources: {cpu_exclusive: false}, role_resources: {worker: {cpu: \"3\", cpu_exclusive: true}}").unwrap();
    insta::assert_snapshot!(made.script);
    let hosts = &made.job.workers[0].files["hostfile"];
    assert_eq!(hosts, "@cubeloom-address-1@ slots=3\n@cubeloom-address-2@ slots=3\n");
    assert!(
        !made.job.workers[0].env.contains_key("OMPI_MCA_btl_tcp_if_include"),
        "they are not on one machine"
    );
}

#[test]
fn cards_of_a_type() {
    let task = "template: pytorch, arguments: {workers: 2}, resources: {cpu: \"2\", gpu: {count: 2, type: H100}}, \
         placement: {node_group: cards, selector: {network: infiniband}}";
    let made = on(FULL_CLUSTER, task).unwrap();
    insta::assert_snapshot!(made.script);
    let env = &made.job.workers[0].env;
    assert_eq!(env["CUDA_VISIBLE_DEVICES"], "@cubeloom-cards@");
    assert_eq!(env["NCCL_SOCKET_IFNAME"], "ib0", "the node group's own variable");
}

#[test]
fn shards_and_devices_that_slurm_counts_by_node() {
    let task = "template: crowd, arguments: {workers: 2}, resources: {gpu: {fraction: 0.3}, rdma: 1}";
    insta::assert_snapshot!(script(FULL_CLUSTER, task));
}

#[test]
fn elastic() {
    let task = "template: pytorch, arguments: {elastic: {min: 2, max: 4}}";
    insta::assert_snapshot!(script(FULL_CLUSTER, task));
}

#[test]
fn nodes_of_its_own() {
    let task = "template: crowd, arguments: {workers: 2}, placement: {spread: required, workers: pack}";
    insta::assert_snapshot!(script(FULL_CLUSTER, task));
}

/// By rank as long as that gives each worker its own port.
#[test]
fn workers_of_one_node_have_ports_of_their_own() {
    let job =
        |workers: u32| on(BARE, &format!("template: crowd, arguments: {{workers: {workers}}}")).unwrap();
    let places = |workers: u32| {
        let script = job(workers).script;
        let from = script.find("\nawk ").unwrap() + 1;
        let awk = &script[from..from + script[from..].find("\n' <(").unwrap() + 2];
        let nodes = (0..workers).map(|rank| format!("{rank} n{}\n", rank % 2)).collect::<String>();
        let shell = format!("{awk} <(echo NodeName=n0 NodeAddr=a; echo NodeName=n1 NodeAddr=b) nodes");
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ports-of-{workers}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("nodes"), nodes).unwrap();
        let mut bash = std::process::Command::new("bash");
        let done =
            bash.args(["-c", &shell]).env("SLURM_JOB_ID", "350").current_dir(&folder).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        (done.status.success(), String::from_utf8(done.stdout).unwrap(), said)
    };
    let (_, few, _) = places(63);
    assert!(few.starts_with("0 n0 a 10000\n1 n1 b 10001\n") && few.ends_with("\n62 n0 a 10062\n"), "{few}");
    assert!(!job(63).decisions.iter().any(|said| said.contains("port")));
    let (well, many, said) = places(126);
    assert!(well && many.starts_with("0 n0 a 10000\n1 n1 b 10000\n2 n0 a 10001\n"), "{many}{said}");
    let ports = many.lines().map(|line| line.split_once(' ').unwrap().1);
    assert_eq!(ports.collect::<std::collections::BTreeSet<_>>().len(), 126, "{many}");
    assert!(job(126).decisions.iter().any(|said| said.contains("at most 63 of its 126 workers")));
    let (well, _, said) = places(127);
    assert!(!well && said.contains("more than 63 workers are on n0"), "{said}");
}

/// A task's variables override the cluster's, and programs that need a rendezvous get a port of the job.
#[test]
fn a_tasks_own_variables_go_over_the_clusters() {
    let facts =
        format!("{}, env: {{PATH: /venv/bin:/usr/bin, TEAM: cluster}}}}", BARE.strip_suffix('}').unwrap());
    let env = |task: &str| on(&facts, task).unwrap().job.workers[0].env.clone();
    let made = env("template: echo, arguments: {words: [a]}");
    assert_eq!((made["PATH"].as_str(), made["TEAM"].as_str()), ("/venv/bin:/usr/bin", "vision"));
    assert_eq!(made["CUBELOOM_LINK_PORT"], "@cubeloom-link-port@");
    let own = env("template: echo, arguments: {words: [a]}, env: {PATH: /own}");
    assert_eq!(own["PATH"], "/own");
}

#[test]
fn what_a_cluster_cannot_give_is_refused_with_its_place() {
    let echo = "template: echo, arguments: {words: [a]}";
    for (cluster, wish, place, word) in [
        (BARE, "resources: {gpu: {count: 1}}", "resources/gpu", "no GPUs"),
        (BARE, "resources: {rdma: 1}", "resources/rdma", "no RDMA"),
        (BARE, "placement: {selector: {disk: ssd}}", "placement/selector/disk", "it lists none"),
        (BARE, "volumes: [data]", "volumes", "no path for the volume `data`"),
        (FULL_CLUSTER, "placement: {node_group: big}", "placement/node_group", "it has: cards"),
        (FULL_CLUSTER, "placement: {selector: {disk: hdd}}", "placement/selector/disk", "disk=ssd"),
        (FULL_CLUSTER, "placement: {spread: required, spread_by: zone}", "placement/spread_by", "zones"),
        (FULL_CLUSTER, "resources: {gpu: {count: 1, type: V100}}", "resources/gpu", "there are: a100, h100"),
        (FULL_CLUSTER, "resources: {gpu: {count: 1, type: \"100\"}}", "resources/gpu", "several types"),
        (FULL_CLUSTER, "resources: {gpu: {memory: 8Gi}}", "resources/gpu", "by memory"),
        (FULL_CLUSTER, "resources: {gpu: {fraction: 0.5, type: a100}}", "resources/gpu", "have no types"),
    ] {
        let refused = refusals(cluster, &format!("{echo}, {wish}"));
        assert!(
            matches!(&refused[..], [(at, message)] if at == place && message.contains(word)),
            "{wish}: {refused:?}"
        );
    }
    let whole = FULL_CLUSTER.replace(", shards: 4", "");
    let refused = refusals(&whole, &format!("{echo}, resources: {{gpu: {{fraction: 0.5}}}}"));
    assert!(refused[0].1.contains("whole GPUs only"), "{refused:?}");
}

#[test]
fn facts_that_are_wrong_are_named() {
    for (text, word) in [
        ("slurm: {partitions: all}", "partitions"),
        ("{}", "slurm"),
        ("slurm: {workspace: /w, templates: /t, program: \"/p q\"}", "slurm.program"),
    ] {
        let why = read_facts(text).unwrap_err();
        assert!(why.contains(word), "{text}: {why}");
    }
}

/// The preview equals the later submission, including refusals.
#[test]
fn a_preview_is_bound_as_the_submission_would_be() {
    let (facts, slurm) = read_facts(FULL_CLUSTER).unwrap();
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {name: each, template: echo, \
         for_each: {list: [a, b, c]}, arguments: {words: [\"{{ item }}\"]}}\n";
    let plan = try_plan(text, JsonMap::new(), &fixtures(), &facts).unwrap().plan;
    let (cluster, counted_as) = ("hall".to_owned(), Some("cl-p-vision".to_owned()));
    let bindings = SlurmBindings { cluster, facts: slurm.of_account("ann"), counted_as };
    let bindings = Bindings::Slurm(Box::new(bindings));
    let shown = |foreseen: Result<Option<Bindings>, Failure>| {
        let shown = preview::bound(&plan, TaskIx(0), 1..4, |_| foreseen.clone());
        let Jobs::Known(jobs) = shown.jobs else { panic!("they are known") };
        jobs
    };
    let jobs = shown(Ok(Some(bindings.clone())));
    assert_eq!(jobs.len(), 2, "there are no more");
    let second = job(&plan, TaskIx(0), 1, Some(&"b".into()), 1, None, &Outputs::new()).unwrap();
    let submitted = cubeloom_compiler::lower::lower(&second, &bindings).unwrap().object();
    assert_eq!(jobs[0].clone().ok(), submitted);
    let script = jobs[0].as_ref().unwrap()["script"].as_str().unwrap();
    assert!(script.contains("it is submitted with `--account=cl-p-vision`"), "{script}");
    let refused = shown(Err(Failure::new(FailureKind::CouldNotStart, "`bob` has no account")));
    assert_eq!(refused[0].as_ref().unwrap_err().message, "`bob` has no account");
    assert!(shown(Ok(None))[0].as_ref().unwrap().get("script").is_none(), "this machine has no scripts");
}

/// Dependent tasks are not checked here: their refusals appear before they begin.
#[test]
fn the_first_tasks_of_a_plan_that_a_cluster_would_not_take_are_told() {
    let (facts, _) = read_facts(FULL_CLUSTER).unwrap();
    let task = |name: &str, rest: &str| {
        format!("  - {{name: {name}, template: echo, arguments: {{words: [x]}}{rest}}}\n")
    };
    let tasks = [task("a", ""), task("b", ", needs: [a]"), task("c", "")].concat();
    let text = format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n{tasks}");
    let plan = try_plan(&text, JsonMap::new(), &fixtures(), &facts).unwrap().plan;
    let refusal = Failure::new(FailureKind::CouldNotStart, "`bob` has no account");
    let found =
        preview::unbound(&plan, |job| if job.key.task == "a" { Ok(None) } else { Err(refusal.clone()) });
    assert_eq!(found, [(TaskIx(2), refusal)]);
}

//! `preflight`: how workers are tested before their program begins, on every kind of cluster, and what cannot be.

use cubeloom_compiler::lower::{kubernetes, lower, slurm};
use cubeloom_compiler::{Outputs, job};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Lowered;
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

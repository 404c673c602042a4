//! Lowering for Kubernetes: the manifests of each framework on each kind of cluster, byte for byte, and
//! invariants.

mod cards;
pub mod contract;
mod crds;
mod names;
mod operators;
mod pods;
mod properties;
mod refusals;
mod shape;
pub mod variety;
mod written;

use cubeloom_compiler::lower::kubernetes::{FULL_CLUSTER, lower, read_facts};
use cubeloom_compiler::{Outputs, job};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{KubernetesFacts, KubernetesJob};
use cubeloom_domain::{JsonMap, Problem, RunId, TaskIx, Timestamp};

use crate::support::{fixtures, try_plan};

/// A cluster described by facts.
fn cluster(text: &str) -> (Facts, KubernetesFacts) {
    read_facts(text).unwrap()
}

/// The pods of a built-in Kubernetes kind, which may be a Pod.
fn template(object: &serde_json::Value) -> &serde_json::Value {
    if object["kind"] == "Pod" { object } else { &object["spec"]["template"] }
}

/// A cluster with everything installed.
fn full() -> (Facts, KubernetesFacts) {
    cluster(FULL_CLUSTER)
}

/// The fixtures' templates, with images, because pods need one.
pub fn templates() -> cubeloom_domain::template::TemplateSet {
    let mut set = fixtures();
    for installed in set.values_mut().flat_map(std::collections::BTreeMap::values_mut) {
        let template = &mut installed.template;
        template.image = Some(format!("registry.test/{}:{}", template.name, template.version));
    }
    set
}

/// The job of a one-task pipeline.
fn try_job(task: &str, facts: &Facts) -> Result<Job, Vec<Problem>> {
    let text = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nenv: {{TEAM: vision}}\ntasks:\n  - {{name: train, {task}}}\n"
    );
    let planned = try_plan(&text, JsonMap::new(), &templates(), facts)?;
    Ok(job(&planned.plan, TaskIx(0), 0, None, 1, None, &Outputs::new()).unwrap())
}

fn lowered(task: &str, (facts, kubernetes): &(Facts, KubernetesFacts)) -> KubernetesJob {
    lower(&try_job(task, facts).unwrap(), kubernetes).unwrap()
}

#[test]
fn single() {
    let task = "template: echo, arguments: {words: [a, $(CUBELOOM_RANK), \"{{ run.dir }}/x\", $$(CUBELOOM_RANK), $$x]}, \
         setup: [mkdir, $(CUBELOOM_RUN_DIR)/x], env: {OMP_NUM_THREADS: \"7\", PYTHONPATH: /own}, \
         secrets: [s3-key, {name: cert, file: cert.pem}], volumes: [big-disk, {name: data, mount: /data, read_only: true}], \
         timeout: 1m, resources: {gpu: {memory: 8Gi, type: h100}, shm: 1Gi, rdma: 1}, \
         placement: {spread: required, spread_by: zone, node_group: big, host_network: true, selector: {disk: ssd}, \
         tolerations: [{key: gpu}, {key: team, value: vision, effect: NoSchedule}]}";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

/// The kubelet follows links in a `subPath`, anywhere in the claim: none leads through a folder that a
/// project's pods can change.
#[test]
fn of_a_claim_that_projects_share_only_whole_workspaces_are_mounted() {
    let facts = "{cluster: c, volumes: {sets: {kind: workspace, path: a/sets}}, kubernetes: {workspace_path: vision}}";
    let facts = cluster(facts);
    for task in [
        "template: echo, arguments: {words: [a]}",
        "template: pytorch, arguments: {workers: 3}",
        "template: nni, arguments: {workers: 2}",
        "template: spark, arguments: {executors: 3}",
    ] {
        let made = lowered(&format!("{task}, volumes: [{{name: sets, read_only: true}}]"), &facts);
        let text = serde_json::to_string(&made.objects).unwrap();
        assert!(!text.contains("subPathExpr"), "{text}");
        let paths: Vec<&str> =
            text.split("\"subPath\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let own_files = |path: &&&str| **path != "vision" && path.contains('/');
        assert!(paths.contains(&"vision") && !paths.iter().any(|path| own_files(&path)), "{paths:?}");
        assert!(
            text.contains("/cubeloom/workspace/a/sets") && text.contains("/cubeloom/workspace/runs/"),
            "{text}"
        );
        assert!(made.decisions.iter().any(|one| one.contains("`sets` is writable")), "{:?}", made.decisions);
    }
    let task = "template: echo, arguments: {words: [a]}, volumes: [{name: sets, mount: /sets}]";
    let refused = try_job(task, &facts.0).unwrap_err();
    assert_eq!(refused[0].path, "/tasks/0/volumes/0/mount", "{refused:?}");
}

/// The claim of the workspaces contains those of all projects: a volume with this claim is the project's own
/// folder in it.
#[test]
fn a_volume_that_is_the_workspaces_claim_is_the_projects_workspace() {
    let mounts = |path: &str, claim: &str| {
        let facts = format!(
            "{{cluster: c, volumes: {{mine: {{kind: claim, cluster: c, claim: {claim}}}}}, \
             kubernetes: {{workspace_claim: shared, workspace_path: \"{path}\"}}}}"
        );
        let task = "template: echo, arguments: {words: [a]}, volumes: [{name: mine, mount: /mine}]";
        let made = lowered(task, &cluster(&facts));
        let spec = template(made.objects.last().unwrap())["spec"].clone();
        let all = spec["containers"][0]["volumeMounts"].as_array().unwrap().clone();
        let mount = all.into_iter().find(|mount| mount["mountPath"] == "/mine").unwrap();
        let volumes = spec["volumes"].as_array().unwrap().clone();
        let claims =
            volumes.into_iter().filter(|volume| volume.get("persistentVolumeClaim").is_some()).count();
        (mount["name"].as_str().unwrap().to_owned(), mount["subPath"].as_str().map(str::to_owned), claims)
    };
    assert_eq!(mounts("vision", "shared"), ("workspace".into(), Some("vision".into()), 1));
    assert_eq!(mounts("", "shared"), ("workspace".into(), None, 1));
    assert_eq!(mounts("vision", "data"), ("volume-0".into(), None, 2));
}

#[test]
fn indexed() {
    insta::assert_yaml_snapshot!(lowered("template: crowd, arguments: {workers: 3}", &full()));
}

#[test]
fn indexed_with_a_leader() {
    insta::assert_yaml_snapshot!(lowered("template: dealer, arguments: {workers: 3}", &full()));
}

#[test]
fn pytorch() {
    let task = "template: pytorch, arguments: {workers: 3}, resources: {gpu: {count: 2}}";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn pytorch_elastic() {
    insta::assert_yaml_snapshot!(lowered(
        "template: pytorch, arguments: {elastic: {min: 2, max: 4}}",
        &full()
    ));
}

/// A Job's template is immutable, so its pods get the same variables for every current number of workers.
#[test]
fn an_elastic_jobs_pods_are_told_the_same_whatever_its_size() {
    let task = "template: pytorch, arguments: {elastic: {min: 2, max: 4}}";
    let operator = "kinds: {pytorchjobs.kubeflow.org/v1: {gang: false}}";
    let of = |facts: &str, workers: u32| {
        let (facts, kubernetes) = cluster(&format!("kubernetes: {{{facts}}}"));
        let mut job = try_job(task, &facts).unwrap();
        job.roles.last_mut().unwrap().replicas = workers;
        lower(&job, &kubernetes).unwrap().objects.pop().unwrap()
    };
    for facts in ["", operator] {
        let [two, four] = [2, 4].map(|workers| of(facts, workers));
        assert_eq!(
            (&two["kind"], &two["spec"]["completionMode"]),
            (&"Job".into(), &"Indexed".into()),
            "{facts}"
        );
        assert_eq!(two["spec"]["template"], four["spec"]["template"]);
        let counts = |job: &serde_json::Value| {
            let spec = &job["spec"];
            ["completions", "parallelism", "backoffLimitPerIndex", "maxFailedIndexes"]
                .map(|name| spec[name].as_u64().unwrap())
        };
        assert_eq!((counts(&two), counts(&four)), ([2, 2, 0, 0], [4, 4, 0, 2]));
    }
    let kueue = format!("{operator}, kueue: {{queue: q}}");
    assert_eq!(of(&kueue, 2)["kind"], "PyTorchJob", "Kueue lets in whole jobs, which give nothing back");
    let says_so = |facts: &str| {
        let (facts, kubernetes) = cluster(&format!("kubernetes: {{{facts}}}"));
        let lowered = lower(&try_job(task, &facts).unwrap(), &kubernetes).unwrap();
        lowered.decisions.iter().any(|decision| decision.contains("keeps its initial workers until it ends"))
    };
    assert!(says_so(&kueue) && !says_so(operator));
}

#[test]
fn pytorch_by_volcano() {
    let task = "template: pytorch, arguments: {workers: 3}, env: {ME: \"worker $(RANK)\"}";
    insta::assert_yaml_snapshot!(lowered(
        task,
        &cluster("kubernetes: {volcano: {queue: q, priority_class: high}}")
    ));
}

#[test]
fn mpi() {
    let task = "template: mpi, role_resources: {worker: {cpu: \"3\", gpu: {count: 1, type: 1g.10gb}, cpu_exclusive: true}}";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn mpi_by_indexed_jobs() {
    insta::assert_yaml_snapshot!(lowered("template: mpi", &cluster("kubernetes: {}")));
}

#[test]
fn tensorflow() {
    let task = "template: tensorflow, arguments: {workers: 2, ps: 1, evaluator: 1}, secrets: [s3-key]";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn tensorflow_by_volcano() {
    let task = "template: tensorflow, arguments: {chief: 0, workers: 2, ps: 2}";
    insta::assert_yaml_snapshot!(lowered(task, &cluster("kubernetes: {volcano: {queue: q}}")));
}

#[test]
fn horovod() {
    insta::assert_yaml_snapshot!(lowered("template: horovod, timeout: 1h", &full()));
}

#[test]
fn ray() {
    let task =
        "template: ray, setup: [mkdir, $(CUBELOOM_RUN_DIR)/x], role_resources: {worker: {gpu: {count: 1}}}";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn ray_by_indexed_jobs() {
    insta::assert_yaml_snapshot!(lowered("template: ray", &cluster("kubernetes: {}")));
}

#[test]
fn spark() {
    let task = "template: spark, arguments: {executors: 3, args: [$(CUBELOOM_RUN_DIR)/in, $(CUBELOOM_HOST), $$x]}, \
         role_resources: {executor: {cpu: 1500m, memory: 5Gi, rdma: 1}}, volumes: [big-disk], secrets: [s3-key]";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn spark_by_volcano() {
    insta::assert_yaml_snapshot!(lowered(
        "template: spark",
        &cluster(
            "kubernetes: {volcano: {queue: q}, kinds: {sparkapplications.sparkoperator.k8s.io/v1beta2: {gang: true}}}"
        )
    ));
}

/// A driver without executors of ours is an ordinary pod, whatever operator is installed.
#[test]
fn spark_alone() {
    let task = "template: spark, arguments: {mode: local, master: \"local[$(SPARK_WORKER_CORES)]\"}, resources: {cpu: \"3\"}";
    insta::assert_yaml_snapshot!(lowered(task, &full()));
}

#[test]
fn spark_with_executors_of_another_cluster() {
    let task = "template: spark, arguments: {mode: yarn, master: yarn, user: etl}, role_resources: {executor: {memory: 5Gi}}";
    let facts = "kubernetes: {spark_account: s, kinds: {sparkapplications.sparkoperator.k8s.io/v1beta2: {}}}";
    insta::assert_yaml_snapshot!(lowered(task, &cluster(facts)));
}

#[test]
fn jax() {
    insta::assert_yaml_snapshot!(lowered("template: jax, resources: {gpu: {count: 1}}", &full()));
}

#[test]
fn paddle() {
    insta::assert_yaml_snapshot!(lowered("template: paddle, arguments: {masters: 1}", &full()));
}

#[test]
fn mxnet() {
    insta::assert_yaml_snapshot!(lowered("template: mxnet", &full()));
}

#[test]
fn kaldi() {
    insta::assert_yaml_snapshot!(lowered("template: kaldi", &full()));
}

#[test]
fn nni() {
    insta::assert_yaml_snapshot!(lowered("template: nni", &full()));
}

/// Without a gang scheduler, frameworkcontroller guarantees as much as a Job for each role.
#[test]
fn nni_by_frameworkcontroller() {
    let facts = "kubernetes: {kinds: {frameworks.frameworkcontroller.microsoft.com/v1: {}}}";
    insta::assert_yaml_snapshot!(lowered("template: nni", &cluster(facts)));
}

/// Gang schedulers and queues do not support a Framework, whatever the facts say of its controller.
#[test]
fn frameworkcontroller_is_passed_over_where_it_would_break_a_promise() {
    for (scheduler, expected) in [
        (
            "volcano: {queue: q}",
            "Volcano Job, with the identity of each worker written by Cubeloom: frameworkcontroller has no gang scheduling, unlike Volcano",
        ),
        (
            "kueue: {queue: q}",
            "an indexed Job for each role, with the identity of each worker written by Cubeloom: a Framework cannot express it: Kueue, which queues jobs here, does not support it, and Volcano is not installed",
        ),
    ] {
        let facts = format!(
            "kubernetes: {{{scheduler}, kinds: {{frameworks.frameworkcontroller.microsoft.com/v1: {{gang: true}}}}}}"
        );
        assert_eq!(lowered("template: nni", &cluster(&facts)).decisions[0], expected);
    }
}

#[test]
fn xgboost_under_kueue() {
    let facts = "kubernetes: {kinds: {xgboostjobs.kubeflow.org/v1: {}}, kueue: {queue: q, priority_class: high}, \
                 pull_secrets: [registry]}";
    insta::assert_yaml_snapshot!(lowered("template: xgboost", &cluster(facts)));
}

#[test]
fn tasks_of_a_run_that_a_task_started_are_kept_apart_from_those_of_the_outermost_run() {
    let (facts, kubernetes) = full();
    let mut job = try_job("template: echo, arguments: {words: [a]}", &facts).unwrap();
    let own = job.key.run.clone();
    for root in [None, Some(RunId::new(Timestamp(1), 1))] {
        job.root.clone_from(&root);
        let root = root.unwrap_or_else(|| own.clone());
        let made = lower(&job, &kubernetes).unwrap();
        let pod = made.objects.last().unwrap();
        assert_eq!(pod["metadata"]["labels"]["cubeloom/root-run"], root.as_str());
        assert_eq!(pod["metadata"]["labels"]["cubeloom/run"], own.as_str());
        let apart =
            &pod["spec"]["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
        let rules = &apart[0]["podAffinityTerm"]["labelSelector"]["matchExpressions"];
        assert_eq!(rules[0]["values"][0], root.as_str(), "{rules}");
    }
}

#[test]
fn a_job_of_one_worker_is_a_job_only_where_kueue_queues_it() {
    for (facts, kind) in [("", "Pod"), ("volcano: {queue: q}", "Pod"), ("kueue: {queue: q}", "Job")] {
        let facts = cluster(&format!("kubernetes: {{{facts}}}"));
        let made = lowered("template: echo, arguments: {words: [a]}", &facts);
        assert_eq!(made.objects.last().unwrap()["kind"], kind);
    }
}

#[test]
fn an_image_is_pulled_with_the_account_at_its_registry_and_no_other() {
    let pulled_with = |registries: &str| {
        let job = &lowered("template: echo, arguments: {words: [a]}", &cluster(registries)).objects[0];
        template(job)["spec"]["imagePullSecrets"].clone()
    };
    let own = pulled_with("registries: [example.org, registry.test]\nkubernetes: {pull_secrets: [shared]}");
    let names: Vec<&str> = own.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(matches!(names[..], [own, "shared"] if own.ends_with("-pull")), "{names:?}");
    assert!(pulled_with("registries: [example.org]\nkubernetes: {}").is_null());
}

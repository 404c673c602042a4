//! The `wenet` template: WeNet's training under torchrun. WeNet needs GPUs: a stand-in accepts the options of
//! its `train.py`.

use super::ledger::{is_there, killing_rank_1_fails, wait_for_none};
use super::rig::{app, folder, run, shipped};
use crate::support::{TestApp, instance, outputs};

const EXAMPLE: &str = "task-templates/wenet/example.yaml";

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn the_example_of_wenet() {
    let app = app();
    let run = run(&app, 0, &shipped(EXAMPLE), &[]);
    let train = outputs(&run, "train");
    let exp = folder(&run).join("exp");
    for (name, value) in [
        ("config", "conf/train.yaml"),
        ("train_data", "data/train/data.list"),
        ("cv_data", "data/dev/data.list"),
        ("model_dir", exp.to_str().unwrap()),
        ("train_engine", "torch_ddp"),
        ("data_type", "raw"),
        ("device", "cpu"),
        ("dist_backend", "gloo"),
        ("prefetch", "10"),
    ] {
        assert_eq!(train["options"][name], value, "{train}");
    }
    assert!(train["options"]["checkpoint"].is_null(), "{train}");
    let group = serde_json::json!({"WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "GROUP_WORLD_SIZE": "2"});
    assert_eq!(train["group"], group);
    assert_eq!(train["shares"], serde_json::json!([2, 2, 2, 1]), "each rank has its own utterances");
    let all: Vec<String> = (0..7).map(|at| format!("train-{at}")).collect();
    assert_eq!(train["seen"], serde_json::json!(all), "together they have each once");
    assert_eq!(
        (&train["epochs"], &train["model"]),
        (&3.into(), &exp.join("epoch_2.pt").to_str().unwrap().into())
    );
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn wenet_goes_on_from_the_last_epoch() {
    let app = app();
    let run = run(&app, 0, &shipped(EXAMPLE), &["-p", "fail=2"]);
    let train = instance(&run, "train");
    assert_eq!(train["attempt"], 2, "{train}");
    let found = &train["report"]["outputs"];
    let checkpoint = folder(&run).join("exp/epoch_1.pt");
    assert_eq!(found["options"]["checkpoint"], checkpoint.to_str().unwrap(), "{found}");
    assert_eq!((&found["first"], &found["epochs"]), (&2.into(), &3.into()), "{found}");
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn wenet_fails_when_a_worker_is_killed() {
    killing_rank_1_fails(&app(), "wenet", &[], 2, |data| is_there(data, "runs", "busy"));
}

/// A task with a missing file, or with inconsistent arguments.
fn task(arguments: &str) -> String {
    format!(
        "  - name: a\n    template: wenet\n    resources: {{memory: 512Mi}}\n    arguments: {{script: train.py, \
         recipe: $(CUBELOOM_CODE), train_data: a.list, cv_data: a.list, model_dir: \"{{{{ run.dir }}}}/exp\", {arguments}}}\n"
    )
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn what_wenet_is_to_read_is_looked_for_before() {
    let app = app();
    app.write("wrong/train.py", "raise ValueError('it was started')");
    app.write("wrong/a.list", "");
    let file = app.pipeline("wrong", &task("config: conf/none.yaml, device: cpu, dist_backend: gloo"));
    run(&app, 1, &file, &[]);
    let said = app.expect(0, &["logs", "latest", "a", "--stderr"]).out;
    assert!(said.contains("`config`: there is no file ") && said.contains("/conf/none.yaml"), "{said}");
    assert!(!said.contains("it was started"), "{said}");
}

#[test]
fn engines_and_devices_of_wenet_that_do_not_fit_are_refused() {
    let app = TestApp::new();
    app.write("wrong/train.py", "");
    for (arguments, argument, why) in [
        ("config: a.yaml, train_engine: deepspeed", "deepspeed_config", "needs a DeepSpeed configuration"),
        (
            "config: a.yaml, deepspeed_config: ds.json",
            "deepspeed_config",
            "only the engine `deepspeed` reads it",
        ),
        ("config: a.yaml, device: cpu", "dist_backend", "nccl does not work on CPUs"),
        (
            "config: a.yaml, device: cpu, dist_backend: gloo, train_engine: torch_fsdp",
            "train_engine",
            "torch_fsdp does not support CPUs",
        ),
        ("config: a.yaml, data_type: sharded", "data_type", "`shard`"),
    ] {
        let said = app.expect(2, &["validate", &app.pipeline("wrong", &task(arguments))]).out;
        assert!(said.contains(&format!("/tasks/0/arguments/{argument}: ")) && said.contains(why), "{said}");
    }
    let said = app.expect(2, &["validate", &app.pipeline("wrong", &task("device: cuda"))]).out;
    assert!(said.contains("/tasks/0/arguments: `config` is missing"), "{said}");
}

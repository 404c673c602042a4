//! The `megatron` and `deepspeed` templates: wrong arguments are reported before anything starts, and right
//! ones reach every process. The real DeepSpeed and megatron-core run on CPUs: the examples use releases for
//! Debian's PyTorch, the newest ones use PyTorch's own packages.

use serde_json::{Value, json};

use super::ledger::{Entry, assert_apart, is_there, killing_rank_1_fails, read, wait_for_none};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{TestApp, outputs};

/// The problems of a task with these arguments.
fn said(template: &str, arguments: &str) -> String {
    let app = TestApp::new();
    app.write("wrong/train.py", "");
    let task = format!(
        "  - name: train\n    template: {template}\n    arguments: {{script: train.py, {arguments}}}\n"
    );
    let file = app.pipeline("wrong", &task);
    app.expect(2, &["validate", &file]).out
}

#[test]
fn layouts_that_cannot_be_are_said_with_their_argument() {
    for (arguments, argument, why) in [
        ("workers: 2, gpus: 8, tensor: 3", "tensor", "3 does not divide the 8 GPUs of a worker"),
        ("workers: 2, gpus: 8, tensor: 16", "tensor", "stays within one node"),
        (
            "workers: 3, gpus: 8, tensor: 8, pipeline: 2",
            "pipeline",
            "8 x 2 = 16 GPUs, which does not divide the 24",
        ),
        (
            "workers: 3, gpus: 4, tensor: 2, pipeline: 3",
            "pipeline",
            "neither whole workers of 4 nor an even part",
        ),
        (
            "workers: 4, gpus: 8, tensor: 8, pipeline: 2, data: 4",
            "data",
            "8 x 2 x 4 is not the 32 GPUs of the task: write 2",
        ),
        (
            "workers: 4, gpus: 8, tensor: 8, pipeline: 2, micro_batch: 3, global_batch: 512",
            "global_batch",
            "512 samples cannot be divided evenly among 2 model replicas in micro batches of 3",
        ),
    ] {
        let said = said("megatron", arguments);
        assert!(said.contains(&format!("/tasks/0/arguments/{argument}: ")) && said.contains(why), "{said}");
        assert_eq!(said.matches("error:").count(), 1, "each mistake is told once: {said}");
    }
    for (arguments, argument, why) in [
        (
            "workers: 2, gpus: 8, micro_batch: 4, accumulation: 2, global_batch: 64",
            "global_batch",
            "64 is not micro batch x accumulation x processes = 4 x 2 x 16 = 128",
        ),
        ("config: {train_batch_size: 32}", "config", "remove them here"),
    ] {
        let said = said("deepspeed", arguments);
        assert!(said.contains(&format!("/tasks/0/arguments/{argument}: ")) && said.contains(why), "{said}");
    }
}

#[test]
#[ignore = "needs Debian's python3-torch, 650 MB: make test-templates"]
fn the_example_of_megatron() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/megatron/example.yaml"), &[]);
    let told = outputs(&run, "train");
    let wanted = json!({
        "version": "0.3.0", "ranks": 4, "copies": 2, "micro_batches": 2, "held": [32, 8], "layers_on_one_node": true,
    });
    assert_has(told, &wanted);
    falls(told);
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs Debian's python3-torch, 650 MB: make test-templates"]
fn the_example_of_deepspeed() {
    let run = run(&app(), 0, &shipped("task-templates/deepspeed/example.yaml"), &[]);
    let told = outputs(&run, "train");
    assert_has(told, &json!({"deepspeed": "0.14.5", "processes": 2, "micro_batches": 2}));
    falls(told);
}

fn assert_has(told: &Value, wanted: &Value) {
    for (name, value) in wanted.as_object().expect("fields") {
        assert_eq!(&told[name], value, "{name} of {told}");
    }
}

/// Asserts that the loss has fallen well below its start.
fn falls(told: &Value) {
    let number = |what: &str| told[what].as_f64().expect("a number");
    assert!(number("after") < 0.5 * number("before"), "{told}");
}

#[test]
#[ignore = "needs PyTorch's own packages, 5 GB: make test-templates"]
fn deepspeed_spreads_the_optimisers_state_and_learns_as_one_process_does() {
    let app = app();
    let file = job("deepspeed");
    let one = ["-p", "workers=1", "-p", "micro=48", "-p", "zero=0"];
    let alone = read(&folder(&run(&app, 0, &file, &one)));
    let spread = read(&folder(&run(&app, 0, &file, &[])));
    assert_apart(&app, &spread, 2);
    let number = |entry: &Entry, what: &str| entry[what].as_u64().expect("a number");
    // Adam keeps two values per parameter.
    let state = 2 * number(&alone[0], "whole");
    assert_eq!((&alone[0]["stage"], number(&alone[0], "held")), (&0.into(), state), "{alone:?}");
    for entry in &spread {
        assert_eq!((&entry["stage"], &entry["parts"]), (&2.into(), &2.into()), "{spread:?}");
        // DeepSpeed pads shares to an even size.
        let held = number(entry, "held");
        assert!((state / 2 - 64..=state / 2 + 64).contains(&held), "about half of {state}: {spread:?}");
    }
    learns_as(&numbers(&spread[0]["losses"]), &numbers(&alone[0]["losses"]));
}

fn numbers(of: &Value) -> Vec<f64> {
    of.as_array().expect("numbers").iter().map(|it| it.as_f64().expect("a number")).collect()
}

/// The loss at each step equals that of one process, and falls.
fn learns_as(many: &[f64], one: &[f64]) {
    assert_eq!(many.len(), one.len());
    assert!(many.iter().zip(one).all(|(a, b)| (a - b).abs() < 1e-4), "{many:?} {one:?}");
    assert!(many[many.len() - 1] < 0.8 * many[0], "it falls: {many:?}");
}

#[test]
#[ignore = "needs PyTorch's own packages, 5 GB: make test-templates"]
fn deepspeed_fails_when_a_worker_is_killed() {
    killing_rank_1_fails(&app(), "deepspeed", &["-p", "hold=true"], 2, |data| is_there(data, "runs", "busy"));
}

#[test]
#[ignore = "needs PyTorch's own packages, 5 GB: make test-templates"]
fn layers_of_megatron_are_spread_and_learn_as_in_one_process() {
    let app = app();
    let file = job("megatron");
    // Two stages, so one copy. Neighbouring ranks share a layer, on one worker.
    let staged = read(&folder(&run(&app, 0, &file, &["-p", "pipeline=2"])));
    let groups = |entries: &[Entry], what: &str| -> Vec<Value> {
        entries.iter().map(|entry| entry[what].clone()).collect()
    };
    let (first, second) = (json!([0, 1]), json!([2, 3]));
    let neighbours = [first.clone(), first, second.clone(), second];
    let across = [json!([0, 2]), json!([1, 3]), json!([0, 2]), json!([1, 3])];
    let nobody = [json!([0]), json!([1]), json!([2]), json!([3])];
    assert_eq!(groups(&staged, "tensor"), neighbours);
    assert_eq!(groups(&staged, "pipeline"), across);
    assert_eq!(groups(&staged, "data"), nobody);
    assert_eq!(groups(&staged, "node"), [0, 0, 1, 1]);
    // One stage, so two copies.
    let copied = read(&folder(&run(&app, 0, &file, &[])));
    assert_eq!(groups(&copied, "tensor"), neighbours);
    assert_eq!(groups(&copied, "pipeline"), nobody);
    assert_eq!(groups(&copied, "data"), across);
    // Two copies of two stages: the stages of a copy are neighbours, and copies are strided.
    let both = read(&folder(&run(&app, 0, &file, &["-p", "tensor=1", "-p", "pipeline=2"])));
    assert_eq!(groups(&both, "tensor"), nobody);
    assert_eq!(groups(&both, "pipeline"), neighbours);
    assert_eq!(groups(&both, "data"), across);
    for entry in staged.iter().chain(&copied).chain(&both) {
        let rows = if entry["tensor"].as_array().map(Vec::len) == Some(1) { 16 } else { 8 };
        assert_eq!(entry["held"], json!([rows, 8]), "all of sixteen rows, or half: {entry:?}");
        learns_as(&numbers(&entry["losses"]), &numbers(&entry["dense"]));
    }
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs PyTorch's own packages, 5 GB: make test-templates"]
fn layers_of_megatron_fail_when_a_worker_is_killed() {
    killing_rank_1_fails(&app(), "megatron", &["-p", "hold=true"], 4, |data| is_there(data, "runs", "busy"));
}

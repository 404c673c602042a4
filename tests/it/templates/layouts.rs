//! The `megatron` and `deepspeed` templates: what people get wrong is said before anything starts, what is right arrives at
//! every process. The programs are stand-ins: theirs need GPUs.

use serde_json::json;

use super::ledger::wait_for_none;
use super::rig::{app, run, shipped};
use crate::support::{TestApp, outputs};

/// What is said of a task with these arguments.
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
            "8 x 2 x 4 is not the 32 GPUs that there are: write 2",
        ),
        (
            "workers: 4, gpus: 8, tensor: 8, pipeline: 2, micro_batch: 3, global_batch: 512",
            "global_batch",
            "512 samples cannot be dealt evenly to 2 copies of the model in micro batches of 3",
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
        ("config: {train_batch_size: 32}", "config", "leave them out here"),
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
    let wanted = json!({"ranks": 4, "data": 1, "tensor_on_one_node": true, "micro_batches": 4});
    assert_eq!(outputs(&run, "layout"), &wanted);
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs Debian's python3-torch, 650 MB: make test-templates"]
fn the_example_of_deepspeed() {
    let run = run(&app(), 0, &shipped("task-templates/deepspeed/example.yaml"), &[]);
    let config = json!({
        "bf16": {"enabled": true},
        "train_batch_size": 16, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2,
        "zero_optimization": {"overlap_comm": true, "stage": 2},
    });
    assert_eq!(outputs(&run, "configure"), &json!({"processes": 2, "same": true, "config": config}));
}

//! The `pytorch` template, with Debian's `python3-torch`: a complete group, and one that loses a worker.

use std::fs;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::ledger::{
    Entry, PATIENCE, assert_apart, is_there, killing_rank_1_fails, of_worker, read, worker_of,
};
use super::rig::{app, folder, job, run, shipped, sizes};
use crate::support::{TestApp, instance, outputs, wait_for, wait_within};

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn the_example_of_pytorch() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/pytorch/example.yaml"), &[]);
    let sum = outputs(&run, "sum");
    assert_eq!((&sum["sum"], &sum["processes"]), (&1.into(), &2.into()));
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn pytorch_processes_live_apart_and_add_up_their_gradients() {
    let app = app();
    let run = run(&app, 0, &job("pytorch"), &[]);
    assert_apart_and_together(&app, &run);
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn a_command_of_pytorch_finds_the_group_in_its_variables() {
    let app = app();
    let run = run(&app, 0, &job("pytorch-command"), &[]);
    assert_apart_and_together(&app, &run);
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn a_torchrun_of_the_commands_own_starts_every_process() {
    let own = "launch=torchrun --redirects 1 --tee 1 --log_dir $TMPDIR/own";
    let app = app();
    let run = run(&app, 0, &job("pytorch-command"), &["-p", own, "-p", "processes=2"]);
    let entries = read(&folder(&run));
    assert_eq!(workers(&entries), ["master-0", "master-0", "worker-0", "worker-0", "worker-1", "worker-1"]);
    assert!(entries.iter().all(|entry| entry["total"] == 499_500), "{entries:?}");
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn pytorch_fails_when_a_worker_is_killed() {
    killing_rank_1_fails(&app(), "pytorch", &["-p", "hold=true"], 3, |data| is_there(data, "runs", "busy"));
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn the_example_elastic() {
    let app = app();
    let run = run(&app, 0, &shipped("examples/elastic/pipeline.yaml"), &[]);
    assert!(outputs(&run, "train")["accuracy"].as_f64() > Some(0.95), "{run}");
    let processes = curve(&run, "processes");
    assert!(processes.iter().all(|(_, count)| *count == 3.0), "{processes:?}");
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn an_elastic_group_goes_on_without_a_lost_worker() {
    let app = app();
    let file = shipped("examples/elastic/pipeline.yaml");
    let mut command = app.command(&["run", &file, "-p", "epochs=40", "-p", "pause=0.3", "--output", "json"]);
    let running = std::thread::spawn(move || command.output().expect("it starts"));
    wait_for("a checkpoint", || is_there(&app.data(), "checkpoints", "last.pt"));
    // Worker 0 hosts the rendezvous; another one is killed.
    let victim = of_worker(&app, "worker", 1);
    kill_process(worker_of(&app, &json!({"pid": victim})), Signal::KILL).expect("it can be killed");
    let done = running.join().expect("it ends");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let run: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let train = instance(&run, "train");
    assert_eq!(train["attempt"], 1, "the group went on, it was not tried again: {train}");
    let processes = curve(&run, "processes");
    assert_eq!((processes[0].1, processes[processes.len() - 1].1), (3.0, 2.0), "{processes:?}");
    // It resumed from a checkpoint: no epoch is missing, at most one was repeated, and the loss kept falling.
    let losses = curve(&run, "loss");
    let steps: Vec<u64> = losses.iter().map(|(step, _)| *step).collect();
    assert_eq!((steps[0], steps[steps.len() - 1]), (1, 40), "{steps:?}");
    assert!(steps.windows(2).all(|pair| pair[1] == pair[0] + 1 || pair[1] == pair[0]), "{steps:?}");
    let change = processes.iter().position(|(_, count)| *count == 2.0).expect("a change");
    assert!(losses[losses.len() - 1].1 < losses[change - 1].1, "{losses:?}");
    assert!(outputs(&run, "train")["accuracy"].as_f64() > Some(0.95), "{train}");
}

/// The example with two more tasks: the second runs after the first and needs the resources of one worker.
fn with_a_guest(app: &TestApp) -> String {
    let folder = shipped("examples/elastic");
    let document = fs::read_to_string(format!("{folder}/pipeline.yaml")).expect("the example");
    let code = |seconds: u32| format!("arguments: {{code: 'import time; time.sleep({seconds})'}}");
    let beside = format!(
        "  - name: later\n    template: python\n    needs: [pull]\n    {}\n    resources: {{cpu: 100m, memory: 64Mi}}\n  \
         - name: guest\n    template: python\n    needs: [later]\n    {}\n    resources: {{cpu: 700m, memory: 128Mi}}\n",
        code(25),
        code(20),
    );
    app.write("elastic/pipeline.yaml", &format!("{document}\n{beside}"));
    app.write("elastic/train.py", &fs::read_to_string(format!("{folder}/train.py")).expect("its program"));
    app.path("elastic/pipeline.yaml").to_string_lossy().into_owned()
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn an_elastic_group_gives_a_worker_back_for_another_task_and_takes_it_again() {
    let mut app = app();
    app.set("CUBELOOM_LOCAL_CPU", "2");
    app.set("CUBELOOM_LOCAL_MEMORY", "8Gi");
    app.set("CUBELOOM_SHARING_COOL_DOWN", "2s");
    let run = run(&app, 0, &with_a_guest(&app), &["-p", "epochs=90", "-p", "pause=0.7"]);
    let train = instance(&run, "train");
    assert_eq!(train["attempt"], 1, "the group went on, it was not tried again: {train}");
    let processes = curve(&run, "processes");
    let mut sizes: Vec<u64> = processes.iter().map(|(_, count)| *count as u64).collect();
    sizes.dedup();
    assert_eq!(sizes, [3, 2, 3], "{processes:?}");
    // It resumed from a checkpoint each time: no epoch is missing, at most one was repeated, and the loss
    // kept falling.
    let losses = curve(&run, "loss");
    let steps: Vec<u64> = losses.iter().map(|(step, _)| *step).collect();
    assert_eq!((steps[0], steps[steps.len() - 1]), (1, 90), "{steps:?}");
    assert!(steps.windows(2).all(|pair| pair[1] == pair[0] + 1 || pair[1] == pair[0]), "{steps:?}");
    let mean = |count: f64, first: bool| {
        let of_size = |at: &usize| processes[*at].1 == count;
        let turn = processes.iter().position(|(_, count)| *count == 2.0).expect("a change");
        let part = if first { 0..turn } else { turn..losses.len() };
        let found: Vec<f64> = part.filter(of_size).map(|at| losses[at].1).collect();
        found.iter().sum::<f64>() / found.len() as f64
    };
    let means = [mean(3.0, true), mean(2.0, false), mean(3.0, false)];
    assert!(means[0] > means[1] && means[1] > means[2], "{means:?}: {losses:?}");
    assert!(outputs(&run, "train")["accuracy"].as_f64() > Some(0.95), "{train}");
    assert_eq!(self::sizes(app, &run, "train"), [3, 2, 3]);
}

#[test]
#[ignore = "needs PyTorch's own packages, 5 GB: make test-templates"]
fn fsdp_spreads_a_model_and_goes_on_from_the_whole_of_it() {
    let app = app();
    let file = shipped("examples/fsdp/pipeline.yaml");
    let alone = run(&app, 0, &file, &["-p", "workers=1", "-p", "steps=20"]);
    let whole = outputs(&alone, "train")["parameters"].as_u64().unwrap();
    assert_eq!(outputs(&alone, "train")["shares"], json!([whole]));

    // Three processes, one of which is lost when half of the steps are saved.
    let mut command = app.command(&["run", &file, "-p", "steps=20", "-p", "pause=0.5", "--output", "json"]);
    let running = std::thread::spawn(move || command.output().expect("it starts"));
    let saved = || {
        fs::read_dir(app.data().join("workspace/default/checkpoints")).is_ok_and(|all| {
            all.flatten().filter(|folder| folder.path().join("whole.pt").exists()).count() == 2
        })
    };
    wait_within(PATIENCE, "a checkpoint", saved);
    let victim = of_worker(&app, "worker", 0);
    kill_process(worker_of(&app, &json!({"pid": victim})), Signal::KILL).expect("it can be killed");
    let done = running.join().expect("it ends");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let run: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let train = outputs(&run, "train");
    assert_eq!((&train["begin"], &train["kept"]), (&10.into(), &whole.into()), "{train}");
    let shares: Vec<u64> =
        train["shares"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
    assert_eq!(
        (shares.len(), shares.iter().sum::<u64>()),
        (3, whole),
        "each has a part of the whole: {train}"
    );
    assert!(
        shares.iter().all(|share| *share * 5 > whole && *share * 5 < whole * 2),
        "about a third: {train}"
    );

    // A single process with the whole model learns the same.
    let (alone, spread) = (curve(&alone, "loss"), curve(&run, "loss"));
    assert_eq!(spread.iter().map(|(step, _)| *step).collect::<Vec<_>>(), (10..20).collect::<Vec<_>>());
    for ((step, one), (_, three)) in alone[10..].iter().zip(&spread) {
        assert!((one - three).abs() < 1e-5, "step {step}: {one} is not {three}");
    }
    assert!(spread[9].1 < 0.95 * alone[0].1, "it falls: {alone:?}");
}

/// The workers of the ranks, by rank.
fn workers(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry["worker"].as_str().expect("a worker")).collect()
}

/// The three processes of a run had a worker each, and computed one sum and one gradient.
#[track_caller]
fn assert_apart_and_together(app: &TestApp, run: &Value) {
    let entries = read(&folder(run));
    assert_apart(app, &entries, 3);
    assert_eq!(workers(&entries), ["master-0", "worker-0", "worker-1"]);
    for entry in &entries {
        // 1 + ... + 999, a share for each rank: 1 + 4 + ..., 2 + 5 + ..., 3 + 6 + ...
        assert_eq!(entry["share"], 166_167 + 333 * entry["rank"].as_u64().expect("a rank"), "{entries:?}");
        assert_eq!(entry["total"], 499_500, "{entries:?}");
        // The mean of the ranks' gradients 1, 2, 3 reaches every replica of the model.
        assert_eq!(entry["gradient"], 2.0, "{entries:?}");
    }
}

/// The points `(step, value)` of a metric of the task `train`, in reporting order.
fn curve(run: &Value, name: &str) -> Vec<(u64, f64)> {
    let metrics = instance(run, "train")["report"]["metrics"].as_array().expect("metrics");
    let points = metrics.iter().filter(|metric| metric["name"] == name);
    points
        .map(|it| (it["step"].as_f64().expect("a step") as u64, it["value"].as_f64().expect("a value")))
        .collect()
}

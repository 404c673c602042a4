//! The model templates: conversion, evaluation, registration and prediction, with really trained models.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::full::Small;
use super::ledger::{PATIENCE, of_worker, wait_for_none, worker_of};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{TestApp, instance, outputs, states, wait_within};

fn example(app: &TestApp, template: &str) -> Value {
    let run = run(app, 0, &shipped(&format!("task-templates/{template}/example.yaml")), &[]);
    assert!(states(&run).iter().all(|(_, state)| *state == "succeeded"), "{run}");
    run
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// Asserts that two mappings have the same keys and nearly the same values.
#[track_caller]
fn assert_close(found: &Value, wanted: &Value) {
    let figures = |value: &Value| -> BTreeMap<String, f64> {
        let entries = value.as_object().unwrap_or_else(|| panic!("{value}"));
        entries.iter().map(|(name, value)| (name.clone(), value.as_f64().expect("a figure"))).collect()
    };
    let (found, wanted) = (figures(found), figures(wanted));
    assert!(found.keys().eq(wanted.keys()), "{found:?} {wanted:?}");
    for (name, value) in &wanted {
        assert!((found[name] - value).abs() < 1e-4 * value.abs().max(1.0), "{name}: {found:?} {wanted:?}");
    }
}

#[test]
fn the_example_of_model_convert() {
    let app = app();
    let run = example(&app, "model-convert");
    for (task, rows, generated) in [("convert", 142, false), ("convert-linear", 1_000, true)] {
        let told = outputs(&run, task);
        assert_eq!((&told["rows"], &told["generated"]), (&rows.into(), &generated.into()), "{told}");
        assert!(told["difference"].as_f64() < Some(1e-4), "{told}");
        assert_eq!(told["features"].as_array().map(Vec::len), Some(30), "{told}");
        assert!(Path::new(told["model"].as_str().unwrap()).metadata().unwrap().len() > 1_000);
    }
}

#[test]
fn the_example_of_model_evaluate() {
    let app = app();
    let run = example(&app, "model-evaluate");
    let told = outputs(&run, "evaluate");
    assert_eq!(told["rows"], 142);
    let area = |of: &str| told[of]["auc"].as_f64().unwrap();
    assert!(told["metrics"]["accuracy"].as_f64() > Some(0.9) && area("metrics") > 0.95, "{told}");
    assert_eq!(told["better"], area("metrics") > area("against"), "{told}");
    let artifacts = instance(&run, "evaluate")["report"]["artifacts"].as_array().unwrap();
    let paths: Vec<&str> = artifacts.iter().map(|artifact| artifact["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["evaluation/evaluate/confusion.csv", "evaluation/evaluate/report.json"]);
    let report: Value = serde_json::from_slice(&fs::read(folder(&run).join(paths[1])).unwrap()).unwrap();
    let counts = report["confusion"]["counts"].as_array().unwrap();
    let all = counts.iter().flat_map(|row| row.as_array().unwrap()).map(|count| count.as_u64().unwrap());
    assert_eq!(all.sum::<u64>(), 142, "{report}");
}

#[test]
fn the_example_of_model_predict() {
    let app = app();
    let run = example(&app, "model-predict");
    let told = outputs(&run, "predict");
    assert_eq!((&told["rows"], &told["parts"]), (&569.into(), &7.into()), "{told}");
    let parts = (0..7).map(|number| format!("part-{number:05}.parquet"));
    assert_eq!(
        names(&folder(&run).join("predictions")),
        ["_SUCCESS".to_owned()].into_iter().chain(parts).collect::<Vec<_>>()
    );
    for (worker, line) in
        [("worker-0", "worker 0 of 2 has done 4 parts"), ("worker-1", "worker 1 of 2 has done 3 parts")]
    {
        let log = app.expect(0, &["logs", "latest", "predict", "--worker", worker, "--stdout"]).out;
        assert!(log.contains(line), "{worker}: {log}");
    }
}

#[test]
fn the_example_of_model_register() {
    let app = app();
    let run = example(&app, "model-register");
    let told = outputs(&run, "register");
    assert_eq!(told["registered"], true, "{told}");
    // The path is unique per attempt, and contains the file's own name.
    let path = told["path"].as_str().unwrap();
    assert_eq!(path, format!("models/tumours/{}.register.0.1", run["run"]["id"].as_str().unwrap()));
    let version = app.data().join("workspace/default").join(path);
    assert_eq!(names(&version), ["boosted.onnx"]);
    let bytes = fs::read(version.join("boosted.onnx")).unwrap();
    assert_eq!(bytes, fs::read(folder(&run).join("boosted.onnx")).unwrap());
    let summed = Command::new("sha256sum").arg(version.join("boosted.onnx")).output().expect("it starts");
    let summed = String::from_utf8(summed.stdout).unwrap();
    assert_eq!(told["digest"], format!("sha256:{}", summed.split_whitespace().next().unwrap()));
    assert_eq!(told["size"], bytes.len());
    assert_eq!(outputs(&run, "predict")["rows"], 569, "the copy is a model");
    assert_eq!(names(version.parent().unwrap()).len(), 1, "nothing is left beside it");
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn the_example_of_pytorch_export() {
    let app = app();
    let run = example(&app, "pytorch-export");
    let told = outputs(&run, "export");
    assert_eq!((&told["rows"], &told["generated"]), (&200.into(), &false.into()), "{told}");
    assert!(told["difference"].as_f64() < Some(1e-4), "{told}");
    assert_eq!(outputs(&run, "evaluate")["rows"], 200);
    assert!(outputs(&run, "evaluate")["metrics"]["accuracy"].as_f64() > Some(0.9), "{run}");
}

#[test]
fn models_of_several_kinds_say_what_they_said_before() {
    let app = app();
    let run = run(&app, 0, &job("model"), &[]);
    let (trained, classes) = (outputs(&run, "train"), outputs(&run, "classes"));
    // scikit-learn's own metrics, for text classes.
    assert_close(&classes["metrics"], &trained["forest"]);
    assert_close(&classes["against"], &trained["weak"]);
    let loss = |model: &str| trained[model]["log_loss"].as_f64().unwrap();
    assert_eq!(classes["better"], loss("forest") < loss("weak"), "less is better: {classes}");
    assert_close(&outputs(&run, "numbers")["metrics"], &trained["ridge"]);
    let parts = folder(&run).join("predicted");
    assert_eq!(names(&parts).len(), 5);
    let text: String = (0..4)
        .map(|number| fs::read_to_string(parts.join(format!("part-{number:05}.csv"))).unwrap())
        .collect();
    let rows: Vec<&str> = text.lines().filter(|line| !line.contains("prediction")).collect();
    assert_eq!(rows.len(), 150);
    for (number, row) in rows.iter().enumerate() {
        assert!(row.starts_with(&format!("\"{number:03}\",")), "ids are texts, in order: {row}");
    }
    let right = rows.iter().filter(|row| {
        let row = row.replace("versi,color", "versicolor");
        let mut fields = row.split(',').skip(1);
        fields.next() == fields.next()
    });
    let accuracy = trained["forest"]["accuracy"].as_f64().unwrap();
    let right = u32::try_from(right.count()).unwrap();
    assert_eq!(f64::from(right), (accuracy * 150.0).round(), "{text}");
}

#[test]
fn model_predict_goes_on_where_a_lost_worker_left_it() {
    let app = app();
    let running = app.start(&["run", &job("model-predict")]);
    let parts = || {
        let runs = fs::read_dir(app.data().join("workspace/default/runs")).into_iter().flatten().flatten();
        let inside = runs.flat_map(|run| fs::read_dir(run.path()).into_iter().flatten().flatten());
        let hidden = inside.filter(|entry| entry.file_name().to_string_lossy().starts_with(".predicted"));
        hidden
            .map(|entry| names(&entry.path()).iter().filter(|name| name.starts_with("part-")).count())
            .sum::<usize>()
    };
    wait_within(PATIENCE, "both workers to write", || parts() > 3);
    let victim = json!({"pid": of_worker(&app, "worker", 1)});
    kill_process(worker_of(&app, &victim), Signal::KILL).expect("it can be killed");
    let done = running.wait();
    assert_eq!(done.code, Some(0), "{done:?}");
    let run = app.latest();
    assert_eq!(instance(&run, "gang")["attempt"], 2);
    let log = app.expect(0, &["logs", "latest", "gang", "--worker", "worker-0", "--stdout"]).out;
    assert!(log.contains("4000000 rows in 200 parts, of which ") && !log.contains("of which 0 are"), "{log}");
    let counted = json!({"rows": 4_000_000, "ids": 4_000_000, "low": 0, "high": 3_999_999});
    assert_eq!(outputs(&run, "count")["first"], counted);
    assert!(!names(&folder(&run)).iter().any(|name| name.starts_with(".predicted")));
    assert!(wait_for_none(&app).is_empty());
}

#[test]
fn what_is_wrong_with_a_model_or_its_data_is_named_and_nothing_is_written() {
    let app = app();
    let run = run(&app, 1, &job("model-wrong"), &[]);
    for (task, words) in [
        ("c1", "`model`: there is no model at gone.ubj"),
        ("c2", "cut.skops is no model of scikit-learn"),
        ("c3", "list.pkl has a list, which is neither classifier nor regressor"),
        ("c4", "`tolerance`: the converted model differs"),
        ("c5", "`features`: the model takes 10"),
        ("e1", "cut.onnx is no ONNX model"),
        ("e2", "has no column 'colour'; it has id, a, b, c, d, kind"),
        ("e3", "`data`: nothing is at "),
        ("e4", "the model takes 4 features, and `features` has 5"),
        ("e5", "the column 'kind' of "),
        ("p1", "cut.onnx is no ONNX model"),
        ("p2", "`keep`: "),
        ("p3", "has no column 'a'"),
        ("p4", "`output`: "),
        ("p5", "`keep`: "),
        ("r1", "`path`: there is no file or folder"),
        ("r2", "no model of the format onnx: it was cut off"),
        ("r3", "`format`: "),
        ("r4", "`least`: there is no metric `accuracy`"),
    ] {
        let failure = instance(&run, task)["state"]["failure"].to_string();
        assert!(failure.contains(words), "{task}: {words}: {failure}");
    }
    let folder = folder(&run);
    assert_eq!(fs::read_to_string(folder.join("old.onnx")).unwrap(), "old");
    assert_eq!(names(&folder.join("old")), ["part-00000.parquet"]);
    assert_eq!(names(&folder.join("taken")), ["part-00000.parquet"], "it has its name again");
    // A successful result replaces the old one without leftovers.
    assert!(states(&run).contains(&("p6", "succeeded")), "{run}");
    assert_eq!(names(&folder.join("before")), ["_SUCCESS", "part-00000.parquet"]);
    let hidden = names(&folder).into_iter().filter(|name| name.starts_with(".before")).count();
    assert_eq!(hidden, 0);
    assert!(!app.data().join("workspace/default/models").exists());
    assert!(!names(&folder).iter().any(|name| name.starts_with(".old.onnx")), "{:?}", names(&folder));
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn what_is_no_torchscript_is_named_and_the_file_stays() {
    let app = app();
    let disk = app.data().join("workspace/default/small");
    let small = Small::with_old(&disk, &["old.onnx"]);
    let run = run(&app, 1, &job("export-wrong"), &[]);
    for (task, words) in [
        ("e1", "`model`: there is no model at gone.pt"),
        ("e2", "cut.pt is no TorchScript; write it with `torch.jit.script(model).save(...)`"),
        ("e3", "state.pt is no TorchScript; write it with"),
        ("e4", "network.pt does not take rows of the shape [3]: "),
        ("e5", "two.pt yields no tensor with one entry a row"),
        ("e6", "sum.pt yields no tensor with one entry a row"),
        ("e7", "inverse.pt cannot be exported: "),
    ]
    .into_iter()
    .chain(small.is_some().then_some(("e8", "No space left on device")))
    {
        let failure = instance(&run, task)["state"]["failure"].to_string();
        assert!(failure.contains(words), "{task}: {words}: {failure}");
    }
    assert_eq!(fs::read_to_string(folder(&run).join("old.onnx")).unwrap(), "old");
    assert!(!names(&folder(&run)).iter().any(|name| name.starts_with(".old.onnx")));
    if let Some(small) = small {
        small.assert_as_it_was(&["old.onnx"]);
    }
}

#[test]
fn a_full_disk_leaves_what_models_were_written_to() {
    let app = app();
    let disk = app.data().join("workspace/default/small");
    let old = ["confusion.csv", "old.onnx", "predicted/part-00000.parquet", "report.json"];
    let Some(small) = Small::with_old(&disk, &old) else { return };
    let run = run(&app, 1, &job("model-full"), &[]);
    for task in ["convert", "evaluate", "predict"] {
        let failure = instance(&run, task)["state"]["failure"].to_string();
        assert!(failure.contains("No space left on device"), "{task}: {failure}");
    }
    // The partial predictions, from which the next attempt would resume.
    for kept in names(&disk).iter().filter(|name| name.starts_with(".predicted.")) {
        fs::remove_dir_all(disk.join(kept)).unwrap();
    }
    small.assert_as_it_was(&old);
}

#[test]
fn a_model_that_is_not_good_enough_is_not_registered() {
    let app = app();
    let file = app.write("kept/model.lgb", "tree\nend of trees\n");
    let task = |name: &str, more: &str| {
        format!(
            "  - name: {name}\n    template: model-register\n    arguments: {{model: trees, path: {file:?}, \
             metrics: {{auc: 0.8, rmse: 3}}, {more}}}\n"
        )
    };
    let tasks = task("low", "least: {auc: 0.9}")
        + &task("high", "most: {rmse: 2.5}")
        + &task("good", "least: {auc: 0.8}, most: {rmse: 3}")
        + "  - {name: after, template: command, needs: [low], when: tasks.low.outputs.registered, arguments: {command: [\"true\"]}}\n";
    let run = run(&app, 0, &app.pipeline("kept", &tasks), &[]);
    let expected = [("low", "succeeded"), ("high", "succeeded"), ("good", "succeeded"), ("after", "skipped")];
    assert_eq!(states(&run), expected);
    let none = json!({"registered": false, "path": null, "digest": null, "size": null});
    assert_eq!((outputs(&run, "low"), outputs(&run, "high")), (&none, &none));
    let log = app.expect(0, &["logs", "latest", "low", "--stdout"]).out;
    assert!(
        log.contains("trees is not registered: auc is 0.8, below the 0.9 that `least` asks for"),
        "{log}"
    );
    assert_eq!(names(&app.data().join("workspace/default/models/trees")).len(), 1);
}

#[test]
fn a_model_that_does_not_fit_on_the_disk_is_not_registered() {
    let app = app();
    let models = app.data().join("workspace/default/models");
    let Some(_small) = Small::mount(&models) else { return };
    let task = |name: &str, bytes: usize, needs: &str| {
        let file = app.write(&format!("kept/{name}.onnx"), &"x".repeat(bytes));
        format!(
            "  - {{name: {name}, needs: [{needs}], template: model-register, \
             arguments: {{model: {name}, path: {file:?}, format: other}}}}\n"
        )
    };
    // In sequence: while running, the one that does not fit would leave no space for the other.
    let tasks = task("fits", 1 << 20, "") + &task("large", 3 << 20, "fits");
    let run = run(&app, 1, &app.pipeline("kept", &tasks), &[]);
    assert_eq!(states(&run), [("fits", "succeeded"), ("large", "failed")]);
    let failure = instance(&run, "large")["state"]["failure"].to_string();
    assert!(failure.contains("No space left on device"), "{failure}");
    assert_eq!((names(&models.join("fits")).len(), names(&models.join("large")).len()), (1, 0));
}

#[test]
fn wrong_arguments_for_models_are_refused() {
    let app = TestApp::new();
    for (template, arguments, argument) in [
        ("model-register", "model: Digits, path: a.onnx", "model"),
        ("model-register", "model: digits, path: a.onnx, format: caffe", "format"),
        ("model-register", "model: digits, path: a.onnx, metrics: {accuracy: good}", "metrics"),
        ("model-register", "model: digits, path: a.onnx, alias: '3'", "alias"),
        ("model-convert", "model: a.ubj, output: a.pb", "output"),
        ("pytorch-export", "model: a.pt, output: a.onnx, shape: []", "shape"),
        ("model-evaluate", "model: a.onnx, data: a.csv, target: y, by: auc", "by"),
        ("model-evaluate", "model: a.onnx, data: a.csv, target: y, against: b.onnx, by: rmse", "by"),
        (
            "model-evaluate",
            "model: a.onnx, data: a.csv, target: y, task: regression, scores: logits",
            "scores",
        ),
        ("model-evaluate", "model: a.onnx, data: a.csv, target: y, features: [x, y]", "features"),
        ("model-predict", "model: a.onnx, data: a.csv, output: b, keep: [prediction]", "keep"),
        (
            "model-predict",
            "model: a.onnx, data: a.csv, output: b, task: regression, predict: class",
            "predict",
        ),
    ] {
        let task = format!("  - {{name: a, template: {template}, arguments: {{{arguments}}}}}\n");
        let said = app.expect(2, &["validate", &app.pipeline("wrong", &task)]).out;
        assert!(said.contains(&format!("/tasks/0/arguments/{argument}")), "{argument}: {said}");
    }
}

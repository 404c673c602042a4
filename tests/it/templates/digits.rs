//! The main example: real images, two distributed trainings, an evaluation on held-out images.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::rig::{app, folder, run, shipped};
use crate::support::{outputs, states};

#[test]
fn digits_are_read_with_an_accuracy_over_95_percent() {
    let app = app();
    let run = run(&app, 0, &shipped("examples/digits/pipeline.yaml"), &[]);
    let tasks = ["locate", "pull", "features", "boost", "net", "evaluate"];
    assert_eq!(states(&run), tasks.map(|task| (task, "succeeded")));
    assert_eq!(outputs(&run, "features")["images"], 1_797);
    let judged = outputs(&run, "evaluate");
    assert!(judged["accuracy"].as_f64() > Some(0.95), "{judged}");
    let result = folder(&run).join("result");
    let report: Value = serde_json::from_slice(&fs::read(result.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["held_out"], 449);
    for model in ["boost", "net"] {
        let accuracy = report["models"][model]["accuracy"].as_f64().unwrap();
        assert!(accuracy > 0.95 && accuracy <= 1.0, "{model}: {accuracy}");
        assert_eq!(diagonal(&report["confusion"][model]), (accuracy * 449.0).round(), "{model}");
    }
    assert_png(&result.join("confusion.png"));
    let best = if judged["best"] == "net" { "model.npz" } else { "model.ubj" };
    assert!(fs::metadata(result.join(best)).unwrap().len() > 10_000);
}

#[test]
fn a_part_of_digits_runs_on_what_an_earlier_run_left() {
    let app = app();
    let pipeline = shipped("examples/digits/pipeline.yaml");
    let whole = run(&app, 0, &pipeline, &[]);
    let report = |run: &Value| fs::read(folder(run).join("result/report.json")).unwrap();
    let before = report(&whole);
    let part = run(&app, 0, &pipeline, &["--from", "boost", "-p", "rounds=30"]);
    let expected = [
        ("locate", "reused"),
        ("pull", "reused"),
        ("features", "reused"),
        ("boost", "succeeded"),
        ("net", "reused"),
        ("evaluate", "succeeded"),
    ];
    assert_eq!(states(&part), expected);
    let judged = outputs(&part, "evaluate");
    assert!(judged["accuracy"].as_f64() > Some(0.95), "{judged}");
    assert_ne!(folder(&part), folder(&whole));
    assert_eq!(report(&whole), before, "the earlier run keeps what it had");
    let models = folder(&part).join("models");
    assert!(outputs(&part, "net")["model"].as_str().unwrap().starts_with(models.to_str().unwrap()));
}

/// The number of correctly classified images in a confusion matrix.
fn diagonal(counts: &Value) -> f64 {
    (0..10).map(|digit| counts[digit][digit].as_f64().expect("well formed")).sum()
}

/// Checks a complete PNG: its signature, every chunk with its length, and the end.
fn assert_png(path: &Path) {
    let bytes = fs::read(path).expect("well formed");
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n").expect("the signature of PNG");
    let mut names = Vec::new();
    while let Some((length, chunk)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        names.push(String::from_utf8(chunk[..4].to_vec()).expect("well formed"));
        rest = &chunk[4 + length + 4..];
    }
    assert_eq!(
        (names.first().expect("a chunk").as_str(), names.last().expect("a chunk").as_str()),
        ("IHDR", "IEND"),
        "{names:?}"
    );
    assert!(names.contains(&"IDAT".into()));
    let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("well formed"));
    assert!(side(16) >= 100 && side(20) >= 100, "{} x {}", side(16), side(20));
}

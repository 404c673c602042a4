//! The `recommenders` template: models that two processes train together, and that beat chance.

use std::fs;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::full::{Small, linked};
use super::ledger::{PATIENCE, is_there, of_worker, wait_for_none, worker_of};
use super::rig::{app, folder, run, shipped};
use crate::support::{TestApp, instance, outputs, states, wait_within};

/// Ranking models with their tasks, and matching models.
const MODELS: [(&str, &[&str]); 8] = [
    ("din", &["click"]),
    ("deepfm", &["click"]),
    ("mmoe", &["click", "conversion"]),
    ("ple", &["click", "conversion"]),
    ("esmm", &["click", "conversion"]),
    ("youtube_dnn", &[]),
    ("comirec", &[]),
    ("two_tower", &[]),
];

/// For each ranking task the area under the curve, where chance gives a half. For matching, how often the
/// item is among the first ten, which must be twice the rate of the most popular items.
#[track_caller]
fn assert_better_than_chance(found: &Value, tasks: &[&str]) {
    assert_eq!((&found["processes"], &found["generated"]), (&2.into(), &true.into()), "{found}");
    for task in tasks {
        assert!(found["auc"][task].as_f64().expect("a figure") > 0.65, "{task}: {found}");
    }
    if tasks.is_empty() {
        let [recall, popular] =
            ["recall_at_k", "popularity_at_k"].map(|name| found[name].as_f64().expect("a share"));
        assert!(popular > 0.01 && recall > 2.0 * popular, "{found}");
    }
    assert_eq!(found["auc"].as_object().map_or(0, serde_json::Map::len), tasks.len(), "{found}");
}

#[test]
#[ignore = "needs 1 GB of packages: make test-templates"]
fn the_example_of_recommenders() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/recommenders/example.yaml"), &[]);
    let done = [("ranking", "succeeded"), ("several-tasks", "succeeded"), ("matching", "succeeded")];
    assert_eq!(states(&run), done);
    assert_better_than_chance(outputs(&run, "ranking"), &["click"]);
    assert_better_than_chance(outputs(&run, "several-tasks"), &["click", "conversion"]);
    assert_better_than_chance(outputs(&run, "matching"), &[]);
    let ranking = outputs(&run, "ranking");
    assert_eq!((&ranking["rows"], &ranking["held_out"]), (&32_000.into(), &8_000.into()));
    // Every epoch has a loss, and every process has half of the rows.
    let metrics = instance(&run, "ranking")["report"]["metrics"].as_array().unwrap();
    let losses = metrics.iter().filter(|metric| metric["name"] == "loss");
    let losses: Vec<f64> = losses.map(|metric| metric["value"].as_f64().unwrap()).collect();
    assert!(losses.len() == 3 && losses[2] < losses[0], "{losses:?}");
    for (rank, worker) in ["master-0", "worker-0"].into_iter().enumerate() {
        let log = app.expect(0, &["logs", "latest", "ranking", "--worker", worker, "--stdout"]).out;
        assert!(log.contains(&format!("rank {rank} of 2: 16000 of 32000 rows an epoch")), "{log}");
        assert_eq!(log.contains("40000 rows are GENERATED from seed 7"), rank == 0, "{log}");
    }
    assert!(folder(&run).join("din.pt").metadata().unwrap().len() > 10_000);
    assert!(!folder(&run).join("writing-din.pt").exists());
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 1 GB of packages: make test-templates"]
fn a_recommender_goes_on_from_its_checkpoint_when_a_worker_was_killed() {
    let app = app();
    let task = "  - name: train\n    template: recommenders\n    retry: {attempts: 2, backoff: {initial: 1s}, on: [error, lost]}\n    \
                arguments: {model: deepfm, rows: 20000, epochs: 8}\n";
    let running = app.start(&["run", &app.pipeline("killed", task)]);
    wait_within(PATIENCE, "a checkpoint", || is_there(&app.data(), "checkpoints", "last.pt"));
    let victim = json!({"pid": of_worker(&app, "worker", 0)});
    kill_process(worker_of(&app, &victim), Signal::KILL).expect("it can be killed");
    let done = running.wait();
    assert_eq!(done.code, Some(0), "{done:?}");
    let run = app.latest();
    assert_eq!(instance(&run, "train")["attempt"], 2);
    let log = app.expect(0, &["logs", "latest", "train", "--worker", "master-0", "--stdout"]).out;
    assert!(log.contains("going on from the checkpoint of epoch"), "{log}");
    assert_better_than_chance(outputs(&run, "train"), &["click"]);
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 1 GB of packages: make test-templates"]
fn every_recommender_is_better_than_chance() {
    let app = app();
    let names = MODELS.map(|(name, _)| name).join(", ");
    // Matching learns from clicks alone, so it needs more epochs.
    let epochs = "{{ 3 if item in ['din', 'deepfm', 'mmoe', 'ple', 'esmm'] else 7 }}";
    let task = format!(
        "  - name: train\n    template: recommenders\n    for_each: {{parallelism: 1, list: [{names}]}}\n    \
         arguments: {{model: \"{{{{ item }}}}\", rows: 25000, epochs: \"{epochs}\"}}\n"
    );
    let run = run(&app, 0, &app.pipeline("models", &task), &[]);
    let instances = run["tasks"][0]["instances"].as_array().unwrap();
    assert_eq!(instances.len(), MODELS.len());
    for ((_, tasks), instance) in MODELS.iter().zip(instances) {
        assert_better_than_chance(&instance["report"]["outputs"], tasks);
    }
}

/// Learnable clicks: users click on items of their own third.
const WRITE: &str = r#"
        import csv, random, cubeloom, duckdb

        random.seed(1)
        with open(cubeloom.run_dir / "events.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["user", "item", "time", "click", "item_third", "colour"])
            for time in range(6000):
                user, item = random.randrange(100), random.randrange(60)
                click = random.random() < (0.8 if user % 3 == item % 3 else 0.1)
                table.writerow([user, f"i{item}", time, int(click), item % 3, "blue"])
        duckdb.sql(f"COPY (FROM '{cubeloom.run_dir}/events.csv') TO '{cubeloom.run_dir}/events.parquet'")
        # The beginning of a compressed file.
        (cubeloom.run_dir / "cut.csv.gz").write_bytes(bytes([31, 139, 8, 0, 0, 0, 0, 0, 0, 3]))
      requirements: ["duckdb==2.0.0"]
"#;

#[test]
#[ignore = "needs 1 GB of packages: make test-templates"]
fn recommenders_read_a_table_and_name_the_column_that_is_missing() {
    let app = app();
    let train = |name: &str, needs: &str, more: &str| {
        format!(
            "  - name: {name}\n    template: recommenders\n    needs: [{needs}]\n    \
             arguments: {{{more}}}\n"
        )
    };
    let tasks = format!("  - name: write\n    template: python\n    arguments:\n      code: |{WRITE}")
        + &train("learn", "write", "model: deepfm, data: events.parquet, save: models/deepfm.pt")
        + &train("missing", "learn", "model: esmm, data: events.csv, save: models/deepfm.pt")
        + &train("nowhere", "learn", "model: deepfm, data: gone.csv, save: models/deepfm.pt")
        + &train("cut", "learn", "model: deepfm, data: cut.csv.gz, save: models/deepfm.pt");
    let run = run(&app, 1, &app.pipeline("table", &tasks), &[]);
    let ends = [
        ("write", "succeeded"),
        ("learn", "succeeded"),
        ("missing", "failed"),
        ("nowhere", "failed"),
        ("cut", "failed"),
    ];
    assert_eq!(states(&run), ends);
    let learn = outputs(&run, "learn");
    assert_eq!([&learn["rows"], &learn["held_out"]], [4_800, 1_200]);
    assert!(learn["generated"] == false && learn["auc"]["click"].as_f64().unwrap() > 0.65, "{learn}");
    let failure = instance(&run, "missing")["state"]["failure"].to_string();
    assert!(failure.contains("events.csv: there is no column `conversion`, which `esmm` needs"), "{failure}");
    let failure = instance(&run, "nowhere")["state"]["failure"].to_string();
    assert!(failure.contains("gone.csv: there is no such file in the run's folder"), "{failure}");
    let failure = instance(&run, "cut")["state"]["failure"].to_string();
    assert!(failure.contains("cut.csv.gz: cannot be read: Compressed file ended"), "{failure}");
    let mut written = fs::read_dir(folder(&run).join("models")).unwrap();
    assert_eq!(written.next().unwrap().unwrap().file_name(), "deepfm.pt");
    assert!(written.next().is_none(), "nothing of the model that was not trained");
}

#[test]
#[ignore = "needs 1 GB of packages: make test-templates"]
fn a_full_disk_leaves_the_recommender_of_before() {
    let app = app();
    let disk = app.data().join("workspace/default/small");
    let Some(small) = Small::with_old(&disk, &["deepfm.pt"]) else { return };
    let arguments = json!({"model": "deepfm", "rows": 2000, "epochs": 1, "save": "small/deepfm.pt"});
    let tasks = linked("small", "train", "recommenders", &arguments);
    let full = run(&app, 1, &app.pipeline("full", &tasks), &[]);
    let failure = instance(&full, "train")["state"]["failure"].to_string();
    assert!(failure.contains("No space left on device"), "{failure}");
    small.assert_as_it_was(&["deepfm.pt"]);
}

#[test]
fn wrong_arguments_of_recommenders_are_refused() {
    let app = TestApp::new();
    for (arguments, argument, why) in [
        ("model: gru", "model", ""),
        ("model: din, data: events.txt", "data", ""),
        ("model: din, save: model.json", "save", ""),
        ("model: din, learning_rate: 0", "learning_rate", ""),
        ("model: din, data: a.csv, rows: 5000", "rows", "only without `data`"),
    ] {
        let task = format!("  - {{name: a, template: recommenders, arguments: {{{arguments}}}}}\n");
        let said = app.expect(2, &["validate", &app.pipeline("wrong", &task)]).out;
        assert!(said.contains(&format!("/tasks/0/arguments/{argument}: ")) && said.contains(why), "{said}");
    }
}

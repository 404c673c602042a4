//! The `xgboost` template: ranks that build the same trees from their own rows.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::full::Small;
use super::ledger::{assert_apart, is_there, killing_rank_1_fails, read};
use super::rig::{app, folder, job, run};
use crate::support::{instance, outputs};

#[test]
fn xgboost_ranks_live_apart_and_train_one_model() {
    let app = app();
    let run = run(&app, 0, &job("xgboost"), &[]);
    let entries = read(&folder(&run));
    assert_apart(&app, &entries, 2);
    assert_eq!((&entries[0]["worker"], &entries[1]["worker"]), (&"master-0".into(), &"worker-0".into()));
    // Each rank prints its own row count; the output is their sum.
    for (worker, line) in [
        ("master-0", "rank 0 has 500 rows of 4 features in 2 files"),
        ("worker-0", "rank 1 has 200 rows of 4 features in 1 files"),
    ] {
        let log = app.expect(0, &["logs", "latest", "gang", "--worker", worker, "--stdout"]).out;
        assert!(log.contains(line), "{worker}: {log}");
    }
    assert_eq!(outputs(&run, "gang")["rows"], 700);
    assert_eq!(outputs(&run, "gang")["rounds"], 20);
    assert!(folder(&run).join("model.json").metadata().unwrap().len() > 1_000);
    let metrics = instance(&run, "gang")["report"]["metrics"].as_array().unwrap();
    let errors: Vec<f64> = metrics.iter().map(|metric| metric["value"].as_f64().unwrap()).collect();
    assert_eq!(errors.len(), 20);
    assert!(errors[19] < errors[0] && errors[19] < 0.05, "{errors:?}");
}

#[test]
fn xgboost_fails_when_a_worker_is_killed() {
    // A checkpoint shows that all ranks are training.
    let training = |data: &Path| is_there(data, "checkpoints", "round-");
    killing_rank_1_fails(&app(), "xgboost", &["-p", "rounds=1000000"], 2, training);
}

#[test]
fn xgboost_names_what_is_wrong_with_its_data_and_leaves_the_model_that_was_there() {
    let app = app();
    let old = app.data().join("workspace/default/old.json");
    fs::create_dir_all(old.parent().unwrap()).unwrap();
    fs::write(&old, "old").unwrap();
    let text =
        |name: &str, text: &str| app.write(&format!("wrong/{name}"), text).to_string_lossy().into_owned();
    let tables = text("table.csv", "a,b\n1,2\n");
    let wrong = Path::new(&tables).parent().unwrap();
    text("empty.csv", "");
    text("texts.csv", "a,y\n1,2\n\"red\",3\n");
    text("order-1.csv", "a,b,y\n1,2,3\n");
    text("order-2.csv", "b,a,y\n1,2,3\n");
    // The beginnings of an archive and of a compressed file.
    fs::write(wrong.join("cut.npz"), b"PK\x03\x04").unwrap();
    fs::write(wrong.join("cut.csv.gz"), [31, 139, 8, 0, 0, 0, 0, 0, 0, 3]).unwrap();
    for (data, workers, words) in [
        ("gone/*.npz", 1, "matches 0 files; 1 workers need at least one each"),
        ("table.csv", 1, "table.csv: there is no column 'y'; it has a, b"),
        ("empty.csv", 1, "empty.csv: it is empty"),
        ("texts.csv", 1, "texts.csv: line 3: a is 'red', and must be a number"),
        ("order-*.csv", 1, "order-2.csv: its columns are b, a; those of"),
        ("order-*.csv", 2, "order-2.csv: its columns are b, a; those of worker 0 are a, b"),
        ("cut.npz", 1, "cut.npz: "),
        ("cut.csv.gz", 1, "cut.csv.gz: Compressed file ended"),
    ] {
        let data = wrong.join(data);
        let arguments =
            json!({"data": data, "label": "y", "model": "{{ workspace }}/old.json", "workers": workers});
        let task = format!("  - {{name: gang, template: xgboost, arguments: {arguments}}}\n");
        let run = run(&app, 1, &app.pipeline("wrong", &task), &[]);
        let failure = instance(&run, "gang")["state"]["failure"].to_string();
        assert!(failure.contains(words), "{words}: {failure}");
        assert!(!failure.contains("Traceback"), "{failure}");
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    }
}

#[test]
fn a_full_disk_leaves_the_model_of_before() {
    let app = app();
    let disk = app.data().join("workspace/default/small");
    let Some(small) = Small::with_old(&disk, &["old.json", "old.ubj"]) else { return };
    let table: String = (0..400).map(|row| format!("{row},{}\n", row * row % 97)).collect();
    let table = app.write("full/table.csv", &format!("x,y\n{table}")).to_string_lossy().into_owned();
    for kind in ["json", "ubj"] {
        let model = format!("{{{{ workspace }}}}/small/old.{kind}");
        let arguments = json!({"data": table, "label": "y", "model": model, "workers": 1});
        let task = format!("  - {{name: gang, template: xgboost, arguments: {arguments}}}\n");
        let run = run(&app, 1, &app.pipeline("full", &task), &[]);
        let failure = instance(&run, "gang")["state"]["failure"].to_string();
        assert!(failure.contains("No space left on device"), "{kind}: {failure}");
    }
    small.assert_as_it_was(&["old.json", "old.ubj"]);
}

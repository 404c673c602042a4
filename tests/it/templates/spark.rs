//! The `spark` template as a standalone cluster: a driver with its master, and executors.

use std::fs;

use super::ledger::{killing_a_worker_fails, wait_for_none};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{instance, outputs};

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn the_example_of_spark() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/spark/example.yaml"), &[]);
    let files = fs::read_dir(shipped("task-templates/spark")).unwrap().flatten().map(|entry| entry.path());
    let texts =
        files.filter(|path| path.extension().is_some_and(|it| it == "py" || it == "md" || it == "yaml"));
    let words: usize = texts.map(|path| fs::read_to_string(path).unwrap().split_whitespace().count()).sum();
    let told = outputs(&run, "count");
    assert_eq!((&told["words"], &told["executors"]), (&words.into(), &2.into()), "{told}");
    assert!(folder(&run).join("counts/_SUCCESS").exists(), "Parquet was written whole");
    assert!(wait_for_none(&app).is_empty(), "master and executors are ended with the driver");
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_fails_as_its_program_does() {
    let app = app();
    let run = run(&app, 1, &job("spark"), &["-p", "then=fail"]);
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!((&failure["kind"], &failure["exit_code"]), (&"exit".into(), &7.into()), "{failure}");
    assert_eq!(failure["worker"]["role"], "driver", "{failure}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_fails_when_an_executors_worker_is_killed() {
    killing_a_worker_fails(&app(), "spark", &["-p", "then=hold"], "executor", 1);
}

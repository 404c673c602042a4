//! The compiler's golden scripts, checked against Slurm itself.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::harness::Person;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/compiler/tests/it/slurm/snapshots");

/// The script in a snapshot, after its header.
fn script_of(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).unwrap();
    let script = text.splitn(3, "---\n").nth(2)?.to_owned();
    script.starts_with("#!/bin/bash").then_some(script)
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn slurm_takes_every_golden_script() {
    let person = Person::new("golden");
    let mut taken = 0;
    for entry in fs::read_dir(SNAPSHOTS).unwrap() {
        let path = entry.unwrap().path();
        let Some(script) = script_of(&path) else { continue };
        person.test_only(&script).unwrap_or_else(|said| panic!("{}: {said}", path.display()));
        taken += 1;
    }
    assert!(taken >= 9, "only {taken} scripts were found in {SNAPSHOTS}");
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn slurm_takes_the_scripts_of_the_examples() {
    let person = Person::new("examples");
    let (mut taken, mut compiled) = (0, 0);
    for entry in fs::read_dir(EXAMPLES).unwrap() {
        let pipeline = entry.unwrap().path().join("pipeline.yaml");
        if !pipeline.is_file() {
            continue;
        }
        let done = person.compiling(&pipeline).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{}: {said}", pipeline.display());
        compiled += 1;
        let made: Value = serde_json::from_slice(&done.stdout).unwrap();
        let jobs =
            made["tasks"].as_array().unwrap().iter().filter_map(|task| task["jobs"].as_array()).flatten();
        for job in jobs {
            person.test_only(job["script"].as_str().unwrap()).unwrap_or_else(|said| panic!("{job}: {said}"));
            taken += 1;
        }
    }
    assert!(compiled >= 6 && taken >= 18, "{taken} scripts of {compiled} examples");
}

/// Proves that the tests above would detect a script that requests unavailable resources.
#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn slurm_refuses_what_it_cannot_give() {
    let person = Person::new("refused");
    for option in ["--gpus-per-task=v100:1", "--constraint=none", "--account=other", "--qos=other"] {
        let script = format!("#!/bin/bash\n#SBATCH {option}\ntrue\n");
        person.test_only(&script).expect_err(option);
    }
}

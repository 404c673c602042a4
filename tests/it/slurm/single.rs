//! Jobs of one worker: its files are as on one machine, its secrets are masked, and its GPUs are those Slurm
//! allocated.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::harness::{Person, Submitted};

/// One of its processes uses 300 MB.
pub const HUNGRY: &str = r#"x=$(head -c 300000000 /dev/zero | tr "\0" x); sleep 10"#;

const SPEAKS: &str = r#"
  - name: speak
    template: command
    arguments:
      command: [sh, -c, 'echo "at $CUBELOOM_HOST as $(id -un)"; echo "{\"output\": {\"n\": 7}}" >>"$CUBELOOM_OUTPUTS"; echo sorry >&2']
    outputs: [n]
"#;

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn a_workers_files_are_as_on_one_machine_and_belong_to_its_person() {
    let person = Person::new("single");
    let job = person.submit(SPEAKS);
    assert_eq!(person.wait(&job), "COMPLETED", "{}", job.log());
    assert_eq!(job.exit("worker-0")["end"], serde_json::json!({"how": "exit", "code": 0}));
    let said = job.read("worker-0/stdout");
    assert!(said.starts_with("at 127.0.0.1") && said.contains("as clt"), "{said}");
    assert_eq!(job.read("worker-0/stderr"), "sorry\n");
    assert_eq!(job.read("worker-0/outputs.jsonl"), "{\"output\": {\"n\": 7}}\n");
    assert!(job.log().contains("the job succeeded"), "{}", job.log());
    let folder = job.folder.join("worker-0");
    assert!(!folder.join("started").exists() && !folder.join("work").exists(), "scratch is removed");
    assert!(!job.folder.join("token").exists(), "the token goes with the job");
    let owner = fs::metadata(folder.join("exit.json")).unwrap().uid();
    assert_eq!(owner, fs::metadata(job.folder.join("job.sh")).unwrap().uid());
    assert_ne!(owner, 0);
}

/// A job that Slurm starts a second time finds the attempt's folder in use.
#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn an_attempt_is_executed_at_most_once() {
    let person = Person::new("once");
    let job = person.submit(SPEAKS);
    assert_eq!(person.wait(&job), "COMPLETED", "{}", job.log());
    let exit = job.exit("worker-0");
    let again = person.sbatch(&job.folder.join("job.sh"));
    person.wait(&again);
    assert_eq!(job.exit("worker-0"), exit);
    assert_eq!(job.read("worker-0/stdout").lines().count(), 1, "it spoke once");
    assert!(
        job.log().contains("the job succeeded") && job.log().contains("submitted before"),
        "{}",
        job.log()
    );
}

/// The second start neither stops the first nor removes its files.
#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn an_attempt_that_runs_is_not_disturbed_by_its_script() {
    let person = Person::new("twice");
    let job = person.submit(
        "  - name: wait\n    template: command\n    arguments:\n      \
         command: [sh, -c, 'echo up; while [ ! -e ../../go ]; do sleep 0.1; done; echo done']\n",
    );
    job.wait_for("worker-0/stdout");
    let token = job.read("token");
    let again = person.sbatch(&job.folder.join("job.sh"));
    assert_eq!(person.wait(&again), "FAILED", "{}", job.log());
    assert!(!job.folder.join("stop").exists() && job.read("token") == token, "{}", job.log());
    fs::write(job.folder.join("go"), "").unwrap();
    assert_eq!(person.wait(&job), "COMPLETED", "{}", job.log());
    assert_eq!(job.read("worker-0/stdout"), "up\ndone\n");
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn an_output_that_is_missing_fails_the_job() {
    let person = Person::new("missing");
    let job =
        person.submit("  - {name: mute, template: command, arguments: {command: ['true']}, outputs: [n]}\n");
    assert_eq!(person.wait(&job), "FAILED", "{}", job.log());
    assert!(job.log().contains("did not write `n`"), "{}", job.log());
}

/// The kernel kills it if Slurm limits memory by cgroups, else the shim does.
#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn a_worker_that_uses_more_memory_than_it_has_is_out_of_memory() {
    let person = Person::new("memory");
    let job = person.submit(&format!(
        "  - name: hungry\n    template: command\n    arguments:\n      command: [sh, -c, '{HUNGRY}']\n    \
         resources: {{memory: 64Mi}}\n"
    ));
    assert_eq!(person.wait(&job), "FAILED", "{}", job.log());
    assert_eq!(job.exit("worker-0")["end"]["how"], "out_of_memory", "{}", job.log());
    assert!(job.log().contains("was OOM killed"), "{}", job.log());
}

fn secret_job(person: &Person, secrets: Option<&str>) -> (Submitted, String) {
    let task = "  - name: tell\n    template: command\n    arguments: {command: [sh, -c, 'echo \"it is $S3_KEY\"; \
                echo \"{\\\"output\\\": {\\\"n\\\": \\\"$S3_KEY\\\"}}\" >>\"$CUBELOOM_OUTPUTS\"']}\n    secrets: [s3-key]\n";
    let script = person.compile(task).remove(0);
    if let Some(secrets) = secrets {
        let name = script.with_file_name("secrets.json");
        let path = person.write(name.to_str().unwrap(), secrets);
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    }
    let job = person.sbatch(&script);
    let state = person.wait(&job);
    (job, state)
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn secrets_are_given_masked_and_removed() {
    let person = Person::new("secrets");
    let (job, state) = secret_job(&person, Some(r#"{"s3-key": "swordfish-7"}"#));
    assert_eq!(state, "COMPLETED", "{}", job.log());
    for name in ["worker-0/stdout", "worker-0/outputs.jsonl", "job.json", "job.sh", "slurm.log"] {
        assert!(!job.read(name).contains("swordfish-7"), "{name}");
    }
    let said = job.read("worker-0/stdout");
    assert!(said.starts_with("it is ") && said.trim() != "it is", "it was given: {said}");
    assert!(!job.folder.join("secrets.json").exists());
    let exit = job.exit("worker-0");
    assert_eq!(person.wait(&person.sbatch(&job.folder.join("job.sh"))), "FAILED");
    assert_eq!(job.exit("worker-0"), exit, "the secrets are gone, and nobody calls them missing");
}

#[test]
#[ignore = "needs a Slurm: make test-slurm"]
fn a_secret_that_was_not_given_is_named() {
    let (job, state) = secret_job(&Person::new("secretless"), None);
    assert_eq!(state, "FAILED");
    assert!(job.log().contains("the secret `s3-key` was not passed"), "{}", job.log());
}

//! Attacks by `alice` on a Slurm cluster against `bob`, whose jobs run under another account: text of her
//! documents in the batch script, and her own program on a node. The account isolates them. docs/slurm.md
//! says what tasks of one account can do to each other.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use cubeloom_domain::slurm::SlurmWay;
use serde_json::{Value, json};

use super::executor::{calls, facts};
use super::harness::{slurm, told};
use super::product::tell;
use crate::api::support::{Client, Who};
use crate::cluster::product::until;
use crate::hostile::programs::{VICTIM, attacker_with, judge_program};
use crate::hostile::{Line, Scene, judge, log, run_on};
use crate::support::TestApp;

const CLUSTER: Option<&str> = Some("hall");
/// The marker in every attack through a document.
const MARK: &str = "alice-was-here";

/// A server with a cluster on which each project's jobs run under their own account, and the folder of the
/// workspaces.
fn scene(change: impl FnOnce(&mut Value)) -> (Scene, PathBuf) {
    let mut app = TestApp::new();
    tell(&mut app, calls());
    let scene = Scene::in_(app);
    let (alice, bob) = (told("CUBELOOM_TEST_SLURM_HOSTILE"), told("CUBELOOM_TEST_SLURM_MEMBER"));
    let all = PathBuf::from(told("CUBELOOM_TEST_SLURM_STATE")).join("shared");
    let all = tempfile::Builder::new().prefix("hostile-").tempdir_in(all).unwrap().keep();
    fs::set_permissions(&all, fs::Permissions::from_mode(0o755)).unwrap();
    for (project, account) in [("alice", &alice), ("bob", &bob)] {
        let own = all.join(project);
        fs::create_dir(&own).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o750)).unwrap();
        let mut give = Command::new("chown");
        assert!(give.arg(format!("{account}:{account}")).arg(&own).status().unwrap().success());
    }
    let way = SlurmWay::of_accounts([("alice".to_owned(), alice), ("bob".to_owned(), bob)].into());
    let mut body = json!({"name": "hall", "access": "slurm", "slurm": {"facts": facts(&all.join("{project}")), "way": way}});
    change(&mut body["slurm"]["facts"]);
    let admin = scene.server.as_(Who::Administrator);
    admin.post("/clusters", &body).expect(201);
    until("the cluster's nodes are known", || {
        let seen = admin.get("/clusters/hall").expect(200).json();
        seen["standing"]["state"] == "connected" && seen["nodes"].as_array().unwrap().len() == 4
    });
    (scene, all)
}

/// Waits for a run to end. Returns its state.
fn ended(client: &Client, run: &str) -> String {
    crate::cluster::product::ended(client, run)["state"].as_str().unwrap().to_owned()
}

/// A document with one task on the cluster and extra keys.
fn document(task: &Value, more: &Value) -> Value {
    let mut one = json!({"name": "one", "template": "command", "arguments": {"command": ["true"]}});
    one.as_object_mut().unwrap().extend(task.as_object().unwrap().clone());
    let mut whole = json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "attack", "cluster": "hall", "tasks": [one]});
    whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    whole
}

/// The `#SBATCH` options of a script, and the lines that the shell reads.
fn parts(script: &str) -> (Vec<&str>, Vec<&str>) {
    let options = script.lines().filter(|line| line.starts_with("#SBATCH "));
    let options = options.map(|line| line.split('=').next().unwrap()).collect();
    let read = script.lines().filter(|line| !line.starts_with('#')).collect();
    (options, read)
}

/// The document is refused, or its script is unchanged: same options, and same lines except for the attempt's
/// folder.
fn written(scene: &Scene, what: &str, (task, more): (&Value, &Value)) -> Line {
    let compiled = |task: &Value, more: &Value| {
        let sent = json!({"document": document(task, more).to_string()});
        scene.alice.post("/projects/alice/compile", &sent)
    };
    let answer = compiled(task, more);
    if answer.status == 422 {
        return (what.into(), Ok(answer.json()["problems"][0].to_string()));
    }
    let job = answer.expect(200).json()["tasks"][0]["jobs"][0].clone();
    let Some(script) = job["script"].as_str() else {
        return (what.into(), Ok(job.to_string()));
    };
    let plain = compiled(&json!({}), &json!({})).expect(200).json();
    let plain = plain["tasks"][0]["jobs"][0]["script"].as_str().unwrap();
    let ((options, read), (expected, lines)) = (parts(script), parts(plain));
    let own = |line: &&&str| line.contains(MARK);
    let by = match script.lines().collect::<Vec<_>>().iter().find(own) {
        _ if options != expected => Err(format!("{options:?} instead of {expected:?}")),
        _ if read.len() != lines.len() || read.iter().any(|line| line.contains(MARK)) => {
            Err(script.to_owned())
        }
        Some(line) if !line.starts_with("# ") => Err((*line).to_owned()),
        Some(line) => Ok(format!("it stands in a comment: {line}")),
        None => Ok("it stands beside the script, in job.json".into()),
    };
    (what.into(), by)
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn no_word_of_a_document_is_one_of_the_script() {
    let (scene, all) = scene(|facts| {
        facts["features"] = json!({"disk=ssd": "ssd"});
        facts["containers"] = json!({"by": "apptainer"});
    });
    let line = format!("x\n#SBATCH --uid=0\n#SBATCH --comment={MARK}\ntouch /tmp/{MARK}\n");
    let words = format!("$(touch /tmp/{MARK}) `touch /tmp/{MARK}`; touch /tmp/{MARK} #");
    let none = json!({});
    let mut lines = Vec::new();
    for evil in [&line, &words] {
        let tasks = [
            ("the task's name", json!({"name": evil})),
            ("what a task is for", json!({"description": evil})),
            ("a word of the command", json!({"arguments": {"command": ["echo", evil]}})),
            ("a word of the setup", json!({"setup": ["echo", evil]})),
            ("the value of a variable", json!({"env": {"A": evil}})),
            ("the name of a variable", json!({"env": {evil: "a"}})),
            (
                "a package",
                json!({"template": "python", "arguments": {"code": "pass", "requirements": [evil]}}),
            ),
            ("the node group", json!({"placement": {"node_group": evil}})),
            ("a selector", json!({"placement": {"selector": {evil: evil}}})),
            ("the value of a selector", json!({"placement": {"selector": {"disk": format!("ssd{evil}")}}})),
            ("a toleration", json!({"placement": {"tolerations": [{"key": evil}]}})),
            ("the type of GPUs", json!({"resources": {"gpu": {"count": 1, "type": format!("a100{evil}")}}})),
            ("the memory", json!({"resources": {"memory": format!("64Mi{evil}")}})),
            ("the timeout", json!({"timeout": format!("1m{evil}")})),
            ("a volume", json!({"volumes": [evil]})),
            (
                "where a volume is mounted",
                json!({"volumes": [{"name": "workspace", "mount": format!("/{evil}")}]}),
            ),
            ("a secret's file", json!({"secrets": [{"name": "none", "file": evil}]})),
            ("an output's name", json!({"outputs": [evil]})),
            (
                "the image",
                json!({"template": "container", "arguments": {"command": ["true"], "image": evil}}),
            ),
            (
                "the image's tag",
                json!({"template": "container", "arguments": {"command": ["true"], "image": format!("debian:{evil}")}}),
            ),
        ];
        let short: String = evil.chars().take(12).collect();
        lines.extend(
            tasks
                .iter()
                .map(|(what, task)| written(&scene, &format!("{what} is {short:?}..."), (task, &none))),
        );
        let wholes = [
            ("the pipeline's name", json!({"name": evil})),
            ("what a pipeline is for", json!({"description": evil})),
            ("a variable of all tasks", json!({"env": {"A": evil}})),
            ("the cluster", json!({"cluster": format!("hall{evil}")})),
        ];
        lines.extend(
            wholes
                .iter()
                .map(|(what, more)| written(&scene, &format!("{what} is {short:?}..."), (&none, more))),
        );
    }
    for (name, value) in [
        ("SBATCH_ACCOUNT", "root"),
        ("SLURM_CONF", "/tmp/alice-was-here"),
        ("SLURM_JOB_ID", "1"),
        ("BASH_ENV", "/tmp/alice-was-here"),
        ("LD_PRELOAD", "/tmp/alice-was-here.so"),
    ] {
        lines.push(written(&scene, &format!("the variable {name}"), (&json!({"env": {name: value}}), &none)));
    }
    for image in ["/etc/shadow", "../../bob/image.sif", "-x", "docker://debian", "a b", "$image"] {
        let task = json!({"template": "container", "arguments": {"command": ["true"], "image": image}});
        lines.push(written(&scene, &format!("the image is {image}"), (&task, &none)));
    }
    judge(&lines, 50);
    let _ = fs::remove_dir_all(all);
}

/// Allowed text reaches the program verbatim. Neither the script nor Slurm interprets it.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn words_that_a_shell_would_heed_reach_the_program_as_they_are() {
    let (scene, all) = scene(|_| {});
    let folder = all.join("alice");
    let evil = format!(
        "$(touch {0}/{MARK}) `touch {0}/{MARK}`\n#SBATCH --comment={MARK}\n; touch {0}/{MARK}",
        folder.display()
    );
    let more = json!({
        "description": evil,
        "env": {"EVIL": evil, "SLURM_CONF": "/nonexistent", "SBATCH_COMMENT": MARK, "BASH_ENV": "/nonexistent"},
        "setup": ["true", evil],
    });
    let program = [
        "python3",
        "-c",
        "import os, sys; print(os.environ['EVIL'] == sys.argv[1] and 'the same'); print(sys.argv[1])",
        &evil,
    ];
    let run = run_on(CLUSTER, &scene.alice, "alice", &program, &more);
    assert_eq!(ended(&scene.alice, &run), "succeeded");
    let said = log(&scene.alice, &run);
    assert!(said.contains("the same\n") && said.contains(&evil), "{said}");
    assert!(!folder.join(MARK).exists());
    let script = fs::read_to_string(folder.join(format!("runs/{run}/.attempts/one/0/1/job.sh"))).unwrap();
    assert!(!script.contains(MARK), "{script}");
    let name = script.lines().find_map(|line| line.strip_prefix("#SBATCH --job-name=")).unwrap();
    let account = || {
        slurm(&["sacct", "-X", "-n", "-P", "--name", name, "-o", "User,Account,Comment", "-S", "now-1hours"])
    };
    // Accounting lags behind.
    until("the job to be accounted", || !account().trim().is_empty());
    let listed = account();
    assert!(listed.starts_with(&format!("{}|vision|", told("CUBELOOM_TEST_SLURM_HOSTILE"))), "{listed}");
    assert!(!listed.contains(MARK), "{listed}");
    let _ = fs::remove_dir_all(all);
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_worker_cannot_reach_beyond_its_account() {
    let (scene, all) = scene(|_| {});
    let storage = all.join("bob");
    let secrets = json!({"secrets": [{"name": "key", "env": "BOBS_KEY"}]});
    let victim =
        run_on(CLUSTER, &scene.bob, "bob", &["python3", "-c", VICTIM, storage.to_str().unwrap()], &secrets);
    until("bob is ready", || storage.join("facts.json").exists());
    let mut facts: Value = serde_json::from_slice(&fs::read(storage.join("facts.json")).unwrap()).unwrap();
    let attempt = storage.join(format!("runs/{victim}/.attempts/one/0/1"));
    let script = fs::read_to_string(attempt.join("job.sh")).unwrap();
    let name = script.lines().find_map(|line| line.strip_prefix("#SBATCH --job-name=")).unwrap();
    for (key, value) in [
        ("data", json!(scene.server.data())),
        ("server", json!(scene.server.pid())),
        ("url", json!(scene.server.url())),
        ("walls", json!(["uid"])),
        ("state", json!(told("CUBELOOM_TEST_SLURM_STATE"))),
        ("conf", json!(told("SLURM_CONF"))),
        ("job", json!(slurm(&["squeue", "-h", "-n", name, "-o", "%A"]).trim())),
        ("attempt", json!(attempt)),
        ("account", json!(told("CUBELOOM_TEST_SLURM_MEMBER"))),
    ] {
        facts[key] = value;
    }
    let program = attacker_with(include_str!("../../hostile/slurm.py"));
    let attacker =
        run_on(CLUSTER, &scene.alice, "alice", &["python3", "-c", &program, &facts.to_string()], &json!({}));
    let state = ended(&scene.alice, &attacker);
    judge_program(&log(&scene.alice, &attacker), 120);
    assert_eq!(state, "succeeded");
    fs::write(storage.join("over"), "").unwrap();
    assert_eq!(ended(&scene.bob, &victim), "succeeded");
    assert!(log(&scene.bob, &victim).contains("bob ends as he began: the notes of bob"));
    let _ = fs::remove_dir_all(all);
}

//! The server dies while a running job gets more memory.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::state::RunState;
use serde_json::json;

use super::cancel::until_death;
use super::figures::Figures;
use super::points::POINT;
use super::site::Site;
use super::verdict::Stored;
use crate::api::support::Client;

/// From the decision until it is done.
const POINTS: [&str; 3] = ["engine.grow.before", "local.grow.before", "local.grow.after"];
/// Reached when the server adopts a job that may have been given more memory.
const ADOPTED: &str = "local.grow.adopted";
const PATIENCE: Duration = Duration::from_secs(60);

/// Uses nearly all of its memory, and later more than that.
const HUNGRY: &str = r#"
import os, time
held = []
def hold(mib):
    def own():
        pages = open("/proc/self/statm").read().split()
        return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE") >> 20
    while own() < mib:
        held.append(bytes([1]) * (1 << 20))
hold(123)
while not os.path.exists(os.environ["CUBELOOM_RUN_DIR"] + "/more"):
    time.sleep(0.02)
hold(160)
"#;

/// Whether this module kills at the failpoint.
pub fn kills_at(name: &str) -> bool {
    POINTS.contains(&name) || name == ADOPTED
}

/// Kills at each failpoint, and again at adoption. The job must succeed in its only attempt, with the decided
/// memory.
pub fn kill(site: &mut Site, figures: &mut Figures) {
    site.start_ready(&[]);
    site.say(&["user", "add", "ada", "--admin"]);
    let token = site.say(&["token", "create", "--user", "ada", "--scope", "admin"]);
    site.stop();
    for point in POINTS {
        site.start_ready(&[(POINT, point)]);
        let run = run(site, &token, &point.replace('.', "-"));
        until_death(site, point);
        site.start(&[(POINT, ADOPTED)]);
        until_death(site, ADOPTED);
        for point in [point, ADOPTED] {
            figures.kills_at_points += 1;
            figures.killed_at.insert(point.into());
        }
        let before = adopted(site);
        site.start_ready(&[]);
        until_adopted(site, before);
        let folder = site.data().join("workspace/default/runs").join(run.as_str());
        fs::write(folder.join("more"), "").expect("the run's folder can be written to");
        let state = site.wait_for_end(&run, PATIENCE);
        if state != RunState::Succeeded {
            figures.findings.push(format!("{point}: the run is {}", state.as_str()));
        }
        site.stop();
        check(site, point, &run, figures);
    }
}

/// Uses another pipeline each time: an attempt's usage would set the initial memory of the next one of the
/// same pipeline, if it ran for a second.
fn run(site: &Site, token: &str, pipeline: &str) -> RunId {
    let client = Client::new(site.url(), Some(token.to_owned()));
    let task = json!({
        "name": "eat", "template": "command", "arguments": {"command": ["python3", "-c", HUNGRY]},
        "resources": {"cpu": "100m", "memory": "128Mi"},
    });
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": pipeline, "sizing": "auto", "tasks": [task],
    });
    let made = client.post("/projects/default/runs", &json!({"document": document.to_string()}));
    made.expect(201).json()["run"]["id"].as_str().expect("a run").parse().expect("its id")
}

/// How many servers have adopted a job that grows.
fn adopted(site: &Site) -> usize {
    let text = fs::read_to_string(site.failpoints()).unwrap_or_default();
    text.lines().filter(|line| *line == ADOPTED).count()
}

fn until_adopted(site: &Site, before: usize) {
    let deadline = Instant::now() + PATIENCE;
    while adopted(site) == before {
        assert!(Instant::now() < deadline, "the job is not taken up\n{}", site.last_log());
        sleep(Duration::from_millis(10));
    }
}

fn check(site: &Site, point: &str, run: &RunId, figures: &mut Figures) {
    let stored = Stored::of(site, run);
    figures.runs += 1;
    let ends = stored.result.ends_of("eat");
    if ends != ["succeeded"] {
        figures.findings.push(format!("{point}: the attempts ended as {ends:?}"));
    }
    let memory = stored.memory();
    if memory != [192 << 20] {
        figures.findings.push(format!("{point}: the attempts had {memory:?} bytes"));
    }
    figures.findings.extend(stored.left_over(site));
}

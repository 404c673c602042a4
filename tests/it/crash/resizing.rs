//! The server dies while an elastic job scales down for another job, and while it scales up again.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::state::RunState;
use serde_json::{Value, json};

use super::cancel::until_death;
use super::figures::Figures;
use super::points::POINT;
use super::site::Site;
use super::verdict::Stored;
use crate::api::support::Client;

/// While workers leave and, the second time, while they join.
const POINTS: [&str; 4] =
    ["engine.scale.before", "local.scale.after", "local.exit.seen", "local.scale.before:2"];
const PATIENCE: Duration = Duration::from_secs(60);
/// A job that scaled down may grow again at once.
const COOL_DOWN: (&str, &str) = ("CUBELOOM_SHARING_COOL_DOWN", "0s");
const SHARDS: u64 = 28;

/// Whether this module kills at the failpoint.
pub fn kills_at(name: &str) -> bool {
    POINTS.iter().any(|point| name_of(point) == name)
}

/// A failpoint without its hit count.
fn name_of(point: &'static str) -> &'static str {
    point.split(':').next().unwrap_or(point)
}

/// Kills at each failpoint. Both runs must succeed, the elastic task in its only attempt, with each shard
/// counted once.
pub fn kill(site: &mut Site, figures: &mut Figures) {
    site.start_ready(&[]);
    site.say(&["user", "add", "ada", "--admin"]);
    let token = site.say(&["token", "create", "--user", "ada", "--scope", "admin"]);
    site.stop();
    for point in POINTS {
        site.start_ready(&[COOL_DOWN, (POINT, point)]);
        let gang = run(site, &token, &gang());
        until_all_work(site, &gang);
        let guest = run(site, &token, &guest());
        until_death(site, point);
        figures.kills_at_points += 1;
        figures.killed_at.insert(name_of(point).into());
        site.start_ready(&[COOL_DOWN]);
        for run in [&guest, &gang] {
            let state = site.wait_for_end(run, PATIENCE);
            if state != RunState::Succeeded {
                figures.findings.push(format!("{point}: a run is {}", state.as_str()));
            }
        }
        site.stop();
        check(site, point, &gang, figures);
    }
}

/// Four workers on the whole machine; at least one must stay.
fn gang() -> Value {
    let work = "touch $CUBELOOM_RUN_DIR/by-$CUBELOOM_INDEX; sleep 0.3";
    json!({
        "name": "gang", "template": "indexed",
        "arguments": {
            "command": ["sh", "-c", work], "workers": 4, "shards": SHARDS, "dispatch": "dynamic",
        },
        "resources": {"cpu": "2", "memory": "64Mi"},
    })
}

/// A task on half of the machine.
fn guest() -> Value {
    json!({
        "name": "guest", "template": "command", "arguments": {"command": ["sleep", "0.5"]},
        "resources": {"cpu": "4", "memory": "64Mi"},
    })
}

fn run(site: &Site, token: &str, task: &Value) -> RunId {
    let client = Client::new(site.url(), Some(token.to_owned()));
    let document =
        json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": task["name"], "tasks": [task]});
    let made = client.post("/projects/default/runs", &json!({"document": document.to_string()}));
    made.expect(201).json()["run"]["id"].as_str().expect("a run").parse().expect("its id")
}

fn until_all_work(site: &Site, run: &RunId) {
    let folder = site.data().join("workspace/default/runs").join(run.as_str());
    let workers = || {
        let names = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with("by-")).count()
    };
    let deadline = Instant::now() + PATIENCE;
    while workers() < 4 {
        assert!(Instant::now() < deadline, "the gang does not begin\n{}", site.last_log());
        sleep(Duration::from_millis(10));
    }
}

fn check(site: &Site, point: &str, gang: &RunId, figures: &mut Figures) {
    let stored = Stored::of(site, gang);
    figures.runs += 1;
    let ends = stored.result.ends_of("gang");
    if ends != ["succeeded"] {
        figures.findings.push(format!("{point}: the attempts ended as {ends:?}"));
    }
    let outputs = stored.result.outputs_of("gang");
    let counted: u64 =
        outputs["by_worker"].as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum();
    if counted != SHARDS {
        figures.findings.push(format!("{point}: {counted} of {SHARDS} shards are counted: {outputs}"));
    }
    figures.findings.extend(stored.left_over(site));
}

//! Shared memory of a task: its requested size, shared by its workers, and removed with it.

use std::fs;

use serde_json::json;

use super::programs::walls;
use super::{Scene, ended, log, run};
use crate::support::{TestApp, wait_for};

const MIB: u64 = 1 << 20;

#[test]
fn a_task_has_as_much_shared_memory_as_it_asks_for() {
    let app = TestApp::new();
    match walls(&app) {
        (true, said) if said.contains("/dev/shm") => {}
        (_, why) => return eprintln!("skipped: {why}"),
    }
    let scene = Scene::in_(app);
    let size = "df -B1 --output=size /dev/shm | tail -n 1";
    let fill = "head -c 9437184 /dev/zero >/dev/shm/filled || echo full; stat -c 'filled %s' /dev/shm/filled";
    let resources = json!({"resources": {"cpu": "500m", "memory": "64Mi", "shm": "8Mi"}});
    let run = run(&scene.alice, "alice", &["sh", "-c", &format!("{size}; {fill}")], &resources);
    let (state, said) = (ended(&scene.alice, &run), log(&scene.alice, &run));
    assert_eq!(state, "succeeded", "{said}");
    let asked = 8 * MIB;
    assert!(said.contains(&asked.to_string()) && said.contains("full"), "{said}");
    assert!(said.contains(&format!("filled {asked}")), "{said}");
    // No other test requests as much.
    let mounts = || fs::read_to_string("/proc/self/mounts").unwrap();
    let its = |line: &str| line.contains("/dev/shm/cubeloom/") && line.contains("size=8192k");
    wait_for("what it had to be gone", || !mounts().lines().any(its));
}

//! Preflight checks of workers before their program starts, on CPUs of this machine.

use serde_json::{Value, json};

use crate::api::support::{Server, Who};
use crate::support::{TestApp, instance};

/// A gang of three; `slow` is the way to slow down one worker's network. The machine is small and shared:
/// half a CPU each moves many times the required data, and all three fit on two CPUs.
fn gang(app: &TestApp, slow: &str) -> String {
    let task = format!(
        r#"
  - name: gang
    template: indexed
    arguments: {{workers: 3, requirements: [], command: [sh, -c, 'echo ran $CUBELOOM_INDEX $PREFLIGHT_SLOW']}}
    resources: {{cpu: 500m, memory: 128Mi}}
    env: {{PREFLIGHT_SLOW: "{slow}"}}
    preflight: {{wait: 60s, restarts: 1}}
"#
    );
    app.pipeline("tested", &task)
}

/// The gang's attempts, from the API.
fn attempts(app: TestApp, run: &Value) -> Vec<Value> {
    let server = Server::start_in(app);
    let path = format!("/runs/{}/attempts", run["run"]["id"].as_str().expect("an id"));
    let listed = server.as_(Who::Administrator).get(&path).expect(200).json();
    listed["items"].as_array().expect("attempts").clone()
}

#[test]
fn a_gang_is_tested_and_then_runs() {
    let app = TestApp::new();
    let run = app.json(0, &["run", &gang(&app, "")]);
    let log = app.expect(0, &["logs", "latest", "gang", "--stdout"]).out;
    assert!((0..3).all(|index| log.contains(&format!("ran {index}"))), "{log}");
    let tested = attempts(app, &run)[0]["preflight"].clone();
    let workers = tested["workers"].as_array().expect("workers");
    assert_eq!(
        workers.iter().map(|one| one["worker"].clone()).collect::<Vec<_>>(),
        ["worker-0", "worker-1", "worker-2"]
    );
    for worker in workers {
        assert_eq!(worker.get("network"), None, "on one machine there is none: {worker}");
        for measured in ["cpu", "memory"] {
            let bound = tested["bounds"][measured].as_f64().expect("a bound");
            assert!(worker[measured].as_f64().expect("a number") > bound, "{measured}: {tested}");
        }
        assert!(
            worker["mount"].as_f64().expect("a number")
                < tested["bounds"]["mount"].as_f64().expect("a bound")
        );
        assert_eq!(worker.get("wrong"), None, "{worker}");
    }
    assert_eq!(tested.get("blamed"), None, "{tested}");
}

#[test]
fn a_worker_with_a_slow_network_is_named_and_its_program_does_not_begin() {
    let app = TestApp::new();
    let run = app.json(1, &["run", &gang(&app, "worker-1=3")]);
    let failure = instance(&run, "gang")["state"]["failure"].clone();
    assert_eq!((&failure["kind"], &failure["exit_code"]), (&"preflight".into(), &3.into()), "{failure}");
    assert_eq!(failure["worker"], json!({"role": "worker", "index": 1}), "{failure}");
    let message = failure["message"].as_str().expect("a sentence");
    let expected = "worker-1 failed the pre-flight tests: its network to 2 peers reached ";
    assert!(
        message.starts_with(expected) && message.ends_with(" MB/s; at least 10 is required"),
        "{message}"
    );
    let log = app.expect(0, &["logs", "latest", "gang", "--stdout"]).out;
    assert!(!log.contains("ran"), "{log}");
    let attempts = attempts(app, &run);
    assert_eq!(attempts.len(), 2, "it was started anew once");
    for attempt in attempts {
        let blamed = &attempt["preflight"]["blamed"];
        assert_eq!((&blamed["worker"], &blamed["sure"]), (&"worker-1".into(), &true.into()), "{attempt}");
    }
}

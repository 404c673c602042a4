//! A preempted job has time to save a checkpoint, and resumes from it.

use serde_json::json;

use super::help::{document, of_task, start, task, until, until_task};
use crate::api::support::{Client, Server, Who};
use crate::support::{TestApp, wait_for};

/// Counts steps until it is asked to stop, and then saves its count. The next attempt resumes from there and
/// succeeds.
const LEARNS: &str = r#"
save="$CUBELOOM_CHECKPOINT_DIR/step"
if test -e "$save"; then echo "goes on after step $(cat "$save")"; exit 0; fi
step=1
trap 'echo $step > "$save.new"; mv "$save.new" "$save"; echo "saved step $step"; exit 143' TERM
echo begun
while :; do sleep 0.1; step=$((step + 1)); done
"#;

fn log(client: &Client, run: &str, attempt: u32) -> String {
    let path = format!("/runs/{run}/logs/text?task=learn&attempt={attempt}");
    let log = client.get(&path).expect(200).json();
    log["chunks"].as_array().unwrap().iter().filter_map(|chunk| chunk["text"].as_str()).collect()
}

#[test]
fn a_whole_job_that_is_preempted_saves_on_term_and_its_next_attempt_goes_on_from_there() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_SHARING_COOL_DOWN", "0s");
    let server = Server::start_in(app);
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    admin.post("/projects", &json!({"name": "owner"})).expect(201);
    let quota = json!({"quotas": {"local": {"guarantee": {"cpu": 8}}}});
    admin.put("/projects/owner/quota", "*", &quota).expect(200);
    let text = document("learns", &format!("tasks:\n{}", task("learn", LEARNS, "")));
    let run = start(&editor, &text);
    until_task(&editor, &run, "learn", "running");
    wait_for("it to have begun", || log(&editor, &run, 1).contains("begun"));
    // All CPUs are guaranteed to the other project.
    let all =
        document("owed", &format!("tasks:\n{}", task("all", "true", ""))).replace("cpu: 100m", "cpu: 8");
    let made = admin.post("/projects/owner/runs", &json!({"document": all})).expect(201).json();
    let owed = made["run"]["id"].as_str().unwrap().to_owned();
    until(&admin, &owed, "succeeded");
    until(&editor, &run, "succeeded");
    let attempts = editor.get(&format!("/runs/{run}/tasks/learn/instances/0/attempts")).expect(200).json();
    let [first, second] = &attempts["items"].as_array().unwrap()[..] else { panic!("{attempts}") };
    assert_eq!(first["failure"]["kind"], "preempted", "{first}");
    assert_eq!((&second["outcome"], &second["attempt"]), (&json!("succeeded"), &json!(2)), "{second}");
    // It has no retries: preemption is no failure and uses none up.
    assert_eq!(of_task(&editor, &run, "learn")["state"], "succeeded");
    let saved = log(&editor, &run, 1);
    let step = saved.split("saved step ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let step = step.unwrap_or_else(|| panic!("nothing was saved: {saved}"));
    let second = log(&editor, &run, 2);
    assert!(second.contains(&format!("goes on after step {step}")), "{second}");
}

//! What the time of runs and tasks went to.

use serde_json::Value;

use super::help::{document, start, task, until};
use super::pages::page;
use crate::api::support::{Server, Who};

/// Steps that take 0.2 seconds each, told with their moments; the first attempt fills the disk after the fourth, the second goes
/// on from a checkpoint after the second step.
const TRAIN: &str = r#"from=$(if [ $CUBELOOM_ATTEMPT = 1 ]; then echo 1; else echo 3; fi);
      to=$(if [ $CUBELOOM_ATTEMPT = 1 ]; then echo 4; else echo 6; fi);
      echo '{"restored": {"seconds": 0.001}}' >> $CUBELOOM_OUTPUTS;
      for step in $(seq $from $to); do sleep 0.2;
      echo "{\"progress\": {\"step\": $step, \"total\": 6, \"at\": $(date +%s.%N)}}" >> $CUBELOOM_OUTPUTS; done;
      if [ $CUBELOOM_ATTEMPT = 1 ]; then sleep 0.3; echo "OSError: [Errno 28] No space left on device" >&2; exit 1; fi"#;

fn part(effective: &Value, name: &str) -> f64 {
    let parts = effective["parts"].as_array().unwrap();
    let found = parts.iter().find(|one| one["part"] == name);
    found.map_or(0.0, |one| one["seconds"].as_f64().unwrap())
}

fn whole(effective: &Value) -> f64 {
    effective["parts"].as_array().unwrap().iter().map(|one| one["seconds"].as_f64().unwrap()).sum()
}

#[test]
fn a_run_says_what_its_time_went_to() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let line = TRAIN.split_whitespace().collect::<Vec<_>>().join(" ");
    let tasks = [
        task("train", &line, "    retry: {attempts: 2, backoff: {initial: 1s}}\n"),
        task("quiet", "sleep 1", ""),
        task("never", "true", "    when: \"{{ 1 == 2 }}\"\n"),
    ];
    let run = start(&editor, &document("effective", &format!("tasks:\n{}", tasks.concat())));
    until(&editor, &run, "succeeded");

    let of = |path: &str| editor.get(path).json()["effective"].clone();
    let train = of(&format!("/runs/{run}/tasks/train"));
    assert!((whole(&train) - train["seconds"].as_f64().unwrap()).abs() < 1e-3, "{train}");
    assert_eq!((&train["attempts"], &train["attempts_with_steps"]), (&2.into(), &2.into()));
    let share = part(&train, "useful") / whole(&train);
    assert!((train["share"].as_f64().unwrap() - share).abs() < 1e-6, "{train}");
    // Four steps, of which two were done again, and two more.
    assert!((1.0..3.0).contains(&part(&train, "useful")), "{train}");
    assert!((0.3..1.2).contains(&part(&train, "again")), "{train}");
    assert!(part(&train, "storage") >= 0.25, "{train}");
    assert!(part(&train, "waiting") >= 0.9, "the wait for the next try: {train}");
    assert!(part(&train, "restoring") > 0.0 && part(&train, "program") == 0.0, "{train}");

    let quiet = of(&format!("/runs/{run}/tasks/quiet"));
    assert_eq!((&quiet["attempts"], &quiet["attempts_with_steps"]), (&1.into(), &0.into()));
    assert!(part(&quiet, "useful") >= 0.9, "{quiet}");
    assert_eq!(of(&format!("/runs/{run}/tasks/never")), Value::Null, "it took no time");
    let all = of(&format!("/runs/{run}"));
    assert!((whole(&all) - whole(&train) - whole(&quiet)).abs() < 1e-3, "{all}");

    let shown = page(&editor, &format!("/runs/{run}/tasks/train"));
    for text in ["Useful time", "steps done again", "failure: storage"] {
        assert!(shown.contains(text), "{text} in {shown}");
    }
    assert!(!shown.contains("attempts reported steps"), "all attempts did");
    let shown = page(&editor, &format!("/runs/{run}"));
    assert!(shown.contains("2 of 3 attempts reported steps"), "{shown}");
}

//! The `nni` template: NNI's experiment on the manager, with trials on workers.

use rustix::process::{Signal, kill_process};
use serde_json::json;

use super::ledger::{
    PATIENCE, assert_apart, is_there, killing_a_worker_fails, of_worker, read, wait_for_none, worker_of,
};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{TestApp, instance, outputs, states, wait_within};

#[test]
#[ignore = "needs 400 MB of packages: make test-templates"]
fn the_example_of_nni() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/nni/example.yaml"), &[]);
    assert_eq!(states(&run), [("search", "succeeded")]);
    let search = outputs(&run, "search");
    assert_eq!((&search["trials"], &search["failed"]), (&6.into(), &0.into()), "{search}");
    assert!(search["best_value"].as_f64() > Some(0.9), "{search}");
    let best = search["best_trial"].as_u64().unwrap();
    let rate = search["best_parameters"]["rate"].as_f64().unwrap();
    assert!((0.0001..1.0).contains(&rate), "{search}");
    let metrics = instance(&run, "search")["report"]["metrics"].as_array().unwrap();
    let of = |name: &str| metrics.iter().filter(|metric| metric["name"] == name).collect::<Vec<_>>();
    let finals = of("final");
    assert_eq!(finals.len(), 6, "{finals:?}");
    let largest = finals.iter().map(|metric| metric["value"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(search["best_value"], largest, "{finals:?}");
    assert!(finals.iter().any(|metric| metric["step"] == best as f64 && metric["value"] == largest));
    assert_eq!(of(&format!("trial-{best}")).len(), 20, "what the best trial reported on its way");
    assert!(wait_for_none(&app).is_empty(), "all of NNI is ended, and the workers with it");
}

#[test]
#[ignore = "needs 400 MB of packages: make test-templates"]
fn trials_of_nni_live_on_workers_and_one_that_fails_is_counted() {
    let app = app();
    let run = run(&app, 0, &job("nni"), &[]);
    let entries = read(&folder(&run));
    assert_apart(&app, &entries, 2);
    for entry in &entries {
        assert_eq!(entry["role"], "trial", "{entry}");
    }
    let found = outputs(&run, "gang");
    assert_eq!((&found["trials"], &found["failed"]), (&4.into(), &1.into()), "the whole grid: {found}");
    assert_eq!(found["best_value"], 30.0, "{found}");
    assert_eq!(found["best_parameters"], json!({"x": 3}), "{found}");
    let said = |worker: &str| app.expect(0, &["logs", "latest", "gang", "--worker", worker]).out;
    assert!(said("manager-0").contains("ended with exit code 1: its log says why"));
    let trials = said("trial-0") + &said("trial-1");
    assert!(trials.contains("four is a mistake") && trials.contains("the result of 3 is 30"), "{trials}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 400 MB of packages: make test-templates"]
fn nni_ends_when_more_trials_fail_than_are_tolerated() {
    let app = app();
    let run = run(&app, 1, &job("nni"), &["-p", "failures=0"]);
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!(failure["worker"], json!({"role": "manager", "index": 0}), "{failure}");
    let said = app.expect(0, &["logs", "latest", "gang", "--worker", "manager-0", "--stderr"]).out;
    assert!(said.contains("1 trials failed, and `max_failures` is 0; first trial "), "{said}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 400 MB of packages: make test-templates"]
fn nni_fails_when_a_worker_is_killed() {
    killing_a_worker_fails(&app(), "nni", &["-p", "then=hold"], "trial", 1);
}

#[test]
#[ignore = "needs 400 MB of packages: make test-templates"]
fn nni_goes_on_with_the_trials_of_the_attempt_before() {
    let app = app();
    let running = app.start(&["run", &job("nni-again")]);
    wait_within(PATIENCE, "the third trial", || is_there(&app.data(), "runs", "busy"));
    let manager = of_worker(&app, "manager", 0);
    kill_process(worker_of(&app, &json!({"pid": manager})), Signal::KILL).unwrap();
    let done = running.wait();
    assert_eq!(done.code, Some(0), "{done:?}");
    let run = app.latest();
    let found = outputs(&run, "gang");
    assert_eq!(found["best_value"], 30.0, "{found}");
    // The grid does not remember running trials, and tries them again.
    assert_eq!(found["trials"], 4, "{found}");
    let again = |x: u32| folder(&run).join(format!("began.{x}.2")).exists();
    assert_eq!(
        [1, 2, 3].map(again).into_iter().filter(|it| *it).count(),
        1,
        "two trials had ended, and are not run again"
    );
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 400 MB of packages: make test-templates"]
fn nni_stops_trials_that_are_bad_or_take_too_long() {
    let app = app();
    let run = run(&app, 0, &job("nni-early"), &[]);
    let found = outputs(&run, "gang");
    assert_eq!(
        (&found["trials"], &found["failed"], &found["stopped"]),
        (&4.into(), &0.into(), &2.into()),
        "{found}"
    );
    assert_eq!(found["best_value"], 4.0, "{found}");
    let said = app.expect(0, &["logs", "latest", "gang", "--worker", "manager-0"]).out;
    assert_eq!(said.matches(" is stopped").count(), 2, "{said}");
    assert!(!said.contains("Traceback"), "{said}");
    assert!(wait_for_none(&app).is_empty(), "what the trials started is ended with them");
}

#[test]
fn wrong_searches_are_refused_before_anything_starts() {
    for (arguments, argument, why) in [
        ("search_space: {x: {_type: unifrom, _value: [0, 1]}}", "search_space/x/_type", "`uniform`"),
        ("search_space: {x: {_type: uniform, _value: [0]}}", "search_space/x/_value", "at least 2"),
        (
            "search_space: {x: {_type: randint, _value: [0, 1.5]}}",
            "search_space/x/_value/1",
            "a whole number",
        ),
        ("search_space: {x: {_type: loguniform, _value: [0, 1]}}", "search_space/x/_value/0", "more than 0"),
        ("search_space: {x: {_type: choice}}", "search_space/x", "_value"),
        ("search_space: {}", "search_space", "at least 1"),
        ("tuner: Tpe", "tuner", "TPE"),
        ("tuner_args: {optimize_mode: minimize}", "tuner_args", "remove it here"),
        ("assessor_args: {start_step: 2}", "assessor_args", "there is no assessor"),
        ("assessor: Curvefitting", "assessor_args", "`epoch_num`"),
        (
            "assessor: Curvefitting, assessor_args: {epoch_num: 9}, optimize_mode: minimize",
            "assessor",
            "large",
        ),
        ("max_experiment_duration: 90", "max_experiment_duration", "expected text"),
        ("max_experiment_duration: 90x", "max_experiment_duration", "must match the pattern"),
    ] {
        let app = TestApp::new();
        app.write("wrong/train.py", "");
        let space = "search_space: {x: {_type: uniform, _value: [0, 1]}}";
        let space = if arguments.contains("search_space") { "" } else { space };
        let arguments =
            [space, arguments].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ");
        let task =
            format!("  - name: a\n    template: nni\n    arguments: {{script: train.py, {arguments}}}\n");
        let file = app.pipeline("wrong", &task);
        let said = app.expect(2, &["validate", &file]).out;
        assert!(said.contains(&format!("/tasks/0/arguments/{argument}: ")) && said.contains(why), "{said}");
    }
}

#[test]
#[ignore = "needs 400 MB of packages: make test-templates"]
fn what_nni_does_not_take_and_trials_that_all_fail_are_told() {
    let app = app();
    for (arguments, why) in [
        ("search_space: {x: {_type: normal, _value: [0, 0]}}", "`search_space`: NNI's TPE does not take it"),
        (
            "search_space: {x: {_type: choice, _value: [1]}}, tuner_args: {sed: 1}",
            "`tuner_args`: NNI's TPE does not take",
        ),
        (
            "search_space: {x: {_type: uniform, _value: [0, 1]}}, max_trial_number: 2",
            "no trial of 2 has a result: a trial on trial-",
        ),
    ] {
        app.write("wrong/train.py", "raise ValueError('always')");
        let task =
            format!("  - name: a\n    template: nni\n    arguments: {{script: train.py, {arguments}}}\n");
        run(&app, 1, &app.pipeline("wrong", &task), &[]);
        let said = app.expect(0, &["logs", "latest", "a", "--worker", "manager-0", "--stderr"]).out;
        assert!(said.contains(why), "{said}");
    }
    assert!(wait_for_none(&app).is_empty());
}

//! The `pipeline` template: its example. `api::runs::sub_runs` tests the rest.

use super::rig::{app, shipped};

#[test]
fn the_example_of_pipeline_runs_the_same_steps_for_each_field() {
    let app = app();
    app.expect(0, &["run", &shipped("task-templates/pipeline/example.yaml")]);
    let log = app.expect(0, &["logs", "latest", "compare"]).out;
    assert!(log.contains("north 48, south 28"), "{log}");
    let runs = app.expect(0, &["runs"]).out;
    assert_eq!(runs.matches("measure-field").count(), 2, "{runs}");
}

//! `cubeloom compile --for kubernetes`: the manifests of a whole pipeline, and the decisions reported with
//! them.

use crate::support::TestApp;

const ELASTIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/elastic/pipeline.yaml");
const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello/pipeline.yaml");

/// The values of a key at the same depth in every manifest.
fn values<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    text.lines().filter_map(|line| line.strip_prefix(key)).collect()
}

#[test]
fn objects_are_printed_with_what_was_decided() {
    let app = TestApp::new();
    let done = app.expect(0, &["compile", ELASTIC, "--for", "kubernetes"]);
    let first = done.out.lines().next().unwrap();
    assert!(first.starts_with("# ") && first.contains("every operator"), "{first}");
    assert!(done.out.contains("# - PyTorchJob: Kubeflow's training operator is installed"), "{}", done.out);
    let kinds = values(&done.out, "kind: ");
    assert!(kinds.contains(&"Pod") && kinds.contains(&"PyTorchJob"), "{kinds:?}");

    let facts = app.write("facts.yaml", "kubernetes: {namespace: team, volcano: {queue: team}}\n");
    let call = ["compile", ELASTIC, "--for", "kubernetes", "--facts", facts.to_str().unwrap()];
    let done = app.expect(0, &call);
    assert!(done.out.contains("Kubeflow's training operator is not installed"), "{}", done.out);
    let namespaces = values(&done.out, "  namespace: ");
    assert_eq!(namespaces, vec!["team"; values(&done.out, "kind: ").len()]);
    let compiled = app.json(0, &call);
    let train = compiled["tasks"].as_array().unwrap().iter().find(|task| task["task"] == "train").unwrap();
    assert_eq!(train["jobs"][0]["objects"][0]["apiVersion"], "batch.volcano.sh/v1alpha1");
    assert!(!app.data().exists(), "compiling needs no data folder");
}

#[test]
fn facts_that_are_wrong_are_told() {
    let app = TestApp::new();
    let facts = app.write("facts.yaml", "kubernetes: {volcanoes: 1}\n");
    let facts = facts.to_str().unwrap();
    let refused = app.expect(2, &["compile", HELLO, "--for", "kubernetes", "--facts", facts]);
    assert!(refused.err.contains("volcanoes") && refused.err.contains("docs/kubernetes.md"), "{refused:?}");
    assert!(app.expect(2, &["compile", HELLO, "--facts", facts]).err.contains("--for kubernetes"));
    assert!(
        app.expect(2, &["compile", HELLO, "--for", "kubernetes", "--facts", "/no"])
            .err
            .contains("cannot be read")
    );
    let needy = app.pipeline(
        "needy",
        "  - name: one\n    template: command\n    arguments: {command: [echo]}\n    resources: {gpu: {fraction: 0.5}}\n",
    );
    let bare = app.write("bare.yaml", "kubernetes: {}\n");
    let done = app.expect(2, &["compile", &needy, "--for", "kubernetes", "--facts", bare.to_str().unwrap()]);
    assert!(done.out.contains("/tasks/0/resources/gpu: this cluster allocates whole"), "{done:?}");
}

//! Files of another platform: documents are written, job templates installed.

use crate::support::TestApp;

const TEMPLATES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../server/compiler/tests/documents/cube-studio/templates.json");

#[test]
fn job_templates_are_installed_and_clashes_told() {
    let app = TestApp::new();
    let words = ["import", "cube-studio", TEMPLATES, "-o", app.path("made").to_str().unwrap(), "--install"]
        .map(ToOwned::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = app.call(&words);
    assert!(done.err.contains("installed: detector"), "{done:?}");
    assert!(app.expect(0, &["template", "show", "detector"]).out.contains("Finds objects"));
    let text = std::fs::read_to_string(TEMPLATES).unwrap().replace("\"detector\"", "\"command\"");
    let clash = app.write("clash.json", &text);
    let done = app.expect(2, &["import", "cube-studio", clash.to_str().unwrap(), "--install"]);
    assert!(done.err.contains("not installed: command: there is another template of this name"), "{done:?}");
    assert!(app.expect(0, &["template", "show", "command"]).out.starts_with("command 1."), "ours stays");
}

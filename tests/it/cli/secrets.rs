//! Secrets reach tasks by name, and are never stored in plain text.

use std::fs;
use std::path::Path;

use crate::support::TestApp;

const IN_ENV: &str = "tops3cret-in-a-variable";
const IN_FILE: &str = "tops3cret-in-a-file";

#[test]
fn secrets_are_given_by_name_and_never_stored() {
    let mut app = TestApp::new();
    let file = app.write("token.txt", IN_FILE);
    app.set("MY_KEY", IN_ENV);
    app.set("CUBELOOM_SECRETS_API_KEY", "env:MY_KEY");
    app.set("CUBELOOM_SECRETS_TOKEN", format!("file:{}", file.display()));
    let pipeline = app.pipeline(
        "secret",
        r#"
  - name: use
    template: command
    arguments: {command: [sh, -c, 'echo $API_KEY | wc -c; wc -c < $HOME/../secrets/token; stat -c %a $HOME/../secrets/token']}
    secrets: [api-key, {name: token, file: token}]
"#,
    );
    let run = app.json(0, &["run", &pipeline]);
    assert!(!run.to_string().contains("tops3cret"));
    let said = app.expect(0, &["logs", "latest", "use", "--worker", "worker-0", "--stdout"]).out;
    let words: Vec<&str> = said.split_whitespace().collect();
    assert_eq!(words[0], (IN_ENV.len() + 1).to_string());
    assert_eq!(words[1], IN_FILE.len().to_string());
    let leaks = leaks(&app.data());
    assert!(leaks.is_empty(), "{leaks:?}");
    let shown = app.expect(0, &["config"]).out;
    assert!(shown.contains("secrets.api-key") && !shown.contains("tops3cret"), "{shown}");
}

/// Files below a folder that contain a secret.
fn leaks(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(leaks(&path));
        } else if path.is_file() && fs::read(&path).unwrap().windows(9).any(|bytes| bytes == b"tops3cret") {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn an_unknown_secret_is_a_problem_of_the_document() {
    let app = TestApp::new();
    let file = app.pipeline(
        "unknown",
        "  - {name: use, template: command, arguments: {command: ['true']}, secrets: [nothing]}\n",
    );
    let done = app.expect(2, &["run", &file]);
    assert!(done.out.contains("nothing"), "{done:?}");
}

#[test]
fn the_server_may_have_secrets_that_a_caller_has_not() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_SECRETS_API_KEY", "env:MY_KEY");
    let file = app.pipeline(
        "served",
        "  - {name: use, template: command, arguments: {command: [sh, -c, 'test -n \"$API_KEY\"']}, secrets: [api-key]}\n",
    );
    let alone = app.expect(2, &["run", &file]);
    assert!(alone.out.contains("there is no secret `api-key` here"), "{alone:?}");
    let server = app.serve_with(&[("MY_KEY", IN_ENV)]);
    app.expect(0, &["run", &file]);
    drop(server);
}

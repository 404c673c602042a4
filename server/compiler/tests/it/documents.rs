//! Parsing of documents: YAML and JSON alike, and numbers in the forms that people write.

use cubeloom_compiler::parse_pipeline;
use cubeloom_domain::Code;

const YAML: &str = r#"
# A comment.
apiVersion: cubeloom/v1
kind: Pipeline
name: "p"
labels: {team: vision, level: 3, on: true}
env:
  A: 1
  B: 1.50
  C: yes
  D: true
  E:
  F: 007
tasks:
  - &base
    name: a
    template: t
    resources: {cpu: 2, memory: 1.5Gi}
    arguments:
      text: |
        two
        lines
      list: &list [1, -2.5, 0x10, null, "3", 2026-01-31]
  - <<: *base
    name: b
    needs: [a]
    arguments: {list: *list}
    timeout: 90
"#;

#[test]
fn yaml_is_read_as_people_mean_it() {
    let pipeline = parse_pipeline(YAML).unwrap().pipeline;
    let env: Vec<(&str, &str)> =
        pipeline.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("A", "1"), ("B", "1.50"), ("C", "yes"), ("D", "true"), ("E", ""), ("F", "007")]);
    assert_eq!(pipeline.labels["level"], "3");
    let [a, b] = pipeline.tasks.as_slice() else { panic!("two tasks") };
    assert_eq!(a.resources.as_ref().unwrap().cpu.unwrap().0, 2000);
    assert_eq!(a.arguments["text"], "two\nlines\n");
    assert_eq!(b.arguments["list"], serde_json::json!([1, -2.5, 16, null, "3", "2026-01-31"]));
    assert_eq!((b.template.as_str(), b.name.as_str()), ("t", "b"), "merged, and overridden");
    assert_eq!(b.timeout.unwrap().to_string(), "1m30s");
}

#[test]
fn json_gives_the_same_as_yaml() {
    let mut from_yaml = parse_pipeline(YAML).unwrap().pipeline;
    // The original form of a YAML number is lost.
    from_yaml.tasks.iter_mut().for_each(|task| task.written = None);
    let json = serde_json::to_string_pretty(&from_yaml).unwrap();
    assert_eq!(parse_pipeline(&json).unwrap().pipeline, from_yaml);
    let flow = "{apiVersion: cubeloom/v1, kind: Pipeline, name: p, tasks: [{name: a, template: t}]}";
    assert_eq!(parse_pipeline(flow).unwrap().pipeline.tasks.len(), 1, "YAML's flow style begins like JSON");
    let escaped = r#"{"apiVersion":"cubeloom/v1","kind":"Pipeline","name":"p","description":"\u00e9\n\ud83d\ude00","tasks":[{"name":"a","template":"t"}]}"#;
    assert_eq!(parse_pipeline(escaped).unwrap().pipeline.description.as_deref(), Some("é\n😀"));
}

#[test]
fn problems_of_later_stages_are_located_in_the_text() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - name: a\n    template: t\n    arguments:\n      a/b: 1\n";
    let document = parse_pipeline(text).unwrap();
    let mut problems = ["/tasks/0/arguments/a~1b", "/tasks/0/template/x", "/parameters/none", ""]
        .map(|path| cubeloom_domain::Problem::error(Code::InvalidValue, path, "here"));
    document.locate(&mut problems);
    let places: Vec<_> =
        problems.iter().map(|problem| (problem.line.unwrap(), problem.column.unwrap())).collect();
    assert_eq!(places, [(8, 7), (6, 5), (1, 1), (1, 1)]);
}

#[test]
fn an_anchor_on_a_key_names_its_text() {
    let text = "{apiVersion: cubeloom/v1, kind: Pipeline, name: p, labels: {&k team: ml, other: *k}, tasks: [{name: a, template: t}]}";
    let labels = parse_pipeline(text).unwrap().pipeline.labels;
    assert_eq!(labels.get("other").map(String::as_str), Some("team"), "{labels:?}");
}

/// The message suggests the amount that was probably intended, or none.
#[test]
fn too_little_memory_is_told_with_the_unit_that_was_meant() {
    for (memory, offered) in [
        ("0.1Mi", "; did you mean 0.1Gi?"),
        ("100k", "; did you mean 100Mi?"),
        ("512", "; did you mean 512Mi?"),
        ("64Ki", "; did you mean 64Mi?"),
        ("0", ""),
    ] {
        let text = format!(
            "{{apiVersion: cubeloom/v1, kind: Pipeline, name: p, tasks: [{{name: a, template: t, resources: {{memory: {memory}}}}}]}}"
        );
        let problems = parse_pipeline(&text).unwrap_err();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        let end = format!("of memory is too little for any program{offered}");
        assert!(problem.message.ends_with(&end), "{memory}: {}", problem.message);
    }
}

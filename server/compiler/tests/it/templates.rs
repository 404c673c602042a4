//! The lint of task templates.

use cubeloom_compiler::{check_template, parse_template};

use crate::problems::listed;

const WRONG: &str = r#"
apiVersion: cubeloom/v1
kind: TaskTemplate
name: wrong
version: 1.0
group: basics
label: {en: "", zh: 错误}
help: {en: x}
framework: pytroch
roles: [{name: worker, replicas: many, resources: {cpu: fast}, comand: [x]}]
command: []
"#;

const SUSPICIOUS: &str = r##"
apiVersion: cubeloom/v1
kind: TaskTemplate
name: suspicious
version: 1.0.0-beta
group: basics
label: {en: x, zh: x}
help: {en: x, zh: x}
framework: mpi
local: {python: {requirements: [numpy]}, apt: [Open MPI]}
parameters:
  type: object
  properties:
    rows: {type: integer, minimum: few, default: none}
    my-name: {type: string}
    size: {type: int, patern: x, $ref: "#/x"}
checks:
  - {holds: "args.rows > 1", argument: row, says: "{{ args.row }}"}
  - {holds: "{{ tasks.a.outputs.n }}", argument: rows, says: x}
roles:
  - {name: launcher, replicas: "{{ args.row }}", resources: {cpu: fast}}
  - {name: master, replicas: "{{ tasks.a.outputs.n }}"}
command: ["{{ item }}", "{% if x %}{% endif %}", "{{ run.nme }}"]
env: {CUBELOOM_X: y}
elastic: {min: 1, max: 2}
outputs: [{name: a-b}, {name: a-b}]
"##;

#[test]
fn mistakes_of_form_have_lines() {
    insta::assert_snapshot!(listed(&parse_template(WRONG).unwrap_err()));
}

#[test]
fn mistakes_of_meaning_are_all_told() {
    insta::assert_snapshot!(listed(&check_template(&parse_template(SUSPICIOUS).unwrap())));
}

/// A template's rules across its arguments: the first violated one is reported, and rules on unknown values
/// are skipped.
#[test]
fn arguments_are_checked_together() {
    use crate::support::{fixtures, machine, try_plan};
    use cubeloom_domain::JsonMap;
    use cubeloom_domain::template::CheckTemplate;
    let mut templates = fixtures();
    let echo = templates.get_mut("echo").unwrap().get_mut("1.2.0").unwrap();
    echo.template.parameters = serde_json::json!({"type": "object", "properties": {
        "rows": {"type": "integer"}, "parts": {"type": "integer", "default": 3},
    }});
    (echo.template.command, echo.template.env) = (vec!["true".into()], Default::default());
    let check = |holds: &str, says: &str| CheckTemplate {
        holds: holds.into(),
        argument: "parts".into(),
        says: says.into(),
    };
    echo.template.checks = vec![
        check("{{ args.parts > 0 }}", "{{ args.parts }} parts are none"),
        check("{{ args.rows % args.parts == 0 }}", "{{ args.parts }} does not divide {{ args.rows }}"),
        check("{{ args.rows }}", "never"),
    ];
    let told = |arguments: &str| {
        let text = format!(
            "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n\
             \x20 - {{name: a, template: echo, arguments: {arguments}}}\n\
             \x20 - {{name: b, template: echo, needs: [a], arguments: {{rows: \"{{{{ tasks.a.outputs.n }}}}\", parts: 2}}}}\n"
        );
        let problems = try_plan(&text, JsonMap::new(), &templates, &machine()).err().unwrap_or_default();
        let errors = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message));
        errors.collect::<Vec<_>>()
    };
    assert_eq!(told("{rows: 4, parts: 0}"), ["/tasks/0/arguments/parts: 0 parts are none"]);
    assert_eq!(told("{rows: 4}"), ["/tasks/0/arguments/parts: 3 does not divide 4"]);
    assert_eq!(
        told("{rows: 6}"),
        ["/tasks/0/template: the task template `echo`, checks: {{ args.rows }} yields 6, not true or false"]
    );
}

/// The argument checker, through a template's own default.
#[test]
fn arguments_are_checked_by_the_schema() {
    use crate::support::{machine, try_plan};
    use cubeloom_domain::JsonMap;
    let mut templates = crate::support::fixtures();
    let echo = templates.get_mut("echo").unwrap().get_mut("1.2.0").unwrap();
    echo.template.parameters = serde_json::json!({
        "type": "object", "additionalProperties": false, "required": ["words"],
        "oneOf": [{"required": ["script"]}, {"required": ["code"]}],
        "properties": {
            "words": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "minItems": 1, "uniqueItems": true},
            "times": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 3, "default": 3},
            "file": {"type": ["string", "null"], "default": null},
            "script": {"type": "string"}, "code": {"type": "string"},
            "mode": {"enum": ["fast", "slow"], "default": "fast"},
            "day": {"type": "string", "format": "date", "default": "2026-01-01"},
            "deep": {"type": "object", "additionalProperties": {"type": "number"}, "default": {}},
        },
    });
    let report: Vec<String> = [
        r#"{"words": ["a"], "script": "x"}"#,
        r#"{"words": ["a"], "script": "x", "code": "y"}"#,
        r#"{"words": ["a"]}"#,
        r#"{"words": ["a", "B", "a", 4], "times": 10, "file": 3, "code": "x"}"#,
        r#"{"times": 4.5, "mode": "fsat", "day": "tomorrow", "deep": {"x": "y"}, "worlds": ["a"], "code": "x"}"#,
        r#"{"words": "{{ tasks.b.outputs.w }}", "tims": "{{ tasks.b.outputs.w }}", "code": 1}"#,
    ]
    .iter()
    .map(|arguments| {
        let text = format!(
            "{{\"apiVersion\": \"cubeloom/v1\", \"kind\": \"Pipeline\", \"name\": \"p\", \"tasks\": [{{\"name\": \"b\", \
             \"template\": \"mpi\"}}, {{\"name\": \"a\", \"template\": \"echo\", \"needs\": [\"b\"], \"arguments\": {arguments}}}]}}"
        );
        let problems = try_plan(&text, JsonMap::new(), &templates, &machine()).err().unwrap_or_default();
        format!("{arguments}\n{}", listed(&problems))
    })
    .collect();
    insta::assert_snapshot!(report.join("\n\n"));
}

//! All problems of a document are reported at once, with their positions and a remedy.

use cubeloom_compiler::{check_pipeline, parse_pipeline, validate};
use cubeloom_domain::executor::{Facts, GpuFacts, NodeFacts};
use cubeloom_domain::priority::{Preempts, PriorityClass};
use cubeloom_domain::{Bytes, Code, Cpu, JsonMap, Problem, Severity};
use serde_json::json;

use crate::support::{fixtures, machine, try_plan};

/// One line per problem: severity, code, position, path, message.
pub fn listed(problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let (line, column) = (problem.line.unwrap_or(0), problem.column.unwrap_or(0));
        let severity = if problem.severity == Severity::Error { "" } else { "(warning) " };
        format!("{line}:{column} {severity}{:?} {}\n    {}", problem.code, problem.path, problem.message)
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

const MISTAKES: &str = r#"apiVersion: cubeloom/v2
kind: Pipeline
name: My Pipeline
retires: 3
parameters:
  day: {type: date, default: yesterday}
  size: {type: integer, minimum: 10, maximum: 5}
schedule: {cron: "0 25 * * *", timezone: Mars/Olympus}
tasks:
  - name: pull
    template: ecoh
    arguments: {words: [a]}
  - name: pull
    template: echo
    needs: [pul]
    arguments: {word: [a], times: many}
    resources: {cpu: fast, memory: 2Gb, gpu: {count: 1, fraction: 0.5}}
  - name: a
    template: echo
    needs: [c]
    arguments: {words: ["{{ params.dya }}", "{{ tasks.pull.outputs.x }}"]}
    priority: 5000
  - name: b
    template: echo
    needs: [a]
    arguments: {words: "{{ item }}"}
    env: {CUBELOOM_RUN: x, 1ST: y}
    retry: {attempts: 0, on: [oom]}
  - name: c
    template: echo@9.9.9
    needs: [b]
    arguments: {words: ["{{ 1 + }}"]}
    when: tasks.nobody.outputs.ok
    for_each: {list: [1], matrix: {x: [1]}}
    timeout: soon
    secrets: [nothing]
    cluster: far
"#;

#[test]
fn twenty_mistakes_are_told_at_once() {
    let (document, problems) = check_pipeline(MISTAKES, &fixtures(), &machine());
    assert!(document.is_none());
    assert!(problems.iter().all(|problem| problem.line.is_some() && problem.column.is_some()));
    assert!(problems.len() >= 20, "{}", problems.len());
    insta::assert_snapshot!(listed(&problems));
}

#[test]
fn a_rule_for_hangs_is_checked() {
    let text = "{apiVersion: cubeloom/v1, kind: Pipeline, name: p, tasks: [
        {name: x, template: echo, hang: {after: 0s, action: kill, restarts: 101, often: true}}]}";
    let problems = parse_pipeline(text).map(|_| ()).unwrap_err();
    let at = |key: &str| problems.iter().any(|problem| problem.path == format!("/tasks/0/hang/{key}"));
    assert!(["after", "action", "restarts", "often"].into_iter().all(at), "{problems:#?}");
    let action = problems.iter().find(|problem| problem.path.ends_with("action"));
    assert!(action.is_some_and(|problem| problem.message.contains("restart")), "{problems:#?}");
}

#[test]
fn cycles_are_named_in_order() {
    let text = "{apiVersion: cubeloom/v1, kind: Pipeline, name: p, tasks: [
        {name: x, template: echo}, {name: a, template: echo, needs: [b, x]},
        {name: b, template: echo, needs: [c]}, {name: c, template: echo, needs: [a]}]}";
    let problems = parse_pipeline(text).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(problems[0].code, Code::Cycle);
    let message = &problems[0].message;
    let said = ["a needs b needs c needs a", "b needs c needs a needs b", "c needs a needs b needs c"];
    assert!(said.iter().any(|cycle| message.contains(cycle)), "{message}");
}

#[test]
fn syntax_errors_have_line_and_column() {
    for (text, line) in [
        ("a: [1, 2\nb: 3", 2),
        ("name: x\nkind: [", 3),
        ("{\n  \"name\": \"x\",\n  \"kind\" 1\n}", 3),
        ("{\"name\": \"x\",\n \"a\": [1, 2}", 2),
        ("", 1),
        ("# nothing\n", 1),
        ("a: 1\n---\nb: 2", 2),
    ] {
        let problems = parse_pipeline(text).map(|_| ()).unwrap_err();
        assert_eq!(problems.len(), 1, "{text}: {problems:#?}");
        assert_eq!(problems[0].code, Code::Syntax, "{text}: {problems:#?}");
        assert_eq!(problems[0].line, Some(line), "{text}: {problems:#?}");
        assert!(problems[0].column.is_some());
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let deep = format!("{}1{}", "[".repeat(80), "]".repeat(80));
    let flow = format!("x: {}", "[".repeat(300));
    let laughs: String = std::iter::once("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned())
        .chain((1..12).map(|n| {
            let before = format!("*a{}, ", n - 1).repeat(10);
            format!("a{n}: &a{n} [{}]\n", before.trim_end_matches(", "))
        }))
        .collect();
    for text in [&deep, &flow, &laughs, &format!("{{\"a\": {deep}}}")] {
        let problems = parse_pipeline(text).map(|_| ()).unwrap_err();
        assert!(problems.iter().any(|problem| problem.code == Code::TooLarge), "{problems:#?}");
    }
}

#[test]
fn a_key_that_stands_there_twice_is_told() {
    for text in [
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nname: q\ntasks: [{name: a, template: echo}]",
        r#"{"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p", "name": "q",
           "tasks": [{"name": "a", "template": "echo"}]}"#,
    ] {
        let problems = parse_pipeline(text).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert_eq!((problems[0].code, problems[0].path.as_str()), (Code::DuplicateKey, "/name"));
    }
}

#[test]
fn parameters_are_checked_when_a_run_is_planned() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nparameters:\n  day: {type: date}\n  \
                size: {type: integer, maximum: 5, default: 1}\n  how: {type: string, enum: [fast, slow], default: fast}\n\
                tasks:\n  - {name: a, template: echo, arguments: {words: [\"{{ params.day }}{{ params.size }}{{ params.how }}\"]}}\n";
    let given = |value: serde_json::Value| value.as_object().unwrap().clone();
    let problems =
        try_plan(text, given(json!({"size": "9", "how": "medium", "dya": "x"})), &fixtures(), &machine());
    insta::assert_snapshot!(listed(&problems.unwrap_err()));
    let planned = try_plan(text, given(json!({"size": "4", "day": "2026-02-01"})), &fixtures(), &machine());
    assert_eq!(planned.unwrap().plan.parameters["size"], 4, "the command line knows only texts");
    let document = parse_pipeline(text).unwrap();
    assert!(
        validate(&document, &fixtures(), &machine()).is_empty(),
        "a missing parameter is no mistake of the document"
    );
}

#[test]
fn what_never_fits_is_refused() {
    let text = |task: &str| {
        format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {{name: a, {task}}}\n")
    };
    let mut facts = machine();
    facts.installed_apt = Some(Vec::new());
    let report: Vec<String> = [
        "template: echo, arguments: {words: [a]}, resources: {cpu: 9}",
        "template: echo, arguments: {words: [a]}, resources: {memory: 40Gi}",
        "template: echo, arguments: {words: [a]}, resources: {gpu: {count: 1, type: H100}}",
        "template: echo, arguments: {words: [a]}, resources: {cpu: 1500m, cpu_exclusive: true}",
        "template: echo, arguments: {words: [a]}, resources: {cpu: 2, cpu_limit: 500m}",
        "template: echo, arguments: {words: [a]}, resources: {cpu: 2, cpu_exclusive: true, cpu_limit: 4}",
        "template: mpi, arguments: {workers: 4}",
        "template: crowd, arguments: {workers: 3}",
        "template: echo, arguments: {words: [a]}, secrets: [s3-kye]",
        "template: echo, arguments: {words: [a]}, placement: {node_group: gpus}",
        "template: echo, arguments: {words: [a]}, elastic: {min: 1, max: 2}",
        "template: mpi, role_resources: {lancher: {cpu: 1}}",
    ]
    .iter()
    .map(|task| {
        format!(
            "{task}\n{}",
            listed(&try_plan(&text(task), JsonMap::new(), &fixtures(), &facts).unwrap_err())
        )
    })
    .collect();
    insta::assert_snapshot!(report.join("\n\n"));
}

#[test]
fn a_node_group_has_what_its_own_nodes_have() {
    let text = |task: &str, rest: &str| {
        format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\n{rest}tasks:\n  - {{name: a, {task}}}\n")
    };
    let mut facts = Facts { kind: "kubernetes".into(), ..machine() };
    let large = facts.nodes[0].clone();
    let small = |groups: &[&str]| NodeFacts {
        cpu: Cpu(2000),
        groups: groups.iter().map(|&group| group.into()).collect(),
        ..large.clone()
    };
    facts.nodes.extend([small(&["small"]), small(&["small", "other"])]);
    facts.node_groups = ["small", "other", "grows"].map(Into::into).into();
    let said = |task: &str, rest: &str| match try_plan(&text(task, rest), JsonMap::new(), &fixtures(), &facts)
    {
        Ok(_) => String::new(),
        Err(problems) => {
            problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
        }
    };
    let one = |cpu: u32, rest: &str| {
        format!("template: echo, arguments: {{words: [a]}}, resources: {{cpu: {cpu}}}{rest}")
    };
    let of_pipeline = "placement: {node_group: small}\n";
    assert_eq!(said(&one(8, ""), ""), "");
    assert_eq!(said(&one(2, ""), of_pipeline), "");
    let refused = "a worker of the role `worker` can never run in the node group `small`: it needs 4 CPU, and the largest node has 2";
    assert_eq!(said(&one(4, ", placement: {node_group: small}"), ""), refused);
    assert_eq!(said(&one(4, ""), of_pipeline), refused);
    // The task's own group overrides the pipeline's; an empty group may scale up.
    assert_eq!(said(&one(8, ", placement: {node_group: grows}"), of_pipeline), "");
    let gang = said("template: mpi, arguments: {workers: 4}", of_pipeline);
    assert_eq!(
        gang,
        "all 5 workers together can never run in the node group `small`: they need 4 x 2 + 1 x 0.1 CPU, and it has 2 x 2 CPU"
    );
    // The message names another group if it has more; a sum would not tell which nodes the workers could use.
    let gang = said("template: mpi, arguments: {workers: 7}", "");
    assert_eq!(
        gang,
        "all 8 workers together can never run here: they need 7 x 2 + 1 x 0.1 CPU, and the cluster has 1 x 8 + 2 x 2 CPU; its largest node group, `small`, has 2 x 2 CPU"
    );
    facts.nodes[0].groups = vec!["grows".into()];
    let text = text("template: mpi, arguments: {workers: 4}", of_pipeline);
    let problems = try_plan(&text, JsonMap::new(), &fixtures(), &facts).unwrap_err();
    assert_eq!(
        problems[0].message,
        "all 5 workers together can never run in the node group `small`: they need 4 x 2 + 1 x 0.1 CPU, and it has 2 x 2 CPU; the largest node group, `grows`, has 1 x 8 CPU"
    );
}

#[test]
fn a_gang_of_cards_that_never_fits_is_told_by_its_shape() {
    let card = GpuFacts { name: "H100".into(), memory: Bytes(80 << 30), ..GpuFacts::default() };
    let mut facts = Facts { kind: "kubernetes".into(), ..machine() };
    facts.nodes[0].gpus = vec![card; 8];
    facts.nodes[0].groups = vec!["h100".into()];
    let node = facts.nodes[0].clone();
    facts.nodes.extend([node.clone(), NodeFacts { gpus: Vec::new(), groups: Vec::new(), ..node }]);
    facts.node_groups = ["h100".to_owned()].into();
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {name: a, template: mpi, arguments: {workers: 3}, \
                role_resources: {worker: {gpu: {count: 8}}}}\n";
    let problems = try_plan(text, JsonMap::new(), &fixtures(), &facts).unwrap_err();
    assert_eq!(
        problems[0].message,
        "all 4 workers together can never run here: they need 3 x 8 GPUs, and the cluster has 2 x 8 GPUs"
    );
}

#[test]
fn what_is_suspicious_is_told_and_planned() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nparameters: {unused: {type: string, default: x}}\ntasks:\n  \
                - {name: a, template: echo, arguments: {words: [a]}, trigger: one_failed}\n  \
                - {name: b, template: echo, needs: [a, a], arguments: {words: [b]}}\n";
    let planned = try_plan(text, JsonMap::new(), &fixtures(), &machine()).unwrap();
    insta::assert_snapshot!(listed(&planned.warnings));
    assert_eq!(planned.plan.tasks[1].needs.len(), 1);
}

#[test]
fn a_priority_above_what_the_project_may_name_is_refused() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\npriority: 5\ntasks:\n  \
                - {name: a, template: echo, arguments: {words: [a]}, priority: 6}\n  \
                - {name: b, template: echo, arguments: {words: [b]}}\n  \
                - {name: c, template: echo, arguments: {words: [c]}}\n  \
                - {name: d, template: echo, arguments: {words: [d]}, priority: 4}\n";
    let facts = |most: i32| Facts { max_priority: [(String::new(), most)].into(), ..machine() };
    let refused = try_plan(text, JsonMap::new(), &fixtures(), &facts(4)).unwrap_err();
    let paths: Vec<&str> = refused.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["/priority", "/tasks/0/priority"]);
    assert!(refused[0].message.contains("at most 4"), "{refused:?}");
    let planned = |text: &str, most: i32| {
        let planned = try_plan(text, JsonMap::new(), &fixtures(), &facts(most)).unwrap();
        planned.plan.tasks.iter().map(|task| task.priority).collect::<Vec<_>>()
    };
    assert_eq!(planned(text, 6), [6, 5, 5, 4]);
    // Without a priority a task gets 0, or the limit if that is lower.
    let none = text.replace("priority: 5\n", "").replace(", priority: 6", "").replace(", priority: 4", "");
    assert_eq!(planned(&none, -3), [-3; 4]);
    assert_eq!(planned(&none, 3), [0; 4]);
    // Another node group has its own limit.
    let there = text.replace("priority: 5", "priority: 5\nplacement: {node_group: fast}");
    let facts = Facts { node_groups: vec!["fast".into()], ..facts(4) };
    assert!(try_plan(&there, JsonMap::new(), &fixtures(), &facts).is_ok());
}

#[test]
fn a_limit_that_is_not_there_is_told_and_holds_nothing_back() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  \
                - {name: a, template: echo, arguments: {words: [a]}, limits: [hdfs-prod, hdfs-prd, hdfs-prod]}\n";
    let facts = Facts { limits: Some(["hdfs-prod".into()].into()), ..machine() };
    let planned = try_plan(text, JsonMap::new(), &fixtures(), &facts).unwrap();
    let mut told: Vec<(&str, &str)> =
        planned.warnings.iter().map(|one| (one.path.as_str(), one.message.as_str())).collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            (
                "/tasks/0/limits/1",
                "there is no concurrency limit `hdfs-prd`, so nothing is limited; did you mean `hdfs-prod`?"
            ),
            ("/tasks/0/limits/2", "`hdfs-prod` is listed twice")
        ]
    );
    assert_eq!(planned.plan.tasks[0].limits, ["hdfs-prd", "hdfs-prod"]);
    // If the existing ones are unknown, there is no report.
    let planned = try_plan(text, JsonMap::new(), &fixtures(), &machine()).unwrap();
    assert_eq!(planned.warnings.len(), 1);
    let wrong = text.replace("hdfs-prd", "HDFS!");
    let refused = try_plan(&wrong, JsonMap::new(), &fixtures(), &facts).unwrap_err();
    let paths: Vec<&str> = refused.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["/tasks/0/limits/1", "/tasks/0/limits/2"], "the name, and what is listed twice");
}

#[test]
fn what_has_no_effect_on_one_machine_is_told() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  \
                - {name: a, template: echo, arguments: {words: [a]}, resources: {cpu: 1, cpu_exclusive: true, rdma: 1}, \
                placement: {selector: {disk: ssd}, spread: preferred}}\n";
    let planned = try_plan(text, JsonMap::new(), &fixtures(), &machine()).unwrap();
    let paths: Vec<&str> = planned.warnings.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(
        paths,
        ["/tasks/0/resources/cpu_exclusive", "/tasks/0/resources/rdma", "/tasks/0/placement/selector"]
    );
    let elsewhere = Facts { kind: "kubernetes".into(), ..machine() };
    assert!(try_plan(text, JsonMap::new(), &fixtures(), &elsewhere).unwrap().warnings.is_empty());
}

#[test]
fn a_mistake_is_told_once() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  \
                - {name: a, template: echo, arguments: {words: [\"{{ params.x }}\", \"{{ 1 + }}\"]}}\n";
    let (_, problems) = check_pipeline(text, &fixtures(), &machine());
    let codes: Vec<Code> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::UndefinedName, Code::InvalidExpression], "{problems:#?}");
}

#[test]
fn a_priority_class_gives_its_priority_and_one_that_is_not_there_is_refused() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\npriority: urgent\npreemptible: false\ntasks:\n  \
                - {name: a, template: echo, arguments: {words: [a]}}\n  \
                - {name: b, template: echo, arguments: {words: [b]}, priority: 900, preemptible: true}\n  \
                - {name: c, template: echo, arguments: {words: [c]}, priority: batch}\n";
    let class = |name: &str, priority, preempts| PriorityClass {
        name: name.into(),
        priority,
        preempts,
        description: None,
        revision: 1,
    };
    let classes = vec![class("urgent", 50, Preempts::Lower), class("batch", -50, Preempts::Never)];
    let facts = Facts { priority_classes: Some(classes), ..machine() };
    let planned = try_plan(text, JsonMap::new(), &fixtures(), &facts).unwrap();
    let got: Vec<_> =
        planned.plan.tasks.iter().map(|task| (task.priority, task.preempts, task.protected)).collect();
    assert_eq!(got, [(50, true, true), (900, false, false), (-50, false, true)], "numbers preempt nothing");
    // Each problem once, also that of the pipeline's class, which all tasks would have.
    let wrong = text.replace("urgent", "urgnt").replace(", priority: 900", "");
    let refused = try_plan(&wrong, JsonMap::new(), &fixtures(), &facts).unwrap_err();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!((refused[0].code, refused[0].path.as_str()), (Code::UnknownPriority, "/priority"));
    assert_eq!(refused[0].message, "there is no priority class `urgnt`; did you mean `urgent`?");
    // The project's limit applies to classes, too.
    let bounded = Facts { max_priority: [(String::new(), 10)].into(), ..facts };
    let refused = try_plan(text, JsonMap::new(), &fixtures(), &bounded).unwrap_err();
    assert_eq!(
        refused.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(),
        ["/priority", "/tasks/1/priority"]
    );
    // If the classes are unknown, the document is accepted.
    let planned = try_plan(text, JsonMap::new(), &fixtures(), &machine()).unwrap();
    assert_eq!((planned.plan.tasks[0].priority, planned.plan.tasks[0].preempts), (0, false));
}

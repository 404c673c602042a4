//! Cube Studio's files as our documents: the results, and that every value is used or reported.

use std::collections::BTreeSet;
use std::fs;

use cubeloom_compiler::import::cube_studio::import;
use cubeloom_compiler::import::{DocumentKind, Fate, Imported};
use cubeloom_compiler::{check_template, parse_pipeline, parse_template};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::repository;

#[path = "cube_studio/launchers.rs"]
mod launchers;
#[path = "cube_studio/values.rs"]
mod values;

const PIPELINES: &str = include_str!("../documents/cube-studio/pipelines.json");
const TEMPLATES: &str = include_str!("../documents/cube-studio/templates.json");

fn shown(imported: &Imported) -> String {
    let documents =
        imported.documents.iter().map(|one| format!("# {:?} {}\n{}", one.kind, one.name, one.document));
    let report =
        imported.report.iter().map(|line| format!("{:?} {}\n    {}", line.fate, line.path, line.message));
    format!("{}\n{}", documents.collect::<Vec<_>>().join("\n"), report.collect::<Vec<_>>().join("\n"))
}

/// Every generated document can be parsed, or the report says why not.
fn assert_readable(imported: &Imported) {
    for document in &imported.documents {
        let problems = match document.kind {
            DocumentKind::Pipeline => parse_pipeline(&document.document).err().unwrap_or_default(),
            DocumentKind::TaskTemplate => match parse_template(&document.document) {
                Ok(template) => check_template(&template),
                Err(problems) => problems,
            },
        };
        for problem in problems.iter().filter(|problem| problem.severity == cubeloom_domain::Severity::Error)
        {
            let told = document.notes.iter().any(|note| note.contains(&problem.message));
            assert!(told, "{}: {problem}\n{}", document.name, document.document);
        }
    }
}

#[test]
fn pipelines_become_documents_and_a_report() {
    let imported = import(PIPELINES, Some(TEMPLATES), None).unwrap();
    assert_readable(&imported);
    insta::assert_snapshot!(shown(&imported));
}

#[test]
fn what_was_imported_has_no_mistakes() {
    let imported = import(PIPELINES, Some(TEMPLATES), None).unwrap();
    let pipeline = parse_pipeline(&imported.documents[0].document).unwrap().pipeline;
    assert_eq!(pipeline.name, "images");
    assert_eq!(pipeline.tasks[1].needs, ["pull"]);
    assert_eq!(pipeline.tasks[2].needs, ["task-2"]);
    assert_eq!(pipeline.canvas.positions.len(), 2);
    let words = pipeline.tasks[0].arguments["command"].as_array().unwrap();
    let line = words[2].as_str().unwrap();
    assert!(line.contains("{{ workspace }}/{{ run.user }}/data.zip") && line.contains("/mntx"), "{line}");
    assert!(line.contains("example.org/mnt/{{ run.timestamp | format('%Y%m%d') }}.zip"), "{line}");
    assert!(line.contains("{{ '{{' }}cluster_name}}"), "what is not known stays as text: {line}");
    let template = parse_template(&imported.documents[2].document).unwrap();
    assert_eq!(check_template(&template), []);
    assert_eq!(template.parameters["required"], json!(["data"]));
}

#[test]
fn one_pipeline_a_list_and_templates_alone_are_read() {
    let all: Value = serde_json::from_str(PIPELINES).unwrap();
    let one = import(&all["launchers"].to_string(), None, Some("mine")).unwrap();
    assert_eq!(one.documents.len(), 1);
    assert_eq!(one.documents[0].name, "mine");
    let mut flat = all["launchers"]["pipeline"].clone();
    flat["tasks"] = all["launchers"]["tasks"].clone();
    assert_eq!(import(&flat.to_string(), None, None).unwrap().documents[0].name, "launchers");
    let list = json!([all["launchers"], all["launchers"]]);
    let list = import(&list.to_string(), None, None).unwrap();
    assert_eq!(
        list.documents.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
        ["launchers", "launchers-2"]
    );
    let templates = import(TEMPLATES, None, None).unwrap();
    assert!(templates.documents.iter().all(|one| one.kind == DocumentKind::TaskTemplate));
    assert_eq!(templates.documents[1].name, "template-2", "a name without letters");
}

#[test]
fn what_is_no_such_file_is_refused_with_a_sentence() {
    for (text, templates, name, said) in [
        ("{", None, None, "is not JSON"),
        ("[]", None, None, "no pipeline was found"),
        ("{\"a\": 1}", None, None, "no pipeline was found"),
        (PIPELINES, Some(PIPELINES), None, "no job templates"),
        (TEMPLATES, Some(TEMPLATES), None, "contains job templates"),
        (PIPELINES, None, Some("x"), "2 pipelines"),
    ] {
        let refused = import(text, templates, name).unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
}

/// The files that Cube Studio ships, if they are next to this repository.
#[test]
#[allow(clippy::print_stdout, reason = "whoever reads what ran should know what did not")]
fn what_cube_studio_ships_is_imported() {
    let folder = repository().join("../shared/samples/cube-studio");
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let (Ok(pipelines), Ok(templates)) = (read("init-pipeline.json"), read("init-job-template.json")) else {
        println!("skipped: Cube Studio's samples are not in {}", folder.display());
        return;
    };
    let imported = import(&pipelines, Some(&templates), None).unwrap();
    assert_readable(&imported);
    assert_accounted(&pipelines, &imported, "");
    assert_accounted(&templates, &imported, "templates:");
    let pipelines = imported.documents.iter().filter(|one| one.kind == DocumentKind::Pipeline);
    assert!(pipelines.clone().count() > 1);
    let names: Vec<&str> = imported.documents.iter().map(|one| one.name.as_str()).collect();
    assert!(launchers::SHIPPED.iter().all(|(name, _)| !names.contains(name)), "{names:?}");
    assert!(
        pipelines.flat_map(|one| &one.notes).all(|note| !note.contains("in the document")),
        "{}",
        shown(&imported)
    );
}

/// Every value of the input is in a document, or the report mentions it or a parent.
fn assert_accounted(input: &str, imported: &Imported, prefix: &str) {
    let told: BTreeSet<&str> =
        imported.report.iter().filter_map(|line| line.path.strip_prefix(prefix)).collect();
    let documents: String = imported.documents.iter().map(|one| one.document.as_str()).collect();
    let mut open = Vec::new();
    let value: Value = serde_json::from_str(input).unwrap();
    leaves(&value, String::new(), &mut open);
    for (path, leaf) in open {
        let above =
            path.match_indices('/').any(|(at, _)| told.contains(&path[..at])) || told.contains(path.as_str());
        let found = above || stands_in(&leaf, &path, &documents);
        assert!(found, "{path} ({leaf}) is neither used nor told\n{}", shown(imported));
    }
}

/// Whether a distinctive text appears in the generated documents.
fn stands_in(leaf: &str, path: &str, documents: &str) -> bool {
    // Keys that only order, draw or type the rest, and amounts written in another form.
    const READ: [&str; 14] = [
        "/expand",
        "/dag_json",
        "/job_templete",
        "/job_template",
        "/skip",
        "/retry",
        "/timeout",
        "/resource_",
        "/schedule_type",
        "/editable",
        "/item_type",
        "/type",
        "/require",
        "/default",
    ];
    if READ.iter().any(|key| path.contains(key)) || documents.contains(leaf) {
        return true;
    }
    // For a text with converted variables and paths, the words around them.
    let words = leaf.split(|c: char| c.is_whitespace() || "\"'=,:()[]{}".contains(c));
    let changed = ["/mnt", "datetime", "strftime", "timedelta", "creator"];
    words.filter(|word| !changed.iter().any(|part| word.contains(part))).all(|word| documents.contains(word))
}

fn leaves(value: &Value, path: String, found: &mut Vec<(String, String)>) {
    let key = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| leaves(value, key(name), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| leaves(value, key(&at.to_string()), found));
        }
        Value::Null => {}
        Value::String(text) => found.push((path, text.clone())),
        other => found.push((path, other.to_string())),
    }
}

/// Words that only appear if they were really carried over.
fn word() -> impl Strategy<Value = String> {
    "w[a-z]{9}"
}

fn extra() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![word().prop_map(Value::from), (1000..9999i64).prop_map(Value::from)];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(word(), inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

fn task() -> impl Strategy<Value = Value> {
    let template = prop::sample::select(vec![
        "自定义镜像",
        "volcanojob",
        "tfjob",
        "pytorchjob",
        "detector",
        "wunknownxx",
    ]);
    let args = prop::collection::btree_map(
        prop::sample::select(vec![
            "command",
            "--command",
            "--image",
            "workdir",
            "--num_worker",
            "--other",
            "--when",
        ]),
        extra(),
        0..5,
    );
    let more = prop::collection::btree_map(
        prop::sample::select(vec![
            "label",
            "monitoring",
            "outputs",
            "volume_mount",
            "node_selector",
            "command",
            "extra",
        ]),
        extra(),
        0..4,
    );
    (template, word(), args, more).prop_map(|(template, name, args, more)| {
        let mut task = json!(more);
        task["job_templete"] = json!(template);
        task["name"] = json!(name);
        task["args"] = json!(args);
        task
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_value_is_used_or_told(
        tasks in prop::collection::vec(task(), 1..4),
        head in prop::collection::btree_map(
            prop::sample::select(vec!["describe", "project", "namespace", "global_env", "cron_time", "anything"]), extra(), 0..5),
    ) {
        let mut head = json!(head);
        head["dag_json"] = json!({});
        let input = json!({"pipeline": head, "tasks": tasks}).to_string();
        let imported = import(&input, Some(TEMPLATES), None).unwrap();
        assert_readable(&imported);
        assert_accounted(&input, &imported, "");
        prop_assert!(imported.report.iter().all(|line| line.fate != Fate::LeftOut || !line.message.is_empty()));
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        let _ = import(&text, None, None);
        let _ = import(&json!({"pipeline": {"name": text, "dag_json": text, "expand": text}, "tasks": [
            {"name": text, "job_templete": "自定义镜像", "args": {"command": text, "workdir": text}, "volume_mount": text,
             "resource_gpu": text, "resource_cpu": text, "node_selector": text}]}).to_string(), None, None)
            .map(|imported| assert_readable(&imported));
    }

    #[test]
    fn yaml_that_is_written_is_read_as_it_was(value in any_value()) {
        let document = json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p",
            "tasks": [{"name": "a", "template": "t", "arguments": {"x": value}}]});
        let text = cubeloom_compiler::yaml::write(&document);
        let read = parse_pipeline(&text);
        prop_assert!(read.is_ok() || text.contains("{{"), "{text}\n{read:?}");
        if let Ok(read) = read {
            prop_assert_eq!(&read.pipeline.tasks[0].arguments["x"], &document["tasks"][0]["arguments"]["x"], "{}", text);
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        "[a-z0-9 :#\\-\n\t'\"|>{}\\[\\]&*!%@,?.~]{0,30}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z0-9 :#-]{0,8}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

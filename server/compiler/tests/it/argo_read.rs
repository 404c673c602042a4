//! Exported Workflows as Argo and the kubelet read them: data that looks like a reference of either stays
//! unchanged.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use cubeloom_compiler::export::argo::workflow;
use cubeloom_compiler::{parse_pipeline, plain};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use regex::Regex;
use serde_json::{Value, json};

use crate::argo::PIPELINE;
use crate::argo_crd::pipeline;
use crate::kubernetes::{self, contract::expand};
use crate::repository::examples;
use crate::support::{repository, templates};

/// Words of a document, and the expected words of the program.
const WORDS: [(&str, &str); 18] = [
    ("{{ '{{ foo }}' }}", "{{ foo }}"),
    ("{{ '{{workflow.name}}' }}", "{{workflow.name}}"),
    ("{{ '{{=1+1}} {{{{' }}", "{{=1+1}} {{{{"),
    ("{{ '{{inputs.parameters.x}}' }}", "{{inputs.parameters.x}}"),
    ("{{ '{' }}{{ params.box }}}", "{parameter-box}"),
    ("{{ '{{' }}{{ params.box }}", "{{parameter-box"),
    ("{{ '${{ github.sha }}' }}", "${{ github.sha }}"),
    ("US${{ params.box }}", "US$parameter-box"),
    ("US$", "US$"),
    ("$$", "$$"),
    ("$HOME", "$HOME"),
    ("$(HOME)", "$(HOME)"),
    ("$$(HOME)", "$$(HOME)"),
    ("$(KNOWN)", "known"),
    ("$$(KNOWN)", "$(KNOWN)"),
    ("{{ '$(KNOWN)' }}", "$(KNOWN)"),
    ("{{ '$$(KNOWN) $$' }}", "$$(KNOWN) $$"),
    ("$(CUBELOOM_RUN_DIR)/x", "/workspace/runs/workflow-name/x"),
];

fn hostile() -> String {
    let variables = WORDS.iter().enumerate().map(|(at, (text, _))| (format!("Z{at}"), json!(text)));
    let env: serde_json::Map<_, _> = variables.chain([("KNOWN".to_owned(), json!("known"))]).collect();
    let words: Vec<&str> = WORDS.iter().map(|(text, _)| *text).collect();
    let task = json!({"name": "a", "template": "command", "arguments": {"command": words}, "env": env});
    json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "hostile",
        "parameters": {"box": {"type": "string", "default": "b"}}, "tasks": [task]})
    .to_string()
}

/// The kubelet's result for a container of `hostile` whose references Argo has replaced.
fn is_as_meant(container: &Value) {
    let mut variables = BTreeMap::new();
    for entry in container["env"].as_array().unwrap() {
        let value = expand(entry["value"].as_str().unwrap(), &variables);
        variables.insert(entry["name"].as_str().unwrap().to_owned(), value);
    }
    let words = ["command", "args"].iter().flat_map(|key| container[key].as_array().unwrap());
    let words: Vec<String> = words.map(|word| expand(word.as_str().unwrap(), &variables)).collect();
    for (at, (text, meant)) in WORDS.iter().enumerate() {
        assert_eq!(words[at], *meant, "the word {text}");
        assert_eq!(variables[&format!("Z{at}")], *meant, "the variable {text}");
    }
}

fn export(text: &str) -> String {
    let set = templates(&repository().join("task-templates"));
    workflow(&parse_pipeline(text).unwrap(), &set).unwrap().document
}

#[test]
fn what_looks_like_a_reference_stays_text() {
    let exported = export(&hostile());
    assert!(exported.contains("`a` has a text with two braces"), "{exported}");
    let made = plain(&exported).unwrap();
    let reference = Regex::new(r"\{\{workflow\.(?:parameters\.)?(\w+)\}\}").unwrap();
    let container = made["spec"]["templates"][1]["container"].to_string();
    let name = |found: &regex::Captures<'_>| match &found[1] {
        "name" => "workflow-name".to_owned(),
        parameter => format!("parameter-{parameter}"),
    };
    let read = reference.replace_all(&container, name);
    assert!(!read.contains("{{"), "Argo reads it again: {read}");
    is_as_meant(&serde_json::from_str(&read).unwrap());
}

#[test]
fn texts_that_cannot_stay_are_named() {
    let task = |more: &str| {
        let text = format!(
            "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nparameters: {{box: {{type: string, default: '$(HOME)'}}}}\n\
             tasks:\n  - {{name: a, template: command, arguments: {{command: [echo, \"{{{{ params.box }}}}\"]}}, {more}}}\n"
        );
        export(&text)
    };
    let (described, items) = (task("description: 'Says {{ x }}'"), task("for_each: {list: ['$$']}"));
    assert!(!described.contains("workflows.argoproj.io/description"), "{described}");
    for (made, said) in [
        (&described, "not carried over: `description` of `a`"),
        (&described, "the default of `box` has two braces or `$(`"),
        (&items, "an item of `a` has two braces or `$(`"),
    ] {
        assert!(made.contains(said), "{made}");
    }
    let when = |condition: &str| task(&format!("when: {}", json!(condition)));
    let kept = when("params.box == 'this and params.box' or params.box != 'x'");
    let meant =
        "'{{workflow.parameters.box}}' == 'this and params.box' || '{{workflow.parameters.box}}' != 'x'";
    assert!(kept.contains(meant), "{kept}");
    assert!(when("params.box == \"it's\"").contains("the condition of `a` cannot be expressed"));
}

const VARIETY: usize = 100;

/// All exports pass `argo lint`, in one call. Argo's own functions then create the containers, because lint
/// accepts a text that Argo would expand twice.
#[ignore = "needs the program of tests/cluster/modules/argo"]
#[test]
fn argo_reads_what_was_meant() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("argo");
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let mut exported: Vec<(String, String)> = [("hostile", hostile()), ("everything", PIPELINE.to_owned())]
        .map(|(name, text)| (name.into(), export(&text)))
        .into();
    for (at, path) in examples().iter().enumerate() {
        exported.push((format!("example-{at:03}"), export(&fs::read_to_string(path).unwrap())));
    }
    let (set, mut runner) = (kubernetes::templates(), TestRunner::default());
    for at in 0..VARIETY {
        let text = pipeline().new_tree(&mut runner).unwrap().current();
        exported.push((
            format!("variety-{at:03}"),
            workflow(&parse_pipeline(&text).unwrap(), &set).unwrap().document,
        ));
    }
    // A document that a user must complete first has dangling references.
    exported.retain(|(_, document)| {
        !document.contains(" is known only after other tasks have ended: write it (")
    });
    for (name, document) in &exported {
        fs::write(folder.join(format!("{name}.yaml")), document).unwrap();
    }
    let read = argo(&folder);
    assert_eq!(read.len(), exported.len());
    let refused: Vec<&Value> = read.values().filter(|one| one["Errors"] != json!([])).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    is_as_meant(&read["hostile"]["Containers"]["a"]);
}

/// The result of Argo for the files of a folder, by their names.
#[expect(clippy::disallowed_methods, reason = "a program that only some machines have")]
fn argo(folder: &Path) -> BTreeMap<String, Value> {
    let program = std::env::var_os("CUBELOOM_TEST_ARGO").expect("CUBELOOM_TEST_ARGO names no program");
    let output = Command::new(program).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = str::from_utf8(&output.stdout).unwrap().lines();
    let reports = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let name = |one: &Value| {
        Path::new(one["File"].as_str().unwrap()).file_stem().unwrap().to_str().unwrap().to_owned()
    };
    reports.map(|one| (name(&one), one)).collect()
}

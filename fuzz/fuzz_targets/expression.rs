//! Any text as an expression, evaluated over parameters of each type: no panic, no hang, bounded memory.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cubeloom_compiler::{Outputs, condition, parse_template};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::plan::RunContext;
use cubeloom_domain::template::{InstalledTemplate, TemplateSet};
use cubeloom_domain::{JsonMap, RunId, TaskIx, Timestamp};
use libfuzzer_sys::fuzz_target;

const TEMPLATE: &str = "
apiVersion: cubeloom/v1
kind: TaskTemplate
name: t
version: 1.0.0
group: g
label: {en: x, zh: x}
help: {en: x, zh: x}
framework: single
parameters: {type: object, properties: {words: {default: []}}}
roles: [{name: worker, replicas: 1}]
command: [echo, '{{ args.words }}']
";

/// Read once: the expressions are what changes.
static TEMPLATES: LazyLock<TemplateSet> = LazyLock::new(|| {
    let template = parse_template(TEMPLATE).expect("the template is right");
    let installed = InstalledTemplate { template, digest: "d".into(), folder: "/t".into() };
    [("t".to_owned(), BTreeMap::from([("1.0.0".to_owned(), installed)]))].into()
});

fuzz_target!(|expression: &str| {
    let document = serde_json::json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p",
        "parameters": {
            "n": {"type": "integer", "default": 3}, "s": {"type": "string", "default": "text"},
            "l": {"type": "list", "default": [1, "a", null]}, "o": {"type": "object", "default": {"k": [1.5]}},
        },
        "tasks": [{"name": "a", "template": "t", "when": expression,
            "arguments": {"words": [format!("{{{{ {expression} }}}}")]}}],
    });
    let Ok(document) = cubeloom_compiler::parse_pipeline(&document.to_string()) else { return };
    let context = RunContext {
        id: RunId::new(Timestamp(0), 0),
        project: "p".into(),
        user: "u".into(),
        date: Timestamp(0),
        code: None,
    };
    let facts = Facts::default();
    let inputs = cubeloom_compiler::PlanInputs {
        context,
        parameters: JsonMap::new(),
        templates: &TEMPLATES,
        facts: &facts,
    };
    if let Ok(planned) = cubeloom_compiler::plan(&document, &inputs) {
        let _ = condition(&planned.plan, TaskIx(0), None, &Outputs::new());
    }
});

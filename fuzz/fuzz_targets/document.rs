//! Any text as a pipeline document: no panic, no hang.
#![no_main]

use cubeloom_compiler::{PlanInputs, check_pipeline, plan};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::plan::RunContext;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{JsonMap, RunId, Timestamp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (templates, facts) = (TemplateSet::new(), Facts::default());
    let (Some(document), _) = check_pipeline(text, &templates, &facts) else { return };
    let context = RunContext {
        id: RunId::new(Timestamp(0), 0),
        project: "p".into(),
        user: "u".into(),
        date: Timestamp(0),
        code: None,
    };
    let _ = plan(&document, &PlanInputs { context, parameters: JsonMap::new(), templates: &templates, facts: &facts });
});

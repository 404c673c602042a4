//! Templates, documents and facts shared by the tests.

use std::path::Path;

use cubeloom_compiler::{PlanInputs, Planned, parse_pipeline, parse_template, plan};
use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::executor::{Facts, NodeFacts};
use cubeloom_domain::plan::RunContext;
use cubeloom_domain::template::{InstalledTemplate, TemplateSet};
use cubeloom_domain::{Bytes, Cpu, JsonMap, Problem, RunId, Timestamp};

/// Installs every template below a folder.
pub fn templates(folder: &Path) -> TemplateSet {
    let mut set = TemplateSet::new();
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for folder in folders.iter().filter(|folder| folder.join("template.yaml").exists()) {
        let text = std::fs::read_to_string(folder.join("template.yaml")).unwrap();
        let template =
            parse_template(&text).unwrap_or_else(|problems| panic!("{}: {problems:#?}", folder.display()));
        let name = template.name.clone();
        let installed = InstalledTemplate {
            digest: format!("digest-of-{name}"),
            folder: format!("/templates/{name}"),
            template: template.clone(),
        };
        set.entry(name).or_default().insert(template.version, installed);
    }
    set
}

pub fn fixtures() -> TemplateSet {
    templates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"))
}

pub fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A machine with 8 CPUs and 32 GiB, without GPUs.
pub fn machine() -> Facts {
    Facts {
        cluster: "local".into(),
        kind: "local".into(),
        nodes: vec![NodeFacts {
            name: "here".into(),
            cpu: Cpu(8000),
            memory: Bytes(32 << 30),
            ..NodeFacts::default()
        }],
        secrets: vec!["s3-key".into()],
        volumes: [("big-disk".into(), VolumePlace::Folder { path: "/mnt/big-disk".into() })].into(),
        ..Facts::default()
    }
}

/// A run of 15 July 2026, 06:30 UTC.
pub fn context() -> RunContext {
    let date = Timestamp(1_784_097_000_000_000);
    RunContext {
        id: RunId::new(date, 7),
        timezone: None,
        root: None,
        project: "vision".into(),
        user: "ada".into(),
        date,
        code: Some("c0de".into()),
    }
}

pub fn try_plan(
    text: &str,
    parameters: JsonMap,
    templates: &TemplateSet,
    facts: &Facts,
) -> Result<Planned, Vec<Problem>> {
    let document = parse_pipeline(text)?;
    plan(&document, &PlanInputs { context: context(), parameters, templates, facts })
}

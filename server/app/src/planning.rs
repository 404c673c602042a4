//! From a file to a plan: reads the document, its parameters and its folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use cubeloom_compiler::{Document, PlanInputs, Planned, missing_files, parse_pipeline, plan};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::json::exact;
use cubeloom_domain::plan::RunContext;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{JsonMap, Problem, RunId, Timestamp};
use serde_json::Value;

use crate::cli::Parameters;
use crate::exit::Invalid;
use crate::machine;
use crate::platform::PROJECT;

#[derive(Debug)]
pub struct Source {
    pub file: PathBuf,
    pub text: String,
}

impl Source {
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        if file.is_dir() {
            return Err(Invalid::error(format!("{} is a folder: name the pipeline's file", file.display())));
        }
        match fs::read(file).map(String::from_utf8) {
            Ok(Ok(text)) => Ok(Self { file: file.into(), text }),
            Ok(Err(_)) => Err(Invalid::error(format!("{} is not UTF-8 text", file.display()))),
            Err(error) => {
                Err(Invalid::error(format!("the pipeline {} cannot be read: {error}", file.display())))
            }
        }
    }

    pub fn parse(&self) -> Result<Document, Vec<Problem>> {
        parse_pipeline(&self.text)
    }
}

/// The inputs of a plan.
#[derive(Debug)]
pub struct Inputs {
    pub context: RunContext,
    pub parameters: JsonMap,
    pub templates: TemplateSet,
    /// The facts of this machine.
    pub facts: Facts,
}

/// Problems of arguments that refer to files missing in the pipeline's folder, with their lines.
pub fn missing(document: &Document, planned: &Planned, folder: &Path) -> Vec<Problem> {
    let is_plain =
        |name: &Path| name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let mut found =
        missing_files(&planned.plan, |name| is_plain(Path::new(name)) && folder.join(name).is_file());
    document.locate(&mut found);
    found
}

impl Inputs {
    pub fn plan(&self, document: &Document) -> Result<Planned, Vec<Problem>> {
        let inputs = PlanInputs {
            context: self.context.clone(),
            parameters: self.parameters.clone(),
            templates: &self.templates,
            facts: &self.facts,
        };
        plan(document, &inputs)
    }
}

/// A new run of the calling user.
pub fn context(now: Timestamp, code: Option<String>) -> anyhow::Result<RunContext> {
    Ok(RunContext {
        id: RunId::new(now, machine::entropy()?),
        project: PROJECT.into(),
        user: machine::user(),
        date: now,
        timezone: None,
        root: None,
        code,
    })
}

/// The given parameters; the compiler parses texts by the declared types.
pub fn parameters(given: &Parameters) -> anyhow::Result<JsonMap> {
    let mut all = given.params_file.as_deref().map(read_parameters).transpose()?.unwrap_or_default();
    for (name, value) in &given.values {
        all.insert(name.clone(), Value::String(value.clone()));
    }
    Ok(all)
}

fn read_parameters(path: &Path) -> anyhow::Result<JsonMap> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("the parameters {} cannot be read", path.display()))?;
    let read = if text.trim_start().starts_with('{') {
        serde_json::from_slice(&exact(text.as_bytes())).map_err(|error| error.to_string())
    } else {
        toml::from_str(&text).map_err(|error| error.message().to_owned())
    };
    read.map_err(|why| {
        Invalid::error(format!("{}: {why}: write a JSON object, or TOML (`name = value`)", path.display()))
    })
}

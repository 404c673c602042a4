//! A pipeline as an Argo Workflow: a DAG with a template for each task.
//!
//! A task runs what the compiler produces for it. References that Argo also supports (parameters, outputs,
//! the loop item) pass through the compiler as marks and become Argo's references afterwards. All other
//! expressions are evaluated at export, with the parameters' defaults, and the report says so.

mod container;
mod marks;
mod policy;
mod task;

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::executor::Facts;
use cubeloom_domain::pipeline::{Parameter, ParameterType, Parameters, Pipeline};
use cubeloom_domain::plan::{RunContext, RunPlan};
use cubeloom_domain::priority::Priority;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{JsonMap, Problem, RunId, Severity, Timestamp};
use serde_json::{Map, Value, json};

use self::marks::Marks;
use super::Exported;
use crate::{Document, PlanInputs, yaml};

/// Maximum number of templates in one Workflow, from Argo's schema.
const MOST_TEMPLATES: usize = 200;

/// Writes a pipeline as a Workflow.
///
/// # Errors
/// All problems that prevent compilation, as for a run with the parameters' defaults.
pub fn workflow(document: &Document, templates: &TemplateSet) -> Result<Exported, Vec<Problem>> {
    let pipeline = &document.pipeline;
    let mut export = Export { report: Vec::new(), marks: Vec::new(), read: BTreeMap::new() };
    let plan = export.plan(document, templates)?;
    let entry = (0..).map(|n| if n == 0 { "main".to_owned() } else { format!("main-{n}") });
    let taken = |name: &String| pipeline.tasks.iter().any(|task| task.name == *name);
    let entry = entry.into_iter().find(|name| !taken(name)).unwrap_or_default();
    let mut tasks = Vec::new();
    let mut bodies = Vec::new();
    for at in 0..pipeline.tasks.len() {
        tasks.push(task::dag(&mut export, pipeline, &plan, at));
        bodies.push(task::template(&mut export, pipeline, &plan, at));
    }
    let mut all = vec![json!({"name": entry, "dag": {"tasks": tasks}})];
    all.extend(bodies);
    if all.len() > MOST_TEMPLATES {
        let count = all.len();
        export.say(format!("the Workflow has {count} templates, and Argo accepts at most {MOST_TEMPLATES}: move some of its tasks into a WorkflowTemplate"));
    }
    let mut spec = Map::new();
    spec.insert("entrypoint".into(), json!(entry));
    export.settings(pipeline, &mut spec);
    spec.insert("templates".into(), Value::Array(all));
    let mut metadata = json!({"generateName": format!("{}-", pipeline.name)});
    if let Some(about) = &pipeline.description {
        metadata["annotations"] = json!({"workflows.argoproj.io/description": about});
    }
    let workflow =
        json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata, "spec": spec});
    Ok(export.finish(&workflow))
}

struct Export {
    report: Vec<String>,
    /// The marks of each task, which replace Argo's references.
    marks: Vec<Marks>,
    /// The outputs of each task that other tasks read.
    read: BTreeMap<String, BTreeSet<String>>,
}

impl Export {
    fn say(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.report.contains(&sentence) {
            self.report.push(sentence);
        }
    }

    /// The plan of the pipeline with marks. Arguments that do not accept text keep their expressions.
    fn plan(&mut self, document: &Document, templates: &TemplateSet) -> Result<RunPlan, Vec<Problem>> {
        let mut unmarked: BTreeSet<(usize, String)> = BTreeSet::new();
        loop {
            let mut pipeline = document.pipeline.clone();
            self.marks = pipeline
                .tasks
                .iter_mut()
                .enumerate()
                .map(|(at, task)| Marks::set(task, |name| !unmarked.contains(&(at, name.to_owned()))))
                .collect();
            let marked = Document::of(pipeline);
            let facts = Facts::default();
            let inputs = PlanInputs {
                context: context(),
                parameters: samples(&document.pipeline.parameters),
                templates,
                facts: &facts,
            };
            let problems = match crate::plan(&marked, &inputs) {
                Ok(planned) => {
                    self.tell_fixed(&document.pipeline);
                    return Ok(planned.plan);
                }
                Err(problems) => problems,
            };
            let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
            let before = unmarked.len();
            unmarked.extend(errors.flat_map(|problem| arguments_of(&problem.path, &document.pipeline)));
            if unmarked.len() == before {
                let mut problems = problems;
                document.locate(&mut problems);
                return Err(problems);
            }
        }
    }

    /// Reports the expressions evaluated at export, and records which outputs of each task others read.
    fn tell_fixed(&mut self, pipeline: &Pipeline) {
        for (task, at) in pipeline.tasks.iter().zip(0..) {
            let Some(marks) = self.marks.get(at) else { continue };
            for (source, output) in marks.reads.clone() {
                self.read.entry(source).or_default().insert(output);
            }
            let fixed = self.marks.get(at).map(|marks| marks.fixed.clone()).unwrap_or_default();
            for expression in fixed {
                let name = &task.name;
                self.say(if expression.contains("tasks.") || expression.contains("item") {
                    format!("`{{{{ {expression} }}}}` of `{name}` cannot be expressed in Argo: write its replacement")
                } else {
                    format!("`{{{{ {expression} }}}}` of `{name}` cannot be expressed in Argo: it was evaluated at export, with the parameters' defaults")
                });
            }
        }
    }

    fn settings(&mut self, pipeline: &Pipeline, spec: &mut Map<String, Value>) {
        let mut parameters = Vec::new();
        for (name, parameter) in &pipeline.parameters {
            parameters.push(self.parameter(name, parameter));
        }
        if !parameters.is_empty() {
            spec.insert("arguments".into(), json!({"parameters": parameters}));
        }
        if let Some(count) = pipeline.parallelism {
            spec.insert("parallelism".into(), json!(count));
        }
        if let Some(Priority::Number(priority)) = pipeline.priority {
            spec.insert("priority".into(), json!(priority));
        }
        spec.insert("volumeClaimTemplates".into(), container::workspace());
        self.say("tasks share the volume `workspace`: choose its size and a storage class for ReadWriteMany; put the pipeline's files into /workspace/code");
        self.say("programs, also those of templates, must be in the images, with CUBELOOM_TEMPLATE_DIR set; write outputs to files /tmp/outputs/NAME instead of CUBELOOM_OUTPUTS");
        for (is_set, what) in [
            (pipeline.schedule.is_some(), "`schedule`: write a CronWorkflow"),
            (pipeline.max_active_runs.is_some(), "`max_active_runs`: use a semaphore in `synchronization`"),
            (pipeline.cluster.is_some(), "`cluster`"),
            (matches!(pipeline.priority, Some(Priority::Class(_))), "`priority`: Argo accepts numbers only"),
            (pipeline.preemptible.is_some(), "`preemptible`"),
        ] {
            if is_set {
                self.say(format!("not carried over: {what}"));
            }
        }
    }

    fn parameter(&mut self, name: &str, parameter: &Parameter) -> Value {
        let mut out = Map::new();
        out.insert("name".into(), json!(name));
        match &parameter.default {
            Some(Value::String(text)) if text.contains("{{") => {
                self.say(format!("the default of `{name}` is an expression: set a value for the parameter"));
            }
            Some(Value::String(text)) => _ = out.insert("value".into(), json!(text)),
            Some(value) => _ = out.insert("value".into(), json!(value.to_string())),
            None => {}
        }
        if out.get("value").and_then(Value::as_str).is_some_and(marks::is_read) {
            self.say(format!("the default of `{name}` has two braces or `$(`, which Argo and Kubernetes would interpret: write it differently"));
        }
        if let Some(about) = &parameter.description {
            out.insert("description".into(), json!(about));
        }
        if let Some(choices) = &parameter.choices {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            out.insert("enum".into(), json!(choices.iter().map(text).collect::<Vec<_>>()));
        }
        if parameter.minimum.is_some() || parameter.maximum.is_some() {
            self.say(format!("the bounds of `{name}` are not checked by Argo"));
        }
        Value::Object(out)
    }

    /// The text, with the report above it.
    fn finish(self, workflow: &Value) -> Exported {
        let mut text = String::from("# Exported from Cubeloom.\n");
        for sentence in &self.report {
            text.push_str("# - ");
            text.push_str(&sentence.replace(['\n', '\r'], " "));
            text.push('\n');
        }
        text.push_str(&yaml::write(workflow));
        Exported { document: text, report: self.report }
    }
}

/// The arguments that a problem is about: one, or all of a task.
fn arguments_of(path: &str, pipeline: &Pipeline) -> Vec<(usize, String)> {
    let mut parts = path.split('/').skip(1);
    if parts.next() != Some("tasks") {
        return Vec::new();
    }
    let at = parts.next().and_then(|at| at.parse::<usize>().ok());
    let Some((at, task)) = at.and_then(|at| Some((at, pipeline.tasks.get(at)?))) else { return Vec::new() };
    let name = parts.next().filter(|part| *part == "arguments").and_then(|_| parts.next());
    let name = name.map(|name| name.replace("~1", "/").replace("~0", "~"));
    match name.filter(|name| task.arguments.contains_key(name)) {
        Some(name) => vec![(at, name)],
        None => task.arguments.keys().map(|name| (at, name.clone())).collect(),
    }
}

/// A placeholder run.
fn context() -> RunContext {
    RunContext {
        id: RunId::new(Timestamp(0), 0),
        project: "project".into(),
        user: "user".into(),
        date: Timestamp(0),
        timezone: None,
        root: None,
        code: Some("code".into()),
    }
}

/// Values for parameters without a default, so that the rest can be compiled.
fn samples(parameters: &Parameters) -> JsonMap {
    let without = parameters.iter().filter(|(_, parameter)| parameter.default.is_none());
    let sample = |parameter: &Parameter| {
        if let Some(first) = parameter.choices.as_ref().and_then(|choices| choices.first()) {
            return first.clone();
        }
        match parameter.kind {
            ParameterType::String => json!("value"),
            ParameterType::Integer => json!(parameter.minimum.unwrap_or(1.0).ceil().max(1.0) as i64),
            ParameterType::Number => json!(parameter.minimum.unwrap_or(1.0)),
            ParameterType::Boolean => json!(false),
            ParameterType::Date => json!("1970-01-01"),
            ParameterType::List => json!([]),
            ParameterType::Object => json!({}),
        }
    };
    without.map(|(name, parameter)| (name.clone(), sample(parameter))).collect()
}

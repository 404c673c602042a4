//! Planning: a document, templates, parameters and a cluster's facts become a plan. It decides everything
//! that can be known before the run starts.

mod amounts;
mod arguments;
mod cards;
mod elements;
mod env;
mod fit;
mod local;
mod models;
mod named;
mod prepared;
mod priority;
mod resolve;
mod roles;
mod search;
mod task;
mod without_workers;

use std::collections::BTreeSet;
use std::rc::Rc;

use cubeloom_domain::executor::Facts;
use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::plan::{RunContext, RunPlan};
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Code, JsonMap, Problem, RunId, Severity, Timestamp};
use serde_json::Value;

use crate::expression::{OneDocument, Scope, has_expression, render};
use crate::parse::{Document, read_pipeline};
use crate::validate::{self, Edges};
use prepared::Templates;

pub(crate) use amounts::decode_resources;
pub(crate) use elements::elements;
pub(crate) use prepared::holds_expression;
pub use prepared::newest as newest_template;

/// The inputs of a plan besides the document.
#[derive(Clone, Debug)]
pub struct PlanInputs<'a> {
    pub context: RunContext,
    /// The parameters of the run.
    pub parameters: JsonMap,
    pub templates: &'a TemplateSet,
    /// The cluster's facts; empty facts cause no refusal.
    pub facts: &'a Facts,
}

/// A plan and its warnings.
#[derive(Clone, Debug)]
pub struct Planned {
    pub plan: RunPlan,
    /// Warnings about valid but probably unintended settings.
    pub warnings: Vec<Problem>,
}

/// Plans a run.
///
/// # Errors
/// All problems, with their positions in the text.
pub fn plan(document: &Document, inputs: &PlanInputs<'_>) -> Result<Planned, Vec<Problem>> {
    let mut problems = document.warnings.clone();
    let mut planner = Planner::new(&document.pipeline, inputs);
    planner.parameters(&inputs.parameters);
    for name in planner.unknown.clone() {
        let message = format!("the parameter `{name}` has no default; set a value: -p {name}=...");
        planner.problem(Code::InvalidParameter, format!("/parameters/{name}"), message);
    }
    let plan = planner.run();
    problems.extend(planner.problems);
    let is_error = |problem: &Problem| problem.severity == Severity::Error;
    if !problems.iter().any(is_error) {
        problems.extend(crate::preview::refused(&plan, inputs.facts));
    }
    document.locate(&mut problems);
    problems.sort_by_key(|problem| (problem.line, problem.column));
    if problems.iter().any(is_error) {
        return Err(problems);
    }
    Ok(Planned { plan, warnings: problems })
}

/// All problems of a document that are known before a run sets its parameters, warnings included.
pub fn validate(document: &Document, templates: &TemplateSet, facts: &Facts) -> Vec<Problem> {
    let mut problems = document.warnings.clone();
    problems.extend(without_parameters(&document.pipeline, templates, facts));
    document.locate(&mut problems);
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

/// Parses a document and reports all its problems together, also for a document that
/// [`crate::parse_pipeline`] refuses. Returns the document only without errors.
pub fn check_pipeline(
    text: &str,
    templates: &TemplateSet,
    facts: &Facts,
) -> (Option<Document>, Vec<Problem>) {
    check_placed(text, templates, facts, |_| {})
}

/// The same for a document whose target it need not name itself: `place` sets the target. Returns the
/// document as written.
pub fn check_placed(
    text: &str,
    templates: &TemplateSet,
    facts: &Facts,
    place: impl FnOnce(&mut Pipeline),
) -> (Option<Document>, Vec<Problem>) {
    let (document, mut problems) = read_pipeline(text);
    let Some(document) = document else { return (None, problems) };
    let known: Vec<String> = problems.iter().map(|problem| problem.path.clone()).collect();
    let mut placed = document.pipeline.clone();
    place(&mut placed);
    let more = without_parameters(&placed, templates, facts);
    problems.extend(more.into_iter().filter(|problem| !is_told(problem, &known)));
    document.locate(&mut problems);
    problems.sort_by_key(|problem| (problem.line, problem.column));
    let usable = problems.iter().all(|problem| problem.severity < Severity::Error);
    (usable.then_some(document), problems)
}

/// Whether an expression that cannot be evaluated (also a parameter's default) was already reported by the
/// parser.
fn is_told(problem: &Problem, known: &[String]) -> bool {
    matches!(problem.code, Code::InvalidExpression | Code::UndefinedName | Code::InvalidParameter)
        && known.iter().any(|path| path.starts_with(&problem.path))
}

fn without_parameters(pipeline: &Pipeline, templates: &TemplateSet, facts: &Facts) -> Vec<Problem> {
    let epoch = Timestamp(0);
    let context = RunContext {
        id: RunId::new(epoch, 0),
        project: String::new(),
        user: String::new(),
        date: epoch,
        timezone: None,
        root: None,
        code: None,
    };
    let inputs = PlanInputs { context, parameters: JsonMap::new(), templates, facts };
    let mut planner = Planner::new(pipeline, &inputs);
    planner.parameters(&inputs.parameters);
    planner.run();
    planner.problems
}

/// Planning in progress.
struct Planner<'a> {
    pipeline: &'a Pipeline,
    facts: &'a Facts,
    context: Rc<RunContext>,
    values: JsonMap,
    /// Parameters without a value.
    unknown: BTreeSet<String>,
    templates: Templates<'a>,
    edges: Edges<'a>,
    problems: Vec<Problem>,
    /// The shared budget of its expressions.
    _budget: OneDocument,
}

impl<'a> Planner<'a> {
    fn new(pipeline: &'a Pipeline, inputs: &'a PlanInputs<'a>) -> Self {
        let of_schedule = pipeline.schedule.as_ref().and_then(|schedule| schedule.timezone.clone());
        let timezone = of_schedule.or_else(|| inputs.context.timezone.clone());
        Self {
            pipeline,
            facts: inputs.facts,
            context: Rc::new(RunContext { timezone, ..inputs.context.clone() }),
            values: JsonMap::new(),
            unknown: BTreeSet::new(),
            templates: Templates::new(inputs.templates, &inputs.facts.registries),
            edges: Edges::new(&pipeline.tasks),
            problems: Vec::new(),
            _budget: OneDocument::begin(),
        }
    }

    fn problem(&mut self, code: Code, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::error(code, path, message));
    }

    /// The given values, and defaults for the others, in the order of the document.
    fn parameters(&mut self, given: &JsonMap) {
        let mut given = validate::accept(&self.pipeline.parameters, given, &mut self.problems);
        for (name, parameter) in &self.pipeline.parameters {
            if let Some(value) = given.remove(name) {
                self.values.insert(name.clone(), value);
                continue;
            }
            match &parameter.default {
                Some(Value::String(text)) if has_expression(text) => self.default_of(name, text),
                Some(default) => {
                    self.values.insert(name.clone(), default.clone());
                }
                None => {
                    self.unknown.insert(name.clone());
                }
            }
        }
    }

    /// Evaluates a default that is an expression over the run.
    fn default_of(&mut self, name: &str, text: &str) {
        let scope = Scope { run: Some(&self.context), ..Scope::default() };
        let result = render(text, &scope)
            .map_err(|mistake| mistake.message)
            .and_then(|value| validate::fits(&self.pipeline.parameters[name], &value).map(|()| value));
        match result {
            Ok(value) => {
                self.values.insert(name.to_owned(), value);
            }
            Err(reason) => {
                self.unknown.insert(name.to_owned());
                let message = format!("the default {reason}");
                self.problem(Code::InvalidParameter, format!("/parameters/{name}/default"), message);
            }
        }
    }

    /// Plans every task. The plan is usable if there are no errors.
    fn run(&mut self) -> RunPlan {
        let pipeline = self.pipeline;
        self.cluster();
        let tasks = (0u32..).zip(&pipeline.tasks).filter_map(|(at, task)| self.task(at, task)).collect();
        let plan = RunPlan {
            context: RunContext::clone(&self.context),
            pipeline: pipeline.name.clone(),
            parameters: self.values.clone(),
            cluster: pipeline.cluster.clone().unwrap_or_else(|| self.facts.cluster.clone()),
            place: None,
            parallelism: pipeline.parallelism,
            max_active_runs: pipeline.max_active_runs,
            part: None,
            templates: self.templates.take_planned(),
            tasks,
        };
        if self.unknown.is_empty() && plan.tasks.len() == pipeline.tasks.len() {
            self.check_elements(&plan);
        }
        plan
    }
}

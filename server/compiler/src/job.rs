//! Evaluated when a task is ready: its items, its condition, and the job of each attempt.

use cubeloom_domain::approval::{OnRejection, Question};
use cubeloom_domain::call::{Call, Called};
use cubeloom_domain::job::{Job, JobPreflight, JobRole};
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::plan::{ForEachItems, Late, PlannedTask, PlannedTemplate, RunPlan};
use cubeloom_domain::preflight::Bounds;
use cubeloom_domain::{AttemptKey, Bytes, InstanceIx, JsonMap, TaskIx};
use cubeloom_domain::{sizing, verbatim};
use serde_json::Value;

use crate::Outputs;
use crate::arguments::{check, in_words};
use crate::expression::{Args, Mistake, Scope, bare, render, render_value, to_text};
use crate::path::Path;
use crate::plan::elements;
use crate::search;

/// The items of a `for_each` task, or the first trials of a search. A plain task has one item, `null`.
///
/// # Errors
/// A failure of kind `Expression`: the value that it reads is missing, is not a list, or is too long a list.
pub fn expand(plan: &RunPlan, task: TaskIx, outputs: &Outputs) -> Result<Vec<Value>, Failure> {
    let planned = plan.task(task);
    let Some(for_each) = &planned.for_each else { return Ok(vec![Value::Null]) };
    match &for_each.items {
        ForEachItems::Known(items) => Ok(items.clone()),
        ForEachItems::Search(_) => Ok(search::first_trials(plan, task)),
        ForEachItems::Expression(source) => bare(source)
            .and_then(|expression| expression.evaluate(&scope(plan, planned, None, outputs)))
            .map_err(|mistake| mistake.message)
            .and_then(elements)
            .map_err(|message| failure(planned, "for_each", &message)),
    }
}

/// Whether a task's `when` holds; true without a `when`.
///
/// # Errors
/// A failure of kind `Expression`.
pub fn condition(
    plan: &RunPlan,
    task: TaskIx,
    item: Option<&Value>,
    outputs: &Outputs,
) -> Result<bool, Failure> {
    let planned = plan.task(task);
    let Some(when) = &planned.when else { return Ok(true) };
    bare(when)
        .and_then(|expression| expression.evaluate(&scope(plan, planned, item, outputs)))
        .map_err(|mistake| mistake.message)
        .and_then(|value| truth(&value))
        .map_err(|message| failure(planned, "when", &message))
}

/// Truth as people expect it: the text `false`, which a program may have reported, is false.
fn truth(value: &Value) -> Result<bool, String> {
    Ok(match value {
        Value::Bool(value) => *value,
        Value::Null => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) if text == "true" => true,
        Value::String(text) if text == "false" || text.is_empty() => false,
        Value::String(text) => return Err(format!("must be true or false, but is the text `{text}`")),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    })
}

/// The job of the `n`-th attempt at an instance, with `elastic_workers` workers of its elastic role (default:
/// `max`).
///
/// # Errors
/// A failure of kind `Expression`: a value is missing, or the template does not accept it.
pub fn job(
    plan: &RunPlan,
    task: TaskIx,
    instance: InstanceIx,
    item: Option<&Value>,
    n: u32,
    elastic_workers: Option<u32>,
    outputs: &Outputs,
) -> Result<Job, Failure> {
    let planned = plan.task(task);
    let template = plan.template_of(planned);
    let scope = scope(plan, planned, item, outputs);
    let late = late_arguments(planned, template, &scope).map_err(|wrong| wrong.failure(planned))?;
    let inside = Scope { args: Some(Args::Planned(&planned.arguments, &late)), is_for_words: true, ..scope };
    let (image, registry) = match &planned.image {
        Some(own) => (Some(own.name.clone()), own.registry.clone()),
        None => (template.image.clone(), template.registry.clone()),
    };
    let key = AttemptKey { run: plan.context.id.clone(), task: planned.name.clone(), instance, n };
    Ok(Job {
        key,
        root: plan.context.root.clone(),
        project: plan.context.project.clone(),
        pipeline: plan.pipeline.clone(),
        user: plan.context.user.clone(),
        code: plan.context.code.clone(),
        framework: template.framework.clone(),
        template: format!("{}@{}", template.name, template.version),
        template_digest: template.digest.clone(),
        template_folder: template.folder.clone(),
        image,
        registry,
        writable_root: template.writable_root,
        python: planned.python.clone(),
        roles: roles(planned, template, elastic_workers, &inside)?,
        setup: planned.setup.clone(),
        env: env(planned, &inside)?,
        secrets: planned.secrets.clone(),
        volumes: planned.volumes.clone(),
        success: planned.success.clone(),
        gang: planned.gang,
        elastic: planned.elastic,
        timeout: planned.timeout,
        placement: planned.placement.clone(),
        outputs: planned.outputs.clone(),
        watches: planned
            .search()
            .filter(|search| search.early_stop.is_some())
            .map(|search| search.of.clone()),
        grows: false,
        // The engine fills in the normal values.
        preflight: planned
            .preflight
            .map(|policy| JobPreflight { wait: policy.wait, bounds: Bounds::default() }),
        call: planned.calls.then(|| Call {
            timezone: plan.context.timezone.clone(),
            ..call(&Given { planned, late: &late })
        }),
    })
}

/// The input size of a ready task in bytes, if its variable [`sizing::INPUT`] states it.
#[must_use]
pub fn input(plan: &RunPlan, task: TaskIx, item: Option<&Value>, outputs: &Outputs) -> Option<u64> {
    let planned = plan.task(task);
    let text = match planned.env.get(sizing::INPUT)? {
        Late::Value(value) => to_text(value.clone()),
        Late::Source(source) => {
            let scope = scope(plan, planned, item, outputs);
            let late = late_arguments(planned, plan.template_of(planned), &scope).ok()?;
            let inside = Scope { args: Some(Args::Planned(&planned.arguments, &late)), ..scope };
            to_text(render_value(source, &inside).ok()?)
        }
    };
    text.trim().parse::<Bytes>().ok().map(|bytes| bytes.0)
}

/// The run of another pipeline that a task starts, if it is known before the task is ready.
#[must_use]
pub fn known_call(task: &PlannedTask) -> Option<Call> {
    let is_known = |argument: &Late| matches!(argument, Late::Value(_));
    let known = task.calls && task.arguments.values().all(is_known);
    known.then(|| call(&Given { planned: task, late: &JsonMap::new() }))
}

fn call(given: &Given<'_>) -> Call {
    let text = |name: &str| given.argument(name).filter(|value| !value.is_null()).map(to_text);
    let version = given.argument("version").as_ref().and_then(Value::as_u64);
    Call {
        of: match text("file") {
            Some(file) => Called::File(file),
            None => Called::Pipeline {
                name: text("pipeline").unwrap_or_default(),
                version: version.and_then(|version| u32::try_from(version).ok()),
            },
        },
        parameters: match given.argument("parameters") {
            Some(Value::Object(parameters)) => parameters.into_iter().collect(),
            _ => JsonMap::new(),
        },
        timezone: None,
    }
}

struct Given<'a> {
    planned: &'a PlannedTask,
    late: &'a JsonMap,
}

impl Given<'_> {
    /// The value of an argument as written.
    fn argument(&self, name: &str) -> Option<Value> {
        let mut value = match self.planned.arguments.get(name) {
            Some(Late::Value(value)) => value.clone(),
            _ => self.late.get(name)?.clone(),
        };
        verbatim::unmark(&mut value);
        Some(value)
    }
}

/// The question of an approval task.
///
/// # Errors
/// A failure of kind `Expression`: a value is missing, or the template does not accept it.
pub fn question(
    plan: &RunPlan,
    task: TaskIx,
    item: Option<&Value>,
    outputs: &Outputs,
) -> Result<Question, Failure> {
    let planned = plan.task(task);
    let scope = scope(plan, planned, item, outputs);
    let late =
        late_arguments(planned, plan.template_of(planned), &scope).map_err(|wrong| wrong.failure(planned))?;
    let given = Given { planned, late: &late };
    let argument = |name: &str| given.argument(name);
    let approvers = match argument("approvers") {
        Some(Value::Array(approvers)) => approvers,
        _ => Vec::new(),
    };
    Ok(Question {
        message: argument("message").map(to_text).unwrap_or_default(),
        approvers: approvers.into_iter().map(to_text).collect(),
        barred: (argument("four_eyes") == Some(Value::Bool(true))).then(|| plan.context.user.clone()),
        on_rejection: match argument("on_rejection").as_ref().and_then(Value::as_str) {
            Some("go_on") => OnRejection::GoOn,
            _ => OnRejection::Fail,
        },
    })
}

fn scope<'a>(
    plan: &'a RunPlan,
    planned: &'a PlannedTask,
    item: Option<&'a Value>,
    outputs: &'a Outputs,
) -> Scope<'a> {
    Scope {
        params: Some(&plan.parameters),
        run: Some(&plan.context),
        task: Some(&planned.name),
        args: None,
        item,
        outputs: Some(outputs),
        cards: None,
        processes_per_gpu: None,
        is_for_words: false,
    }
}

fn failure(task: &PlannedTask, place: &str, message: &str) -> Failure {
    Failure::new(FailureKind::Expression, format!("task `{}`, {place}: {message}", task.name))
}

/// An invalid argument.
struct Wrong {
    /// JSON pointer relative to the task: `/arguments/words/0`.
    path: String,
    message: String,
}

impl Wrong {
    fn failure(&self, task: &PlannedTask) -> Failure {
        failure(task, self.path.trim_start_matches('/'), &self.message)
    }
}

/// The first invalid argument for one item, of a task that reads no outputs.
pub fn wrong_argument(plan: &RunPlan, task: TaskIx, item: &Value) -> Option<(String, String)> {
    let (planned, outputs) = (plan.task(task), Outputs::new());
    // An item that the condition skips never gets its arguments.
    if !condition(plan, task, Some(item), &outputs).is_ok_and(|holds| holds) {
        return None;
    }
    let scope = scope(plan, planned, Some(item), &outputs);
    let wrong = late_arguments(planned, plan.template_of(planned), &scope).err()?;
    Some((wrong.path, wrong.message))
}

/// The late arguments, evaluated and checked.
fn late_arguments(
    planned: &PlannedTask,
    template: &PlannedTemplate,
    scope: &Scope<'_>,
) -> Result<JsonMap, Wrong> {
    let scope = Scope { is_for_words: true, ..*scope };
    let mut late = JsonMap::new();
    for (name, argument) in &planned.arguments {
        if let Late::Source(source) = argument {
            let mut value = render_value(source, &scope)
                .map_err(|mistake| Wrong { path: format!("/arguments/{name}"), message: mistake.message })?;
            in_words(&template.parameters, name, source, &mut value, None);
            late.insert(name.clone(), value);
        }
    }
    if late.is_empty() || template.parameters.is_null() {
        return Ok(late);
    }
    let mut all = late.clone();
    for (name, argument) in &planned.arguments {
        if let Late::Value(value) = argument {
            all.insert(name.clone(), value.clone());
        }
    }
    all.values_mut().for_each(verbatim::unmark);
    match check(&template.parameters, &all, &[], &mut Path::default()).into_iter().next() {
        Some(problem) => Err(Wrong { path: format!("/arguments{}", problem.path), message: problem.message }),
        None => Ok(late),
    }
}

fn roles(
    planned: &PlannedTask,
    template: &PlannedTemplate,
    elastic_workers: Option<u32>,
    inside: &Scope<'_>,
) -> Result<Vec<JobRole>, Failure> {
    let elastic_role =
        crate::frameworks::find(&template.framework).and_then(|framework| framework.elastic_role);
    let mut roles = Vec::with_capacity(planned.roles.len());
    for role in &planned.roles {
        let command = template.role_commands.get(&role.name).unwrap_or(&template.command);
        let argv = argv(command, inside).map_err(|mistake| failure(planned, "command", &mistake.message))?;
        let replicas = match (planned.elastic, elastic_workers) {
            (Some(range), Some(count)) if elastic_role == Some(&role.name) => {
                count.clamp(range.min, range.max)
            }
            _ => role.replicas,
        };
        roles.push(JobRole { name: role.name.clone(), replicas, argv, resources: role.resources.clone() });
    }
    Ok(roles)
}

fn env(
    planned: &PlannedTask,
    inside: &Scope<'_>,
) -> Result<std::collections::BTreeMap<String, String>, Failure> {
    let mut env = std::collections::BTreeMap::new();
    for (name, value) in &planned.env {
        let value = match value {
            Late::Value(value) => value.clone(),
            Late::Source(source) => render_value(source, inside)
                .map_err(|mistake| failure(planned, &format!("env `{name}`"), &mistake.message))?,
        };
        // A null variable is not set.
        if !value.is_null() {
            env.insert(name.clone(), to_text(value));
        }
    }
    Ok(env)
}

/// A command with its expressions evaluated: a list becomes one word per item, null becomes none.
///
/// # Errors
/// The first expression that cannot be evaluated, or a command without a program.
pub fn argv(command: &[String], scope: &Scope<'_>) -> Result<Vec<String>, Mistake> {
    let mut words = Vec::with_capacity(command.len());
    for word in command {
        match render(word, scope)? {
            Value::Null => {}
            Value::Array(items) => words.extend(items.into_iter().map(to_text)),
            other => words.push(to_text(other)),
        }
    }
    match words.first() {
        Some(program) if !program.is_empty() => {}
        _ => return Err(Mistake::new(cubeloom_domain::Code::InvalidArgument, "the command has no program")),
    }
    match words.iter().find(|word| word.contains('\0')) {
        Some(_) => Err(Mistake::new(
            cubeloom_domain::Code::InvalidArgument,
            "a word of the command contains a NUL character",
        )),
        None => Ok(words),
    }
}

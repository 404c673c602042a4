//! Validates the sub-runs of a plan before it starts, as far as possible. Each pipeline is planned with the
//! parameters that it would get.

use std::collections::BTreeMap;

use cubeloom_compiler::known_call;
use cubeloom_domain::call::{Call, Called};
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::problem::Severity;
use cubeloom_domain::{Code, JsonMap, Problem};
use serde_json::Value;

use super::child;
use crate::error::{ApiError, ApiResult, Kind};
use crate::plan::{self, Order, Planner};
use crate::runs::start;

/// Maximum number of reported problems per pipeline.
const TOLD: usize = 5;

/// Problems of the pipelines that a plan's tasks run, each at the argument that leads to it.
pub async fn problems(planner: &Planner, plan: &RunPlan) -> ApiResult<Vec<Problem>> {
    wrong_calls(planner, plan, &[], false).await
}

/// The same for a run that is itself a sub-run. `above` lists its pipelines from the root run down. With
/// `only_looks`, the user need not be accepted by the cluster.
pub(crate) async fn wrong_calls(
    planner: &Planner,
    plan: &RunPlan,
    above: &[String],
    only_looks: bool,
) -> ApiResult<Vec<Problem>> {
    let above: Vec<String> = above.iter().chain([&plan.pipeline]).cloned().collect();
    // Many tasks may run the same pipeline.
    let mut seen: BTreeMap<String, Vec<(String, Code, String)>> = BTreeMap::new();
    let mut problems = Vec::new();
    for (at, task) in plan.tasks.iter().enumerate() {
        let Some(call) = known_call(task) else { continue };
        let key = serde_json::to_string(&call).map_err(ApiError::internal)?;
        if !seen.contains_key(&key) {
            let wrong = wrong(planner, plan, &call, above.clone(), only_looks).await?;
            seen.insert(key.clone(), wrong);
        }
        problems.extend(seen.get(&key).into_iter().flatten().map(|(field, code, message)| {
            Problem::error(*code, format!("/tasks/{at}/arguments{field}"), message)
        }));
    }
    Ok(problems)
}

/// Problems of one call, with the argument.
async fn wrong(
    planner: &Planner,
    plan: &RunPlan,
    call: &Call,
    above: Vec<String>,
    only_looks: bool,
) -> ApiResult<Vec<(String, Code, String)>> {
    let named = match call.of {
        Called::Pipeline { .. } => "/pipeline",
        Called::File(_) => "/file",
    };
    let context = &plan.context;
    let planned = async {
        if let Called::Pipeline { name, .. } = &call.of {
            plan::demand_no_cycle(&above, name)?;
        }
        let source = child::source(planner, call, context.code.as_deref())?;
        let (text, code, _) = start::read(planner, &context.project, source).await?;
        let order = Order {
            project: context.project.clone(),
            user: context.user.clone(),
            parameters: call.parameters.clone(),
            code,
            id: None,
            root: Some(context.root().clone()),
            above,
            place: None,
            date: Some(context.date),
            timezone: context.timezone.clone(),
        };
        // It may run other pipelines in turn.
        match only_looks {
            true => Box::pin(plan::shown(planner, text, order)).await,
            false => Box::pin(plan::plan(planner, text, order)).await,
        }
    };
    let error = match planned.await {
        Ok(_) => return Ok(Vec::new()),
        Err(error) if error.kind() == Kind::Invalid => error,
        Err(error) => return Err(error),
    };
    let errors = error.problems().iter().filter(|one| one.severity == Severity::Error).take(TOLD);
    Ok(errors.map(|one| told(one, named, &call.parameters)).collect())
}

fn told(problem: &Problem, named: &str, parameters: &JsonMap) -> (String, Code, String) {
    let Problem { path, code, message, .. } = problem;
    if matches!(path.as_str(), "/pipeline" | "/version" | "/file" | "/parameters") {
        return (path.clone(), *code, message.clone());
    }
    if let Some(name) = path.strip_prefix("/parameters/") {
        let given = parameters.get(name).is_some_and(|value| !matches!(value, Value::Null));
        let field = if given { format!("/parameters/{name}") } else { "/parameters".to_owned() };
        return (field, *code, message.clone());
    }
    let message = match path.as_str() {
        "" => format!("this pipeline cannot run: {message}"),
        path => format!("this pipeline cannot run: {path}: {message}"),
    };
    (named.to_owned(), *code, message)
}

//! View of a plan and its manifests.

use cubeloom_compiler::preview::{Jobs, TaskPreview};
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::{ForEachItems, RunPlan};
use cubeloom_domain::{JsonMap, TaskIx};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::tasks::view::RoleView;
use crate::error::ProblemView;
use crate::runs::describe;
use crate::texts::Lang;
use crate::told::told;

/// Document to compile.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToCompile {
    /// Document text, YAML or JSON.
    pub document: String,
    /// Parameters. Strings are parsed according to the declared types.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Digest of the code folder that belongs to the document.
    pub code: Option<String>,
}

/// Compiled document.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompiledView {
    /// Run as it would be created: an unused ID, project, user and date.
    #[schema(value_type = Object)]
    pub run: Value,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Cluster that the run would use.
    pub cluster: String,
    /// Parameter values, including defaults.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Tasks, in the order of the document.
    pub tasks: Vec<CompiledTaskView>,
    /// Warnings about what is valid but probably unintended.
    pub warnings: Vec<ProblemView>,
}

/// Compiled task.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompiledTaskView {
    /// Name.
    pub task: String,
    /// Tasks that it depends on.
    pub needs: Vec<String>,
    /// Task template, as `name@version`.
    pub template: String,
    /// Framework, which determines how workers learn their identity.
    pub framework: String,
    /// Worker roles and the resources of each.
    pub roles: Vec<RoleView>,
    /// Number of workers that must start together.
    pub gang: u32,
    /// Number of instances. Omitted when earlier tasks determine it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
    /// Jobs of the first instances, at most 20, as they would be submitted to the cluster. Contains a sentence
    /// instead if the jobs are known only later or the cluster would reject them.
    #[schema(value_type = Value)]
    pub jobs: Value,
}

impl CompiledTaskView {
    /// View of a plan's task.
    pub fn new(
        plan: &RunPlan,
        ix: TaskIx,
        preview: TaskPreview<Vec<Result<Value, Failure>>>,
        lang: Lang,
    ) -> Self {
        let task = plan.task(ix);
        let template = plan.template_of(task);
        let instances = match task.for_each.as_ref().map(|each| &each.items) {
            None => Some(1),
            Some(ForEachItems::Known(items)) => Some(items.len()),
            Some(ForEachItems::Search(search)) => Some(search.trials as usize),
            Some(ForEachItems::Expression(_)) => None,
        };
        let jobs = match preview.jobs {
            Jobs::Known(jobs) => {
                jobs.into_iter().collect::<Result<Vec<_>, Failure>>().map_err(|failure| failure.message)
            }
            Jobs::Later(sentence) => Err(sentence),
        };
        let jobs = jobs.map_or_else(|sentence| Value::String(told(lang, sentence)), Value::Array);
        Self {
            task: preview.task,
            needs: preview.needs,
            template: format!("{}@{}", template.name, template.version),
            framework: template.framework.clone(),
            roles: task.roles.iter().map(describe::role).collect(),
            gang: task.gang,
            instances,
            jobs,
        }
    }
}

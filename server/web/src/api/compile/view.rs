//! A plan and what it would submit, as the API shows it.

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

/// A document to compile.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToCompile {
    /// The text, YAML or JSON.
    pub document: String,
    /// The parameters; texts are read by the declared types.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// The digest of a folder of code that goes with it.
    pub code: Option<String>,
}

/// A compiled document.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompiledView {
    /// What the run would be: an id that is not used, project, person, date.
    #[schema(value_type = Object)]
    pub run: Value,
    /// The pipeline's name.
    pub pipeline: String,
    /// The cluster that it would run on.
    pub cluster: String,
    /// The values of its parameters, defaults included.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Its tasks, in the document's order.
    pub tasks: Vec<CompiledTaskView>,
    /// What runs, and probably not as meant.
    pub warnings: Vec<ProblemView>,
}

/// A compiled task.
#[derive(Debug, Serialize, ToSchema)]
pub struct CompiledTaskView {
    /// Its name.
    pub task: String,
    /// The tasks before it.
    pub needs: Vec<String>,
    /// `name@version`.
    pub template: String,
    /// How its workers learn who they are.
    pub framework: String,
    /// Its workers and what each gets.
    pub roles: Vec<RoleView>,
    /// How many workers must start together.
    pub gang: u32,
    /// How many instances it has; absent when earlier tasks decide that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<usize>,
    /// The jobs of its first instances, at most 20, as the cluster would be given them; a sentence instead when they are
    /// known only later, or the cluster would not take them.
    #[schema(value_type = Value)]
    pub jobs: Value,
}

impl CompiledTaskView {
    /// A task of a plan.
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

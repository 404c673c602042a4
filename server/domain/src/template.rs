//! Task templates, `task-templates/<name>/template.yaml`: a versioned recipe for one kind of job.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A versioned recipe for one kind of job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskTemplate {
    /// Always `cubeloom/v1`.
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    /// Always `TaskTemplate`.
    pub kind: String,
    /// The name: a DNS-1123 label, and its folder's name.
    pub name: String,
    /// Three numbers, `1.0.0`. What was stored under a version never changes.
    pub version: String,
    /// The group it is listed in.
    pub group: String,
    /// Name.
    pub label: Localized,
    /// Description, in Markdown.
    pub help: Localized,
    /// How its workers learn who they are: `single`, `indexed`, `mpi`, `xgboost`, `pytorch`, ...
    pub framework: String,
    /// The container image; `{{ args.NAME }}` where a task names its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<String>,
    /// Whether its program writes outside of the folders that it is given: its containers' root file system can be
    /// written to then. What is written there is gone when the worker has ended.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub writable_root: bool,
    /// How it runs where there are no containers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub local: Option<LocalRuntime>,
    /// The arguments: a JSON Schema (draft 2020-12) of type object, with `x-form` hints.
    #[serde(default)]
    pub parameters: Value,
    /// What must hold of the arguments together, beyond their schema. Each is looked at when the ones before it hold.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub checks: Vec<CheckTemplate>,
    /// The roles; the framework's own names. None where a person does the task.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub roles: Vec<RoleTemplate>,
    /// What each worker runs: one expression a string, no shell. None where a person does the task.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub command: Vec<String>,
    /// Variables of each worker.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub env: BTreeMap<String, String>,
    /// Whether it starts whole or not at all; true when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gang: Option<bool>,
    /// Whether its workers are tested before its program begins, unless a task says otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub preflight: bool,
    /// How few and how many workers it can use.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elastic: Option<ElasticTemplate>,
    /// Outputs that its program reports.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<OutputTemplate>,
}

/// A text in English and Chinese.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Localized {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// How a template runs where there are no containers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalRuntime {
    /// A Python environment, made once and cached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub python: Option<PythonRuntime>,
    /// Debian packages that must be there.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub apt: Vec<String>,
}

/// A Python environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonRuntime {
    /// The interpreter; `python3` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub interpreter: Option<String>,
    /// Requirements, pinned: a list, or an expression that yields one.
    #[serde(default)]
    pub requirements: Value,
    /// Whether Debian's own Python packages are seen too.
    #[serde(default)]
    pub system_site_packages: bool,
    /// Packages that are there without being installed, such as Debian's PyTorch: what requires one of them gets no
    /// other, unless the requirements name it themselves.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub provided: Vec<String>,
    /// Packages without a wheel that are built from what the package index has of them, where a task requires them. Their code
    /// runs then, as the project's uid. What else has no wheel is not installed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub builds: Vec<String>,
}

/// What must hold of the arguments before a task can be planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckTemplate {
    /// An expression that yields true or false.
    pub holds: String,
    /// The argument that a person has to change where it does not.
    pub argument: String,
    /// What they are told; it may hold expressions.
    pub says: String,
}

/// One role of a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleTemplate {
    /// The name, one that the framework knows.
    pub name: String,
    /// How many workers: a number, or an expression that yields one.
    pub replicas: Value,
    /// What each gets when the task does not say: amounts, or expressions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resources: Option<Value>,
    /// What it runs, if not the template's command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<Vec<String>>,
}

/// How few and how many workers: numbers, or expressions that yield them; null means not elastic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticTemplate {
    /// Fewer cannot work.
    pub min: Value,
    /// More are not used.
    pub max: Value,
    /// Whether the first worker gives the others their work: its end is the job's. Otherwise the workers are alike, and the job
    /// goes on while there is one of them. Frameworks with a rule of their own keep it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub leader: bool,
}

/// One thing that the program reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputTemplate {
    /// Name.
    pub name: String,
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
}

/// A template as it is installed: the recipe, and what its folder holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstalledTemplate {
    /// The recipe.
    pub template: TaskTemplate,
    /// SHA-256 over names and content of every file of its folder, in hexadecimal.
    pub digest: String,
    /// Its folder on the machine that loaded it.
    pub folder: String,
}

/// The installed templates, every version of each, by name and version.
pub type TemplateSet = BTreeMap<String, BTreeMap<String, InstalledTemplate>>;

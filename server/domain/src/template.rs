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
    /// Three numbers, `1.0.0`. Content stored under a version never changes.
    pub version: String,
    /// The group it is listed in.
    pub group: String,
    /// Name.
    pub label: Localized,
    /// Description, in Markdown.
    pub help: Localized,
    /// How its workers learn their rank and peers: `single`, `indexed`, `mpi`, `xgboost`, `pytorch`, ...
    pub framework: String,
    /// The container image; `{{ args.NAME }}` where a task names its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<String>,
    /// Whether its program writes outside of its own folders: the root file system of its containers is
    /// writable then. Such files are gone when the worker has ended.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub writable_root: bool,
    /// How it runs without containers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub local: Option<LocalRuntime>,
    /// The arguments: a JSON Schema (draft 2020-12) of type object, with `x-form` hints.
    #[serde(default)]
    pub parameters: Value,
    /// Constraints on the arguments beyond their schema. Each is evaluated if the ones before it hold.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub checks: Vec<CheckTemplate>,
    /// The roles, with the framework's own names. Empty for an approval.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub roles: Vec<RoleTemplate>,
    /// The command of each worker: one expression per string, no shell. Empty for an approval.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub command: Vec<String>,
    /// Environment variables of each worker.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub env: BTreeMap<String, String>,
    /// Whether all workers must start together; true when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gang: Option<bool>,
    /// Whether its workers get a preflight test before its program begins, unless a task says otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub preflight: bool,
    /// Minimum and maximum number of workers.
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

/// How a template runs without containers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalRuntime {
    /// A Python environment, created once and cached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub python: Option<PythonRuntime>,
    /// Required Debian packages.
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
    /// Whether Debian's own Python packages are visible, too.
    #[serde(default)]
    pub system_site_packages: bool,
    /// Packages that exist without installation, such as Debian's PyTorch: a requirement on one of them
    /// installs no other version, unless the template's own requirements name it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub provided: Vec<String>,
    /// Packages without a wheel that are built from their source in the package index, if a task requires
    /// them. Their code then runs as the project's uid. Other packages without a wheel are not installed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub builds: Vec<String>,
}

/// A constraint on the arguments, checked before a task is planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckTemplate {
    /// An expression that yields true or false.
    pub holds: String,
    /// The argument that the user has to change if it does not hold.
    pub argument: String,
    /// The message for the user; may contain expressions.
    pub says: String,
}

/// One role of a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleTemplate {
    /// The name, one that the framework knows.
    pub name: String,
    /// Number of workers: a number, or an expression that yields one.
    pub replicas: Value,
    /// Default resources of each worker: amounts, or expressions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resources: Option<Value>,
    /// Its command, if it is not the template's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<Vec<String>>,
}

/// Minimum and maximum number of workers: numbers, or expressions that yield them; null means not elastic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticTemplate {
    /// The minimum; with fewer it cannot run.
    pub min: Value,
    /// The maximum; more are not used.
    pub max: Value,
    /// Whether the first worker distributes the work: its end is the job's. Otherwise the workers are equal,
    /// and the job continues while one of them is left. Frameworks with a rule of their own keep it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub leader: bool,
}

/// An output that the program reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputTemplate {
    /// Name.
    pub name: String,
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
}

/// An installed template: the recipe, and the content of its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstalledTemplate {
    pub template: TaskTemplate,
    /// SHA-256 of the names and contents of all files in its folder, in hexadecimal.
    pub digest: String,
    /// Its folder on the machine that loaded it.
    pub folder: String,
}

/// The installed templates, in every version, by name and version.
pub type TemplateSet = BTreeMap<String, BTreeMap<String, InstalledTemplate>>;

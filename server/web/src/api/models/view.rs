//! Views of models and their versions.

use std::collections::BTreeMap;

use cubeloom_domain::JsonMap;
use cubeloom_domain::model::{Model, ModelVersion, NewModelVersion, Origin, ReportedModel};
use cubeloom_store::ModelSummary;
use serde::Serialize;
use utoipa::ToSchema;

use crate::time::Time;

/// Model.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelView {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Version that each alias refers to.
    #[schema(value_type = BTreeMap<String, u32>)]
    pub aliases: BTreeMap<String, u32>,
    /// Number of versions.
    pub versions: u64,
    /// Newest version. Omitted when all versions were deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<ModelVersionView>,
    /// Creation time.
    pub created_at: Time,
    /// Time of the last change or of the last version registration.
    pub updated_at: Time,
    /// Revision number, incremented with each change. In quotes, it is the ETag.
    pub revision: u64,
}

impl From<ModelSummary> for ModelView {
    fn from(summary: ModelSummary) -> Self {
        let ModelSummary { model, versions, newest } = summary;
        Self {
            newest: newest.map(|newest| ModelVersionView::new(newest, &model)),
            name: model.name,
            description: model.description,
            aliases: model.aliases,
            versions,
            created_at: Time(model.created_at),
            updated_at: Time(model.updated_at),
            revision: model.revision,
        }
    }
}

/// Version of a model. It never changes, except for its aliases.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelVersionView {
    /// Model.
    pub model: String,
    /// Version number, starting at 1. A number is never reused, even after its version is deleted.
    pub version: u32,
    /// Aliases that point to the version now.
    pub aliases: Vec<String>,
    /// Folder of the version in the volume `workspace`.
    pub path: String,
    /// File format: `onnx`, `pytorch`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Digest of the content, such as `sha256:...`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Size, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Quality metrics.
    #[schema(value_type = BTreeMap<String, f64>)]
    pub metrics: BTreeMap<String, f64>,
    /// Training parameters.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// Training data: paths, URLs, digests.
    pub data: Vec<String>,
    /// Description from the program that registered the version.
    pub description: String,
    /// Run that created the version. It may have been deleted since.
    pub run: String,
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Attempt.
    pub attempt: u32,
    /// Pipeline of the run.
    pub pipeline: String,
    /// Version of the pipeline, if the pipeline is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline_version: Option<u32>,
    /// Digest of the pipeline's code folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// User who started the run or last resumed it.
    pub user: String,
    /// Registration time.
    pub created_at: Time,
}

impl ModelVersionView {
    /// View of a version of this model.
    pub fn new(version: ModelVersion, model: &Model) -> Self {
        let ModelVersion { version, made } = version;
        let NewModelVersion { reported, origin, created_at, .. } = made;
        let ReportedModel {
            name, path, format, digest, size, metrics, parameters, data, description, ..
        } = reported;
        let Origin { attempt, pipeline, pipeline_version, code, user } = origin;
        let aliases = model.aliases.iter().filter(|(_, aliased)| **aliased == version);
        Self {
            aliases: aliases.map(|(alias, _)| alias.clone()).collect(),
            model: name,
            version,
            path,
            format,
            digest,
            size,
            metrics,
            parameters,
            data,
            description,
            run: attempt.run.to_string(),
            task: attempt.task,
            instance: attempt.instance,
            attempt: attempt.n,
            pipeline,
            pipeline_version,
            code,
            user,
            created_at: Time(created_at),
        }
    }
}

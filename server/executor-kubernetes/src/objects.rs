//! Manifests of a job: complete until submitted, by name afterwards.

use cubeloom_domain::kubernetes::KubernetesJob;
use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An object in its requested API version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// For example `batch/v1`.
    pub api_version: String,
    /// For example `Job`.
    pub kind: String,
    pub name: String,
}

impl Named {
    fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            api_version: text(&object["apiVersion"]),
            kind: text(&object["kind"]),
            name: text(&object["metadata"]["name"]),
        }
    }

    /// The API resource of its kind.
    pub fn resource(&self) -> ApiResource {
        resource(&self.api_version, &self.kind)
    }

    /// Whether it is a bare pod, without a controller.
    pub fn is_pod(&self) -> bool {
        self.kind == "Pod"
    }

    /// Whether it represents the job: its status says how the job ended.
    pub fn is_root(&self) -> bool {
        !matches!(self.kind.as_str(), "ConfigMap" | "Service" | "Secret")
    }
}

/// The API resource of a kind.
#[must_use]
pub fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// What to remember of a job's objects after submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    pub namespace: String,
    /// Objects that represent the job. The last one has the requested kind.
    pub roots: Vec<Named>,
}

impl Names {
    #[must_use]
    pub fn of(job: &KubernetesJob) -> Self {
        let namespace = job.objects.last().and_then(|object| object["metadata"]["namespace"].as_str());
        Self {
            namespace: namespace.unwrap_or_default().to_owned(),
            roots: job.objects.iter().map(Named::of).filter(Named::is_root).collect(),
        }
    }
}

/// A manifest to submit. Thousands may wait at a time, so it is stored as text, a tenth of the value's size.
pub struct Packed {
    pub named: Named,
    text: Box<str>,
}

impl Packed {
    #[must_use]
    pub fn of(object: &Value) -> Self {
        Self { named: Named::of(object), text: object.to_string().into() }
    }

    /// The request body.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The original manifest.
    #[must_use]
    pub fn unpacked(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

//! The objects of a job: whole until they are submitted, by their names afterwards.

use cubeloom_domain::kubernetes::KubernetesJob;
use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An object, as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// `batch/v1`.
    pub api_version: String,
    /// `Job`.
    pub kind: String,
    /// Name.
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

    /// What the API server serves it as.
    pub fn resource(&self) -> ApiResource {
        resource(&self.api_version, &self.kind)
    }

    /// Whether it is a pod, without anything that made it.
    pub fn is_pod(&self) -> bool {
        self.kind == "Pod"
    }

    /// Whether it stands for the job: it has a status that says how the job ended.
    pub fn is_root(&self) -> bool {
        !matches!(self.kind.as_str(), "ConfigMap" | "Service" | "Secret")
    }
}

/// What the API server serves a kind as.
#[must_use]
pub fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// What has to be known of a job's objects once they are submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// Location.
    pub namespace: String,
    /// Those that stand for the job. The last is what it was asked for as.
    pub roots: Vec<Named>,
}

impl Names {
    /// Those of a job.
    #[must_use]
    pub fn of(job: &KubernetesJob) -> Self {
        let namespace = job.objects.last().and_then(|object| object["metadata"]["namespace"].as_str());
        Self {
            namespace: namespace.unwrap_or_default().to_owned(),
            roots: job.objects.iter().map(Named::of).filter(Named::is_root).collect(),
        }
    }
}

/// An object on its way to the cluster. Thousands may wait at the same time, so it is text, a tenth of the value's size.
pub struct Packed {
    /// Which it is.
    pub named: Named,
    text: Box<str>,
}

impl Packed {
    /// Packs one.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        Self { named: Named::of(object), text: object.to_string().into() }
    }

    /// What is sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it was packed of.
    #[must_use]
    pub fn unpacked(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

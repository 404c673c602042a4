//! Acts as another client of the cluster.

use cubeloom_domain::AttemptKey;
use cubeloom_executor_kubernetes::Access;
use kube::api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client};
use serde_json::{Value, json};

use super::harness::told;

/// Has an administrator's rights.
pub struct Kubectl(pub Client);

/// A manifest.
pub struct Object(Value);

impl Object {
    pub fn of(document: Value) -> Self {
        Self(document)
    }

    /// The job of an attempt: the suite's jobs become Volcano jobs.
    pub fn job(key: &AttemptKey) -> Self {
        Self(json!({
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": {"name": key.object_name(), "namespace": told("CUBELOOM_TEST_NAMESPACE")},
        }))
    }

    pub async fn pod_of(kubectl: &Kubectl, key: &AttemptKey) -> Self {
        let mut pod = Self::job(key);
        pod.0["apiVersion"] = "v1".into();
        pod.0["kind"] = "Pod".into();
        let labels = ListParams::default().labels(&format!("cubeloom/job={}", key.object_name()));
        let found = kubectl.api(&pod).list(&labels).await.unwrap();
        pod.0["metadata"]["name"] = found.items[0].metadata.name.clone().into();
        pod
    }

    fn name(&self) -> &str {
        self.0["metadata"]["name"].as_str().unwrap()
    }
}

impl Kubectl {
    /// Connects to the test cluster.
    pub async fn new() -> Self {
        let text = std::fs::read_to_string(told("KUBECONFIG")).unwrap();
        Self(Access::Kubeconfig { text, context: None }.client("test").await.unwrap())
    }

    /// The API of the object's kind and namespace.
    pub fn api(&self, object: &Object) -> Api<DynamicObject> {
        let text = |name: &str| object.0[name].as_str().unwrap();
        let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, text("kind")));
        match object.0["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(self.0.clone(), namespace, &kind),
            None => Api::all_with(self.0.clone(), &kind),
        }
    }

    pub async fn create(&self, object: &Object) {
        let made: DynamicObject = serde_json::from_value(object.0.clone()).unwrap();
        self.api(object).create(&PostParams::default(), &made).await.unwrap();
    }

    /// The phase in its status.
    pub async fn phase(&self, object: &Object) -> Option<String> {
        let found = self.api(object).get(object.name()).await.unwrap();
        found.data["status"]["phase"].as_str().map(ToOwned::to_owned)
    }

    /// Creates or updates it.
    pub async fn apply(&self, object: &Object) {
        let params = PatchParams::apply("tests").force();
        self.api(object).patch(object.name(), &params, &Patch::Apply(&object.0)).await.unwrap();
    }

    pub async fn delete(&self, object: &Object) {
        self.api(object).delete(object.name(), &DeleteParams::background()).await.unwrap();
    }

    /// Patches it.
    pub async fn merge(&self, object: &Object, change: &Value) {
        let params = PatchParams::default();
        self.api(object).patch(object.name(), &params, &Patch::Merge(change)).await.unwrap();
    }
}

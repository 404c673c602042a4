//! Submits a job's manifests, its own object last. Every step is idempotent: existing objects stay, so a job
//! that an earlier server began to submit is adopted.
//!
//! Owner references make the cluster remove a job's other objects together with the job's own. A Secret is
//! owned by the job's ConfigMap from the start, and the ConfigMap later by the job's object. Patching the
//! Secret instead would return its values, and this server must not see those of others.

use std::collections::BTreeMap;
use std::fmt::Write;

use cubeloom_domain::belongings::DOCKER_HUB;
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{TOKEN_KEY, labels, pull_secret};
use cubeloom_domain::vault::Login;
use kube::Resource;
use kube::api::{Api, DynamicObject, PartialObjectMeta, Patch, PatchParams, PostParams, Request};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::error::{Refused, pause};
use crate::objects::{Named, Packed};

/// The field manager of applied objects.
pub const MANAGER: &str = "cubeloom";

const CONFIG_MAP: &str = "ConfigMap";

/// Whether a job has something that only its workers may know.
fn has_secret(job: &Job) -> bool {
    !job.secrets.is_empty() || job.workers() > 1
}

pub fn secrets_of(job: &Job) -> impl Iterator<Item = String> {
    let name = job.key.object_name();
    let pull = job.registry.as_ref().map(|_| pull_secret(&name));
    has_secret(job).then_some(name).into_iter().chain(pull)
}

/// Confidential values for a job's workers, and credentials to start them.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub secrets: BTreeMap<String, String>,
    /// Image pull credentials.
    pub login: Option<Login>,
}

/// Data to submit.
pub struct Parcel {
    /// The manifests in creation order; the job is the last.
    pub objects: Vec<Packed>,
    pub given: Given,
}

/// A job being submitted.
pub struct Submitting<'a> {
    pub cluster: &'a Cluster,
    pub namespace: &'a str,
    pub job: &'a Job,
    /// Name of its Secret.
    pub name: &'a str,
    pub parcel: &'a Parcel,
    /// Receives the reason while the cluster refuses it for now.
    pub say: &'a (dyn Fn(String) + Sync),
    /// Whether the job was stopped meanwhile.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Result of a submission.
pub enum Submitted {
    /// All objects exist.
    Done,
    /// It was stopped. Some objects may exist.
    Stopped,
    /// The cluster refused it, for this reason.
    Refused(String),
}

impl Submitting<'_> {
    /// Submits, however long the cluster is unreachable.
    pub async fn run(&self) -> Submitted {
        match self.steps().await {
            Ok(()) => Submitted::Done,
            Err(None) => Submitted::Stopped,
            Err(Some(message)) => Submitted::Refused(message),
        }
    }

    async fn steps(&self) -> Result<(), Option<String>> {
        let objects = &self.parcel.objects;
        let has_files = objects.iter().any(|object| object.named.kind == CONFIG_MAP);
        let anchor = (secrets_of(self.job).next().is_some() && !has_files).then(|| self.anchor());
        let helpers: Vec<&Packed> =
            anchor.iter().chain(objects.iter().filter(|object| !object.named.is_root())).collect();
        let mut files = None;
        for helper in &helpers {
            let uid = self.patiently(|| self.apply(helper)).await?;
            if helper.named.kind == CONFIG_MAP {
                files = Some(owner(&helper.named, uid));
            }
        }
        for secret in self.secret(files.as_ref())?.into_iter().chain(self.pull_secret(files.as_ref())) {
            self.patiently(|| self.keep(&secret)).await?;
        }
        let mut owners = Vec::new();
        for root in objects.iter().filter(|object| object.named.is_root()) {
            let uid = self.patiently(|| self.create(root)).await?;
            owners.push(owner(&root.named, uid));
        }
        for helper in helpers {
            self.patiently(|| self.own(&helper.named, &owners)).await?;
        }
        Ok(())
    }

    /// Retries temporary failures, and reports them.
    async fn patiently<T, F>(&self, step: impl Fn() -> F) -> Result<T, Option<String>>
    where
        F: Future<Output = Result<T, Refused>>,
    {
        let mut tries = 0;
        loop {
            if (self.is_stopped)() {
                return Err(None);
            }
            let refused = match step().await {
                Ok(done) => return Ok(done),
                Err(Refused::ForGood(message)) => return Err(Some(message)),
                Err(Refused::NotFound | Refused::Exists) => return Err(Some(self.no_namespace())),
                Err(Refused::ForNow(message) | Refused::Busy(message) | Refused::Credentials(message)) => {
                    message
                }
            };
            tries += 1;
            let note = format!("the cluster did not accept it; retrying: {refused}");
            (self.say)(note);
            tokio::time::sleep(pause(tries)).await;
        }
    }

    fn no_namespace(&self) -> String {
        let namespace = self.namespace;
        format!("the cluster has no namespace `{namespace}`: see the cluster's page for what a project needs")
    }

    async fn api(&self, named: &Named) -> Api<DynamicObject> {
        Api::namespaced_with(self.cluster.client().await, self.namespace, &named.resource())
    }

    /// Creates or updates an object, and returns its uid.
    async fn apply(&self, object: &Packed) -> Result<Option<String>, Refused> {
        let params = PatchParams::apply(MANAGER).force();
        let api = self.api(&object.named).await;
        let sent =
            async { api.patch_metadata(&object.named.name, &params, &Patch::Apply(object.unpacked())).await };
        self.cluster.ask("submitting", sent).await.map(|there| there.metadata.uid)
    }

    /// Creates an object, and returns its uid. An existing one stays unchanged: webhooks refuse changes of
    /// jobs, even back to the requested state.
    async fn create(&self, object: &Packed) -> Result<Option<String>, Refused> {
        match self.post(object).await {
            Err(Refused::Exists) => {
                let api = self.api(&object.named).await;
                let there = self.cluster.ask("submitting", api.get_metadata(&object.named.name)).await;
                // It was deleted in between: create it again.
                there.map(|there| there.metadata.uid).map_err(|refused| match refused {
                    Refused::NotFound => Refused::Busy("it has just been removed".into()),
                    refused => refused,
                })
            }
            made => made.map(|made| made.metadata.uid),
        }
    }

    /// Creates a Secret. An existing one stays, unread: running workers know its token.
    async fn keep(&self, secret: &Packed) -> Result<(), Refused> {
        match self.post(secret).await {
            Err(Refused::Exists) => Ok(()),
            made => made.map(drop),
        }
    }

    async fn post(&self, object: &Packed) -> Result<PartialObjectMeta, Refused> {
        let client = self.cluster.client().await;
        let path = DynamicObject::url_path(&object.named.resource(), Some(self.namespace));
        let params = PostParams { field_manager: Some(MANAGER.into()), ..PostParams::default() };
        let sent = async {
            let request = Request::new(path).create(&params, object.text().into());
            client.request(request.map_err(kube::Error::BuildRequest)?).await
        };
        self.cluster.ask("submitting", sent).await
    }

    /// Sets the owner, so that the cluster removes an object together with the job's.
    async fn own(&self, named: &Named, owners: &[Value]) -> Result<(), Refused> {
        let patch = json!({"metadata": {"ownerReferences": owners}});
        let api = self.api(named).await;
        let params = PatchParams::default();
        let patch = Patch::Merge(&patch);
        match self.cluster.ask("submitting", api.patch(&named.name, &params, &patch)).await {
            // The job ended, and its objects were deleted, before this request.
            Err(Refused::NotFound) => Ok(()),
            owned => owned.map(drop),
        }
    }

    /// The Secret for the job's workers.
    fn secret(&self, owner: Option<&Value>) -> Result<Option<Packed>, Option<String>> {
        if !has_secret(self.job) {
            return Ok(None);
        }
        let mut data = self.parcel.given.secrets.clone();
        data.insert(TOKEN_KEY.into(), token().map_err(|error| Some(error.to_string()))?);
        Ok(Some(self.secret_of("Opaque", self.name, owner, &json!(data))))
    }

    /// The image pull Secret.
    fn pull_secret(&self, owner: Option<&Value>) -> Option<Packed> {
        let (host, login) = (self.job.registry.as_deref()?, self.parcel.given.login.as_ref()?);
        // The name of Docker Hub in such a file:
        // https://kubernetes.io/docs/concepts/containers/images/#config-json
        let host = if host == DOCKER_HUB { "https://index.docker.io/v1/" } else { host };
        let account = json!({"username": login.user, "password": login.password});
        let file = json!({"auths": {host: account}}).to_string();
        let data = json!({".dockerconfigjson": file});
        Some(self.secret_of("kubernetes.io/dockerconfigjson", &pull_secret(self.name), owner, &data))
    }

    /// A ConfigMap without files, which owns the job's Secrets.
    fn anchor(&self) -> Packed {
        Packed::of(&json!({"apiVersion": "v1", "kind": CONFIG_MAP, "metadata": self.metadata(self.name)}))
    }

    fn secret_of(&self, kind: &str, name: &str, owner: Option<&Value>, data: &Value) -> Packed {
        let mut metadata = self.metadata(name);
        metadata["ownerReferences"] = owner.into_iter().cloned().collect();
        Packed::of(&json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind, "stringData": data,
        }))
    }

    fn metadata(&self, name: &str) -> Value {
        let last = self.parcel.objects.last().map(Packed::unpacked);
        json!({
            "name": name,
            "namespace": self.namespace,
            "labels": last.map(|object| without_queue(object["metadata"]["labels"].clone())),
            "annotations": {labels::KEY: self.job.key.to_string()},
        })
    }
}

/// Only jobs are queued.
fn without_queue(mut labels: Value) -> Value {
    if let Some(labels) = labels.as_object_mut() {
        labels.retain(|name, _| !name.contains("kueue") && !name.contains("volcano"));
    }
    labels
}

/// 256 random bits.
fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn owner(named: &Named, uid: Option<String>) -> Value {
    json!({"apiVersion": named.api_version, "kind": named.kind, "name": named.name, "uid": uid})
}

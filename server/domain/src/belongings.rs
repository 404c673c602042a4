//! What belongs to a project or a person beside pipelines and runs: secrets, volumes, registries, hooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::JsonMap;
use crate::clock::Timestamp;

/// Whose something is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A project's, by its name.
    Project(String),
    /// A person's, by their id.
    User(String),
    /// The server's own: the keys of a cluster.
    Cluster(String),
}

/// A secret, encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSecret {
    /// Whose.
    pub owner: Owner,
    /// The name that tasks use.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The encrypted value.
    pub sealed: String,
    /// Since when there is one.
    pub created_at: Timestamp,
    /// When its value was last set.
    pub updated_at: Timestamp,
    /// By whom.
    pub updated_by: String,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// Storage that tasks name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// The project.
    pub project: String,
    /// The name that tasks use.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it is.
    pub place: VolumePlace,
    /// Since when there is one.
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// Where a volume is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum VolumePlace {
    /// A folder of the project's own workspace, made when it is first used.
    Workspace {
        /// Below the project's workspace, with `/` between its parts.
        path: String,
    },
    /// A folder of the server's machine. Only an administrator may name one.
    Folder {
        /// Absolute.
        path: String,
    },
    /// A PersistentVolumeClaim on a Kubernetes cluster.
    Claim {
        /// The cluster.
        cluster: String,
        /// The claim's name, in the project's namespace.
        claim: String,
        /// Where the server itself sees the claim's files, absolute: people can look into it then. Only an administrator may
        /// name one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// A bucket of an object store.
    ObjectStore {
        /// `s3`, `cos`, `oss`, ...: a scheme that the transfer template reads.
        scheme: String,
        /// The bucket.
        bucket: String,
        /// Below it.
        prefix: String,
        /// The service's address, where it is not the vendor's own.
        endpoint: Option<String>,
        /// The region.
        region: Option<String>,
        /// The project's secret that holds the access key's id, and the one that holds its secret.
        credentials: Option<(String, String)>,
    },
}

/// A registry of container images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    /// The project.
    pub project: String,
    /// What it is called here.
    pub name: String,
    /// Its host, with a port perhaps.
    pub host: String,
    /// The account there.
    pub user: String,
    /// The project's secret that holds the password.
    pub secret: Option<String>,
    /// Since when there is one.
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// A URL that starts a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// A ULID.
    pub id: String,
    /// The project.
    pub project: String,
    /// The pipeline that it starts, in its newest version.
    pub pipeline: String,
    /// What it is called.
    pub name: String,
    /// Parameters of the runs that it starts; what the caller sends goes over them.
    pub parameters: JsonMap,
    /// The name of who made it: its runs are theirs.
    pub created_by: String,
    /// Since when there is one.
    pub created_at: Timestamp,
    /// When it was last used.
    pub used_at: Option<Timestamp>,
    /// Counts its changes, from 1: the signature in its URL holds for one revision only.
    pub revision: u64,
}

impl Registry {
    /// Whether images are pulled with an account: others are open to all.
    #[must_use]
    pub fn has_account(&self) -> bool {
        !self.user.is_empty() && self.secret.is_some()
    }
}

/// The registry of images without a host in their names.
pub const DOCKER_HUB: &str = "docker.io";

/// The host of the registry that an image comes from.
///
/// See <https://github.com/distribution/reference>: what stands before the first `/` is a host if it looks like one.
#[must_use]
pub fn registry_of(image: &str) -> &str {
    match image.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => host,
        _ => DOCKER_HUB,
    }
}

#[cfg(test)]
mod tests {
    use super::registry_of;

    #[test]
    fn an_image_comes_from_the_host_in_its_name() {
        assert_eq!(registry_of("registry.example.org/team/image:1"), "registry.example.org");
        assert_eq!(registry_of("localhost:5000/image@sha256:0"), "localhost:5000");
        assert_eq!(registry_of("localhost/image"), "localhost");
        for image in ["python:3.13", "library/python", "docker.io/library/python"] {
            assert_eq!(registry_of(image), "docker.io");
        }
    }
}

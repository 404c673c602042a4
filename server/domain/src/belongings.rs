//! Resources owned by projects or users besides pipelines and runs: secrets, volumes, registries, hooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::JsonMap;
use crate::clock::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A project, by its name.
    Project(String),
    /// A user, by their id.
    User(String),
    /// The server itself: the keys of a cluster.
    Cluster(String),
}

/// A secret, encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSecret {
    pub owner: Owner,
    /// Name by which tasks refer to it.
    pub name: String,
    pub description: String,
    /// The encrypted value.
    pub sealed: String,
    pub created_at: Timestamp,
    /// When its value was last set.
    pub updated_at: Timestamp,
    /// Author of the change.
    pub updated_by: String,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// Storage that tasks can mount by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    pub project: String,
    /// Name by which tasks refer to it.
    pub name: String,
    pub description: String,
    pub place: VolumePlace,
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// Location of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum VolumePlace {
    /// A folder of the project's own workspace, created on first use.
    Workspace {
        /// Below the project's workspace, with `/` between its parts.
        path: String,
    },
    /// A folder on the server. Only administrators can specify one.
    Folder {
        /// Absolute path.
        path: String,
    },
    /// A PersistentVolumeClaim on a Kubernetes cluster.
    Claim {
        /// Cluster.
        cluster: String,
        /// Name of the claim, in the project's namespace.
        claim: String,
        /// Absolute path at which the server sees the claim's files, so that users can browse them. Only an
        /// administrator may set it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// A bucket of an object store.
    ObjectStore {
        /// `s3`, `cos`, `oss`, ...: a scheme that the transfer template supports.
        scheme: String,
        /// Bucket.
        bucket: String,
        /// Prefix within the bucket.
        prefix: String,
        /// Endpoint of the service. Omitted if it is the vendor's own.
        endpoint: Option<String>,
        /// Region.
        region: Option<String>,
        /// The project's secrets with the access key's id and with its secret key.
        credentials: Option<(String, String)>,
    },
}

/// A container image registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    pub project: String,
    /// Name of the registry in Cubeloom.
    pub name: String,
    /// Host name, optionally with a port.
    pub host: String,
    pub user: String,
    /// The project's secret that holds the password.
    pub secret: Option<String>,
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// A URL that starts a run of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// A ULID.
    pub id: String,
    pub project: String,
    /// Pipeline to start. The newest version is used.
    pub pipeline: String,
    pub name: String,
    /// Parameters of the runs that it starts. Parameters sent by the caller take precedence.
    pub parameters: JsonMap,
    /// Name of the user who created it. Its runs belong to this user.
    pub created_by: String,
    pub created_at: Timestamp,
    /// Time of last use.
    pub used_at: Option<Timestamp>,
    /// Counts its changes, from 1: the signature in its URL is valid for one revision only.
    pub revision: u64,
}

impl Registry {
    /// Whether images are pulled with an account. Otherwise the registry is public.
    #[must_use]
    pub fn has_account(&self) -> bool {
        !self.user.is_empty() && self.secret.is_some()
    }
}

/// The registry of images without a host in their names.
pub const DOCKER_HUB: &str = "docker.io";

/// The host of the registry that an image comes from.
///
/// See <https://github.com/distribution/reference>: the part before the first `/` is a host if it looks like
/// one.
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

//! Views and request bodies of volumes.

use cubeloom_domain::belongings::{Volume, VolumePlace};
use cubeloom_files::own;
use cubeloom_storage::browse::clean;
use cubeloom_storage::transfer::wall;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::belongings::WORKSPACE;
use crate::check::Found;
use crate::clusters::is_of_projects;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;
use crate::time::Time;
use crate::volumes;

/// A volume.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VolumeView {
    /// Name by which tasks refer to it.
    pub name: String,
    /// Description.
    pub description: String,
    /// Location.
    pub place: Place,
    /// Whether every project has it. Such a volume can be neither changed nor deleted.
    pub built_in: bool,
    /// Whether its files can be browsed here.
    pub browsable: bool,
    /// Creation time.
    pub created_at: Time,
    /// Revision number, incremented with each change. In quotes, it is the ETag.
    pub revision: u64,
}

impl VolumeView {
    /// View of a volume. It includes whether this server can read its files.
    pub(super) async fn of(web: &Web, volume: Volume) -> ApiResult<Self> {
        Ok(Self {
            built_in: volume.name == WORKSPACE,
            browsable: volumes::is_browsable(web, volume.place.clone()).await?,
            name: volume.name,
            description: volume.description,
            place: volume.place.into(),
            created_at: Time(volume.created_at),
            revision: volume.revision,
        })
    }
}

/// Volume to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewVolume {
    /// Name that tasks use: lower-case letters, digits and `-`, at most 63 characters.
    #[schema(min_length = 1, max_length = 63, pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    pub name: String,
    /// Description.
    #[serde(default)]
    #[schema(max_length = 1000)]
    pub description: String,
    /// Location.
    pub place: Place,
}

/// Changes to a volume. Omitted fields stay unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeChange {
    /// Description.
    #[schema(max_length = 1000)]
    pub description: Option<String>,
    /// Location of the volume. Runs that are already planned keep the location that they were planned with.
    pub place: Option<Place>,
}

/// Location of a volume.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = VolumePlace)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Place {
    /// Folder of the project's own storage, created when it is first used.
    Workspace {
        /// Path below the project's storage, separated by `/`.
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
        /// Absolute path at which this server sees the claim's files. Without it, only jobs see them. Only an
        /// administrator may set it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// A bucket of an object store.
    ObjectStore {
        /// Protocol: `s3` for every store that is compatible with Amazon S3, or `cos`.
        scheme: String,
        /// Bucket.
        bucket: String,
        /// Prefix within the bucket.
        #[serde(default)]
        prefix: String,
        /// Endpoint of the service. Omitted if it is the vendor's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        endpoint: Option<String>,
        /// Region.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        region: Option<String>,
        /// Secrets with the access key of the bucket. Omitted for a public bucket.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        credentials: Option<Credentials>,
    },
}

/// Secrets of the project with the access key of a bucket.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = StoreCredentials)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Name of the secret that contains the access key's id.
    pub id: String,
    /// Name of the secret that contains the access key's secret.
    pub key: String,
}

impl From<VolumePlace> for Place {
    fn from(place: VolumePlace) -> Self {
        match place {
            VolumePlace::Workspace { path } => Self::Workspace { path },
            VolumePlace::Folder { path } => Self::Folder { path },
            VolumePlace::Claim { cluster, claim, folder } => Self::Claim { cluster, claim, folder },
            VolumePlace::ObjectStore { scheme, bucket, prefix, endpoint, region, credentials } => {
                let credentials = credentials.map(|(id, key)| Credentials { id, key });
                Self::ObjectStore { scheme, bucket, prefix, endpoint, region, credentials }
            }
        }
    }
}

impl From<Place> for VolumePlace {
    fn from(place: Place) -> Self {
        match place {
            Place::Workspace { path } => Self::Workspace { path },
            Place::Folder { path } => Self::Folder { path },
            Place::Claim { cluster, claim, folder } => Self::Claim { cluster, claim, folder },
            Place::ObjectStore { scheme, bucket, prefix, endpoint, region, credentials } => {
                let credentials = credentials.map(|credentials| (credentials.id, credentials.key));
                Self::ObjectStore { scheme, bucket, prefix, endpoint, region, credentials }
            }
        }
    }
}

/// Validates the location of a volume, and that the caller may use it.
pub(super) async fn check_place(
    web: &Web,
    caller: &Caller,
    place: Place,
    found: &mut Found,
) -> ApiResult<VolumePlace> {
    match &place {
        Place::Workspace { path } => match clean(path) {
            Ok(path) if path.is_empty() => {
                found.wrong("/place/path", "enter a folder: the whole workspace is the volume `workspace`")
            }
            Ok(path) => return Ok(VolumePlace::Workspace { path }),
            Err(error) => found.wrong("/place/path", error.to_string()),
        },
        Place::Folder { path } => check_folder(web, caller, ("/place/path", path), found)?,
        Place::Claim { cluster, claim, folder } => {
            found.name("/place/cluster", cluster, 63);
            found.name("/place/claim", claim, 253);
            if !caller.user.admin && !is_of_projects(web, cluster, claim).await? {
                return Err(ApiError::forbidden(
                    "only administrators may add a PVC as a volume if projects share the cluster's namespace",
                ));
            }
            if let Some(folder) = folder {
                check_folder(web, caller, ("/place/folder", folder), found)?;
            }
        }
        Place::ObjectStore { scheme, bucket, prefix, endpoint, .. } => {
            if !matches!(scheme.as_str(), "s3" | "cos") {
                found.wrong(
                    "/place/scheme",
                    format!("`{scheme}` is not a supported object store: use `s3` or `cos`"),
                );
            }
            if bucket.is_empty() || bucket.len() > 255 || bucket.contains(['/', '\\', '\0', ' ']) {
                found.wrong("/place/bucket", "write the bucket's name, without slashes");
            }
            if let Err(error) = clean(prefix) {
                found.wrong("/place/prefix", error.to_string());
            }
            let web_address = |text: &String| {
                url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
            };
            if endpoint.as_ref().is_some_and(|text| !web_address(text)) {
                found.wrong("/place/endpoint", "write an address such as `https://s3.example.org`");
            }
            let inner = endpoint.as_deref().is_some_and(wall::names_inner);
            if inner && !web.settings().private_endpoints {
                found.wrong("/place/endpoint", wall::REFUSED);
            }
        }
    }
    Ok(place.into())
}

/// Validates a folder on this machine. It must not be the server's own: workers and members could access its
/// database.
fn check_folder(web: &Web, caller: &Caller, (at, path): (&str, &str), found: &mut Found) -> ApiResult<()> {
    if !caller.user.admin {
        return Err(ApiError::forbidden("only administrators may add a server folder as a volume"));
    }
    let place = std::path::Path::new(path);
    let plain = place.components().all(|part| !matches!(part, std::path::Component::ParentDir));
    if !place.is_absolute() || !plain || path.contains('\0') {
        found.wrong(at, "write an absolute path, without `..`");
        return Ok(());
    }
    let real = own::canonicalize(place).unwrap_or_else(|_| place.into());
    let data = &web.folders().data;
    if real.starts_with(data) || data.starts_with(&real) {
        found.wrong(at, "this folder contains the server's data, or is inside it: choose another");
    }
    Ok(())
}

pub(super) fn audited(volume: &Volume) -> Value {
    json!({"description": volume.description, "place": Place::from(volume.place.clone())})
}

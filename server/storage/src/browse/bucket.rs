//! A bucket of an object store, presented as folders.

use bytes::Bytes;
use cubeloom_domain::belongings::VolumePlace;
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use opendal::{EntryMode, Metadata, Operator};
use std::collections::BTreeMap;

use super::{BrowseError, Entry, Kind, clean};
use crate::transfer::{StoreKind, StorePath, Stores, TransferError};

/// Maximum attempts per call during a write.
const ATTEMPTS: u32 = 3;
/// Part size of an upload, in bytes: the minimum that every store accepts.
const PART: usize = 8 << 20;

/// A bucket, or everything below a prefix in it.
#[derive(Debug)]
pub struct Bucket {
    reading: Operator,
    writing: Operator,
    /// Empty, or ends with a slash.
    prefix: String,
    url: String,
    names: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Size, in bytes.
    pub size: u64,
    /// Time of the last write, in microseconds since the epoch.
    pub modified_us: i64,
}

impl Bucket {
    /// Opens the bucket of a volume. `keys` are the access key id and its secret; `inner` permits a store on
    /// this machine. Sends no request yet.
    ///
    /// # Errors
    /// The volume is not in a supported object store.
    pub async fn open(
        place: &VolumePlace,
        keys: Option<(String, String)>,
        inner: bool,
    ) -> Result<Self, BrowseError> {
        let VolumePlace::ObjectStore { scheme, bucket, prefix, endpoint, region, .. } = place else {
            return Err(BrowseError::Store { message: "this volume is not in an object store".into() });
        };
        let kind = match scheme.as_str() {
            "s3" => StoreKind::S3,
            "cos" => StoreKind::Cos,
            other => return Err(BrowseError::Store { message: format!("`{other}` is not supported here") }),
        };
        let url = format!("{scheme}://{bucket}");
        let settings = environment(kind, endpoint.as_ref(), region.as_ref(), keys);
        let stores = if inner { Stores::new(settings) } else { Stores::walled(settings) };
        let path = StorePath { kind, authority: bucket.clone(), path: String::new() };
        let fault = |error: TransferError| BrowseError::Store { message: error.to_string() };
        let (reading, writing) = (
            stores.reading(&path).await.map_err(fault)?,
            stores.writing(&path, ATTEMPTS).await.map_err(fault)?,
        );
        let prefix = clean(prefix)?;
        let prefix = if prefix.is_empty() { prefix } else { format!("{prefix}/") };
        let names = "the volume's secrets, endpoint and region";
        Ok(Self { reading, writing, prefix, url, names })
    }

    /// At most `limit` entries of a folder after this name, in the store's order.
    ///
    /// # Errors
    /// The store refuses or is unreachable.
    pub async fn list(
        &self,
        path: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entry>, BrowseError> {
        let folder = self.folder(path)?;
        let mut lister = self.reading.lister_with(&folder).limit(limit + 1);
        let start;
        if let Some(after) = after {
            // A folder's own objects follow directly after its name.
            start = format!("{folder}{after}{}", if after.ends_with('/') { "\u{10FFFF}" } else { "" });
            lister = lister.start_after(&start);
        }
        let mut found = Vec::new();
        let mut entries = lister.await.map_err(|error| self.fault(path, &error))?;
        while let Some(entry) = entries.try_next().await.map_err(|error| self.fault(path, &error))? {
            let Some(name) = entry.path().strip_prefix(&folder).filter(|name| !name.is_empty()) else {
                continue;
            };
            // Stores may ignore the start of a listing.
            if after.is_some_and(|after| name <= after) {
                continue;
            }
            found.push((name.to_owned(), described(name, entry.metadata())));
            // Finish the store's current page: in it, folders come before all files.
            if found.len() > limit {
                break;
            }
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The metadata of an object.
    ///
    /// # Errors
    /// The object does not exist, or the store refuses.
    pub async fn object(&self, path: &str) -> Result<Object, BrowseError> {
        let found = self.reading.stat(&self.key(path)?).await.map_err(|error| self.fault(path, &error))?;
        if found.mode() == EntryMode::DIR {
            return Err(BrowseError::NotAFile(path.into()));
        }
        Ok(Object { size: found.content_length(), modified_us: modified_us(&found).unwrap_or(0) })
    }

    /// The bytes `from..to` of an object.
    ///
    /// # Errors
    /// The object does not exist, or the store refuses.
    pub async fn read(
        &self,
        path: &str,
        from: u64,
        to: u64,
    ) -> Result<BoxStream<'static, std::io::Result<Bytes>>, BrowseError> {
        let reader = self.reading.reader(&self.key(path)?).await.map_err(|error| self.fault(path, &error))?;
        let stream = reader.into_bytes_stream(from..to).await.map_err(|error| self.fault(path, &error))?;
        Ok(stream.boxed())
    }

    /// Starts writing an object, which becomes visible on close.
    pub async fn write(&self, path: &str) -> Result<opendal::Writer, BrowseError> {
        let key = self.key(path)?;
        let writer = self.writing.writer_with(&key).chunk(PART).await;
        writer.map_err(|error| self.fault(path, &error))
    }

    /// Creates an empty object as a folder marker.
    pub async fn make_folder(&self, path: &str) -> Result<(), BrowseError> {
        let key = format!("{}/", self.key(path)?);
        self.writing.create_dir(&key).await.map_err(|error| self.fault(path, &error))
    }

    /// Removes an object, or everything below a folder.
    ///
    /// # Errors
    /// It does not exist, or the store refuses.
    pub async fn remove(&self, path: &str) -> Result<(), BrowseError> {
        let key = self.key(path)?;
        match self.object(path).await {
            Ok(_) => self.writing.delete(&key).await.map_err(|error| self.fault(path, &error)),
            Err(BrowseError::NotFound(_) | BrowseError::NotAFile(_)) => {
                if self.list(path, None, 1).await?.is_empty() {
                    return Err(BrowseError::NotFound(path.into()));
                }
                let all = self.writing.delete_with(&format!("{key}/")).recursive(true).await;
                all.map_err(|error| self.fault(path, &error))
            }
            Err(error) => Err(error),
        }
    }

    /// Converts an error of the store.
    pub fn fault(&self, path: &str, error: &opendal::Error) -> BrowseError {
        match TransferError::store(&self.url, self.names, error) {
            TransferError::Missing { .. } => BrowseError::NotFound(path.into()),
            other => BrowseError::Store { message: other.to_string() },
        }
    }

    fn key(&self, path: &str) -> Result<String, BrowseError> {
        match clean(path)? {
            empty if empty.is_empty() => Err(BrowseError::BadPath {
                path: String::new(),
                why: "is empty: write the name of an object",
            }),
            path => Ok(format!("{}{path}", self.prefix)),
        }
    }

    fn folder(&self, path: &str) -> Result<String, BrowseError> {
        let path = clean(path)?;
        let slash = if path.is_empty() { "" } else { "/" };
        Ok(format!("{}{path}{slash}", self.prefix))
    }
}

/// The environment variables that the vendor's own tools use.
fn environment(
    kind: StoreKind,
    endpoint: Option<&String>,
    region: Option<&String>,
    keys: Option<(String, String)>,
) -> BTreeMap<String, String> {
    let (id, key) = keys.unzip();
    let values = match kind {
        StoreKind::Cos => {
            vec![("COS_ENDPOINT", endpoint.cloned()), ("COS_SECRET_ID", id), ("COS_SECRET_KEY", key)]
        }
        _ => vec![
            ("AWS_ENDPOINT_URL", endpoint.cloned()),
            ("AWS_REGION", region.cloned()),
            ("AWS_ACCESS_KEY_ID", id),
            ("AWS_SECRET_ACCESS_KEY", key),
        ],
    };
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn described(name: &str, found: &Metadata) -> Entry {
    let folder = name.ends_with('/');
    Entry {
        name: name.trim_end_matches('/').into(),
        kind: if folder { Kind::Folder } else { Kind::File },
        link: false,
        size: if folder { 0 } else { found.content_length() },
        modified_us: modified_us(found),
    }
}

fn modified_us(found: &Metadata) -> Option<i64> {
    found.last_modified().map(|time| time.into_inner().as_microsecond())
}

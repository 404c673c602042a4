//! Addresses of files: user input, parsed and checked once.
//!
//! Local paths and keys of stores are literal; `file://` and `http(s)://` URLs are percent-encoded.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use reqwest::Url;

use super::error::TransferError;
use super::glob;

/// A file, a folder or a pattern on a supported kind of storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// On this machine.
    Local(PathBuf),
    /// On a web server; read-only.
    Http(Url),
    /// In a store that OpenDAL supports.
    Store(StorePath),
}

/// The stores reached through OpenDAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// Amazon S3 and compatible stores.
    S3,
    /// Tencent Cloud Object Storage.
    Cos,
    /// Alibaba Cloud Object Storage Service.
    Oss,
    /// HDFS by its native RPC protocol.
    Hdfs,
    /// HDFS over HTTP.
    WebHdfs,
    /// HDFS over HTTPS.
    SecureWebHdfs,
}

/// A key below a bucket or name node. `path` has no leading slash; a trailing one means a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorePath {
    pub kind: StoreKind,
    /// The bucket, or host and port of the name node.
    pub authority: String,
    /// The key, not percent-encoded.
    pub path: String,
}

impl StoreKind {
    const ALL: [(Self, &'static str); 6] = [
        (Self::S3, "s3"),
        (Self::Cos, "cos"),
        (Self::Oss, "oss"),
        (Self::Hdfs, "hdfs"),
        (Self::WebHdfs, "webhdfs"),
        (Self::SecureWebHdfs, "swebhdfs"),
    ];

    fn scheme(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, scheme)| scheme)
    }

    /// Whether uploads are atomic; otherwise a rename provides that.
    pub(crate) fn is_object_store(self) -> bool {
        matches!(self, Self::S3 | Self::Cos | Self::Oss)
    }

    /// Whether the store keeps metadata with every object. OSS could, but its client drops that of large
    /// ones.
    pub(crate) fn keeps_notes(self) -> bool {
        matches!(self, Self::S3 | Self::Cos)
    }

    /// The variables with this store's credentials, for messages.
    pub(crate) fn credential_names(self) -> &'static str {
        match self {
            Self::S3 => "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL",
            Self::Cos => "COS_SECRET_ID, COS_SECRET_KEY and COS_ENDPOINT",
            Self::Oss => "OSS_ACCESS_KEY_ID, OSS_ACCESS_KEY_SECRET and OSS_ENDPOINT",
            Self::Hdfs | Self::WebHdfs | Self::SecureWebHdfs => "HADOOP_USER_NAME",
        }
    }
}

impl Location {
    /// Parses `text`. A relative local path is resolved below `base` and must not leave it.
    pub fn parse(text: &str, base: &Path) -> Result<Self, TransferError> {
        if text.is_empty() || text.contains('\0') {
            return Err(TransferError::bad_url(
                format!("{text:?}"),
                "an address must not be empty or contain a zero byte",
            ));
        }
        let Some((scheme, rest)) = text.split_once("://") else { return local(text, base) };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => file_url(text),
            "http" | "https" => {
                let mut url = Url::parse(text).map_err(|error| TransferError::bad_url(text, error))?;
                url.set_fragment(None);
                Ok(Self::Http(url))
            }
            other => match StoreKind::ALL.iter().find(|(_, name)| *name == other) {
                Some((kind, _)) => store(*kind, text, rest),
                None => Err(TransferError::bad_url(
                    text,
                    "this kind of address is not supported; use a path, file, http, https, s3, cos, oss, hdfs, webhdfs or swebhdfs",
                )),
            },
        }
    }

    /// Whether the address itself denotes a folder.
    pub fn is_folder(&self) -> bool {
        match self {
            Self::Local(path) => path.as_os_str().as_encoded_bytes().ends_with(b"/"),
            Self::Http(url) => url.path().ends_with('/'),
            Self::Store(store) => store.path.is_empty() || store.path.ends_with('/'),
        }
    }

    /// The last segment, decoded: the file's name at its target.
    pub fn file_name(&self) -> Result<String, TransferError> {
        let name = match self {
            Self::Local(path) => path.file_name().and_then(|name| name.to_str()).map(str::to_owned),
            Self::Http(url) => url.path_segments().and_then(|mut parts| parts.next_back().and_then(decode)),
            Self::Store(store) => store.path.rsplit('/').next().map(str::to_owned),
        };
        let name = name.filter(|name| check_name(name).is_ok() && !name.contains('/'));
        name.ok_or_else(|| TransferError::bad_url(self, "the address does not end with a usable file name"))
    }

    /// The parent folder of a file, or of a pattern's files; a folder itself.
    pub fn folder(&self) -> Self {
        let of = |path: &str| glob::split(path).0.to_owned();
        match self {
            Self::Local(path) => match path.to_str() {
                _ if path.is_dir() => self.clone(),
                Some(text) if glob::is_pattern(text) => Self::Local(of(text).into()),
                _ => Self::Local(super::listing::parent(path)),
            },
            Self::Http(url) => {
                let mut folder = url.clone();
                folder.set_path(&of(url.path()));
                Self::Http(folder)
            }
            Self::Store(store) => Self::Store(StorePath { path: of(&store.path), ..store.clone() }),
        }
    }

    /// The address of the file `name` (relative, with slashes) in this folder.
    pub fn join(&self, name: &str) -> Result<Self, TransferError> {
        check_name(name)?;
        Ok(match self {
            Self::Local(path) => Self::Local(path.join(name)),
            Self::Http(url) => {
                let mut url = url.clone();
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments.pop_if_empty().extend(name.split('/'));
                }
                Self::Http(url)
            }
            Self::Store(store) => {
                let folder = store.path.trim_end_matches('/');
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                Self::Store(StorePath { path, ..store.clone() })
            }
        })
    }
}

/// The address for messages: without passwords and without a query, which may contain a signature.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => write!(f, "{}", path.display()),
            Self::Http(url) => {
                let mut shown = url.clone();
                let _ = shown.set_username("");
                let _ = shown.set_password(None);
                shown.set_query(url.query().map(|_| "..."));
                write!(f, "{shown}")
            }
            Self::Store(store) => write!(f, "{}://{}/{}", store.kind.scheme(), store.authority, store.path),
        }
    }
}

/// Refuses a relative name that could leave its folder. Names come from servers and manifests, not only from
/// users.
pub(crate) fn check_name(name: &str) -> Result<(), TransferError> {
    let bad = |why| Err(TransferError::bad_url(format!("{name:?}"), why));
    if name.contains('\0') {
        return bad("a file name must not contain a zero byte");
    }
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return bad("a file name must not be empty, absolute, or contain `.` or `..`");
    }
    Ok(())
}

fn local(text: &str, base: &Path) -> Result<Location, TransferError> {
    let path = Path::new(text);
    if path.is_absolute() {
        return Ok(Location::Local(path.to_owned()));
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(TransferError::bad_url(
            text,
            "a relative path must not contain `..`; write an absolute path",
        ));
    }
    // `Path` keeps the trailing slash of `join("")`, which the folder test needs.
    Ok(Location::Local(base.join(path)))
}

fn file_url(text: &str) -> Result<Location, TransferError> {
    let url = Url::parse(text).map_err(|error| TransferError::bad_url(text, error))?;
    let path = url.to_file_path().ok().and_then(|path| path.to_str().map(str::to_owned));
    let mut path = path.ok_or_else(|| {
        TransferError::bad_url(text, "a file URL must not have a host: write file:///folder/name")
    })?;
    if url.path().ends_with('/') && !path.ends_with('/') {
        path.push('/');
    }
    Ok(Location::Local(path.into()))
}

fn store(kind: StoreKind, text: &str, rest: &str) -> Result<Location, TransferError> {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.is_empty() {
        return Err(TransferError::bad_url(text, "the bucket or host is missing"));
    }
    // OpenDAL normalises keys: refuse a key that it would change, since it would read another object.
    let inner = path.strip_suffix('/').unwrap_or(path);
    if inner.trim() != inner
        || inner.split('/').any(|part| matches!(part, "." | ".."))
        || inner.contains("//")
    {
        return Err(TransferError::bad_url(
            text,
            "a key must not begin or end with a space, or contain `//`, `.` or `..` as a part",
        ));
    }
    Ok(Location::Store(StorePath { kind, authority: authority.to_owned(), path: path.to_owned() }))
}

/// Percent-decodes one segment of a URL's path; `None` if it is not UTF-8.
fn decode(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).filter(|two| *first == b'%' && two.iter().all(u8::is_ascii_hexdigit));
        match hex.and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

//! Transfer errors, as sentences for the user.

use std::path::{Path, PathBuf};

use opendal::ErrorKind;

/// Why a transfer failed. Every variant names the URL or file concerned.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum TransferError {
    /// The text is not a supported address.
    #[error("{url}: {why}")]
    BadUrl { url: String, why: String },
    /// The source does not exist.
    #[error("{url}: there is no such file")]
    Missing { url: String },
    /// No name matches the pattern.
    #[error("{url}: no file matches")]
    NoMatch { url: String },
    /// The source is still being written, or its writer failed.
    #[error("{url}: it is incomplete: there is no {marker}")]
    Incomplete { url: String, marker: String },
    /// The requested partitions are invalid.
    #[error("partitions: {0}")]
    Partitions(String),
    /// The bucket of the URL does not exist.
    #[error("{url}: the bucket does not exist; create it or correct the URL")]
    NoBucket { url: String },
    /// The store rejected the credentials.
    #[error("{url}: the credentials were refused ({code}); check {names}")]
    Credentials { url: String, code: String, names: &'static str },
    /// The store denies the authenticated user access.
    #[error("{url}: access was refused ({why})")]
    Denied { url: String, why: String },
    /// The address is unreachable.
    #[error("{url}: no connection ({why}); check the address, and that the server runs")]
    NoConnection { url: String, why: String },
    /// The target's file system has too little space.
    #[error("{}: the disk is full ({needed} more bytes are needed); free some space and start again, fetched data is kept", path.display())]
    Full { path: PathBuf, needed: u64 },
    /// A store limits the number of parts, and one part of this file at a time exceeds the memory limit.
    #[error(
        "{url}: sending parts of {part} bytes needs {needed} bytes of memory, and the task has {limit}; request more memory, or set a smaller `chunk`"
    )]
    Memory { url: String, part: u64, needed: u64, limit: u64 },
    /// The target folder's quota is exhausted.
    #[error(
        "{url}: its quota is used up ({why}); free some space, or have it raised; the target is unchanged"
    )]
    Quota { url: String, why: String },
    /// The content does not match the given checksum.
    #[error("{url}: the content has sha256 {actual}, but {expected} was expected; the target is unchanged")]
    Checksum { url: String, expected: String, actual: String },
    /// The source delivered fewer or more bytes than announced.
    #[error("{url}: {actual} bytes arrived instead of {expected}; the target is unchanged")]
    Size { url: String, expected: u64, actual: u64 },
    /// The source changed during the transfer.
    #[error("{url}: the source changed while it was read; start again when it no longer changes")]
    Changed { url: String },
    /// Two sources have the same target.
    #[error("{first} and {second} would both be written to {target}; use different folders")]
    Collision { first: String, second: String, target: String },
    /// Another transfer has locked the target.
    #[error("{}: another transfer is writing this file; wait for it or stop it", path.display())]
    Busy { path: PathBuf },
    /// A local file system call failed.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The manifest is invalid, or does not match the sources.
    #[error("{0}")]
    Manifest(String),
    /// The transfer was stopped.
    #[error("the transfer was stopped; fetched data is kept for the next try")]
    Stopped,
    /// Any other error of a store or a connection.
    #[error("{url}: {why}")]
    Failed { url: String, why: String, passing: bool },
}

impl TransferError {
    /// Whether a later retry may succeed.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::NoConnection { .. } => true,
            Self::Failed { passing, .. } => *passing,
            _ => false,
        }
    }

    /// Whether a source does not exist, or not yet.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::NoMatch { .. } | Self::Incomplete { .. })
    }

    pub(crate) fn bad_url(url: impl ToString, why: impl ToString) -> Self {
        Self::BadUrl { url: url.to_string(), why: why.to_string() }
    }

    /// A failed call on the local file `path`; `needed` is what a write still had to store.
    pub(crate) fn io(path: &Path, needed: u64, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::Full { path: path.to_owned(), needed }
            }
            std::io::ErrorKind::NotFound => Self::Missing { url: path.display().to_string() },
            _ => Self::Io { path: path.to_owned(), source },
        }
    }

    /// Classifies a store's error by what the user can do about it.
    pub(crate) fn store(url: &str, names: &'static str, error: &opendal::Error) -> Self {
        let url = url.to_owned();
        let text = error.message();
        if let Some(code) = refused_code(text) {
            return Self::Credentials { url, code: code.to_owned(), names };
        }
        match error.kind() {
            _ if text.contains("NoSuchBucket") => Self::NoBucket { url },
            ErrorKind::NotFound => Self::Missing { url },
            // NSQuotaExceededException for names, DSQuotaExceededException for bytes. WebHDFS reports them
            // like a denied write, and so does S3.
            _ if text.contains("QuotaExceeded") || root_cause(error).contains("QuotaExceeded") => {
                Self::Quota { url, why: quota(text) }
            }
            ErrorKind::PermissionDenied => Self::Denied { url, why: brief(text, "permission denied") },
            _ if text.contains("AccessControlException")
                || root_cause(error).contains("AccessControlException") =>
            {
                Self::Denied { url, why: brief(text, "permission denied") }
            }
            // The client appends all details of each node.
            _ if text.contains("All DataNodes failed") => {
                Self::Failed { url, why: "none of its DataNodes responds".to_owned(), passing: true }
            }
            _ if !error.is_permanent() && text.starts_with("send http request") => {
                Self::NoConnection { url, why: root_cause(error) }
            }
            _ => {
                // The HDFS client marks no error as transient, not even a broken connection.
                let passing = !error.is_permanent() || url.starts_with("hdfs://");
                Self::Failed { url, why: describe(error), passing }
            }
        }
    }

    /// Classifies an HTTP client error. `error` must not contain a URL, which may have a password.
    pub(crate) fn http(url: &str, error: reqwest::Error) -> Self {
        let error = error.without_url();
        let (url, why) = (url.to_owned(), root_cause(&error));
        if error.is_connect() {
            let certificate = why.contains("certificate") || why.contains("UnknownIssuer");
            return match certificate {
                true => Self::Failed {
                    url,
                    why: format!("the server's certificate is not trusted ({why})"),
                    passing: false,
                },
                false => Self::NoConnection { url, why },
            };
        }
        Self::Failed { url, why, passing: !error.is_builder() && !error.is_redirect() }
    }
}

/// Error codes of S3, COS and compatible stores for a wrong key or signature.
fn refused_code(text: &str) -> Option<&'static str> {
    const CODES: [&str; 6] = [
        "SignatureDoesNotMatch",
        "InvalidAccessKeyId",
        "InvalidSecretId",
        "ExpiredToken",
        "InvalidToken",
        "AuthorizationHeaderMalformed",
    ];
    CODES.into_iter().find(|code| text.contains(code))
}

fn describe(error: &opendal::Error) -> String {
    let text = brief(error.message(), error.kind().into_static());
    let cause = root_cause(error);
    if cause.is_empty() || text.contains(&cause) { text } else { format!("{text} ({cause})") }
}

/// The quota message of HDFS, extracted from Java class names and the stack trace. S3 servers may send no
/// message.
fn quota(text: &str) -> String {
    let Some(at) = text.find("The ") else { return "QuotaExceeded".to_owned() };
    let from = &text[at..];
    let end = from.find("\\n").or_else(|| from.find('\n')).unwrap_or(from.len());
    brief(&from[..end], "quota exceeded")
}

/// The first line, shortened, since some servers answer with an HTML page.
fn brief(text: &str, otherwise: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or(otherwise).trim();
    line.chars().take(300).collect()
}

/// The innermost message of a chain: "Connection refused", not "error sending request".
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    brief(&cause.to_string(), "")
}

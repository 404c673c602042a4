//! What can go wrong in a transfer, in sentences for the person who started it.

use std::path::{Path, PathBuf};

use opendal::ErrorKind;

/// Why a transfer ended without its result. Every variant names the URL or file that it is about.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum TransferError {
    /// The text is not an address that can be copied from or to.
    #[error("{url}: {why}")]
    BadUrl { url: String, why: String },
    /// Nothing lies at the source.
    #[error("{url}: there is no such file")]
    Missing { url: String },
    /// Nothing has a name like this.
    #[error("{url}: no file matches")]
    NoMatch { url: String },
    /// The source is still being written, or its writer failed.
    #[error("{url}: it is not complete: there is no {marker}")]
    Incomplete { url: String, marker: String },
    /// The partitions that were asked for cannot be.
    #[error("partitions: {0}")]
    Partitions(String),
    /// The bucket of the URL does not exist.
    #[error("{url}: the bucket does not exist; create it or correct the URL")]
    NoBucket { url: String },
    /// The store did not accept the credentials.
    #[error("{url}: the credentials were refused ({code}); check {names}")]
    Credentials { url: String, code: String, names: &'static str },
    /// The store knows who asks, and does not allow it.
    #[error("{url}: access was refused ({why})")]
    Denied { url: String, why: String },
    /// Nobody answers at the address.
    #[error("{url}: no connection ({why}); is the server running and the address right?")]
    NoConnection { url: String, why: String },
    /// The target's file system has no room.
    #[error("{}: the disk is full ({needed} bytes more are needed); make room and start again, what was fetched is kept", path.display())]
    Full { path: PathBuf, needed: u64 },
    /// A store takes so many parts at most, and one of this file at a time is more than the process may hold.
    #[error(
        "{url}: it is sent in parts of {part} bytes, which takes {needed} bytes of memory, and the task has {limit}; give the task more memory, or choose a smaller `chunk` where that made them large"
    )]
    Memory { url: String, part: u64, needed: u64, limit: u64 },
    /// The target's folder may not hold so much.
    #[error(
        "{url}: the quota there is used up ({why}); make room, or have it raised; the target was left as it was"
    )]
    Quota { url: String, why: String },
    /// The content is not what the given sum says.
    #[error(
        "{url}: the content has sha256 {actual}, but {expected} was given; the target was left as it was"
    )]
    Checksum { url: String, expected: String, actual: String },
    /// Fewer or more bytes came than the source announced.
    #[error("{url}: {actual} bytes came instead of {expected}; the target was left as it was")]
    Size { url: String, expected: u64, actual: u64 },
    /// The source became another file while it was read.
    #[error("{url}: the source changed while it was read; start again when nobody writes to it")]
    Changed { url: String },
    /// Two sources would become the same target.
    #[error("{first} and {second} would both be written to {target}; give them different folders")]
    Collision { first: String, second: String, target: String },
    /// Another transfer holds the target.
    #[error("{}: another transfer is writing this file; wait for it or stop it", path.display())]
    Busy { path: PathBuf },
    /// A call to this machine's file system failed.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The manifest cannot be understood, or does not fit the sources.
    #[error("{0}")]
    Manifest(String),
    /// The transfer was asked to end.
    #[error("the transfer was stopped; what was fetched is kept for the next try")]
    Stopped,
    /// Everything else that a store or a connection reports.
    #[error("{url}: {why}")]
    Failed { url: String, why: String, passing: bool },
}

impl TransferError {
    /// True when trying again later may help.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::NoConnection { .. } => true,
            Self::Failed { passing, .. } => *passing,
            _ => false,
        }
    }

    /// True where a source is not there, or not yet.
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

    /// Sorts an error of a store by what the user can do about it.
    pub(crate) fn store(url: &str, names: &'static str, error: &opendal::Error) -> Self {
        let url = url.to_owned();
        let text = error.message();
        if let Some(code) = refused_code(text) {
            return Self::Credentials { url, code: code.to_owned(), names };
        }
        match error.kind() {
            _ if text.contains("NoSuchBucket") => Self::NoBucket { url },
            ErrorKind::NotFound => Self::Missing { url },
            // NSQuotaExceededException of names, DSQuotaExceededException of bytes; WebHDFS answers as to who may not write,
            // and so does S3.
            _ if text.contains("QuotaExceeded") || root_cause(error).contains("QuotaExceeded") => {
                Self::Quota { url, why: quota(text) }
            }
            ErrorKind::PermissionDenied => Self::Denied { url, why: brief(text, "permission denied") },
            _ if text.contains("AccessControlException")
                || root_cause(error).contains("AccessControlException") =>
            {
                Self::Denied { url, why: brief(text, "permission denied") }
            }
            // The client goes on with everything that it knows of each of them.
            _ if text.contains("All DataNodes failed") => Self::Failed {
                url,
                why: "none of the DataNodes that hold it answers".to_owned(),
                passing: true,
            },
            _ if !error.is_permanent() && text.starts_with("send http request") => {
                Self::NoConnection { url, why: root_cause(error) }
            }
            _ => {
                // HDFS' own client calls nothing passing, not even a connection that broke.
                let passing = !error.is_permanent() || url.starts_with("hdfs://");
                Self::Failed { url, why: describe(error), passing }
            }
        }
    }

    /// Sorts an error of the HTTP client. `error` carries no URL of its own: it may hold a password.
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

/// Codes by which S3, COS and their relatives say that a key or a signature is wrong.
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

/// HDFS' own sentence of a quota, which Java's names and its stack stand around. S3's servers may have none.
fn quota(text: &str) -> String {
    let Some(at) = text.find("The ") else { return "QuotaExceeded".to_owned() };
    let from = &text[at..];
    let end = from.find("\\n").or_else(|| from.find('\n')).unwrap_or(from.len());
    brief(&from[..end], "quota exceeded")
}

/// The first line, cut where it becomes a page (some servers answer with HTML).
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

//! Renames a file of HDFS over another one atomically: by HDFS's native protocol, or by WebHDFS.

use hdfs_native::{ClientBuilder, HdfsError};
use reqwest::{StatusCode, Url};
use serde::Deserialize;

use super::error::TransferError;
use super::location::{Location, StoreKind, StorePath};
use super::retry::retry;
use super::stores::{Stores, reach};

impl Stores {
    /// Renames the file `from`, next to `path`, to `path`, which may exist.
    pub(crate) async fn replace(
        &self,
        path: &StorePath,
        from: &str,
        attempts: u32,
    ) -> Result<(), TransferError> {
        let renaming = Renaming {
            stores: self,
            path,
            url: Location::Store(path.clone()).to_string(),
            from: from.to_owned(),
        };
        match path.kind {
            StoreKind::Hdfs => renaming.by_rpc(attempts).await,
            _ => renaming.by_http(attempts).await,
        }
    }
}

/// A rename in progress.
struct Renaming<'a> {
    stores: &'a Stores,
    path: &'a StorePath,
    /// The new name, for messages.
    url: String,
    /// The old path, without a leading slash.
    from: String,
}

impl Renaming<'_> {
    fn failed(&self, passing: bool, why: impl Into<String>) -> TransferError {
        TransferError::Failed { url: self.url.clone(), why: why.into(), passing }
    }

    fn silent(&self) -> TransferError {
        self.failed(true, format!("no answer after {} s", self.stores.silence().as_secs()))
    }

    fn denied(&self, why: &str) -> TransferError {
        TransferError::Denied { url: self.url.clone(), why: why.lines().next().unwrap_or_default().into() }
    }

    async fn by_rpc(&self, attempts: u32) -> Result<(), TransferError> {
        let build = || ClientBuilder::new().with_url(format!("hdfs://{}", self.path.authority)).build();
        let client = build().map_err(|error| self.failed(false, error.to_string()))?;
        let (from, to) = (format!("/{}", self.from), format!("/{}", self.path.path));
        let mut tried = false;
        retry(attempts, async || {
            let again = std::mem::replace(&mut tried, true);
            reach(self.path).await?;
            match tokio::time::timeout(self.stores.silence(), client.rename(&from, &to, true)).await {
                Ok(Ok(())) => Ok(()),
                // An earlier attempt succeeded, and only its response was lost: the caller checks the result.
                Ok(Err(HdfsError::FileNotFound(_))) if again => Ok(()),
                Ok(Err(HdfsError::RPCError(kind, why))) if kind.contains("AccessControl") => {
                    Err(self.denied(&why))
                }
                Ok(Err(error)) => Err(self.failed(true, error.to_string())),
                Err(_) => Err(self.silent()),
            }
        })
        .await
    }

    async fn by_http(&self, attempts: u32) -> Result<(), TransferError> {
        let mut asked = false;
        retry(attempts, async || {
            // An earlier attempt may have succeeded without a response.
            let again = std::mem::replace(&mut asked, true);
            match self.ask().await? {
                Answer::Done => Ok(()),
                Answer::NotThere => self.gone(again),
                // HttpFS does not support overwriting, and gives the same answer when the source does not
                // exist.
                Answer::Refused => {
                    let operator = self.stores.operator(self.path)?;
                    let names = self.path.kind.credential_names();
                    let fault = |error| TransferError::store(&self.url, names, &error);
                    if !operator.exists(&self.from).await.map_err(fault)? {
                        return self.gone(again);
                    }
                    // For a moment neither name exists.
                    operator.delete(&self.path.path).await.map_err(fault)?;
                    match self.ask().await? {
                        Answer::Refused => Err(self.failed(false, "the server does not rename the file")),
                        _ => Ok(()),
                    }
                }
            }
        })
        .await
    }

    /// Handles a missing source: an earlier attempt may have renamed it; the caller checks the result.
    fn gone(&self, again: bool) -> Result<(), TransferError> {
        if again { Ok(()) } else { Err(self.failed(true, format!("/{} no longer exists", self.from))) }
    }

    /// One call of WebHDFS' RENAME:
    /// <https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html>.
    async fn ask(&self) -> Result<Answer, TransferError> {
        let scheme = if self.path.kind == StoreKind::SecureWebHdfs { "https" } else { "http" };
        let base = format!("{scheme}://{}/webhdfs/v1/", self.path.authority);
        let mut url = Url::parse(&base).map_err(|error| self.failed(false, error.to_string()))?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(self.from.split('/'));
        }
        url.query_pairs_mut()
            .append_pair("op", "RENAME")
            .append_pair("destination", &format!("/{}", self.path.path))
            .append_pair("renameoptions", "OVERWRITE");
        if let Some(user) = self.stores.get("HADOOP_USER_NAME") {
            url.query_pairs_mut().append_pair("user.name", user);
        }
        let calling = async {
            let answer = self.stores.sender()?.put(url).send().await;
            let answer = answer.map_err(|error| self.failed(true, error.without_url().to_string()))?;
            let status = answer.status();
            let body =
                answer.bytes().await.map_err(|error| self.failed(true, error.without_url().to_string()))?;
            Ok((status, body))
        };
        let (status, body) =
            tokio::time::timeout(self.stores.silence(), calling).await.map_err(|_| self.silent())??;
        if status.is_success() {
            let renamed = serde_json::from_slice(&body).map_or(true, |Renamed { boolean }| boolean);
            return Ok(if renamed { Answer::Done } else { Answer::Refused });
        }
        let Fault { exception, message } = match serde_json::from_slice(&body) {
            Ok(Faulty { fault }) => fault,
            Err(_) => Fault { exception: status.to_string(), message: String::new() },
        };
        match status {
            StatusCode::NOT_FOUND => Ok(Answer::NotThere),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if exception.contains("AccessControl") => {
                Err(self.denied(&message))
            }
            // A name node that is starting up, or is the standby, answers 403, too.
            _ => {
                Err(self.failed(true, format!("{exception}: {}", message.lines().next().unwrap_or_default())))
            }
        }
    }
}

/// A server's answer to a rename.
enum Answer {
    Done,
    /// The source does not exist.
    NotThere,
    /// The server did nothing.
    Refused,
}

/// The response of servers that do not know the options.
#[derive(Deserialize)]
struct Renamed {
    boolean: bool,
}

#[derive(Deserialize)]
struct Faulty {
    #[serde(rename = "RemoteException")]
    fault: Fault,
}

#[derive(Deserialize)]
struct Fault {
    exception: String,
    #[serde(default)]
    message: String,
}

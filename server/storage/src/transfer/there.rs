//! Whether an HDFS file exists, for sensors that wait for it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use futures::TryStreamExt;
use opendal::{EntryMode, ErrorKind};
use tokio::net::lookup_host;

use super::error::TransferError;
use super::location::{Location, StoreKind, StorePath};
use super::stores::Stores;
use super::wall;

/// Whether a file exists at an HDFS address; if it ends with a slash, whether a non-empty folder does.
/// `inner` permits a name node on this machine. `patience` is its idle timeout.
///
/// # Errors
/// The address is not an HDFS address, or is unreachable.
pub async fn is_there(url: &str, inner: bool, patience: Duration) -> Result<bool, TransferError> {
    let Location::Store(mut path) = Location::parse(url, Path::new("/"))? else {
        return Err(TransferError::bad_url(url, "it is not an HDFS address"));
    };
    if path.kind.is_object_store() {
        return Err(TransferError::bad_url(url, "it is not an HDFS address"));
    }
    if !inner && path.kind == StoreKind::Hdfs {
        pin(&mut path, url).await?;
    }
    let settings = BTreeMap::new();
    let stores = if inner { Stores::new(settings) } else { Stores::walled(settings) };
    let store = stores.silent_for(patience).reading(&path).await?;
    let found = match path.path.ends_with('/') {
        true => match store.lister_with(&path.path).limit(2).await {
            Ok(mut entries) => loop {
                match entries.try_next().await {
                    // The folder itself is in its list.
                    Ok(Some(entry)) if entry.path() == path.path => {}
                    Ok(entry) => break Ok(entry.is_some()),
                    Err(error) => break Err(error),
                }
            },
            Err(error) => Err(error),
        },
        false => store.stat(&path.path).await.map(|found| found.mode() != EntryMode::DIR),
    };
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        other => other.map_err(|error| TransferError::store(url, path.kind.credential_names(), &error)),
    }
}

/// Replaces the names of name nodes by their addresses, once: the client, which resolves names itself, cannot
/// be led elsewhere. A name without a port comes from the configuration of this machine's administrator.
async fn pin(path: &mut StorePath, url: &str) -> Result<(), TransferError> {
    if !path.authority.contains(':') {
        return Ok(());
    }
    let mut pinned = Vec::new();
    for host in path.authority.split(',') {
        let missing = |why: String| TransferError::NoConnection { url: url.into(), why };
        let found: Vec<_> = lookup_host(host).await.map_err(|error| missing(error.to_string()))?.collect();
        if found.iter().any(|found| wall::is_inner(found.ip())) {
            return Err(missing(wall::REFUSED.into()));
        }
        pinned.extend(found.first().map(ToString::to_string));
    }
    path.authority = pinned.join(",");
    Ok(())
}

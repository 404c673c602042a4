//! The marker file of a complete folder: `_SUCCESS`, as Hadoop programs write it on success.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::error::TransferError;
use super::input::Input;
use super::location::Location;
use super::retry::retry;
use super::stores::Stores;
use super::{Asking, TransferSpec, blocking};

/// Poll interval.
const PERIOD: Duration = Duration::from_secs(2);

/// Waits until `folder` is complete.
pub async fn wait(asking: &Asking<'_>, folder: &Location) -> Result<(), TransferError> {
    let Some(name) = &asking.spec.marker else { return Ok(()) };
    until_there(asking, &folder.join(name)?).await.map_err(|error| match error {
        TransferError::Missing { .. } => {
            TransferError::Incomplete { url: folder.to_string(), marker: name.clone() }
        }
        other => other,
    })
}

/// Waits for a file.
pub async fn until_there(asking: &Asking<'_>, file: &Location) -> Result<(), TransferError> {
    patiently(asking, file, async || Input::open_one(asking.stores, file).await.map(drop)).await
}

/// Repeats a lookup while the result is missing, up to the configured wait.
pub async fn patiently<T>(
    asking: &Asking<'_>,
    what: &Location,
    mut look: impl AsyncFnMut() -> Result<T, TransferError>,
) -> Result<T, TransferError> {
    let Asking { spec, stop, listener, .. } = asking;
    let end = Instant::now() + spec.wait;
    let mut said = false;
    loop {
        let found = stop.or(retry(spec.attempts, &mut look)).await?;
        let left = end.saturating_duration_since(Instant::now());
        match found {
            Err(error) if error.is_absence() && !left.is_zero() => {
                if !said {
                    listener.says(&format!("waiting for {what}, {} s at most", left.as_secs()));
                    said = true;
                }
                stop.or(sleep(PERIOD.min(left))).await?;
            }
            done => return done,
        }
    }
}

/// Removes the marker: the folder becomes incomplete for a while.
pub async fn remove(spec: &TransferSpec, stores: &Stores, folders: &[Location]) -> Result<(), TransferError> {
    let Some(name) = &spec.write_marker else { return Ok(()) };
    for folder in folders {
        match folder.join(name)? {
            Location::Local(path) => match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(TransferError::io(&path, 0, error));
                }
                _ => {}
            },
            Location::Store(path) => {
                let fault =
                    |error| TransferError::store(&folder.to_string(), path.kind.credential_names(), &error);
                stores.writing(&path, spec.attempts).await?.delete(&path.path).await.map_err(fault)?;
            }
            Location::Http(_) => {}
        }
    }
    Ok(())
}

/// Writes the marker: all files are complete.
pub async fn write(spec: &TransferSpec, stores: &Stores, folders: &[Location]) -> Result<(), TransferError> {
    let Some(name) = &spec.write_marker else { return Ok(()) };
    for folder in folders {
        match folder.join(name)? {
            Location::Local(path) => {
                let made = move || {
                    let folder = super::listing::parent(&path);
                    std::fs::create_dir_all(&folder).map_err(|error| TransferError::io(&folder, 0, error))?;
                    std::fs::write(&path, b"").map_err(|error| TransferError::io(&path, 0, error))
                };
                blocking(made).await?;
            }
            Location::Store(path) => {
                let fault =
                    |error| TransferError::store(&folder.to_string(), path.kind.credential_names(), &error);
                let operator = stores.writing(&path, spec.attempts).await?;
                operator.write(&path.path, Vec::<u8>::new()).await.map_err(fault)?;
            }
            Location::Http(_) => {}
        }
    }
    Ok(())
}

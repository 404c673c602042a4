//! Writing what somebody sends into a folder.

use std::sync::Arc;

use cubeloom_storage::browse::{BrowseError, Folder};

use super::{Content, blocking};
use crate::error::{ApiError, ApiResult};
use crate::volumes::Tree;

/// Writes a file from what somebody sends, and says how long it is. Whatever goes wrong, nothing of it stays.
///
/// # Errors
/// When it cannot be written, or it does not come whole.
pub(crate) async fn write(
    folder: Arc<Folder>,
    path: &str,
    token: String,
    content: &mut Content,
) -> ApiResult<u64> {
    let inside = path.to_owned();
    let mut upload = blocking(move || folder.upload(&inside, &token)).await?;
    let mut size = 0;
    while let Some(piece) = content.next().await? {
        size += piece.len() as u64;
        upload = blocking(move || upload.write(&piece).map(|()| upload)).await?;
    }
    blocking(move || upload.finish()).await?;
    Ok(size)
}

/// Whether there is something at a path.
///
/// # Errors
/// When that cannot be found out.
pub(crate) async fn exists(tree: &Tree, path: &str) -> ApiResult<bool> {
    let found = match tree {
        Tree::Folder(folder) => {
            let (folder, path) = (Arc::clone(folder), path.to_owned());
            let look = move || match folder.entry(&path) {
                Ok(_) => Ok(true),
                Err(BrowseError::NotFound(_)) => Ok(false),
                Err(error) => Err(error),
            };
            return blocking(look).await;
        }
        Tree::Bucket(bucket) => bucket.object(path).await,
        Tree::Empty => return Ok(false),
    };
    match found {
        Ok(_) => Ok(true),
        Err(BrowseError::NotFound(_)) => Ok(false),
        Err(error) => Err(ApiError::from(error)),
    }
}

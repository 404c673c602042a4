//! Writes uploaded files.

use std::sync::Arc;

use super::object::write_object;
use super::{Content, Demands, blocking};
use crate::error::{ApiError, ApiResult};
use crate::volumes::Tree;

/// Writes an uploaded file and returns its size. An error leaves nothing behind. `token` must be unique.
///
/// # Errors
/// The file cannot be written, the upload is incomplete, or a precondition is not met.
pub(crate) async fn write(
    tree: &Tree,
    path: &str,
    token: String,
    content: &mut Content,
    demands: &Demands,
) -> ApiResult<u64> {
    demands.met(tree, path).await?;
    let folder = match tree {
        Tree::Folder(folder) => Arc::clone(folder),
        Tree::Bucket(bucket) => return write_object(bucket, path, content, demands.met(tree, path)).await,
        Tree::Empty => return Err(ApiError::not_found("file", path)),
    };
    let inside = path.to_owned();
    let mut upload = blocking(move || folder.upload(&inside, &token)).await?;
    let mut size = 0;
    while let Some(piece) = content.next().await? {
        size += piece.len() as u64;
        upload = blocking(move || upload.write(&piece).map(|()| upload)).await?;
    }
    // Uploads take time: the file may have been changed concurrently.
    demands.met(tree, path).await?;
    blocking(move || upload.finish()).await?;
    Ok(size)
}

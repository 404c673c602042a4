//! Objects in buckets: listed, served, previewed and written like files.

use axum::body::Body;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::BytesMut;
use cubeloom_storage::browse::{Bucket, By, Entry, Kind};
use futures::TryStreamExt;

use super::Content;
use super::preview::{MOST, of_bytes};
use super::serve::{Sent, Show, answer};
use super::view::{EntryView, Preview};
use crate::error::{ApiError, ApiResult};
use crate::page::{Page, PageQuery};
use crate::sort::Sort;

/// One page of a folder, in the store's order, which is by name.
///
/// # Errors
/// Another order is requested, or the store fails.
pub(crate) async fn list_bucket(
    bucket: &Bucket,
    path: &str,
    sort: &Sort<By>,
    page: &PageQuery,
) -> ApiResult<Page<EntryView>> {
    if sort.by != By::Name || sort.descending {
        let message = "a bucket lists its files by name: remove sort";
        return Err(ApiError::field("/sort", message));
    }
    let (limit, after) = (page.limit()?, page.after()?);
    let found = bucket.list(path, after.as_deref(), limit + 1).await?;
    let key = |entry: &Entry| {
        let slash = if entry.kind == Kind::Folder { "/" } else { "" };
        format!("{}{slash}", entry.name)
    };
    Ok(Page::of(found, limit, key).map(EntryView::from))
}

/// Sends an object, or the requested range.
///
/// # Errors
/// The object does not exist, or the store fails.
pub(crate) async fn serve_object(
    bucket: &Bucket,
    path: &str,
    request: &HeaderMap,
    show: Show,
) -> ApiResult<Response> {
    let object = bucket.object(path).await?;
    let sent = Sent {
        name: path.rsplit('/').next().unwrap_or_default(),
        size: object.size,
        modified_us: object.modified_us,
    };
    let (mut response, part) = answer(&sent, request, show);
    if let Some((from, length)) = part {
        *response.body_mut() = Body::from_stream(bucket.read(path, from, from + length).await?);
    }
    Ok(response)
}

/// Preview of an object.
///
/// # Errors
/// The object does not exist, or the store fails.
pub(crate) async fn preview_object(bucket: &Bucket, path: &str) -> ApiResult<Preview> {
    let object = bucket.object(path).await?;
    let stream = bucket.read(path, 0, object.size.min(MOST)).await?;
    let fault =
        |error| ApiError::unavailable("the object store stopped in the middle of the file").caused_by(error);
    let bytes: BytesMut = stream.try_collect().await.map_err(fault)?;
    Ok(of_bytes(path.rsplit('/').next().unwrap_or_default(), object.size, bytes.to_vec()))
}

/// Writes an uploaded object and returns its size. It appears completely or not at all, and only if
/// `may_appear` succeeds.
///
/// # Errors
/// The store fails, or the upload is incomplete.
pub(super) async fn write_object(
    bucket: &Bucket,
    path: &str,
    content: &mut Content,
    may_appear: impl Future<Output = ApiResult<()>>,
) -> ApiResult<u64> {
    let mut writer = bucket.write(path).await?;
    let mut size = 0;
    let sent = async {
        while let Some(piece) = content.next().await? {
            size += piece.len() as u64;
            writer.write(piece).await.map_err(|error| bucket.fault(path, &error))?;
        }
        may_appear.await?;
        writer.close().await.map_err(|error| bucket.fault(path, &error))?;
        ApiResult::Ok(())
    };
    if let Err(error) = sent.await {
        // Uploaded parts cost storage. If aborting fails, the store removes them eventually.
        let _ = writer.abort().await;
        return Err(error);
    }
    Ok(size)
}

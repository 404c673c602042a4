//! An uploaded file.

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures::StreamExt;

use crate::error::{ApiError, ApiResult, Kind};

/// Body of an upload, in chunks up to a size limit.
pub(crate) struct Content {
    stream: BodyDataStream,
    left: u64,
    most: u64,
}

impl Content {
    /// From a request body. More than `most` bytes are refused.
    pub(crate) fn new(body: Body, most: u64) -> Self {
        Self { stream: body.into_data_stream(), left: most, most }
    }

    /// The next chunk. `None` at the end.
    ///
    /// # Errors
    /// The connection ended before the file did, or the file is too large.
    pub(super) async fn next(&mut self) -> ApiResult<Option<Bytes>> {
        let Some(piece) = self.stream.next().await else { return Ok(None) };
        let cut = |_| {
            let detail = "the connection ended before the end of the file: nothing was written";
            ApiError::new(Kind::Malformed, detail)
        };
        let piece = piece.map_err(cut)?;
        self.left = self.left.checked_sub(piece.len() as u64).ok_or_else(|| too_large(self.most))?;
        Ok(Some(piece))
    }
}

/// Error for a file of more than `most` bytes.
pub(crate) fn too_large(most: u64) -> ApiError {
    let most = cubeloom_domain::Bytes(most);
    let detail =
        format!("files larger than {most} are rejected: an administrator can change [server] upload");
    ApiError::new(Kind::TooLarge, detail)
}

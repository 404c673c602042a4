//! Streams a folder as an archive.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cubeloom_storage::browse::{self, Folder};
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::blocking;
use super::serve::{Show, headers};
use crate::error::{ApiError, ApiResult};

/// Chunks buffered for a slow reader.
const WAITING: usize = 8;
/// Size of a chunk, in bytes.
const PIECE: usize = 64 << 10;

/// Maximum concurrent archives. Each blocks a thread for as long as the reader takes, and threads are
/// limited.
static AT_ONCE: Semaphore = Semaphore::const_new(16);
/// `Retry-After` when the limit is reached, in seconds.
const LATER: u64 = 10;

/// Sends the folder at `path` as an archive called `name`.
///
/// # Errors
/// The folder does not exist. Later errors abort the response, so that a partial archive is not mistaken for
/// a complete one.
pub(crate) async fn archive(folder: Arc<Folder>, path: &str, name: &str) -> ApiResult<Response> {
    let (inside, checked) = (path.to_owned(), Arc::clone(&folder));
    blocking(move || checked.sub(&inside)).await?;
    let turn = AT_ONCE.try_acquire().map_err(|_| {
        ApiError::too_many("the server is creating several archives already: try again in a moment", LATER)
    })?;
    let (sender, receiver) = mpsc::channel(WAITING);
    let inside = path.to_owned();
    tokio::task::spawn_blocking(move || {
        let out = Pieces { sender: sender.clone(), piece: Vec::with_capacity(PIECE) };
        if let Err(error) = browse::archive(&folder, &inside, out) {
            let _ = sender.blocking_send(Err(io::Error::other(error)));
        }
        drop(turn);
    });
    let mut headers = headers(&format!("{name}.tar.gz"), Show::Download);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    Ok((headers, Body::from_stream(ReceiverStream::new(receiver))).into_response())
}

/// Passes on written data in chunks.
struct Pieces {
    sender: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        let gone = |_| io::ErrorKind::BrokenPipe.into();
        self.sender.blocking_send(Ok(piece.into())).map_err(gone)
    }
}

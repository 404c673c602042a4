//! Preconditions of a write: `If-Match` and `If-None-Match`.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use cubeloom_storage::browse::{BrowseError, Entry};

use super::blocking;
use super::serve::tag;
use crate::error::{ApiError, ApiResult, Kind};
use crate::etag::Tags;
use crate::volumes::Tree;

/// Preconditions of a request. Empty without these headers.
pub(crate) struct Demands {
    /// The file must have one of these ETags.
    matching: Option<Tags>,
    /// Whether the file must not exist.
    absent: bool,
}

impl Demands {
    /// Preconditions of a request.
    ///
    /// # Errors
    /// `If-Match` contains something other than `*` and ETags.
    pub(crate) fn of(request: &HeaderMap) -> ApiResult<Self> {
        Ok(Self { matching: Tags::of(request)?, absent: request.contains_key(header::IF_NONE_MATCH) })
    }

    /// Checks the preconditions.
    ///
    /// # Errors
    /// One is not met, or the file cannot be read.
    pub(crate) async fn met(&self, tree: &Tree, path: &str) -> ApiResult<()> {
        if self.matching.is_none() && !self.absent {
            return Ok(());
        }
        let present = present(tree, path).await?;
        if self.absent && present.is_some() {
            return Err(BrowseError::Exists(path.into()).into());
        }
        let Some(tags) = &self.matching else { return Ok(()) };
        match present {
            Some(present) if tags.matches(&present) => Ok(()),
            Some(present) => {
                let present = HeaderValue::from_str(&present).map_err(ApiError::internal)?;
                Err(ApiError::stale(&format!("the file `{path}`"), present))
            }
            None => {
                let detail = format!("the file `{path}` no longer exists: reload its folder");
                Err(ApiError::new(Kind::Stale, detail))
            }
        }
    }
}

/// ETag of the file at a path.
async fn present(tree: &Tree, path: &str) -> ApiResult<Option<String>> {
    let found = match tree {
        Tree::Folder(folder) => {
            let (folder, path) = (Arc::clone(folder), path.to_owned());
            let of_entry = |entry: Entry| tag(entry.size, entry.modified_us.unwrap_or_default());
            let look = move || match folder.entry(&path) {
                Ok(entry) => Ok(Some(of_entry(entry))),
                Err(BrowseError::NotFound(_)) => Ok(None),
                Err(error) => Err(error),
            };
            return blocking(look).await;
        }
        Tree::Bucket(bucket) => bucket.object(path).await,
        Tree::Empty => return Ok(None),
    };
    match found {
        Ok(object) => Ok(Some(tag(object.size, object.modified_us))),
        Err(BrowseError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

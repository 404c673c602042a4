//! Pagination: a stable order, and an opaque cursor with the start of the next page.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::{ApiError, ApiResult};

/// Default page size.
const USUAL: usize = 50;
/// Maximum page size.
const MOST: usize = 200;

/// One page of a list.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// Items, in the order of the list.
    pub items: Vec<T>,
    /// Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// Pagination parameters.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Number of items, from 1 to 200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

impl PageQuery {
    /// Page size.
    ///
    /// # Errors
    /// It is not from 1 to 200.
    pub fn limit(&self) -> ApiResult<usize> {
        self.limit_to(MOST)
    }

    /// Page size, at most `most`.
    ///
    /// # Errors
    /// It is not from 1 to `most`.
    pub(crate) fn limit_to(&self, most: usize) -> ApiResult<usize> {
        match self.limit {
            None => Ok(USUAL),
            Some(limit) if (1..=most).contains(&limit) => Ok(limit),
            Some(limit) => {
                Err(ApiError::field("/limit", format!("limit is {limit}: it must be from 1 to {most}")))
            }
        }
    }

    /// Key after which the page starts.
    ///
    /// # Errors
    /// The cursor is invalid.
    pub fn after(&self) -> ApiResult<Option<String>> {
        let Some(cursor) = self.cursor.as_deref().filter(|cursor| !cursor.is_empty()) else {
            return Ok(None);
        };
        let key = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let wrong = || ApiError::field("/cursor", "the cursor is invalid: start without one");
        key.map(Some).ok_or_else(wrong)
    }

    /// Position after which the page starts, in a list sorted by `sort`.
    ///
    /// # Errors
    /// The cursor is invalid, or belongs to a list in another order.
    pub fn place<K: DeserializeOwned>(&self, sort: &str) -> ApiResult<Option<K>> {
        let Some(text) = self.after()? else { return Ok(None) };
        match serde_json::from_str::<(String, K)>(&text) {
            Ok((of, place)) if of == sort => Ok(Some(place)),
            _ => {
                let message = "the cursor is not from this list: start without one";
                Err(ApiError::field("/cursor", message))
            }
        }
    }
}

impl<T> Page<T> {
    /// A page from up to one item more than fits: request `limit + 1` from the store.
    pub fn of(mut found: Vec<T>, limit: usize, key: impl Fn(&T) -> String) -> Self {
        let more = found.len() > limit;
        found.truncate(limit);
        let last = found.last().filter(|_| more);
        let next_cursor = last.map(|item| URL_SAFE_NO_PAD.encode(key(item)));
        Self { items: found, next_cursor }
    }

    /// The same for a list sorted by `sort`, with a position for each item.
    pub fn sorted<K: Serialize>(found: Vec<T>, limit: usize, sort: &str, place: impl Fn(&T) -> K) -> Self {
        Self::of(found, limit, |item| serde_json::json!([sort, place(item)]).to_string())
    }

    /// A page of a list in memory, sorted by `key`.
    ///
    /// # Errors
    /// The query is invalid.
    pub fn cut(found: Vec<T>, query: &PageQuery, key: impl Fn(&T) -> String) -> ApiResult<Self> {
        Self::cut_to(MOST, found, query, key)
    }

    /// The same with a maximum page size.
    ///
    /// # Errors
    /// The query is invalid.
    pub fn cut_to(
        most: usize,
        found: Vec<T>,
        query: &PageQuery,
        key: impl Fn(&T) -> String,
    ) -> ApiResult<Self> {
        let (limit, after) = (query.limit_to(most)?, query.after()?);
        let later = found.into_iter().filter(|item| after.as_ref().is_none_or(|after| key(item) > *after));
        Ok(Self::of(later.take(limit + 1).collect(), limit, &key))
    }

    /// Converts each item.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(change).collect(), next_cursor: self.next_cursor }
    }
}

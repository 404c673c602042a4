//! Short-lived cache for the guard's lookups: a thousand requests a second need not each query the database.
//! Changes by this server apply at once, those by another server within [`MOMENT`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::sync::Cache;

use crate::error::ApiResult;

/// Maximum age of an entry.
const MOMENT: Duration = Duration::from_secs(2);
/// Maximum number of entries.
const MOST: u64 = 20_000;

pub(crate) struct Fresh<V> {
    answers: Cache<String, V>,
    /// Number of invalidations. A value that was loaded before one is not cached.
    changes: AtomicU64,
}

impl<V: Clone + Send + Sync + 'static> Fresh<V> {
    pub(crate) fn new() -> Self {
        let answers = Cache::builder().max_capacity(MOST).time_to_live(MOMENT).build();
        Self { answers, changes: AtomicU64::new(0) }
    }

    /// The value for a key, from `load` if it is not cached. `None` is not cached.
    pub(crate) async fn get(
        &self,
        key: &str,
        load: impl Future<Output = ApiResult<Option<V>>>,
    ) -> ApiResult<Option<V>> {
        if let Some(known) = self.answers.get(key) {
            return Ok(Some(known));
        }
        let before = self.changes.load(Ordering::Acquire);
        let found = load.await?;
        if let Some(found) = &found
            && self.changes.load(Ordering::Acquire) == before
        {
            self.answers.insert(key.to_owned(), found.clone());
        }
        Ok(found)
    }

    /// Invalidates all entries after a change.
    pub(crate) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.answers.invalidate_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_forgotten_is_asked_for_again() {
        let fresh = Fresh::new();
        let asked = AtomicU64::new(0);
        let ask = || async { Ok(Some(asked.fetch_add(1, Ordering::SeqCst))) };
        assert_eq!(fresh.get("a", ask()).await.unwrap(), Some(0));
        assert_eq!(fresh.get("a", ask()).await.unwrap(), Some(0));
        fresh.forget();
        assert_eq!(fresh.get("a", ask()).await.unwrap(), Some(1));
    }

    #[tokio::test]
    async fn an_answer_from_before_a_change_is_not_remembered() {
        let fresh = Fresh::new();
        let late = async {
            fresh.forget();
            Ok(Some("old"))
        };
        assert_eq!(fresh.get("a", late).await.unwrap(), Some("old"));
        assert_eq!(fresh.get("a", async { Ok(Some("new")) }).await.unwrap(), Some("new"));
    }
}

//! Look-ups that are remembered for a moment: a thousand requests a second need not each ask the database who sends
//! them. A change that this server makes is seen at once, one of another server within [`MOMENT`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moka::sync::Cache;

use crate::error::ApiResult;

/// How old an answer may be.
const MOMENT: Duration = Duration::from_secs(2);
/// How many answers are remembered.
const MOST: u64 = 20_000;

/// Remembered answers, by key.
pub(crate) struct Fresh<V> {
    answers: Cache<String, V>,
    /// Counts what was forgotten, so that an answer from before a change is not remembered after it.
    changes: AtomicU64,
}

impl<V: Clone + Send + Sync + 'static> Fresh<V> {
    pub(crate) fn new() -> Self {
        let answers = Cache::builder().max_capacity(MOST).time_to_live(MOMENT).build();
        Self { answers, changes: AtomicU64::new(0) }
    }

    /// The answer for a key, from `load` when none is remembered. That there is nothing is not remembered.
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

    /// Something has changed: everything is asked for again.
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

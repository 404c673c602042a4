//! Limits concurrent requests: more while the API server keeps up, fewer as soon as it is overloaded
//! (additive increase, multiplicative decrease, as in TCP).

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Refused;

const FIRST: usize = 32;
const LEAST: usize = 2;
const MOST: usize = 128;

pub struct Pace {
    leaves: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    /// Maximum number of concurrent requests.
    limit: usize,
    /// Number of permits to withhold when they return.
    owed: usize,
    /// Responses since the limit last grew.
    good: usize,
}

impl Default for Pace {
    fn default() -> Self {
        let state = State { limit: FIRST, owed: 0, good: 0 };
        Self { leaves: Arc::new(Semaphore::new(FIRST)), state: Mutex::new(state) }
    }
}

/// A permit for one request.
pub struct Leave<'a> {
    pace: &'a Pace,
    permit: Option<OwnedSemaphorePermit>,
}

impl Pace {
    /// Waits for a permit to send a request.
    pub async fn leave(&self) -> Leave<'_> {
        Leave { pace: self, permit: Arc::clone(&self.leaves).acquire_owned().await.ok() }
    }
}

impl Leave<'_> {
    /// Adjusts the limit after a response.
    pub fn came<T>(mut self, answer: &Result<T, Refused>) {
        let mut state = self.pace.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(answer, Err(Refused::ForNow(_))) {
            let smaller = (state.limit / 2).max(LEAST);
            state.owed += state.limit - smaller;
            (state.limit, state.good) = (smaller, 0);
        } else {
            state.good += 1;
            if state.good >= state.limit && state.limit < MOST {
                (state.limit, state.good) = (state.limit + 1, 0);
                if state.owed > 0 { state.owed -= 1 } else { self.pace.leaves.add_permits(1) }
            }
        }
        if state.owed > 0
            && let Some(permit) = self.permit.take()
        {
            state.owed -= 1;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_slows_down_at_once_and_grows_again() {
        let pace = Pace::default();
        let (good, bad) = (Ok(()), Err::<(), _>(Refused::ForNow("429".into())));
        pace.leave().await.came(&bad);
        for _ in 0..FIRST / 2 {
            pace.leave().await.came(&good);
        }
        assert_eq!(pace.leaves.available_permits(), FIRST / 2 + 1);
        for _ in 0..100_000 {
            pace.leave().await.came(&good);
        }
        assert_eq!(pace.leaves.available_permits(), MOST);
        for _ in 0..2 * MOST {
            pace.leave().await.came(&bad);
        }
        assert_eq!(pace.leaves.available_permits(), LEAST);
    }
}

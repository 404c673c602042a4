//! Limits the open event streams per user: each takes a connection and memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{ApiError, ApiResult};

/// `Retry-After` in seconds: streams end when their pages are closed.
const AGAIN: u64 = 5;

type Taken = Arc<Mutex<HashMap<String, usize>>>;

/// Open streams of all users.
pub(crate) struct Seats {
    taken: Taken,
    /// Limit per user. 0 means no limit.
    each: usize,
}

/// A slot, released on drop.
#[derive(Debug)]
pub(crate) struct Seat {
    taken: Taken,
    person: String,
}

impl Seats {
    /// `each` streams per user. 0 means no limit.
    pub(crate) fn new(each: usize) -> Self {
        Self { taken: Taken::default(), each }
    }

    /// Number of open streams.
    pub(crate) fn taken(&self) -> usize {
        lock(&self.taken).values().sum()
    }

    /// Takes a slot for another stream of this user.
    ///
    /// # Errors
    /// The user has too many open streams.
    pub(crate) fn take(&self, person: &str) -> ApiResult<Seat> {
        let mut taken = lock(&self.taken);
        let count = taken.get(person).copied().unwrap_or_default();
        if self.each > 0 && count >= self.each {
            let detail = format!("you have {count} event streams open, the maximum per user: close some");
            return Err(ApiError::too_many(detail, AGAIN));
        }
        taken.insert(person.to_owned(), count + 1);
        Ok(Seat { taken: Arc::clone(&self.taken), person: person.to_owned() })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        let left = taken.get(&self.person).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            taken.remove(&self.person);
        } else {
            taken.insert(self.person.clone(), left);
        }
    }
}

fn lock(taken: &Taken) -> MutexGuard<'_, HashMap<String, usize>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_that_is_left_is_free() {
        let seats = Seats::new(2);
        let (one, two) = (seats.take("ada").unwrap(), seats.take("ada").unwrap());
        assert!(seats.take("ada").unwrap_err().detail().contains("2 event streams"));
        let other = seats.take("bob").unwrap();
        assert_eq!(seats.taken(), 3);
        drop(one);
        let three = seats.take("ada").unwrap();
        drop((two, three, other));
        assert!(lock(&seats.taken).is_empty(), "nothing is kept of those who have left");
        let none = Seats::new(0);
        assert_eq!((0..1000).filter_map(|_| none.take("ada").ok()).count(), 1000);
    }
}

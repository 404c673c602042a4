//! How many streams of events somebody has open: each holds a connection and memory for as long as it lasts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{ApiError, ApiResult};

/// After how many seconds it may be tried again: streams end when their pages are left.
const AGAIN: u64 = 5;

type Taken = Arc<Mutex<HashMap<String, usize>>>;

/// The seats of everybody.
pub(crate) struct Seats {
    taken: Taken,
    /// Of one person; 0 for no limit.
    each: usize,
}

/// A seat; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    taken: Taken,
    person: String,
}

impl Seats {
    /// So many for each person; 0 for no limit.
    pub(crate) fn new(each: usize) -> Self {
        Self { taken: Taken::default(), each }
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        lock(&self.taken).values().sum()
    }

    /// A seat for another stream of this person's.
    ///
    /// # Errors
    /// When they have as many as they may.
    pub(crate) fn take(&self, person: &str) -> ApiResult<Seat> {
        let mut taken = lock(&self.taken);
        let count = taken.get(person).copied().unwrap_or_default();
        if self.each > 0 && count >= self.each {
            let detail =
                format!("you have {count} streams of events open, as many as one person may: close some");
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
        assert!(seats.take("ada").unwrap_err().detail().contains("2 streams"));
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

//! Limits open terminals per user and in total: a shell takes memory of the machine, and a user watches only
//! a few at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Session;
use crate::error::{ApiError, ApiResult};
use crate::state::TerminalSettings;

/// `Retry-After`, in seconds.
const AGAIN: u64 = 30;

type Taken = Arc<Mutex<HashMap<String, Held>>>;

/// Terminals by id, including those being opened.
#[derive(Default)]
pub(super) struct Seats(Taken);

struct Held {
    person: String,
    session: Option<Arc<Session>>,
}

/// Slot of a terminal, released on drop.
pub(crate) struct Seat {
    taken: Taken,
    id: String,
}

impl Seats {
    pub(super) fn take(&self, id: &str, person: &str, settings: TerminalSettings) -> ApiResult<Seat> {
        let mut taken = lock(&self.0);
        if settings.most == 0 {
            return Err(ApiError::forbidden("terminals are turned off on this server"));
        }
        let own = taken.values().filter(|held| held.person == person).count();
        if own >= settings.each {
            let detail = format!("you have {own} terminals open, the maximum per user: close one first");
            return Err(ApiError::too_many(detail, AGAIN));
        }
        if taken.len() >= settings.most {
            let detail =
                format!("{} terminals are open on this server, the maximum: try again later", taken.len());
            return Err(ApiError::too_many(detail, AGAIN));
        }
        taken.insert(id.to_owned(), Held { person: person.to_owned(), session: None });
        Ok(Seat { taken: Arc::clone(&self.0), id: id.to_owned() })
    }

    pub(super) fn fill(&self, id: &str, session: &Arc<Session>) {
        if let Some(held) = lock(&self.0).get_mut(id) {
            held.session = Some(Arc::clone(session));
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.0).get(id).and_then(|held| held.session.clone())
    }

    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        lock(&self.0).values().filter_map(|held| held.session.clone()).collect()
    }
}

impl Seat {
    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.taken).remove(&self.id);
    }
}

fn lock(taken: &Taken) -> MutexGuard<'_, HashMap<String, Held>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_person_and_the_server_have_so_many_and_one_that_is_left_is_free() {
        let minute = Duration::from_secs(60);
        let settings = TerminalSettings { most: 3, each: 2, limit: minute, idle: minute, away: minute };
        let seats = Seats::default();
        let take = |id: &str, person: &str| seats.take(id, person, settings);
        let (one, two) = (take("1", "ada").unwrap(), take("2", "ada").unwrap());
        assert!(take("3", "ada").err().unwrap().detail().contains("you have 2 terminals"));
        let three = take("3", "bob").unwrap();
        assert!(take("4", "bob").err().unwrap().detail().contains("3 terminals are open on this server"));
        drop(one);
        let four = take("4", "bob").unwrap();
        drop((two, three, four));
        assert!(lock(&seats.0).is_empty());
        let none = TerminalSettings { most: 0, ..settings };
        assert!(seats.take("1", "ada", none).err().unwrap().detail().contains("turned off"));
    }
}

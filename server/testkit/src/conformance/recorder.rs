//! Records an executor's reports, and waits for them.

use std::sync::Mutex;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{Ended, Event, Observation, Observer};
use tokio::sync::Notify;

use super::PATIENCE;

/// All observations so far.
#[derive(Debug, Default)]
pub struct Recorder {
    seen: Mutex<Vec<Observation>>,
    news: Notify,
}

impl Observer for Recorder {
    fn observed(&self, observation: Observation) {
        self.seen.lock().expect("no observer panics").push(observation);
        self.news.notify_waiters();
    }
}

impl Recorder {
    /// The events of one attempt so far.
    #[must_use]
    pub fn events(&self, key: &AttemptKey) -> Vec<Event> {
        let seen = self.seen.lock().expect("no observer panics");
        seen.iter().filter(|one| one.key == *key).map(|one| one.event.clone()).collect()
    }

    /// Waits for the first event of an attempt that `pick` accepts.
    pub async fn first<T>(&self, key: &AttemptKey, what: &str, pick: impl Fn(&Event) -> Option<T>) -> T {
        let wait = async {
            loop {
                let news = self.news.notified();
                tokio::pin!(news);
                news.as_mut().enable();
                if let Some(found) = self.events(key).iter().find_map(&pick) {
                    return found;
                }
                news.await;
            }
        };
        match tokio::time::timeout(PATIENCE, wait).await {
            Ok(found) => found,
            Err(_) => panic!("{key}: {what} was never reported; seen: {:?}", self.events(key)),
        }
    }

    pub async fn ended(&self, key: &AttemptKey) -> Ended {
        self.first(key, "its end", |event| match event {
            Event::Ended(ended) => Some((**ended).clone()),
            _ => None,
        })
        .await
    }

    pub async fn started(&self, key: &AttemptKey) {
        self.first(key, "its start", |event| matches!(event, Event::Started { .. }).then_some(())).await;
    }

    /// The number of reported ends.
    #[must_use]
    pub fn ends(&self, key: &AttemptKey) -> usize {
        self.events(key).iter().filter(|event| matches!(event, Event::Ended(_))).count()
    }
}

//! What Slurm said last of all jobs: asked once for all of them, looked up by each attempt.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cubeloom_domain::AttemptKey;
use tokio::sync::watch;

use crate::seen::{ByKey, SeenJob};

/// What all attempts look at.
pub struct Board {
    state: Mutex<State>,
    /// Changes with every answer.
    news: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    /// How many looks have begun.
    begun: u64,
    /// The number of the last that was answered.
    answered: u64,
    listed: ByKey,
    /// The attempts that accounting is to be asked about, by the names of their jobs.
    asked: HashMap<String, String>,
    /// What accounting said of those that it was asked about.
    accounted: ByKey,
}

impl Board {
    /// Nothing was said yet.
    pub fn new() -> Self {
        Self { state: Mutex::default(), news: watch::channel(()).0 }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A look at all jobs begins; its number.
    pub fn begin(&self) -> u64 {
        let mut state = self.state();
        state.begun += 1;
        state.begun
    }

    /// How many looks have begun: what happened before now is in those that follow.
    pub fn begun(&self) -> u64 {
        self.state().begun
    }

    /// A look was answered.
    pub fn listed(&self, number: u64, jobs: ByKey) {
        let mut state = self.state();
        (state.answered, state.listed) = (number, jobs);
        drop(state);
        self.news.send_replace(());
    }

    /// Whom accounting is to be asked about: names, and their attempts.
    pub fn asked(&self) -> HashMap<String, String> {
        self.state().asked.clone()
    }

    /// Accounting has answered of these, by name.
    pub fn accounted(&self, asked: &HashMap<String, String>, mut jobs: ByKey) {
        let mut state = self.state();
        for (name, key) in asked {
            state.asked.remove(name);
            state.accounted.insert(key.clone(), jobs.remove(key).unwrap_or_default());
        }
        drop(state);
        self.news.send_replace(());
    }

    /// The jobs of an attempt in the list, and the number of the look that it is from.
    pub fn jobs(&self, key: &AttemptKey) -> (u64, Vec<SeenJob>) {
        let state = self.state();
        (state.answered, state.listed.get(&key.to_string()).cloned().unwrap_or_default())
    }

    /// Has accounting asked about an attempt.
    pub fn ask(&self, key: &AttemptKey) {
        self.state().asked.insert(key.object_name(), key.to_string());
    }

    /// What it said, once.
    pub fn answer(&self, key: &AttemptKey) -> Option<Vec<SeenJob>> {
        self.state().accounted.remove(&key.to_string())
    }

    /// Nobody asks about an attempt any more.
    pub fn forget(&self, key: &AttemptKey) {
        let mut state = self.state();
        state.asked.remove(&key.object_name());
        state.accounted.remove(&key.to_string());
    }

    /// Finds an attempt's jobs by what Slurm knows from now on: in the list, else in accounting. Waits for as long as the
    /// cluster does not answer.
    pub async fn find(&self, key: &AttemptKey) -> Vec<SeenJob> {
        let mut news = self.news.subscribe();
        let begun = self.begun();
        let mut has_asked = false;
        loop {
            let (answered, jobs) = self.jobs(key);
            if answered > begun {
                if !jobs.is_empty() {
                    return jobs;
                }
                if let Some(jobs) = self.answer(key).filter(|_| has_asked) {
                    return jobs;
                }
                if !has_asked {
                    self.ask(key);
                    has_asked = true;
                }
            }
            if news.changed().await.is_err() {
                return Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cubeloom_domain::{RunId, Timestamp};

    use super::*;
    use crate::seen::listed;

    #[tokio::test]
    async fn an_attempt_is_found_by_what_is_known_later_only() {
        let key = AttemptKey { run: RunId::new(Timestamp(0), 1), task: "t".into(), instance: 0, n: 1 };
        let line = format!("7|RUNNING|None|n1|cl-t-x|{key}\n");
        let board = Arc::new(Board::new());
        let old = board.begin();
        let (finder, wanted) = (Arc::clone(&board), key.clone());
        let found = tokio::spawn(async move { finder.find(&wanted).await });
        tokio::task::yield_now().await;
        board.listed(old, listed(&line));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        assert!(!found.is_finished(), "that look had begun before");
        let number = board.begin();
        board.listed(number, ByKey::new());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let asked = board.asked();
        assert_eq!(asked.get(&key.object_name()), Some(&key.to_string()));
        board.accounted(&asked, listed(&line));
        assert_eq!(found.await.unwrap()[0].id, "7");
        assert!(board.asked().is_empty());
    }
}
